"""A run that is kept in a file equals the one in memory."""

from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers import evaluate, retrieve
from calipers.live.result import LiveRun

QUESTIONS = {f"q{i}": f"question {i}" for i in range(6)}


def search(query: str, k: int) -> dict[str, Any]:
    ids = [f"{query[-1]}-{i}" for i in range(k)]
    return {"retrieved": ids, "stages": {"candidates": ids[::-1]}}


def made(output: Path) -> LiveRun:
    return retrieve(search, QUESTIONS, k=2, output=output)


def test_it_is_the_run_that_would_be_in_memory(tmp_path: Path) -> None:
    filed, held = made(tmp_path / "run.jsonl"), retrieve(search, QUESTIONS, k=2)
    assert filed.frame.equals(held.frame)
    assert (filed.order, filed.ties) == (held.order, held.ties)
    for one in (filed, held):
        assert one.queries.drop("latency_ms").columns == ["query", "text", "error"]
    assert filed.queries["text"].equals(held.queries["text"])
    truth = {f"q{i}": {f"{i}-1": 1} for i in range(6)}
    scores = [evaluate(ground_truth=truth, run=one, metrics="mrr") for one in (filed, held)]
    assert scores[0].fingerprints == scores[1].fingerprints
    assert scores[0]["mrr"].mean == scores[1]["mrr"].mean == 0.5


def test_another_run_in_the_same_file_is_not_taken_for_it(tmp_path: Path) -> None:
    output = tmp_path / "run.jsonl"
    first = made(output)
    assert repr(first) == f"<LiveRun: {str(output)!r}; 6 queries; as listed; stages 'candidates'>"
    assert first.stages["candidates"].frame["item"].to_list()[:2] == ["0-1", "0-0"]
    second = retrieve(lambda query, k: ["z"], QUESTIONS, k=2, output=output)
    assert first.frame["item"].to_list()[:2] == ["0-0", "0-1"]
    assert second.frame["item"].unique().to_list() == ["z"]


@pytest.mark.parametrize(("given", "noted"), [(4, 1), (10, 0)])
@pytest.mark.parametrize(
    ("metrics", "sentence"),
    [
        ("precision@10,ndcg@5", "Lists end at 4 results"),
        ("recall@10,ndcg@5", "never gave more than 4 of the 10 results that it was asked for."),
        ("recall@4", None),
    ],
)
def test_lists_that_are_shorter_than_asked_for_are_said_once(
    given: int, noted: int, metrics: str, sentence: str | None
) -> None:
    """As of LangChain's as_retriever(), which gives four whatever k is."""
    run = calipers.retrieve(lambda query: ["a", *map(str, range(given - 1))], ["Who?"], k=10)
    shown = str(calipers.evaluate(run=run, ground_truth={"Who?": ["a"]}, metrics=metrics))
    assert (shown.count("Lists end") + shown.count("never gave")) == (noted if sentence else 0)
    assert sentence is None or shown.count(sentence) == noted
