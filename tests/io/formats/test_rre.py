import pytest

from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, targets


def test_wordings_share_the_documents_of_their_group():
    path = FIXTURES / "rre.json"
    assert targets(path) == [
        {"query": "star wars", "item": "1", "grade": 3.0},
        {"query": "star wars", "item": "2", "grade": 2.0},
        {"query": "wars in space", "item": "1", "grade": 3.0},
        {"query": "wars in space", "item": "2", "grade": 2.0},
        {"query": "star trek", "item": "193", "grade": 3.0},
        {"query": "star trek", "item": "157"},
        {"query": "star trek", "item": "152"},
    ]
    truth = load(path, "both").ground_truth
    assert truth is not None
    assert truth.tags["query_group"].to_list() == ["wars", "wars", "trek"]
    assert truth.tags["topic"].to_list() == ["space"] * 3


def test_queries_without_topics_or_groups():
    flat = {
        "id_field": "id",
        "queries": [{"placeholders": {"$query": "a"}, "relevant_documents": {"2": ["x"]}}],
    }
    assert targets(flat) == [{"query": "a", "item": "x", "grade": 2.0}]


def test_placeholders_without_a_query_are_joined():
    group = {"queries": [{"placeholders": {"$a": "red", "$b": 7}}], "relevant_documents": {}}
    truth = load({"topics": [{"query_groups": [group]}]}, "both").ground_truth
    assert truth is not None
    assert truth.queries["query"].to_list() == ["red 7"]


@pytest.mark.parametrize(
    ("group", "said"),
    [
        (
            {"queries": [{"placeholders": {"$query": "a"}}]},
            r"queries\[0\]: no 'relevant_documents'",
        ),
        ({"queries": [{"placeholders": {}}], "relevant_documents": {}}, "no wording"),
        (
            {"queries": [{"placeholders": {"$query": "a"}}], "relevant_documents": {"x": ["d"]}},
            "A gain is 'x'",
        ),
    ],
)
def test_what_is_missing_is_named_with_its_path(group, said):
    with pytest.raises(InvalidInput, match=said):
        targets({"topics": [{"query_groups": [group]}]})
