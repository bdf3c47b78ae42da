"""A language model as a judge, against a real server on loopback."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from calipers import labels_export, labels_judge
from calipers.errors import InvalidInput, RetrieverFailed, WriteFailed
from calipers.io.records.label_files import read_labels, write_labels
from calipers.live import driver
from calipers.model.labels import Label
from tests.command import calipers_command, refused
from tests.live.chat.model_server import KEY, ModelServer, running

GOOD = [
    Label("q1", "What is a lock?", "a", "It is a lock.", grade=1.0, judge="anna", note="mine"),
    Label("q1", "What is a lock?", "b", "It is a key."),
]


@pytest.fixture(scope="module")
def running_server() -> Iterator[ModelServer]:
    with running() as one:
        yield one


@pytest.fixture
def server(running_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    monkeypatch.setattr(driver, "FIRST_PAUSE", 0.001)
    running_server.forget()
    return running_server


def row(name: str, text: str | None = None) -> Label:
    return Label("q2", "Why?", name, f"[{name}] because" if text is None else text)


def judged(server: ModelServer, rows: Any, **settings: Any) -> Any:
    return labels_judge(rows, endpoint=server.endpoint, model="small$1", **settings)


def test_every_row_is_graded_and_marked(server):
    found = judged(server, GOOD)
    assert [(r.item, r.grade, r.judge) for r in found.rows] == [
        ("a", 2.0, "machine:small$1"),
        ("b", 0.0, "machine:small$1"),
    ]
    assert found.rows[0].note == "It does or it does not."
    assert found.to_dict()["grades"] == {"0": 1, "2": 1}


def test_what_is_sent_is_the_prompt_at_temperature_0_and_nobodys_grade(server):
    rows = [GOOD[0], Label("q1", "What is a lock?", "copy", "It is a lock.")]
    assert [r.grade for r in judged(server, rows).rows] == [2.0, 2.0]
    [request] = server.requests  # the same prompt is asked once
    assert (request["model"], request["temperature"]) == ("small$1", 0)
    assert [one["role"] for one in request["messages"]] == ["system", "user"]
    asked = "Question:\nWhat is a lock?\n\nPassage:\nIt is a lock."
    assert request["messages"][1]["content"] == asked
    assert server.paths == ["/v1/chat/completions"]
    assert "anna" not in json.dumps(request)
    assert "Authorization" not in server.headers[0]


FINE = ("busy", "fenced", "thinking", "text", "parts")


def test_what_cannot_be_used_is_counted_and_the_rest_goes_on(server):
    kinds = {
        "refusal": ("refuse", "filter"),
        "malformed": ("prose", "list"),
        "wrong grade": ("five", "half", "true", "word", "high"),
        "bad answer": ("other", "broken"),
        "empty": ("silent",),
        "http 429": ("always busy",),
        "timeout": ("hang",),
    }
    fine = [row(name, f"[{name}] Why") for name in FINE]
    odd = [row(name) for names in kinds.values() for name in names]
    found = judged(server, [*GOOD, *fine, *odd], timeout=0.5, retries=1)
    assert dict(found.report.errors) == {kind: len(names) for kind, names in kinds.items()}
    assert [r.grade for r in found.rows] == [2.0, 0.0, *[2.0] * len(FINE)] + [None] * len(odd)
    assert {r.judge for r in found.rows} == {"machine:small$1"}
    for one, kind in zip(
        found.rows[-len(odd) :], (k for k, ns in kinds.items() for _ in ns), strict=True
    ):
        assert one.note.startswith(f"not graded: {kind}: ")


def test_where_nothing_works_there_is_a_sentence(server):
    with pytest.raises(RetrieverFailed, match=r"failed on the only question. refusal"):
        judged(server, [row("refuse")])
    with pytest.raises(RetrieverFailed, match="cannot be reached"):
        labels_judge(GOOD, endpoint="http://127.0.0.1:9/v1", model="m", retries=0)


def test_a_cached_answer_costs_no_request(server, tmp_path):
    first = judged(server, [*GOOD, row("five")], cache=tmp_path / "new" / "folder")
    assert len(server.requests) == 3
    again = judged(server, [*GOOD, row("five")], cache=tmp_path / "new" / "folder")
    # What could not be used was not kept, and is asked again.
    assert len(server.requests) == 4
    assert [r.grade for r in again.rows] == [r.grade for r in first.rows]
    assert (again.report.cached, again.report.asked) == (2, 1)
    other = labels_judge(
        GOOD, endpoint=server.endpoint, model="other", cache=tmp_path / "new" / "folder"
    )
    assert (other.report.cached, len(server.requests)) == (0, 6)
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteFailed, match="The cache"):
        judged(server, GOOD, cache=tmp_path / "file")
    assert len(server.requests) == 6


def test_the_key_is_sent_and_never_shown(server, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    server.wants_key = True
    rows = [*GOOD, row("echo")]
    found = judged(server, rows, key_env="MY_KEY", cache=tmp_path)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert found.rows[2].note.removeprefix("your key is ") in ("***", "Bearer ***")
    found.write(tmp_path / "out.jsonl")
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes()
    monkeypatch.setenv("MY_KEY", "sk-another-secret")
    with pytest.raises(RetrieverFailed) as failed:
        judged(server, rows, key_env="MY_KEY")
    assert "http 401" in str(failed.value)
    assert "sk-another-secret" not in str(failed.value)


def test_without_a_key_the_option_for_it_is_named(server, tmp_path, monkeypatch):
    server.wants_key = True
    write_labels(GOOD, tmp_path / "label.jsonl")
    monkeypatch.chdir(tmp_path)
    asked = ("label.jsonl", "--endpoint", server.endpoint, "--model", "m", "-o", "out.jsonl")
    assert "wants a key; name the environment" in (said := refused("labels", "judge", *asked))
    assert "--key-env (key_env); the server answered 401" in said


@pytest.mark.parametrize("given", ["UNSET_VARIABLE_X", "sk-pasted-key", "skpastedkey", ""])
def test_a_key_given_instead_of_its_name_is_not_repeated(server, given):
    with pytest.raises(InvalidInput, match="not the key itself") as failed:
        judged(server, GOOD, key_env=given)
    assert not given or given not in str(failed.value)
    assert not server.requests


def test_rows_without_a_text_are_not_sent(server):
    found = judged(server, [*GOOD, Label("q1", "What?", "c")])
    assert (found.without_text, len(server.requests)) == (1, 2)
    assert found.rows[2].note == "not graded: there is no text to judge"
    with pytest.raises(InvalidInput, match="No row has a text"):
        judged(server, [Label("q1", "What?", "c")])
    with pytest.raises(InvalidInput, match="no row to judge"):
        judged(server, [])


def test_the_command_and_the_agreement_with_a_person(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_labels([*GOOD, row("five")], "label.csv")
    output = tmp_path / "machine.jsonl"
    words = ["labels", "judge", "label.csv", "--endpoint", server.endpoint, "--model", "m", "-o"]
    words.append(str(output))
    printed = calipers_command(*words)
    assert printed.code == 0, printed.err
    for said in (
        "2 of 3 rows graded by machine:m; 3 prompts asked",
        "1 got no usable answer (1 wrong",
        "grade  rows\n0         1\n2         1\n",
    ):
        assert said in printed.out
    assert (tmp_path / ".calipers" / "answers" / "answers.sqlite").exists()
    assert json.loads(calipers_command(*words, "--json").out)["cached"] == 2
    people = [one.judged("anna", grade) for one, grade in zip(GOOD, (2.0, 0.0), strict=True)]
    write_labels(people, "anna.csv")
    found = labels_export(["anna.csv", output], "truth.jsonl", machines=True)
    [machine] = found.agreement.machines
    assert (machine.both, machine.neither, machine.missed, machine.invented) == (1, 1, 0, 0)
    truth = json.loads((tmp_path / "truth.jsonl").read_text().splitlines()[0])
    assert truth["tags"] == {"judged_by": "machine:m,person:anna"}
    assert [label.judge for _, label in read_labels(output)] == ["machine:m"] * 3


def test_there_is_no_default_endpoint():
    assert "--endpoint" in refused("labels", "judge", "x", "--model", "m", "-o", "y.jsonl")
    assert "--endpoint" in refused("init", "x", "--model", "m")
