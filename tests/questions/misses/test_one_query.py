import json
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput, RetrieverFailed
from calipers.model.fact import facts_of
from tests.command import calipers_command

TRUTH: list[dict[str, Any]] = [
    {"query": "Who gave it?", "id": "q1", "ground_truth": ["c2", "c12", "c99"]},
    {
        "query": "When?",
        "id": "q2",
        "ground_truth": [{"id": "c1", "group": "a"}, {"id": "c77", "group": "a"}],
    },
    {"query": "Where?", "id": "q3", "ground_truth": []},
]


def search(query: str, k: int) -> list[dict[str, object]]:
    return [{"id": f"c{i}", "score": 1 / (i + 1), "text": f"chunk {i}"} for i in range(min(k, 15))]


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "truth.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in TRUTH))
    return path


@pytest.mark.parametrize("asked", ["Who gave it?", "q1"])
def test_every_target_has_its_rank_or_its_reason(asked: str, truth: Path) -> None:
    found = calipers.explain(asked, retriever=search, ground_truth=truth, k=10)
    assert (found.question, found.id) == ("Who gave it?", "q1")
    assert [(one.name, one.rank, one.reason) for one in found.targets] == [
        ("c2", 3, None),
        ("c12", 13, "below_k"),
        ("c99", None, "not_returned"),
    ]
    assert [one.rank for one in found.results if one.target] == [3]
    assert str(found).startswith("1 of 3 targets is in the first 10 results (rank 3).")


def test_a_run_is_looked_up_and_says_the_same(truth: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    rows = [{"query": one["query"], "id": one["id"], "retrieved": search("", 20)} for one in TRUTH]
    run.write_text("".join(json.dumps(one) + "\n" for one in rows))
    live = calipers.explain("q1", retriever=search, ground_truth=truth, k=10)
    found = calipers.explain("q1", run=run, ground_truth=truth, k=10)
    assert (found.targets, found.results) == (live.targets, live.results)
    both = [{**one, **row} for one, row in zip(TRUTH, rows, strict=True)]
    assert calipers.explain("Who gave it?", run=both, k=10).targets == live.targets
    said = calipers_command("explain", "q1", "-r", str(run), "-g", str(truth))
    assert "1 of 3 targets is in the first 10 results (rank 3)." in said.out
    with pytest.raises(InvalidInput, match=r"does not have the question 'Who gave\?'\. Did you"):
        calipers.explain("Who gave?", run=run, ground_truth=truth)
    with pytest.raises(InvalidInput, match="Nothing answers the question"):
        calipers.explain("q1", ground_truth=truth)


def test_an_id_is_never_cut() -> None:
    name = "handbook/" + "chapter-" * 12 + "end"
    records = [{"query": "Who?", "ground_truth": [name]}]
    found = calipers.explain("Who?", retriever=lambda query, k: [name], ground_truth=records)
    shown = str(found)
    assert "…" not in shown
    assert len("".join(shown.split())) > 2 * len(name)


def test_it_says_what_misses_says(truth: Path) -> None:
    chunks = [{"id": f"c{i}", "text": f"chunk {i}"} for i in range(15)]
    found = calipers.explain("q1", retriever=search, ground_truth=truth, k=5, corpus=chunks)
    run = {"q1": [(one["id"], one["score"]) for one in search("", 20)]}
    many = calipers.misses(ground_truth=TRUTH[:1], run=run, k=5, corpus=chunks)
    said = {one.name: one.reason for one in found.targets if one.reason}
    assert said == dict(many.table.select("item", "reason").iter_rows())
    assert said["c99"] == "not_in_corpus"


def test_of_alternatives_one_is_enough(truth: Path) -> None:
    found = calipers.explain("q2", retriever=search, ground_truth=truth, k=3)
    assert (found.sought, found.found) == (1, 1)
    assert [one.reason for one in found.targets] == [None, None]
    assert "an alternative was found" in str(found)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("Where?", "10 results"),
        ("Who gave this?", "does not have this question, so nothing is judged. Did you mean"),
    ],
)
def test_without_targets_nothing_is_judged(asked: str, words: str, truth: Path) -> None:
    found = calipers.explain(asked, retriever=search, ground_truth=truth)
    assert found.targets == ()
    assert words in " ".join(str(found).split())


def test_nothing_returned_is_an_answer_and_a_failure_an_error(truth: Path) -> None:
    found = calipers.explain("q1", retriever=lambda query, k: [], ground_truth=truth)
    assert {one.reason for one in found.targets} == {"nothing_returned"}
    assert "returned nothing" in str(found)

    def broken(query: str, k: int) -> list[str]:
        raise ValueError("no index")

    with pytest.raises(
        RetrieverFailed, match=r"failed on the only question\. ValueError: no index"
    ):
        calipers.explain("q1", retriever=broken, ground_truth=truth)


def test_a_failure_that_the_run_recorded_is_said() -> None:
    rows = [
        {"query": "q1", "retrieved": [], "ground_truth": ["a"], "error": "ReadTimeout: 30 s"},
        {"query": "q2", "retrieved": ["b"], "ground_truth": ["b"]},
    ]
    found = calipers.explain("q1", run=rows)
    assert str(found).startswith("The retriever failed on this question: ReadTimeout: 30 s")
    assert {one.reason for one in found.targets} == {"retriever_error"}
    assert calipers.explain("q2", run=rows).error is None


def test_ids_that_nobody_knows_are_named(truth: Path) -> None:
    found = calipers.explain("q1", retriever=lambda query, k: ["doc-1"], ground_truth=truth)
    assert "such as 'doc-1', stands anywhere in the ground truth" in found.notes[0]
    assert {"'doc-1'", "'c2'"} <= {fact.text for fact in facts_of(found.notes[0])}
    assert calipers.explain(
        "q1", retriever=lambda query, k: ["x/c2"], ground_truth=truth, map_ids="prefix=x/"
    ).found


def test_hostile_text_is_no_command_of_the_terminal(truth: Path, tmp_path: Path) -> None:
    program = tmp_path / "odd.py"
    program.write_text(
        "def search(query, k):\n    return [{'id': 'a\\x1b[31m', 'text': '\\x1b]0;x\\x07'}]\n"
    )
    said = calipers_command("explain", "q1", "--retriever", f"{program}:search", "-g", str(truth))
    assert (said.code, "\x1b" in said.out) == (0, False)


@pytest.mark.parametrize(
    ("wanted", "called", "rule"),
    [
        ("Doc-1", "DOC-1", "case"),
        ("c1", "IDX:c1", "prefix=IDX:"),
        ("/docs/a", "https://a.org/docs/a", "prefix=https://a.org"),
    ],
)
def test_the_rule_that_finds_a_target_in_another_spelling_is_named(
    wanted: str, called: str, rule: str
) -> None:
    given: dict[str, Any] = {
        "ground_truth": {"Who?": [wanted], "When?": ["z"]},
        "run": {"Who?": [called, "z"], "When?": ["z"]},
    }
    said = calipers.explain("Who?", **given)
    assert not said.found
    assert f"--map-ids {rule}," in " ".join(said.notes)
    assert calipers.explain("Who?", **given, map_ids=rule).found == 1
    texts = {"Who?": [{"id": called, "text": "Ann."}], "When?": [{"id": "z", "text": "Today."}]}
    beside = calipers.explain("Who?", ground_truth=given["ground_truth"], run=texts)
    assert [target.reason for target in beside.targets] == ["another_id"]
