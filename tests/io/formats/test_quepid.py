import json

from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, results, targets

BOOK = json.loads((FIXTURES / "quepid_book.json").read_text())


def test_a_pair_is_worth_the_mean_of_its_ratings_and_the_unrateable_do_not_count():
    assert targets(BOOK) == [
        {"query": "star wars", "item": "d2", "grade": 1.5},
        {"query": "star wars", "item": "d1", "grade": 3.0},
    ]


def test_positions_are_the_ranking():
    assert results(BOOK) == [
        {"query": "star wars", "item": "d1"},
        {"query": "star wars", "item": "d2"},
        {"query": "star trek", "item": "d9"},
    ]


def test_a_book_that_pools_several_searches_has_no_ranking():
    pooled = [*BOOK, {"query_text": "star trek", "doc_id": "d8", "position": 1, "judgements": []}]
    assert load(pooled, "both").run is None
    unplaced = [{**BOOK[0], "position": None}, *BOOK[1:]]
    assert load(unplaced, "both").run is None


def test_ratings_by_query_and_what_was_not_rated():
    assert targets(FIXTURES / "quepid_ratings.json") == [
        {"query": "star wars", "item": "d1", "grade": 3.0},
        {"query": "star wars", "item": "d2", "grade": 0.0},
        {"query": "star trek", "item": "d9"},
    ]


def test_ratings_exported_as_csv_are_a_table(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("query,docid,rating\nstar wars,d1,3\nstar wars,d2,0\n")
    assert targets(path) == [
        {"query": "star wars", "item": "d1", "grade": 3.0},
        {"query": "star wars", "item": "d2", "grade": 0.0},
    ]
