import json

import polars as pl
import pytest

from calipers import convert, evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
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


def test_contexts_of_an_evaluation_are_what_was_retrieved():
    path = FIXTURES / "ragas_old.jsonl"
    assert results(path) == [
        {"query": GIL, "text": "The global interpreter lock is a mutex."},
        {"query": GIL, "text": "Threads share memory."},
    ]
    assert load(path, "both").ground_truth is None


def test_contexts_of_a_test_set_are_what_should_be_found():
    path = FIXTURES / "ragas_test_set.jsonl"
    assert targets(path) == [
        {"query": GIL, "quote": "global interpreter lock"},
        {"query": GIL, "quote": "a mutex"},
        {"query": LIST, "quote": "A list is a sequence."},
    ]
    found = load(path, "both")
    assert found.run is None
    assert found.ground_truth is not None
    assert found.ground_truth.tags["evolution_type"].to_list() == ["simple", "reasoning"]


def test_a_test_set_and_an_evaluation_are_measured_together():
    scores = evaluate(
        ground_truth=FIXTURES / "ragas_test_set.jsonl",
        run=FIXTURES / "ragas_old.jsonl",
        metrics="recall@1",
    )
    assert scores["recall@1"].mean == 0.5


def test_a_test_set_that_pandas_wrote(tmp_path):
    path = tmp_path / "testset.csv"
    path.write_text(
        ",question,contexts,ground_truth,evolution_type,metadata,episode_done\n"
        "0,q,\"['one', 'two']\",an answer,simple,[{'source': 'a.md'}],True\n"
    )
    assert targets(path) == [{"query": "q", "quote": "one"}, {"query": "q", "quote": "two"}]


@pytest.mark.parametrize("answers", [{"ground_truth": "a"}, {"ground_truths": ["a"]}])
def test_an_answer_is_not_taken_for_what_should_be_found(tmp_path, answers):
    path = tmp_path / "old.json"
    path.write_text(json.dumps([{"question": "q", "contexts": ["c"], "answer": "b", **answers}]))
    why = "'ground_truth' of ragas is an answer in words, not what should be found"
    with pytest.raises(InvalidInput, match=f"only results: {why}; give a second file"):
        evaluate(path)
    with pytest.raises(InvalidInput, match=f"The ground truth is missing.*: {why}; give a file"):
        evaluate(ground_truth=path, run=path)


def test_our_own_records_may_have_contexts_too():
    rows = [{"question": "q", "contexts": ["x"], "retrieved": ["a"], "ground_truth": ["a"]}]
    assert targets(rows) == [{"query": "q", "item": "a"}]


def test_contexts_that_are_no_list_are_named_with_their_line(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text('{"question": "q", "contexts": ["c"]}\n{"question": "r", "contexts": [7]}\n')
    with pytest.raises(InvalidInput, match=r"old\.jsonl:2 \$\.contexts\[0\]: found int"):
        results(path)
