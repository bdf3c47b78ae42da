"""Every doubtful case of the definitions: counted, decided by a named policy, or refused."""

import json
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.model.policy import CHOICES, LIKE
from tests.command import calipers_command, refused

QUERIES: list[dict[str, Any]] = [
    {"query": "fine", "retrieved": ["a", "x"], "ground_truth": {"a": 1, "b": 1}},
    {"query": "empty", "retrieved": [], "ground_truth": {"a": 1}},
    {"query": "failed", "retrieved": ["a"], "ground_truth": {"a": 1}, "error": "timed out"},
    {"query": "hopeless", "retrieved": ["x"], "ground_truth": {"x": 0}},
    {"query": "silent", "retrieved": [], "ground_truth": {}},
    {"query": "copies", "retrieved": ["a", "a", "x", "x"], "ground_truth": {"a": 1}},
]
TRUTH = {record["query"]: record["ground_truth"] for record in QUERIES} | {"missing": {"a": 1}}
RUN = [{k: v for k, v in record.items() if k != "ground_truth"} for record in QUERIES]
RUN.append({"query": "stranger", "retrieved": ["a"]})


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The same as files, for the command line."""
    (tmp_path / "truth.json").write_text(json.dumps(TRUTH))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    truth, run = tmp_path / "truth.json", tmp_path / "run.json"
    return ["eval", "-g", str(truth), "-r", str(run), "-m", "recall@2,mrr"]


def evaluate(**settings: Any) -> calipers.Scores:
    return calipers.evaluate(ground_truth=TRUTH, run=RUN, metrics="recall@2,mrr", **settings)


def recall_of(scores: calipers.Scores) -> dict[str, float | None]:
    return dict(scores.per_query.select("query", "recall@2").iter_rows())


def test_everything_is_counted() -> None:
    audit = evaluate().audit
    assert audit.queries == 7
    assert audit.answered == 3
    assert audit.empty == 2
    assert (audit.missing, audit.missing_examples) == (1, ("missing",))
    assert audit.errors == 1
    assert (audit.unanswerable, audit.unanswerable_silent) == (2, 1)
    assert (audit.unknown, audit.unknown_examples) == (1, ("stranger",))
    assert (audit.targets, audit.judgements) == (6, 7)
    assert audit.retrieved == 2 + 1 + 4
    assert audit.duplicates == 2
    assert (audit.depth, audit.shown) == (2, 2 + 1 + 2)
    assert audit.unjudged == 1
    assert audit.unjudged_rate == 1 / 5
    assert audit.answered + audit.empty + audit.missing + audit.errors == audit.queries


def test_defaults_never_flatter() -> None:
    assert recall_of(evaluate()) == {
        "fine": 0.5,
        "empty": 0.0,
        "failed": 0.0,
        "hopeless": None,
        "silent": None,
        "copies": 1.0,
        "missing": 0.0,
    }
    assert evaluate().policy.to_dict() == {
        "missing": "zero",
        "unanswerable": "exclude",
        "duplicates": "first",
        "unknown": "ignore",
        "errors": "zero",
        "ties": "input",
        "nothing_in_common": "error",
        "calls": "concat",
    }


CHANGES: dict[tuple[str, str], dict[str, float | None]] = {
    ("missing", "zero"): {"missing": 0.0},
    ("missing", "exclude"): {"missing": None},
    ("unanswerable", "exclude"): {"hopeless": None, "silent": None},
    ("unanswerable", "zero"): {"hopeless": 0.0, "silent": 0.0},
    ("duplicates", "first"): {"copies": 1.0},
    ("unknown", "ignore"): {},
    ("errors", "zero"): {"failed": 0.0},
    ("errors", "exclude"): {"failed": None},
    ("ties", "trec"): {},
    ("ties", "input"): {},
}
ERRORS: dict[tuple[str, str], str] = {
    ("missing", "error"): "There is 1 query in the ground truth and not in the run ('missing')",
    ("unanswerable", "error"): "There are 2 queries without any relevant target",
    ("duplicates", "error"): "The item 'a' is returned twice for query 'copies'",
    ("unknown", "error"): "There is 1 query in the run and not in the ground truth ('stranger')",
    ("errors", "error"): "There is 1 query with a failure of the retriever",
}


def test_every_value_of_every_policy_is_tested() -> None:
    elsewhere = {
        ("ties", "error"),
        ("nothing_in_common", "error"),
        ("nothing_in_common", "zero"),
        *(("calls", value) for value in CHOICES["calls"]),
    }
    values = {(name, value) for name, values in CHOICES.items() for value in values}
    assert values == CHANGES.keys() | ERRORS.keys() | elsewhere


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_a_policy_decides_its_case_and_no_other(name: str, value: str, files: list[str]) -> None:
    scores = evaluate(**{name: value})
    assert scores.policy.to_dict()[name] == value
    assert recall_of(scores) == recall_of(evaluate()) | CHANGES[name, value]
    printed = calipers_command(*files, f"--{name}", value, "--json")
    assert printed.code == 0
    result = json.loads(printed.out)
    assert result == scores.to_dict()
    assert result["policy"][name] == value


@pytest.mark.parametrize(("name", "value"), ERRORS)
def test_a_policy_can_forbid_its_case(name: str, value: str, files: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(**{name: value})
    sentence = str(caught.value)
    assert ERRORS[name, value] in sentence
    assert f"{name}=" in sentence
    assert refused(*files, f"--{name}", value) == f"Error: {sentence}"


def test_an_unknown_policy_or_value_is_refused(files: list[str]) -> None:
    with pytest.raises(InvalidInput, match="is 'skip'; it must be one of zero, exclude, error"):
        evaluate(missing="skip")
    with pytest.raises(InvalidInput, match=r"takes no argument 'mising'.*Did you mean missing"):
        evaluate(mising="zero")
    with pytest.raises(InvalidInput, match=r"is 'trec-eval'.*Did you mean trec_eval"):
        evaluate(like="trec-eval")
    assert "'skip'; it must be one of" in refused(*files, "--missing", "skip")
    assert "'trec'; it must be one of" in refused(*files, "--like", "trec")


@pytest.mark.parametrize("tool", LIKE)
def test_the_policies_of_another_tool(tool: str, files: list[str]) -> None:
    policy = evaluate(like=tool).policy.to_dict()
    assert LIKE[tool].items() <= policy.items()
    assert evaluate(like=tool, missing="exclude").policy.missing == "exclude"
    assert json.loads(calipers_command(*files, "--like", tool, "--json").out)["policy"] == policy


TIED = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}}


@pytest.mark.parametrize(("ties", "rank"), [("trec", 1), ("input", 3), (None, 1)])
def test_equal_scores(ties: Any, rank: int) -> None:
    scores = calipers.evaluate(
        ground_truth={"q": {"c": 1, "d": 0}}, run=TIED, metrics="first_rank", ties=ties
    )
    assert scores["first_rank"].mean == rank
    assert (scores.audit.ties, scores.audit.ties_on_targets) == (3, 1)
    assert scores.policy.ties == (ties or "trec")


def test_a_run_that_names_queries_by_their_text_is_compared_so_and_said() -> None:
    truth = [{"id": "7", "query": "What?", "ground_truth": ["a"]}]
    scores = calipers.evaluate(ground_truth=truth, run={"What?": ["a"]}, metrics="mrr")
    assert scores["mrr"].mean == 1.0
    assert any("names its queries by their texts" in note for note in scores.settings["notes"])


def test_unknown_queries_without_results_are_counted_and_named_once() -> None:
    scores = calipers.evaluate(
        ground_truth={"q": ["a"]}, run={"q": ["a"], "s1": ["a"], "s2": [], "s3": ["b"]}
    )
    assert scores.audit.unknown == 3
    assert sorted(scores.audit.unknown_examples) == ["s1", "s2", "s3"]


def test_a_forbidden_result_was_judged() -> None:
    retrieved = ["old", "a", "x", "old2"]
    record: dict[str, Any] = {"query": "q", "retrieved": retrieved, "ground_truth": ["a"]}
    assert calipers.evaluate([record], metrics="recall@4").audit.unjudged == 3
    record["forbidden"] = ["old", "old2"]
    assert calipers.evaluate([record], metrics="recall@4").audit.unjudged == 1
    assert calipers.evaluate([record], metrics="recall@2").audit.unjudged == 0
