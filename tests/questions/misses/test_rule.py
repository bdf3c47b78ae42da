"""Each reason on data made to show it, and what stands around the reasons."""

import pytest

from calipers import misses
from calipers.errors import InvalidInput, NoCommonIds

SAFE = {"query": "safe", "retrieved": ["s"], "ground_truth": ["s"]}


def only_reason(record, **settings):
    found = misses([record, SAFE], **{"k": 2, **settings})
    assert found.table.height == 1
    return found.table.row(0, named=True)


CORPUS = [
    {"id": "a1", "document": "a", "text": "one"},
    {"id": "a2", "document": "a", "text": "two"},
    {"id": "s", "document": "b", "text": "three"},
]
OF_A = {"id": "a1", "document": "a"}
WANTED = [{"id": "a2", "document": "a"}]
TWICE = [{"id": n, "text": "the same words"} for n in ("x", "y")]


@pytest.mark.parametrize(
    ("returned", "wanted", "more", "reason"),
    [
        ([OF_A], WANTED, {}, "wrong_chunk"),
        ([{"id": "x"}, {"id": "y"}, OF_A], WANTED, {}, "not_returned"),  # it is below k
        (["a1"], ["a2"], {}, "not_returned"),
        (["a1"], ["a2"], {"corpus": CORPUS}, "wrong_chunk"),
        (TWICE, [{"id": "a"}], {"match": "id"}, "crowded_out"),
    ],
)
def test_reasons(returned, wanted, more, reason):
    row = only_reason({"query": "q", "retrieved": returned, "ground_truth": wanted}, **more)
    assert row["reason"] == reason
    assert row["instead"] == [one if isinstance(one, str) else one["id"] for one in returned[:2]]


def test_a_query_on_which_the_retriever_failed():
    record = {"query": "q", "ground_truth": ["a"], "retrieved": ["x", "y"], "error": "timeout"}
    assert only_reason(record)["reason"] == "retriever_error"


def test_a_query_that_the_run_does_not_have():
    found = misses(ground_truth={"q": ["a"], "r": ["s"]}, run={"r": ["s"]}, k=1)
    assert found.reasons == {"not_in_run": 1}
    excluded = misses(
        ground_truth={"q": ["a"], "r": ["s"]}, run={"r": ["s"]}, k=1, missing="exclude"
    )
    assert excluded.reasons == {}
    assert excluded.targets == 1
    assert any("left out" in note for note in excluded.notes)


def test_alternatives_are_one_piece_and_the_one_that_came_nearest_speaks_for_it():
    record = {
        "query": "q",
        "retrieved": ["x", "y", "b"],
        "ground_truth": [{"id": "a", "group": "g"}, {"id": "b", "group": "g"}, {"id": "x"}],
    }
    found = misses([record], k=2)
    assert (found.targets, found.found) == (2, 1)
    assert found.table.select("item", "reason", "rank").row(0) == ("b", "below_k", 3)


def test_candidates_and_exact_search_from_runs_of_their_own():
    truth, run = {"q": ["a", "b", "s"]}, {"q": ["s", "x"]}
    found = misses(
        ground_truth=truth, run=run, k=2, candidates={"q": ["s", "a"]}, exact={"q": ["b", "a"]}
    )
    assert dict(found.table.select("item", "reason").iter_rows()) == {
        "a": "lost_by_reranker",
        "b": "missed_by_index",
    }
    assert found.table["candidate_rank"].to_list() == [2, None]
    assert found.table["exact_rank"].to_list() == [2, 1]


def test_a_query_without_recorded_candidates_is_not_the_rerankers_loss():
    records = [
        {
            "query": "with",
            "retrieved": ["x"],
            "ground_truth": ["a", "b"],
            "stages": {"candidates": ["x", "a"]},
        },
        {"query": "without", "retrieved": ["x"], "ground_truth": ["a"]},
        {"query": "empty", "retrieved": [], "ground_truth": ["a"]},
        SAFE,
    ]
    found = misses(records, k=1)
    assert found.table.select("query", "reason").rows() == [
        ("with", "lost_by_reranker"),
        ("with", "never_a_candidate"),
        ("without", "not_returned"),
        ("empty", "nothing_returned"),
    ]
    reason = next(one for one in found.to_dict()["reasons"] if one["name"] == "not_returned")
    assert reason["remedy"] == "record their candidates, too, to see why"


def test_candidates_of_another_corpus_are_refused():
    with pytest.raises(NoCommonIds):
        misses(ground_truth={"q": ["s"]}, run={"q": ["s"]}, candidates={"q": ["zzz"]})


def test_a_stage_that_nobody_knows_is_named():
    record = {"query": "q", "retrieved": ["s"], "ground_truth": ["s"], "stages": {"candidate": []}}
    with pytest.raises(InvalidInput, match=r"candidate.*Did you mean candidates"):
        misses([record])


def test_another_corpus_is_refused():
    with pytest.raises(InvalidInput, match="not the one that was searched"):
        misses(ground_truth={"q": ["s"]}, run={"q": ["s"]}, corpus={"other": "text"})


def test_a_corpus_that_lacks_what_was_returned_is_noted():
    found = misses(ground_truth={"q": ["s", "t"]}, run={"q": ["s", "t"]}, k=2, corpus={"s": "text"})
    assert found.table.height == 0
    assert any("1 of the targets that were returned" in note for note in found.notes)


def test_nothing_missed_is_an_empty_table_with_the_same_columns():
    found = misses(ground_truth={"q": ["s"]}, run={"q": ["s"]}, k=1)
    some = misses(ground_truth={"q": ["s", "t"]}, run={"q": ["s"]}, k=1)
    assert found.table.height == 0
    assert found.table.schema == some.table.schema
    assert found.to_dict()["reasons"] == []


def test_documents_as_targets():
    records = [
        {
            "query": "q",
            "retrieved": [{"id": "a1", "document": "a"}, {"id": "b1", "document": "b"}],
            "ground_truth": [{"id": "a2", "document": "a"}, {"id": "c1", "document": "c"}],
        }
    ]
    found = misses(records, k=2, level="document")
    assert (found.targets, found.found) == (2, 1)
    assert found.table["item"].to_list() == ["c"]
    with pytest.raises(InvalidInput, match="level is document and the run has stages"):
        misses(records, k=2, level="document", candidates=records)


def test_quotes_in_stages():
    texts = ["the answer is 42", "something else", "the question"]
    record = {
        "query": "q",
        "retrieved": [{"text": texts[1]}],
        "ground_truth": [{"quote": "answer is 42"}, {"quote": "something"}],
        "stages": {"candidates": [{"text": text} for text in texts]},
    }
    found = misses([record], k=1)
    assert found.table.select("quote", "reason", "candidate_rank").rows() == [
        ("answer is 42", "lost_by_reranker", 1)
    ]
