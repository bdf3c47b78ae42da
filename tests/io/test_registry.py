import json

import pytest

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.load import load
from calipers.io.registry import named


def write(tmp_path, text, name="data"):
    path = tmp_path / name
    path.write_text(text)
    return path


def ranking(path):
    """The items of a run in order; reading is lazy, so that an error may come only now."""
    run = load(path, "run").run
    assert run is not None
    return run.frame["item"].to_list()


def test_records_of_two_tools_at_once_are_named_both(tmp_path):
    record = {"user_input": "q", "reference_contexts": ["a"], "retrieval_context": ["a"]}
    path = write(tmp_path, json.dumps([record]))
    with pytest.raises(InvalidInput, match=r"could be two: ragas samples \(ragas\) or deepeval"):
        load(path, "both")
    with pytest.raises(InvalidInput, match="data could be two: ragas samples"):
        load([record], "both")


@pytest.mark.parametrize("text", ["q1 d1 1\nq2 d2 1\n", "q1\td1\t1\nq1\td2\t2\n"])
def test_three_columns_that_could_be_ranks_or_grades(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(
        InvalidInput, match=r"MS MARCO run .* or judgements .*--run or --ground-tru"
    ):
        load(path, "both")
    assert load(path, "run").run is not None
    assert load(path, "ground_truth").ground_truth is not None


def test_three_columns_that_say_what_they_are(tmp_path):
    ranks = "".join(f"q d{i} {i}\n" for i in range(1, 6))
    assert load(write(tmp_path, ranks), "both").run is not None
    assert load(write(tmp_path, "q a 0\nq b 1\n"), "both").ground_truth is not None
    assert load(write(tmp_path, "q a 1\nq b 1\n"), "both").ground_truth is not None


def test_ranks_decide_the_order_of_an_ms_marco_run(tmp_path):
    assert ranking(write(tmp_path, "q b 2\nq c 3\nq a 1\n")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q a 1\nq b 2\nq c 3\nq d\n", "data:4 has 2 columns; .* has 3: query item rank"),
        ("q a 1\nq b 2\nq c 3\nq d x\n", "data:4 has the rank 'x'"),
        ("q a x\n", "not known"),
    ],
)
def test_a_bad_line_of_three_columns(tmp_path, text, said):
    with pytest.raises(InvalidInput, match=said):
        ranking(write(tmp_path, text))


def test_an_unknown_text_shows_its_first_line_and_what_is_known(tmp_path):
    with pytest.raises(UnreadableFile, match=r"its first line is 'Dear reader'.*ragas"):
        load(write(tmp_path, "Dear reader\n"), "both")


def test_an_unknown_table_shows_its_columns(tmp_path):
    with pytest.raises(UnreadableFile, match="its columns are colour, shape"):
        load(write(tmp_path, "colour,shape\nred,round\n"), "both")


def test_records_of_no_known_form_say_what_a_record_is(tmp_path):
    path = write(tmp_path, '[{"colour": "red"}]')
    with pytest.raises(InvalidInput, match=r"data \$\[0\]: no 'query'; a record is"):
        load(path, "both")


def test_a_file_of_questions_alone_has_nothing_to_measure(tmp_path):
    from calipers import evaluate

    path = write(tmp_path, '{"query": "q", "tags": {"a": 1}}\n{"query": "r"}\n')
    with pytest.raises(InvalidInput, match="neither results nor a ground truth"):
        evaluate(path)


def test_records_under_any_key_of_one_object(tmp_path):
    path = write(tmp_path, json.dumps({"data": [{"query": "q", "ground_truth": ["a"]}]}))
    assert load(path, "both").ground_truth is not None
    bad = write(tmp_path, json.dumps({"data": [{"query": "q", "ground_truth": [{"grade": 1}]}]}))
    with pytest.raises(InvalidInput, match=r"\$\.data\[0\]\.ground_truth\[0\]"):
        load(bad, "both")


def test_a_mapping_to_lists_of_mixed_values_is_no_form_of_records(tmp_path):
    path = write(tmp_path, json.dumps({"q": [{"id": "a"}, "b"]}))
    with pytest.raises(InvalidInput, match="data"):
        load(path, "run")


def test_a_name_that_does_not_exist_is_answered_with_the_nearest():
    with pytest.raises(InvalidInput, match=r"Did you mean ragas\?"):
        named("ragass")


def test_a_folder_in_no_known_form(tmp_path):
    write(tmp_path, "x", "notes.md")
    with pytest.raises(UnreadableFile, match=r"it holds notes\.md"):
        load(tmp_path, "both")


def test_a_dataset_with_several_splits_asks_which(tmp_path):
    write(tmp_path, '{"splits": ["train", "test"]}', "dataset_dict.json")
    with pytest.raises(InvalidInput, match="several splits: train, test; name the one you mean"):
        load(tmp_path, "both")


def test_a_damaged_dataset_is_said_so(tmp_path):
    write(tmp_path, "{}", "state.json")
    with pytest.raises(UnreadableFile, match=r"state\.json does not list its files"):
        load(tmp_path, "both")
