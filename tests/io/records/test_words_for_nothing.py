"""Ids that are called none, null or nan, which JSON quotes, are ids."""

import json

import pytest

from calipers import convert, evaluate
from calipers.io.load import load

WORDS = ["none", "null", "nan", "None", "nil"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("shape", [lambda w: [w, "b"], lambda w: {w: 1, "b": 1}, lambda w: [w]])
def test_a_quoted_id_counts(word, shape) -> None:
    record = {"query": "Which?", "retrieved": [word], "ground_truth": shape(word)}
    expected = 1 / len(record["ground_truth"])
    assert evaluate([record], metrics="recall@1")["recall@1"].mean == expected


@pytest.mark.parametrize("mark", ["-", "N/A", "#n/a", "–"])
def test_a_mark_of_nothing_is_no_target_unless_it_is_graded(mark) -> None:
    rows = [{"query": "q 1", "ground_truth": [mark]}, {"query": "q 2", "ground_truth": ["b"]}]
    truth = load(rows, "ground_truth").ground_truth
    assert truth.targets["item"].to_list() == ["b"]
    assert "1 question has nothing that should be found" in truth.notes[0]
    graded = load([{"query": "q", "ground_truth": {mark: 1}}], "ground_truth").ground_truth
    assert graded.targets["item"].to_list() == [mark]


@pytest.mark.parametrize("mark", ["-", "N/A"])
def test_a_mark_is_an_id_where_a_result_is_called_so_or_beside_other_targets(mark) -> None:
    rows = [
        {"query": "q 1", "retrieved": ["a", "b"], "ground_truth": [mark]},
        {"query": "q 2", "retrieved": ["a", mark], "ground_truth": ["a"]},
    ]
    # Found or not: it counts for the question that misses it, too.
    assert evaluate(rows, metrics="recall@2")["recall@2"].mean == 0.5
    beside = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a", mark]}]
    assert evaluate(beside, metrics="recall@1")["recall@1"].mean == 0.5
    alone = [*rows[:1], {**rows[1], "retrieved": ["a"]}]
    scores = evaluate(alone, metrics="recall@2")
    assert scores["recall@2"].mean == 1
    assert any("nothing that should be found" in note for note in scores.settings["notes"])


@pytest.mark.parametrize("word", ["none", "N/A", "-"])
def test_one_text_in_place_of_a_list_is_a_cell(word) -> None:
    rows = [
        {"query": "q 1", "retrieved": ["x"], "ground_truth": word},
        {"query": "q 2", "retrieved": ["b"], "ground_truth": "b"},
    ]
    truth = load(rows, "both").ground_truth
    assert truth.targets["item"].to_list() == ["b"]


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "parquet", "qrels"])
def test_nothing_vanishes_in_convert(ending, tmp_path) -> None:
    ids = ["none", "null", "nan", "N/A", "-", "b"]
    source, target = tmp_path / "in.jsonl", tmp_path / f"out.{ending}"
    grades = {name: place + 1 for place, name in enumerate(ids)}
    source.write_text(json.dumps({"query": "q1", "ground_truth": grades}), encoding="utf-8")
    convert(source, target)
    back = load(target, "ground_truth").ground_truth.targets
    assert dict(zip(back["item"], back["grade"], strict=True)) == grades


def test_a_judged_id_in_flat_records_counts() -> None:
    rows = [{"query": "q1", "item": name, "grade": 1} for name in ("none", "b")]
    assert load(rows, "ground_truth").ground_truth.targets["item"].to_list() == ["none", "b"]
