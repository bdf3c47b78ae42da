"""Scores per query, read back from Parquet; other forms hold values alone."""

import json

import pytest

from calipers import compare, evaluate
from calipers.engines.saved_scores import read_saved
from calipers.errors import InvalidInput
from calipers.io.records.results import write_scores
from tests.command import calipers_command, refused

TRUTH = [
    {"query": "=How?", "ground_truth": {"a": 1, "b": 1}, "tags": {"kind": "fact"}},
    {"query": "When?", "ground_truth": {"c": 1}, "tags": {"kind": "time"}},
    {"query": "Why?", "ground_truth": [], "tags": {"kind": "time"}},
    {"query": "Who?", "ground_truth": {"e": 1}, "tags": {"kind": "fact"}},
]
RUN = {"=How?": ["a", "x"], "When?": ["y", "c"], "Why?": []}
METRICS = "recall@1,recall@2,mrr,ndcg@2(gain=exp)"
FORMS = ["csv", "tsv", "json", "jsonl", "parquet"]


@pytest.fixture
def scores():
    return evaluate(RUN, ground_truth=TRUTH, metrics=METRICS)


@pytest.fixture(params=["parquet"])
def written(request, scores, tmp_path):
    path = tmp_path / f"scores.{request.param}"
    write_scores(scores, path)
    return path


def test_eval_reads_what_it_wrote(written, scores):
    again = read_saved(written)
    for name in ("recall@1", "recall@2", "mrr", "ndcg@2(gain=exp)"):
        assert (again[name].mean, again[name].n) == (scores[name].mean, scores[name].n)
        assert again[name].interval == scores[name].interval
    assert again.audit.missing == scores.audit.missing == 1
    printed = calipers_command("eval", written, "--json")
    assert json.loads(printed.out)["summaries"][0]["mean"] == scores["recall@1"].mean


def test_compare_and_slices_read_it(written, tmp_path):
    other = evaluate({**RUN, "When?": ["c", "y"]}, ground_truth=TRUTH, metrics=METRICS)
    second = tmp_path / f"second{written.suffix}"
    write_scores(other, second)
    found = compare([str(written), str(second)], primary="mrr")
    assert found.systems == ("scores", "second")
    printed = calipers_command("eval", written, "--by", "kind")
    assert "fact" in printed.out


@pytest.mark.parametrize("written", FORMS, indirect=True)
@pytest.mark.parametrize("command", ["convert", "audit"])
def test_values_are_neither_results_nor_ground_truth(command, written, tmp_path):
    out = [tmp_path / "out.jsonl"] if command == "convert" else []
    assert "holds scores that `calipers eval --per-query` wrote" in refused(command, written, *out)
    assert not (tmp_path / "out.jsonl").exists()


def test_values_alone_are_refused_with_what_to_write(scores, tmp_path):
    write_scores(scores, tmp_path / "scores.csv")
    for command in (("eval",), ("gate", tmp_path / "scores.csv", "--baseline")):
        assert "--per-query scores.parquet" in refused(*command, tmp_path / "scores.csv")
    with pytest.raises(InvalidInput, match="holds values alone"):
        compare({"one": scores, "other": tmp_path / "scores.csv"})
