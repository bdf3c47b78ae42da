"""Results that were kept, as JSON or as a Parquet table of scores: the same to the last bit."""

import json
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

import calipers
from calipers import evaluate, gate
from calipers.engines.saved_scores import is_result
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.records.results import (
    is_score_table,
    read_result,
    read_score_table,
    write_scores,
)
from tests.command import calipers_command, refused

RECORDS = [
    {
        "query": "=a",
        "id": "1",
        "retrieved": ["x", "y"],
        "ground_truth": {"x": 3, "z": 1},
        "tags": {"type": "fact", "hops": 2},
    },
    {"query": "b", "id": "2", "retrieved": ["y", "z", "y"], "ground_truth": {"z": 0.3}},
    {"query": "c", "id": "3", "retrieved": [], "ground_truth": {"z": 1}, "tags": {"type": None}},
    {"query": "no answer", "id": "4", "retrieved": ["x"], "ground_truth": {}},
]


@pytest.fixture
def scores():
    return evaluate(RECORDS, metrics="recall@1,3,mrr,ndcg(gain=exp),judged@3,first_rank")


@pytest.fixture
def file(scores, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(scores.to_dict()))
    return path


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_a_result_comes_back_exactly(scores, file, kind):
    table = file.with_suffix(".parquet")
    write_scores(scores, table)
    assert is_score_table(table)
    again = read_result(file) if kind == "json" else read_score_table(table)
    assert again.to_dict() == scores.to_dict()
    assert np.array_equal(again.values, scores.values, equal_nan=True)
    assert np.isnan(again.values).any()
    assert not again.values.flags.writeable
    assert again.queries.equals(scores.queries)
    assert again.queries.schema == scores.queries.schema
    assert again.per_query.equals(scores.per_query)
    assert {name: tag.to_list() for name, tag in again.tags.items()} == {
        "type": ["fact", None, None, None],
        "hops": ["2", None, None, None],
    }


def test_further_keys_are_left_alone(scores, file):
    file.write_text(json.dumps({"name": "main", "saved": "2030-01-01", **scores.to_dict()}))
    assert is_result(file)
    assert read_result(file).to_dict() == scores.to_dict()


def test_a_result_is_told_from_a_run(file, tmp_path):
    assert is_result(file)
    run = tmp_path / "run.json"
    run.write_text('{"schema": {"a": 1}, "calipers": {"b": 2}}')
    assert not is_result(run)
    run.write_text(json.dumps(RECORDS))
    assert not is_result(run)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"schema": 2, "calipers": "9.0"},
            r"form number 2 \(written by Calipers 9.0\), not",
        ),
        ({"schema": "1"}, "is no result of Calipers"),
        ({"summaries": None}, r"expected array, got null at \$.summaries"),
        ({"audit": {"queries": 1}}, r"missing required field answered at \$.audit"),
        ({"policy": {"missing": "sometimes"}}, r"not whole: .* at \$.policy"),
        ({"per_query": None}, "has no scores per query, only means"),
        ({"settings": {"confidence": 0.95}}, "do not say how results were matched"),
    ],
)
def test_what_is_no_result_of_this_form_is_refused(scores, file, change, sentence):
    file.write_text(json.dumps({**scores.to_dict(), **change}))
    with pytest.raises(
        UnreadableFile if "per_query" not in change else InvalidInput, match=sentence
    ):
        read_result(file)


def test_a_row_without_a_metric_and_a_query_twice_are_refused(scores, file):
    result = scores.to_dict()
    del result["per_query"][1]["scores"]["mrr"]
    file.write_text(json.dumps(result))
    with pytest.raises(InvalidInput, match="has no 'mrr' for its queries"):
        read_result(file)
    result = scores.to_dict()
    result["per_query"].append(result["per_query"][0])
    file.write_text(json.dumps(result))
    with pytest.raises(InvalidInput, match="has the query '1' twice"):
        read_result(file)


@pytest.mark.parametrize("value", [9, -0.5, 1e300])
def test_a_value_that_no_metric_gives_is_refused(scores, file, value):
    result = scores.to_dict()
    result["per_query"][1]["scores"]["mrr"] = value
    file.write_text(json.dumps(result))
    with pytest.raises(UnreadableFile, match=r"mrr is .* for the query '2'"):
        read_result(file)


