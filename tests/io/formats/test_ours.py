"""Our records as people write them: other names of the question, and further fields."""

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.records.fields import resolve_record
from calipers.io.records.schema import JsonRecord, JsonResult, JsonTarget
from calipers.live.questions import read_questions
from tests.io.formats.expect import put

GOOD = {"query": "Who?", "retrieved": ["a"], "ground_truth": ["a"]}


@pytest.mark.parametrize(
    "extra",
    [
        {"retriever": "bm25", "retrieval": [1], "note": "mine"},
        {"stage": "dev", "errors": 3, "tag": "x", "latency": 0.1},
        # The field itself is there too: what is nearly it is something else.
        {"retreived": ["z"], "ground_truths": ["z"]},
        {"tgas": None},
    ],
)
def test_other_unknown_fields_change_nothing(extra):
    plain, with_extra = evaluate([GOOD]), evaluate([{**GOOD, **extra}])
    assert plain.fingerprints == with_extra.fingerprints
    assert plain["mrr"].mean == with_extra["mrr"].mean == 1.0


def test_unknown_fields_of_results_and_targets_are_allowed():
    record = {
        "query": "Who?",
        "retrieved": [{"id": "a", "document_id": "d", "metadata": {"page": 1}, "title": "A"}],
        "ground_truth": [{"id": "a", "reason": "says it", "judge": "me"}],
    }
    assert evaluate([record])["mrr"].mean == 1.0


def test_a_wrong_type_beside_an_unknown_field_keeps_its_path(tmp_path):
    path = put(tmp_path, "evals.json", [{**GOOD, "note": "x", "retrieved": ["a", 1.5]}])
    with pytest.raises(InvalidInput, match=r"wrong type at .*evals\.json \$\[0\]\.retrieved\[1\]"):
        evaluate(path)


@pytest.mark.parametrize("kind", [JsonRecord, JsonResult, JsonTarget])
def test_no_field_of_ours_is_taken_for_another(kind):
    part = {JsonRecord: None, JsonResult: "retrieved", JsonTarget: "ground_truth"}[kind]
    for name in kind.__struct_fields__:
        record = {part: [{name: "1"}]} if part else {name: "1"}
        resolved = resolve_record(record, lambda: "$")
        if name == "tags":  # a keyword without a name cannot slice
            assert not resolved
            continue
        assert resolved == record or name in str(resolved), name


PARTS = {"retrieved": ["a"], "ground_truth": ["a"]}
SPELLINGS = [
    {"id": "q1", "query": "Who?"},
    {"_id": "q1", "query": "Who?"},
    {"_id": "q1", "text": "Who?"},
    {"_id": "q1", "question": "Who?"},
    {"id": "q1", "_id": "other", "query": "Who?", "question": "other", "text": "other"},
]


@pytest.mark.parametrize("names", SPELLINGS)
def test_eval_reads_the_question_and_id_that_retrieve_asks(tmp_path, names):
    record = {**names, **PARTS}
    path = put(tmp_path, "evals.jsonl", [record])
    asked = read_questions(path)
    assert [(one.id, one.text) for one in asked] == [("q1", "Who?")]
    for data in (path, [record]):
        queries = evaluate(data, metrics="mrr").queries
        assert queries.select("query", "text").rows() == [("q1", "Who?")]


def test_the_id_that_a_database_gave_is_not_that_of_the_question():
    record = {"_id": {"$oid": "65f0"}, "query": "Who?", **PARTS}
    assert evaluate([record], metrics="mrr").queries["query"].to_list() == ["Who?"]


@pytest.mark.parametrize("records", [1, 2])
def test_a_field_that_could_be_the_ground_truth_is_named(records, tmp_path):
    rows = [{"question": f"q{i}", "right_chunks": ["a"]} for i in range(records)]
    path = put(tmp_path, "evals.jsonl", rows)
    run = {f"q{i}": ["a"] for i in range(records)}
    offered = "Say columns={.ground_truth.: .right_chunks.}; .* has neither results nor"
    with pytest.raises(InvalidInput, match=offered):
        evaluate(run, ground_truth=path)
    scores = evaluate(
        run, ground_truth=path, columns={"ground_truth": "right_chunks"}, metrics="mrr"
    )
    assert scores["mrr"].mean == 1


def test_answers_in_words_are_no_ground_truth(tmp_path):
    record = {"query": "q", "retrieved": ["a"], "ground_truths": ["An answer"]}
    path = put(tmp_path, "evals.jsonl", [record])
    with pytest.raises(InvalidInput, match="has no ground truth, only results"):
        evaluate(path)


@pytest.mark.parametrize("field", ["also_acceptable", "alternative_ids", "latency_us"])
def test_a_field_that_might_change_a_number_is_said_not_to_be_read(field, tmp_path):
    records = [{**GOOD, field: ["z"], "author": "Ann"}]
    for given in (put(tmp_path, "evals.jsonl", records), records):
        assert f"Not read: {field}." in evaluate(given).settings["notes"]


def test_what_stands_beside_results_under_another_name_is_the_ground_truth():
    rows = [{"question": "q1", "expected_ids": ["a"], "retrieved": ["x", "a"], "optional_ids": "b"}]
    assert evaluate(rows, metrics="mrr")["mrr"].mean == 0.5
    objects = [{**rows[0], "retrieved": [{"id": "x"}, {"id": "a"}]}]
    assert evaluate(objects, metrics="mrr")["mrr"].mean == 0.5
    notes = load(rows, "both").ground_truth.notes
    assert notes == ("targets ← expected_ids.", "Not read: optional_ids.")
    # A run is not asked for its ground truth.
    assert evaluate(ground_truth={"q1": ["x"]}, run=rows, metrics="mrr")["mrr"].mean == 1.0


@pytest.mark.parametrize(
    "record",
    [
        {"query": "a", "retrieved": ["x", "y"], "ground_truth": ["x"], "exclude": ["y"]},
        {
            "query": "a",
            "retrieved": ["x"],
            "ground_truth": [{"id": "x", "gruop": "any"}, {"id": "z", "gruop": "any"}],
        },
    ],
)
def test_a_field_that_nobody_would_miss_is_refused_where_it_is_misspelt(record):
    with pytest.raises(InvalidInput, match=r"Rename '(exclude|gruop)' at .* would change"):
        evaluate([record])


def test_a_question_with_a_capital_is_one_beside_columns_that_were_named(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("Question,Expected doc,Result 1,Result 2\nWho?,a,x,a\nWhy?,b,b,y\n")
    columns = {"retrieved": "Result 1,Result 2"}
    assert evaluate(path, columns=columns, metrics="mrr")["mrr"].mean == 0.75
