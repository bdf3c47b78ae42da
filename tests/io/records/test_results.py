"""Results that were kept as JSON: the same to the last bit."""

import json
from typing import Any

import numpy as np
import pytest

import calipers
from calipers import evaluate, gate
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.write import write_table
from calipers.io.records.results import is_result, read_result
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


def test_a_result_comes_back_exactly(scores, file):
    again = read_result(file)
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
            r"format number 2 \(written by Calipers 9.0\), not",
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
    with pytest.raises(InvalidInput, match="is a run, and a baseline is a result") as caught:
        gate(RECORDS, baseline=path)
    # Python is told a call and a keyword.
    assert "calipers.gate_save(" in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize("command", ["eval", "misses", "audit"])
def test_a_result_of_ours_is_no_evaluation_data(command, file):
    assert "holds scores that Calipers printed as JSON" in refused(command, file)


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("command", ["convert", "audit", "eval", "compare"])
def test_values_are_neither_results_nor_ground_truth(scores, form, command, file, tmp_path):
    path, out = tmp_path / f"scores.{form}", tmp_path / "out.jsonl"
    write_table(scores.per_query, path)
    more = {"convert": [out], "compare": [file]}.get(command, [])
    assert "holds scores that `calipers eval --per-query` wrote" in refused(command, path, *more)
    assert not out.exists()


def test_results_are_enough_to_compare_to_gate_and_to_slice(scores, file, tmp_path):
    other = tmp_path / "other.json"
    turned: list[dict[str, Any]] = [{**one, "retrieved": ["y", "x"]} for one in RECORDS]
    second = evaluate(turned, metrics="recall@1,3,mrr")
    other.write_text(json.dumps(second.to_dict()))
    both = {"result": scores, "other": second}
    assert calipers.compare([file, other]).to_dict() == calipers.compare(both).to_dict()
    sliced = calipers.slices(file, "type", metrics="recall@1")
    assert sliced.to_dict() == calipers.slices(scores, "type", metrics="recall@1").to_dict()
    assert calipers_command("gate", other, "--baseline", file, "-m", "mrr").code in (0, 1)


def test_results_that_do_not_belong_together_are_refused(file, tmp_path):
    other = tmp_path / "other.json"
    judged = [{**one, "ground_truth": ["y"]} for one in RECORDS]
    other.write_text(json.dumps(evaluate(judged, metrics="recall@1,3,mrr").to_dict()))
    for command in (["compare", file, other], ["gate", other, "--baseline", file]):
        assert "measured against different ground truth" in refused(*command)
    with pytest.raises(InvalidInput, match="give a mapping of names to systems"):
        calipers.compare(file, {"q0": ["a"]})
    with pytest.raises(InvalidInput, match="holds no scores"):
        calipers.slices("nowhere.json", "type")
