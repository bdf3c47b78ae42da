import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import read
from calipers.match.level import NoDocuments

DOCUMENTS = "abc"
chunk = st.sampled_from([f"{document}{n}" for document in DOCUMENTS for n in range(3)])


@given(
    st.lists(chunk, min_size=1, max_size=6, unique=True),
    st.dictionaries(chunk, st.integers(0, 3), min_size=1, max_size=4),
)
def test_documents_stand_where_their_first_chunk_stood(retrieved, truth):
    rows = [
        {
            "query": "q",
            "retrieved": [{"id": one, "document": one[0]} for one in [*retrieved, "z0"]],
            "ground_truth": [
                *({"id": one, "document": one[0], "grade": g} for one, g in truth.items()),
                {"id": "z0", "document": "z"},
            ],
        }
    ]
    found = read(rows, level="document")
    order = list(dict.fromkeys(one[0] for one in [*retrieved, "z0"]))
    grades: dict[str, float] = {}
    for one, grade in [*truth.items(), ("z0", 1)]:
        grades[one[0]] = max(grade, grades.get(one[0], 0))
    targets = found.ground_truth.targets
    assert dict(zip(targets["item"], targets["grade"], strict=True)) == grades
    names = targets["item"].to_list()
    edges = zip(found.matches.edge_rank.tolist(), found.matches.edge_target.tolist(), strict=True)
    assert {names[target]: rank for rank, target in edges} == {
        document: rank for rank, document in enumerate(order, 1) if document in grades
    }
    assert found.matches.retrieved.tolist() == [len(order)]


def test_a_returned_chunk_tells_the_document_of_its_id():
    rows = [{"query": "q", "retrieved": [{"id": "a1", "document": "a"}], "ground_truth": ["a1"]}]
    assert read(rows, level="document").matches.edge_rank.tolist() == [1]


def test_groups_stay_groups():
    truth = [
        {"id": "a1", "document": "a", "group": "1"},
        {"id": "b1", "document": "b", "group": "1"},
        {"id": "a2", "document": "a", "group": "2"},
    ]
    rows = [{"query": "q", "retrieved": [{"id": "a9", "document": "a"}], "ground_truth": truth}]
    found = read(rows, level="document").matches
    # Document a serves both groups at once.
    assert len(set(found.target_unit.tolist())) == 2
    assert len({found.target_unit[target] for target in found.edge_target}) == 2


@pytest.mark.parametrize(
    ("results", "target", "words"),
    [
        ([{"id": "a"}], {"id": "a"}, "the results do not say which document"),
        ([{"text": "t", "document": "d"}], {"quote": "t"}, "1 of 1 targets.*query 'q'"),
        (
            [{"id": "a", "document": "d"}, {"id": "b"}],
            {"id": "a", "document": "d"},
            "a result of query 'q' has no document",
        ),
    ],
)
def test_unknown_documents_are_an_error_that_says_whose(results, target, words):
    rows = [{"query": "q", "retrieved": results, "ground_truth": [target]}]
    with pytest.raises(NoDocuments, match=words):
        read(rows, level="document")
