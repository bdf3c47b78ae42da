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
from calipers.live import word_matching
from calipers.live.word_matching import WordIndex, search_folder

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
    index = WordIndex.of(open_corpus(CORPUS), with_texts=True)
    assert index.chunks.height == len(CORPUS)
    return index.run(queries).frame


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


def test_a_word_that_stands_more_often_than_a_byte_holds_counts_as_often(monkeypatch):
    """Counts take as few bytes as the batch needs; one batch may need more than another."""
    monkeypatch.setattr(corpus_module, "ROWS_AT_ONCE", 1)
    corpus = {"much": "cat " * 70_000, "some": "cat " * 300 + "dog", "few": "cat dog dog"}
    index = WordIndex.of(open_corpus(corpus))
    chunks, scores = index.best(["cat"], 3)
    sizes = [70_000, 301, 3]
    average = sum(sizes) / 3
    weight = math.log1p(0.5 / 3.5)
    often = {0: 70_000, 1: 300, 2: 1}
    for chunk, score in zip(chunks.tolist(), scores.tolist(), strict=True):
        delay = 1.5 * (0.25 + 0.75 * sizes[chunk] / average)
        assert score == pytest.approx(weight * often[chunk] / (often[chunk] + delay), rel=1e-12)
    assert sorted(chunks.tolist()) == [0, 1, 2]


def test_ids_of_queries_alone_say_nothing_of_words():
    health = audit({"q1": ["cat"], "q2": ["dog"]}, corpus=CORPUS)
    assert "word_matching" not in health.facts
    assert any("not their texts" in note for note in health.notes)


def test_the_figure_is_that_of_bm25s():
    if not SCIFACT.exists():
        pytest.skip(f"SciFact is not in {SCIFACT}")
    bm25s = pytest.importorskip("bm25s", reason="needs bm25s")
    lines = ((SCIFACT / f"{n}.jsonl").read_text("utf-8") for n in ("corpus", "queries"))
    corpus, texts = (
        {one["_id"]: one["text"] for one in map(json.loads, some.splitlines())} for some in lines
    )
    judged = (SCIFACT / "qrels" / "test.tsv").read_text().splitlines()[1:]
    truth: dict[str, Any] = {}
    for query, item, _ in (line.split("\t") for line in judged[:120]):
        truth.setdefault(query, []).append(item)
    # A part is enough to compare by, with everything that is looked for in it.
    wanted = {item for items in truth.values() for item in items}
    corpus = {name: corpus[name] for name in [*wanted, *list(corpus)[:800]]}
    index, quiet = bm25s.BM25(), {"show_progress": False}
    index.index(bm25s.tokenize(list(corpus.values()), **quiet), **quiet)
    asked = bm25s.tokenize([texts[query] for query in truth], **quiet)
    places, _ = index.retrieve(asked, k=5, **quiet)
    ids = list(corpus)
    theirs = dict(zip(truth, ([ids[place] for place in row] for row in places), strict=True))
    queries = pl.DataFrame({"query": list(truth), "text": [texts[query] for query in truth]})
    ours = WordIndex.of(open_corpus(corpus), with_texts=True).run(queries)
    means = [
        evaluate(ground_truth=truth, run=run, metrics="recall@5")["recall@5"].mean
        for run in (theirs, ours)
    ]
    assert means[0] == pytest.approx(means[1], abs=0.0005)
    assert means[0] > 0.5


def test_a_folder_is_indexed_before_the_first_question(tmp_path):
    (tmp_path / "a.md").write_text("# Refunds\n\nA refund takes thirty days.\n")
    search = search_folder(tmp_path)
    (tmp_path / "a.md").unlink()
    assert [result["text"] for result in search("refund", 3)]


def test_the_words_of_known_queries_alone_give_the_same_results():
    texts = ("dog sat", "cat mat 解释", "sat", "zebra")
    queries = pl.DataFrame({"query": [*texts], "text": [*texts]})
    whole = WordIndex.of(open_corpus(CORPUS), with_texts=True)
    few = WordIndex.of(open_corpus(CORPUS), with_texts=True, queries=queries["text"])
    assert few.run(queries).frame.equals(whole.run(queries).frame)
    assert {"dog", "cat", "sat", "mat"} < few.terms.keys() < whole.terms.keys()


def test_splitting_fewer_chunks_at_once_changes_nothing(monkeypatch):
    texts = ("dog sat", "cat mat", "sat")
    whole = ask(*texts)
    split = []
    words_of = word_matching.words_of

    def noted(texts):
        split.append(len(texts))
        return words_of(texts)

    monkeypatch.setattr(word_matching, "SPLIT_AT_ONCE", 2)
    monkeypatch.setattr(word_matching, "words_of", noted)
    assert ask(*texts).equals(whole)
    assert split == [2, 2, 1, len(texts)]


def test_texts_that_somebody_else_keeps_are_those_of_the_results():
    query = pl.DataFrame({"query": ["q"], "text": ["dog sat"]})
    kept = WordIndex.of(open_corpus(CORPUS), with_texts=True).run(query).frame
    index = WordIndex.of(
        open_corpus(CORPUS), texts=lambda chunks: pl.Series([CORPUS[name] for name in chunks["id"]])
    )
    assert "text" not in index.chunks.columns
    assert index.run(query).frame.equals(kept)
