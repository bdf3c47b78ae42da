"""Cells that give each of their ids a grade."""

import json

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.io.tables.test_propose import put

ENTRIES = {
    "a mapping": {"a": 0, "b": 2},
    "objects": [{"id": "a", "grade": 0}, {"id": "b", "grade": 2}],
    "other names": [{"doc_id": "a", "relevance": 0}, {"doc_id": "b", "relevance": 2}],
    "pairs": [["a", 0], ["b", 2]],
}


def cell(value) -> str:
    return '"' + json.dumps(value).replace('"', '""') + '"'


@pytest.mark.parametrize("form", ENTRIES)
def test_each_id_has_the_grade_that_its_cell_gives(form, tmp_path):
    path = put(tmp_path, f"question,expected_ids\nq,{cell(ENTRIES[form])}\np,c; d\n")
    truth = load(path, "ground_truth").ground_truth
    rows = truth.targets.select("query", "item", "grade").rows()
    assert rows == [("q", "a", 0.0), ("q", "b", 2.0), ("p", "c", 1.0), ("p", "d", 1.0)]


def test_a_grade_of_0_is_not_relevant_beside_results(tmp_path):
    entries = cell(ENTRIES["objects"])
    path = put(tmp_path, f'question,expected_ids,retrieved_ids\nq,{entries},"[""a"", ""b""]"\n')
    assert evaluate(path, metrics="mrr")["mrr"].mean == 0.5


def test_ids_with_and_without_a_grade_in_one_cell_are_refused(tmp_path):
    entries = cell([{"id": "a", "grade": 1}, {"id": "b", "grade": "?"}])
    with pytest.raises(InvalidInput, match="ids without a grade beside others with one"):
        load(put(tmp_path, f"question,expected_ids\nq,{entries}\n"), "ground_truth")


def test_names_of_files_with_a_blank_in_a_mapping_are_ids(tmp_path):
    graded = cell({"file 1.pdf": 2, "file 2.pdf": 0})
    path = put(tmp_path, f"question,expected,retrieved\nq,{graded},file 2.pdf; file 1.pdf\n")
    assert evaluate(path, metrics="mrr")["mrr"].mean == 0.5


@pytest.mark.parametrize(("name", "asks"), [("relevance_scores", True), ("pages", False)])
def test_numbers_for_each_target_of_a_cell_are_asked_about(name, asks, tmp_path):
    rows = "Who?,a;b,1;0,a;c;b\nWhen?,c,2,d;c;e\n"
    path = put(tmp_path, f"question,expected_ids,{name},retrieved_ids\n{rows}")
    if asks:
        with pytest.raises(InvalidInput, match=f"the cells of '{name}' .* seem to grade"):
            evaluate(path)
    assert evaluate(path, columns={"ignore": name}, metrics="mrr")["mrr"].mean == 0.75
    if not asks:
        assert evaluate(path, metrics="mrr")["mrr"].mean == 0.75
