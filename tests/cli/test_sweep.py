import json

import pytest

from calipers import read
from calipers.questions.shown_results import wanted_one_by_one
from tests.command import calipers_command

QUOTED = [
    {
        "query": f"q{n}",
        "retrieved": [{"text": "alpha beta gamma delta", "document": "d", "start": 0, "end": 22}],
        "ground_truth": [
            {"quote": "alpha beta", "document": "d", "start": 0, "end": 10},
            {"quote": "gamma delta", "document": "d", "start": 11, "end": 22},
        ],
    }
    for n in range(4)
]


def test_no_ceiling_is_given_where_one_chunk_holds_several_quotes():
    assert wanted_one_by_one(read(QUOTED, match="quote")) is None
    assert wanted_one_by_one(read({"q": ["a"]}, ground_truth={"q": ["a", "b"]})).tolist() == [2]


@pytest.mark.parametrize(
    "command",
    ["eval", "sweep", "diagnose", "misses", ("gate", "--require", "mrr > 0"), "compare"],
    ids=str,
)
def test_every_command_says_which_way_of_matching_was_taken(command, tmp_path):
    path, other = tmp_path / "evals.json", tmp_path / "other.json"
    path.write_text(json.dumps(QUOTED))
    empty = {"text": "none", "document": "d", "start": 30, "end": 34}
    other.write_text(json.dumps([{**one, "retrieved": [empty]} for one in QUOTED]))
    name, *rest = (command,) if isinstance(command, str) else command
    files = [path, other] if name == "compare" else [path]
    printed = calipers_command(name, *files, *rest)
    assert printed.code == 0, printed.err
    said = (
        "Matched by span: the data would allow span and quote; --match quote takes the other way."
    )
    assert said in " ".join(printed.out.split())
