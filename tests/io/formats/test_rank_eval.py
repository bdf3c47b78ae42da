import json

import pytest

from calipers import convert, evaluate
from calipers.errors import InvalidInput
from calipers.io.formats.elastic import wording
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, results, targets, texts


def test_ratings_and_the_text_that_is_searched_for():
    path = FIXTURES / "rank_eval.json"
    assert targets(path) == [
        {"query": "q1", "item": "doc1", "grade": 0.0},
        {"query": "q1", "item": "doc2", "grade": 3.0},
        {"query": "q2", "item": "doc3"},
    ]
    assert texts(path) == {"q1": "amsterdam", "q2": "berlin"}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"query": {"match": {"title": "red"}}}, "red"),
        ({"query": {"match": {"title": {"query": "red", "operator": "and"}}}}, "red"),
        ({"query": {"multi_match": {"query": "red", "fields": ["a", "b"]}}}, "red"),
        ({"query": {"bool": {"must": [{"match": {"a": "red"}}, {"match": {"b": "blue"}}]}}}, None),
        ({"query": {"match_all": {}}}, None),
        (None, None),
    ],
)
def test_the_wording_is_known_where_there_is_one(body, text):
    assert wording(body) == text


HITS = FIXTURES / "rank_eval_hits.json"
RATINGS = FIXTURES / "rank_eval_ratings.json"


def test_hits_are_the_results_in_their_order():
    assert results(HITS, "run") == [
        {"query": "q1", "item": "doc2", "score": 4.5},
        {"query": "q1", "item": "doc7", "score": 2.0},
        {"query": "q1", "item": "doc1", "score": 1.0},
    ]


def test_a_query_without_hits_was_asked_and_one_that_failed_says_why():
    run = load(HITS, "run").run
    assert run is not None
    assert run.queries is not None
    assert run.queries.select("query", "error").rows() == [
        ("q1", None),
        ("q2", None),
        ("q3", "no [query] registered"),
    ]


def test_ratings_of_hits_and_nothing_about_what_was_not_rated():
    assert targets(RATINGS, "ground_truth") == [
        {"query": "q1", "item": "doc2", "grade": 3.0},
        {"query": "q1", "item": "doc1", "grade": 0.0},
    ]


def test_the_request_is_the_ground_truth_of_the_answer():
    scores = evaluate(ground_truth=FIXTURES / "rank_eval.json", run=HITS, metrics="recall@3,mrr")
    assert (scores["recall@3"].mean, scores["mrr"].mean) == (0.5, 0.5)
    assert scores.settings["notes"] == []


def test_the_answer_as_its_own_ground_truth_is_measured_with_a_warning():
    scores = evaluate(ground_truth=RATINGS, run=RATINGS, metrics="recall@3")
    assert scores["recall@3"].mean == 1.0
    assert "ratings of returned hits alone" in scores.settings["notes"][0]
    assert scores.audit.unanswerable == 1


def test_the_answer_alone_is_not_taken_for_both(tmp_path):
    said = "hits in an answer of _rank_eval .*say which it is"
    with pytest.raises(InvalidInput, match=said):
        evaluate(HITS)
    with pytest.raises(InvalidInput, match=said):
        evaluate(json.loads(HITS.read_text()))
    done = convert(HITS, tmp_path / "out.jsonl", form="rank_eval_hits")
    assert done.counts["results"] == 3


def test_answers_in_memory_are_what_they_are_given_for():
    whole = json.loads(RATINGS.read_text())
    assert results(whole, "run") == results(RATINGS, "run")
    assert targets(whole, "ground_truth") == targets(RATINGS, "ground_truth")


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ({"metric_score": 0.5}, "no 'hits'"),
        ({"hits": [{"hit": {"_index": "i"}}]}, "no '_id'"),
        ({"hits": [{"hit": {"_id": "d"}, "rating": "good"}]}, "found str; expected float"),
    ],
)
def test_what_is_missing_is_named_with_its_path(tmp_path, detail, said):
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"metric_score": 0.5, "details": {"q": detail}}))
    with pytest.raises(InvalidInput, match=rf"answer\.json \$\.details.*{said}"):
        load(path, "run")
