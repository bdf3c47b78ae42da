import json

import pytest

from calipers import evaluate
from tests.command import refused
from tests.io.formats.expect import FIXTURES, targets

FILE = FIXTURES / "opensearch_judgements.json"
WHOLE = json.loads(FILE.read_text())
MEANT = [
    {"query": "star wars", "item": "d1", "grade": 3.0},
    {"query": "star wars", "item": "d2", "grade": 0.0},
    {"query": "star trek", "item": "d8", "grade": 2.0},
]


def test_ratings_are_the_grades():
    assert targets(FILE) == targets(WHOLE) == MEANT
    scores = evaluate(ground_truth=FILE, run={"star wars": ["d2", "d1"]}, metrics="mrr")
    assert scores["mrr"].mean == 0.25


def test_a_mapping_of_query_to_documents_and_what_a_search_answers():
    early = {one["query"]: one["ratings"] for one in WHOLE["judgmentRatings"]}
    assert targets({"judgmentRatings": early}) == MEANT
    hit = {"_index": "judgments", "_id": "1", "_source": WHOLE}
    assert targets({"took": 1, "hits": {"total": {"value": 1}, "hits": [hit]}}) == MEANT


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        (
            [{"query": "q", "ratings": [{"docId": "d", "rating": "middling"}]}],
            "The rating of a target is 'middling' at bad.json $.judgmentRatings[0].ground_truth[0]",
        ),
        ([{"query": "q", "ratings": [{"rating": "1"}]}], "A target has no id"),
        ("none", "The judgements are no list of queries at bad.json $.judgmentRatings"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, monkeypatch, whole, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text(json.dumps({"judgmentRatings": whole}))
    assert said in refused("audit", "bad.json")


def test_several_lists_are_not_guessed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hits = [{"_id": str(i), "_source": WHOLE} for i in range(2)]
    (tmp_path / "all.json").write_text(json.dumps({"hits": {"hits": hits}}))
    assert "There are 2 judgement lists among the hits" in refused("audit", "all.json")


def test_hits_of_another_search_are_no_judgements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hits.json").write_text(json.dumps({"hits": {"hits": [{"_source": 3}]}}))
    assert refused("audit", "hits.json")
