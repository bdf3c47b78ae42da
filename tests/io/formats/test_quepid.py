import json

from calipers import evaluate
from calipers.io.load import load
from tests.command import refused
from tests.io.formats.expect import FIXTURES, results, targets

TABLES = FIXTURES.parent / "tables"
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
    assert targets(TABLES / "quepid_ratings.json") == [
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


EXPORT = TABLES / "quepid_export.csv"


def test_a_spreadsheet_has_positions_that_are_no_ids_and_blanks_that_nobody_judged():
    assert results(EXPORT) == [
        {"query": "star wars", "item": "d1"},
        {"query": "star wars", "item": "d2"},
        {"query": "star trek", "item": "d9"},
    ]
    assert targets(EXPORT) == [
        {"query": "star wars", "item": "d1", "grade": 3.0},
        {"query": "star trek", "item": "d9", "grade": 0.0},
        {"query": "star trek", "item": "d8", "grade": 2.0},
    ]
    scores = evaluate(EXPORT, metrics="recall@5,judged@2")
    assert scores["recall@5"].mean == 0.5


def test_a_snapshot_holds_results_alone(tmp_path):
    header = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title"
    rows = "May,2026-05-01,8,star wars,d1,1,A\nMay,2026-05-01,8,star wars,d2,2,B\n"
    path = tmp_path / "snapshot.csv"
    path.write_text(f"{header}\n{rows}")
    assert [one["item"] for one in results(path)] == ["d1", "d2"]
    assert load(path, "both").ground_truth is None
    path.write_text(f"{header}\n{rows}June,2026-06-01,8,star wars,d2,1,B\n")
    assert "'Snapshot Name' has 'May' and 'June'" in refused("eval", path)


def test_a_spreadsheet_with_two_rankings_is_refused(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text(EXPORT.read_text() + "Search,Other,9,star wars,d7,1,Other,1\n")
    assert "Two results of the query 'star wars' have the rank 1" in refused("eval", path)
    path.write_text("Query Text,Doc ID,Doc Position,Rating\nstar wars,d1,1,meh\n")
    assert "'Rating' holds 'meh' at" in refused("eval", path)


def test_pairs_with_a_grade_are_a_table(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("query_text,doc_id,relevance\nstar wars,d1,2\nstar wars,d2,0\n")
    assert targets(path) == [
        {"query": "star wars", "item": "d1", "grade": 2.0},
        {"query": "star wars", "item": "d2", "grade": 0.0},
    ]
