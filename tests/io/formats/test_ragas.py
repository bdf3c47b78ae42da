import json

import polars as pl
import pytest

from calipers import convert, evaluate
from calipers.errors import InvalidInput
from tests.io.formats.expect import FIXTURES, results, targets

GIL, LIST = "What is the GIL?", "What is a list?"


def test_texts_and_ids_side_by_side_and_texts_alone():
    path = FIXTURES / "ragas.jsonl"
    assert targets(path) == [
        {"query": GIL, "item": "c1", "quote": "global interpreter lock"},
        {"query": LIST, "quote": "A list is a sequence."},
    ]
    assert results(path) == [
        {"query": GIL, "item": "c1", "text": "The global interpreter lock is a mutex."},
        {"query": GIL, "item": "7", "text": "Threads share memory."},
    ]


def test_ids_alone():
    rows = [{"user_input": "q", "retrieved_context_ids": [1, "b"], "reference_context_ids": ["b"]}]
    assert targets(rows) == [{"query": "q", "item": "b"}]
    assert [row["item"] for row in results(rows)] == ["1", "b"]


def test_lists_of_different_length_are_an_error_with_the_line(tmp_path):
    path = tmp_path / "a.jsonl"
    good = {"user_input": "a", "retrieved_contexts": ["x"]}
    bad = {"user_input": "b", "retrieved_contexts": ["x", "y"], "retrieved_context_ids": ["1"]}
    path.write_text(f"{json.dumps(good)}\n\n{json.dumps(bad)}\n")
    with pytest.raises(InvalidInput, match=r"a\.jsonl:3 \$: 2 in 'retrieved_contexts' and 1 in"):
        results(path)


def test_lists_that_python_wrote_into_a_csv_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user_input,retrieved_contexts\nq,\"['it''s', 'b']\"\nr,\"['a, b']\"\n")
    assert [row["text"] for row in results(path)] == ["its", "b", "a, b"]


def test_a_part_that_only_some_samples_have_is_named_as_ragas_names_it():
    rows = [{"user_input": "a", "reference_contexts": ["x"]}, {"user_input": "b"}]
    with pytest.raises(InvalidInput, match="1 of 2 records have 'reference_contexts'"):
        targets(rows)


def test_a_list_of_numbers_is_the_wrong_type_with_its_path(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"user_input": "a", "reference_contexts": ["x", 7]}]')
    with pytest.raises(InvalidInput, match=r"a\.json \$\[0\]\.reference_contexts\[1\]: found int"):
        targets(path)


def test_a_dataset_saved_to_disk_with_one_split(tmp_path):
    rows = [{"user_input": "q", "retrieved_contexts": ["a", "b"], "reference_contexts": ["b"]}]
    folder = tmp_path / "train"
    folder.mkdir()
    pl.DataFrame(rows).write_ipc_stream(folder / "data-00000-of-00001.arrow")
    (folder / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]})
    )
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train"]}')
    assert targets(tmp_path) == targets(folder) == [{"query": "q", "quote": "b"}]
    assert [row["text"] for row in results(tmp_path)] == ["a", "b"]


def test_references_that_cannot_be_paired_are_taken_as_the_results_are(tmp_path):
    reference = {"reference_contexts": ["one text"], "reference_context_ids": ["c1", 7]}
    with_ids = {"user_input": "a", "retrieved_context_ids": ["c1"], **reference}
    with_texts = {"user_input": "a", "retrieved_contexts": ["one text"], **reference}
    assert [row["item"] for row in targets([with_ids])] == ["c1", "7"]
    assert targets([with_texts]) == [{"query": "a", "quote": "one text"}]
    path = tmp_path / "ragas.jsonl"
    path.write_text(json.dumps(with_ids))
    assert convert(path, tmp_path / "out.jsonl").unread == {"reference_contexts": 1}


def test_what_could_not_be_paired_is_said_with_the_scores():
    reference = {"reference_contexts": ["one text"], "reference_context_ids": ["c1", 7]}
    by_id = [{"user_input": "a", "retrieved_context_ids": ["c1"], **reference}]
    assert evaluate(by_id, metrics="mrr").settings["notes"] == [
        "Not used: 'reference_contexts' of 1 record. Texts and ids of the references differ in "
        "number and cannot be paired; the kind that the results have is taken."
    ]
    by_text = [{"user_input": q, "retrieved_contexts": ["one text"], **reference} for q in "ab"]
    quoted, unpaired = evaluate(by_text, metrics="mrr").settings["notes"]
    assert quoted == (
        "The texts in 'reference_contexts' are taken as quotes: one is found where the text of a "
        "result holds it."
    )
    assert unpaired.startswith("Not used: 'reference_context_ids' of 2 records. ")
