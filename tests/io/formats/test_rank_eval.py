import pytest

from calipers.io.formats.rank_eval import wording
from tests.io.formats.expect import FIXTURES, targets, texts


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
