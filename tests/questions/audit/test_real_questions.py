import json
import math
import os
import threading

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.questions.audit.real_questions import furthest, real_questions
from tests.command import calipers_command, refused

ASKED = [f"How do I reset the password of account {i}?" for i in range(20)]
REAL = [
    *["Reset the password of account 3"] * 30,
    *["opening hours on sunday"] * 4,
    *["opening hours on  sunday evening"] * 2,
    *["invoice without a number"] * 5,
    "jobs",
]


def test_the_furthest_come_first_and_each_is_unlike_those_before():
    middle, found = furthest(ASKED, REAL)
    # Most ask what is there already.
    assert middle == found[-1].distance
    assert [(one.query, one.asked) for one in found[:2]] == [
        ("invoice without a number", 5),
        ("opening hours on sunday", 4),
    ]
    assert [one.distance for one in found] == sorted((one.distance for one in found), reverse=True)
    assert found[0].nearest is None
    last = found[-1]
    assert last.query.startswith("Reset the password")
    assert last.nearest == ASKED[3]


def test_the_distance_is_that_of_weighted_words():
    _, [found] = furthest(["red fox", "blue bird"], ["red bird"])
    rare, common = math.log1p(3 / 1), math.log1p(3 / 2)
    alike = common**2 / (math.hypot(common, common) * math.hypot(common, rare))
    assert found.distance == pytest.approx(1 - alike, abs=1e-6)


def test_at_most_ten_and_none_that_is_there_already():
    many = [f"topic{i} word{i}" for i in range(30)]
    assert len(furthest(ASKED, many)[1]) == 10
    assert furthest(ASKED, [ASKED[0], ASKED[5].upper()]) == (0.0, [])


def test_one_command_from_a_trace_file_to_the_questions_to_add(tmp_path):
    truth, traces, output = (tmp_path / name for name in ("t.csv", "ubi.jsonl", "add.jsonl"))
    truth.write_text("question,expected\n" + "".join(f"{one},d\n" for one in ASKED[:5]))
    searches = (
        {"query_id": f"s{i}", "user_query": one, "query_response_hit_ids": ["d"]}
        for i, one in enumerate(REAL)
    )
    traces.write_text("".join(json.dumps(one) + "\n" for one in searches))
    said = calipers_command("audit", truth, "--traces", traces, "-o", output, columns=120)
    assert "Real questions that are furthest from these" in said.out
    assert "invoice without a number" in said.out
    first = json.loads(output.read_text().splitlines()[0])
    assert first == {"query": "invoice without a number", "tags": {"asked": "5"}}
    health = calipers.audit({"q": ["a"]}, traces=REAL)
    assert health.facts["real_questions"] == {"asked": 42, "median_distance": 1.0}
    assert any("1.00 or further" in note for note in health.notes)
    assert "say where they are: --traces" in refused("audit", truth, "-o", output)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes with a name")
def test_a_pipe_without_traces_is_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("How do I sort?\n",), daemon=True)
    writer.start()
    with pytest.raises(InvalidInput, match="holds no traces"):
        real_questions(pipe)
