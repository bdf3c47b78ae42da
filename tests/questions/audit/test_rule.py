import numpy as np
import polars as pl
import pytest

from calipers import audit
from calipers.errors import InvalidInput
from calipers.io import corpus as corpus_module
from calipers.questions.audit.rule import ENOUGH
from calipers.statistics.score_interval import mean_interval


def truth(n):
    return {f"question {n} of many {n * 7919}": {"a": 1} for n in range(n)}


def test_too_few_queries_says_how_wide_the_interval_is():
    found = audit(truth(10))["too_few_queries"]
    assert found.severity == "warning"
    # The score interval of 5 out of 10.
    assert "0.199–0.801" in str(found.detail)
    assert "About 96 queries" in str(found.detail)


def test_the_number_of_queries_it_names_is_the_smallest_that_is_enough():
    assert "too_few_queries" in audit(truth(ENOUGH - 1))
    assert "too_few_queries" not in audit(truth(ENOUGH))
    for n, is_enough in ((ENOUGH - 2, False), (ENOUGH, True)):
        interval = mean_interval(np.arange(n) % 2.0, 0.95)
        assert (interval.high - 0.5 <= 0.1) == is_enough


def test_quotes_asked_for_by_name():
    health = audit({"q": {"a lock": 1}}, match="quote", corpus={"c": "It is a lock."})
    assert "id_not_in_corpus" not in health


def test_results_alone_are_no_ground_truth(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 d1 1 0.5 tag\n")
    with pytest.raises(InvalidInput, match="no ground truth"):
        audit(path)


def test_the_corpus_is_never_held_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus_module, "ROWS_AT_ONCE", 3)
    path = tmp_path / "corpus.parquet"
    pl.DataFrame(
        {"id": [f"c{n}" for n in range(50)], "text": [f"text number {n}" for n in range(50)]}
    ).write_parquet(path)
    sizes = [batch.height for batch in corpus_module.open_corpus(path).batches()]
    assert max(sizes) == 3
    health = audit([{"query": "q", "ground_truth": [{"quote": "text number 49"}]}], corpus=path)
    assert "evidence_in_no_chunk" not in health
    assert health.facts["chunks"] == 50