def test_an_edited_mean_is_refused(scores, file):
    result = scores.to_dict()
    result["summaries"][0]["mean"] = 0.123
    file.write_text(json.dumps(result))
    with pytest.raises(UnreadableFile, match=r"contradicts itself: the mean of .* is 0.123, and"):
        read_result(file)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        (" " * 70_000 + "{}", "begins with 64 kB of blanks"),
        ("[1]", "is no result"),
        ('{"schema": 1', "ends in the middle"),
    ],
)
def test_broken_files_are_refused(tmp_path, content, sentence):
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(UnreadableFile, match=sentence):
        read_result(path)


def test_a_run_in_json_lines_is_no_result_and_is_not_called_broken(tmp_path):
    path = tmp_path / "yesterday.jsonl"
    path.write_text('{"query": "q", "retrieved": ["a"]}\n{"query": "p", "retrieved": ["b"]}\n')
    with pytest.raises(UnreadableFile, match="is no result of Calipers"):
        gate(RECORDS, baseline=path)


SYSTEMS: list[dict[str, Any]] = [
    {
        "query": f"q{i}",
        "retrieved": ["x", "a", "b"][i % 3 :],
        "ground_truth": ["a", "b"],
        "tags": {"type": "odd" if i % 2 else "even"},
    }
    for i in range(24)
]


@pytest.fixture
def tables(tmp_path):
    """Two tables of scores: one system, and the same with its results the other way round."""
    turned = [{**one, "retrieved": one["retrieved"][::-1]} for one in SYSTEMS]
    found = {}
    for name, records in (("a", SYSTEMS), ("b", turned)):
        found[name] = evaluate(records, metrics="recall@1,2,mrr")
        write_scores(found[name], tmp_path / f"{name}.parquet")
    return found, tmp_path / "a.parquet", tmp_path / "b.parquet"


def test_tables_are_enough_to_compare_to_gate_to_plan_and_to_slice(tables):
    scores, a, b = tables
    from_files = calipers.compare([a, b]).to_dict()
    assert from_files == calipers.compare(scores).to_dict() == calipers.compare(a, b).to_dict()
    sliced = calipers.slices(a, "type", metrics="recall@1")
    assert sliced.to_dict() == calipers.slices(scores["a"], "type", metrics="recall@1").to_dict()
    planned = calipers.plan([a, b], queries=100).to_dict()
    assert planned == calipers.plan(scores, queries=100).to_dict()
    gated = calipers_command("gate", b, "--baseline", a, "--json")
    assert gated.code in (0, 1), gated.err
    done = calipers_command("eval", a, "--by", "type", "-m", "recall@2", "--json")
    found = msgspec.json.decode(done.out)
    assert [one["metric"] for one in found["summaries"]] == ["recall@2"]
    assert found["slices"] == calipers.slices(scores["a"], "type", metrics="recall@2").to_dict()


def test_tables_that_do_not_belong_together_are_refused(tables, tmp_path):
    _, a, _ = tables
    other = tmp_path / "other.parquet"
    judged = [{**one, "ground_truth": ["b"]} for one in SYSTEMS]
    write_scores(evaluate(judged, metrics="recall@1,2,mrr"), other)
    plan = ["plan", a, other, "--queries", "100"]
    for command in (["compare", a, other], ["gate", other, "--baseline", a], plan):
        assert "measured against different ground truth" in refused(*command)
    write_scores(evaluate(SYSTEMS, metrics="mrr"), other)
    said = refused("gate", other, "--baseline", a)
    assert "no 'recall@1' in this result; it has mrr." in said
    with pytest.raises(
        InvalidInput, match=r"One system is given, .*a\.parquet, and two are needed"
    ):
        calipers.compare(a, {"q0": ["a"]})
    assert "so --save does not work" in refused("eval", a, "--save", "night")
    assert "These scores have no 'recall@9'" in refused("eval", a, "-m", "recall@9")
    with pytest.raises(InvalidInput, match="holds no scores"):
        calipers.slices("nowhere.parquet", "type")


def test_a_plain_table_is_a_run(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]}).write_parquet(path)
    assert not is_score_table(path)
    assert not is_score_table(tmp_path / "none.parquet")
    with pytest.raises(UnreadableFile, match="is no table of scores"):
        read_score_table(path)


def test_what_was_taken_out_of_a_table_is_missed(tables):
    _, file, _ = tables
    about = {k: v for k, v in pl.read_parquet_metadata(file).items() if k == "calipers"}
    table = pl.read_parquet(file)
    for changed, said in (
        (table.drop("mrr"), "has no 'mrr' for its queries"),
        (table.head(5), "5 queries, and 24 were measured"),
        (pl.concat([table.head(23), table.head(1)]), "'q0' twice"),
    ):
        changed.write_parquet(file, metadata=about)
        with pytest.raises(InvalidInput, match=said):
            read_score_table(file)
