"""Exports of experiments as tables: what should be found, and what came back, are not exchanged."""

import csv
import json

import pytest

from calipers import evaluate

HEADERS = (
    "inputs.question,reference_outputs.doc_ids,outputs.doc_ids",
    "question,expected_retrieved_context,retrieved_context",
    "question,expected_doc_ids,actual_doc_ids",
    "input.question,reference_outputs.chunks,outputs.chunks",
)


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("turned", [False, True])
def test_what_should_be_found_is_what_its_name_says(header, turned, tmp_path):
    asked, wanted, returned = header.split(",")
    rows = [("How?", "['a','b']", "['a','x','y']"), ("When?", "['c']", "['z','c']")]
    names = [asked, returned, wanted] if turned else [asked, wanted, returned]
    lines = [",".join(names)]
    for question, targets, results in rows:
        cells = (question, results, targets) if turned else (question, targets, results)
        lines.append(",".join(f'"{cell}"' for cell in cells))
    path = tmp_path / "export.csv"
    path.write_text("\n".join(lines) + "\n")
    scores = evaluate(path, metrics="recall@10,mrr")
    assert (scores["recall@10"].mean, scores["mrr"].mean) == (0.75, 0.75)


def test_objects_in_the_cells_of_a_table_are_opened(tmp_path):
    rows = [("Who?", ["a"], ["b", "a"]), ("Where?", ["c"], ["c", "d"])]
    path = tmp_path / "langfuse.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "input", "expectedOutput", "output"])
        for asked, targets, results in rows:
            cells = {"question": asked}, {"ids": targets}, {"ids": results}
            writer.writerow([asked[:2], *map(json.dumps, cells)])
    assert evaluate(path, metrics="mrr")["mrr"].mean == 0.75


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_question_in_an_object_of_a_cell_is_found(separator, tmp_path):
    rows = [("Who?", ["a"], ["b", "a"]), ("Where?", ["c"], ["c", "d"])]
    path = tmp_path / "langsmith.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["inputs", "outputs", "reference_outputs"])
        for asked, targets, results in rows:
            cells = ({"question": asked}, {"documents": results}, {"documents": targets})
            writer.writerow([json.dumps(cell) for cell in cells])
    scores = evaluate(path, metrics="recall@1,mrr")
    assert (scores["recall@1"].mean, scores["mrr"].mean) == (0.5, 0.75)
