"""Whatever is handed in is read and left as it was."""

import copy
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.load import load

TRUTH: dict[str, dict[str, float]] = {"q": {"a": 2, "b": 0}, "r": {"c": 1}}
RUN = {"r": {"x": 1.0, "c": 1.0}, "q": {"b": 0.5, "a": 0.9}}
RECORDS: list[dict[str, Any]] = [
    {"query": "q", "retrieved": [{"id": "a", "score": 1}], "ground_truth": {"a": 1}, "tags": {}},
    {"query": "r", "retrieved": [], "ground_truth": [{"id": "a", "grade": 1}]},
]


def frame(mapping: dict[str, dict[str, float]], number: str) -> pl.DataFrame:
    rows = [
        {"query": q, "item": i, number: v} for q, items in mapping.items() for i, v in items.items()
    ]
    return pl.DataFrame(rows)


def test_nothing_is_changed() -> None:
    pairs: tuple[tuple[Any, Any], ...] = (
        (TRUTH, RUN),
        (frame(TRUTH, "grade"), frame(RUN, "score")),
        (frame(TRUTH, "grade").to_pandas(), frame(RUN, "score").to_pandas()),
    )
    for truth, run in pairs:
        before = copy.deepcopy((truth, run))
        calipers.evaluate(ground_truth=truth, run=run)
        for was, is_now in zip(before, (truth, run), strict=True):
            same = was == is_now if isinstance(was, dict) else was.equals(is_now)
            assert same
    before_records = copy.deepcopy(RECORDS)
    calipers.evaluate(RECORDS)
    assert before_records == RECORDS


def test_values_are_taken_as_they_are() -> None:
    truth = load(TRUTH, "ground_truth")
    run = load(RUN, "run")
    direct = calipers.evaluate(ground_truth=TRUTH, run=RUN)
    assert calipers.evaluate(ground_truth=truth, run=run).to_dict() == direct.to_dict()
    values = calipers.evaluate(ground_truth=truth.ground_truth, run=run.run)
    assert values.to_dict() == direct.to_dict()
    again = calipers.evaluate(ground_truth=truth.ground_truth, run=run.run)
    assert again.to_dict() == direct.to_dict()


def test_a_second_file_replaces_the_part_of_the_first(tmp_path: Path) -> None:
    evals = tmp_path / "evals.json"
    evals.write_text(json.dumps(RECORDS))
    better = calipers.evaluate(evals, run={"q": ["a"], "r": ["a"]}, metrics="mrr")
    assert better.of("mrr").tolist() == [1.0, 1.0]
    other = calipers.evaluate(evals, ground_truth={"q": ["a"]}, metrics="mrr")
    assert other.of("mrr").tolist() == [1.0]


def test_results_cannot_be_changed() -> None:
    scores = calipers.evaluate(ground_truth=TRUTH, run=RUN)
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0] = 1.0
    with pytest.raises(AttributeError):
        scores.settings = {}  # type: ignore[misc]


def test_progress_is_told_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q Q0 a 1 0.5 t\n")
    told: list[tuple[int, int]] = []
    calipers.evaluate(
        ground_truth={"q": ["a"]}, run=path, progress=lambda done, total: told.append((done, total))
    )
    size = path.stat().st_size
    assert told
    assert told[-1] == (size, size)


def test_an_address_of_the_web_is_refused_without_its_password():
    with pytest.raises(InvalidInput, match=r"^https://host/x\.parquet is an address of the web"):
        load("https://me:hunter2@host/x.parquet?sig=hunter2", "run")
