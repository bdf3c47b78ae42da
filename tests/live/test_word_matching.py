"""Plain word matching: the formula, and another implementation on public data."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calipers import audit, evaluate
from calipers.io import corpus as corpus_module
from calipers.io.corpus import open_corpus
from calipers.live.word_matching import word_matching

SCIFACT = Path(__file__).parents[3] / "shared" / "data" / "scifact"
CORPUS = {
    "cat": "The cat sat on the mat, and a cat it was.",
    "dog": "A dog sat.",
    "same": "A dog sat.",
    "none": "!",
    "zh": "全局解释器锁",
}


def ask(*texts):
    queries = pl.DataFrame({"query": [f"q{i}" for i in range(len(texts))], "text": texts})
    run, chunks = word_matching(queries, open_corpus(CORPUS))
    assert chunks == len(CORPUS)
    return run.frame


def test_scores_are_those_of_the_formula():
    found = ask("Cat, cat or dog?").sort("score", descending=True)
    sizes = {"cat": 4, "dog": 2, "same": 2, "none": 0, "zh": 6}  # stop words do not count
    average = sum(sizes.values()) / 5

    def gain(often, holding, size):
        weight = math.log(1 + (5 - holding + 0.5) / (holding + 0.5))
        return weight * often / (often + 1.5 * (0.25 + 0.75 * size / average))

    expected = [("cat", 2 * gain(2, 1, 4)), ("dog", gain(1, 2, 2)), ("same", gain(1, 2, 2))]
    assert list(zip(found["item"], found["score"], strict=True)) == [
        (item, pytest.approx(score)) for item, score in expected
    ]


def test_nothing_in_common_is_not_found_and_signs_are_words_of_nobody():
    assert ask("zebra", "?!", "the a of").is_empty()
    assert ask("解释")["item"].to_list() == ["zh"]


def test_batches_change_nothing(monkeypatch):
    texts = ("dog sat", "cat mat", "sat")
    whole = ask(*texts)
    monkeypatch.setattr(corpus_module, "ROWS_AT_ONCE", 2)
    assert ask(*texts).equals(whole)


def test_ids_of_queries_alone_say_nothing_of_words():
    health = audit({"q1": ["cat"], "q2": ["dog"]}, corpus=CORPUS)
    assert "word_matching" not in health.facts
    assert any("not their texts" in note for note in health.notes)


def test_the_figure_is_that_of_bm25s():
    if not SCIFACT.exists():
        pytest.skip(f"SciFact is not in {SCIFACT}")
    bm25s = pytest.importorskip("bm25s", reason="needs bm25s")
    lines = (SCIFACT / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    corpus = {one["_id"]: one["text"] for one in map(json.loads, lines)}
    lines = (SCIFACT / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {one["_id"]: one["text"] for one in map(json.loads, lines)}
    truth: dict[str, Any] = {}
    for line in (SCIFACT / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, item, _ = line.split("\t")
        truth.setdefault(query, []).append(item)
    records = [
        {"id": query, "query": texts[query], "ground_truth": items}
        for query, items in truth.items()
    ]
    index, quiet = bm25s.BM25(), {"show_progress": False}
    index.index(bm25s.tokenize(list(corpus.values()), **quiet), **quiet)
    asked = bm25s.tokenize([texts[query] for query in truth], **quiet)
    places, _ = index.retrieve(asked, k=5, **quiet)
    ids = list(corpus)
    run = {
        query: [ids[place] for place in row]
        for query, row in zip(truth, places.tolist(), strict=True)
    }
    theirs = evaluate(ground_truth=truth, run=run, metrics="recall@5")["recall@5"].mean
    ours = audit(records, corpus=corpus)
    assert ours.facts["word_matching"]["mean"] == pytest.approx(theirs, abs=0.0005)
    assert ours.claim.standing == "passed"
