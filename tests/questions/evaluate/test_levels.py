import pytest

from calipers import levels
from calipers.errors import InvalidInput
from calipers.match.level import NoDocuments
from calipers.model.document import in_order

SPLIT = {
    "query": "split",
    "retrieved": [
        {"text": "so the lock", "document": "gil"},
        {"text": "is held. Next", "document": "gil"},
    ],
    "ground_truth": [{"quote": "the lock is held", "document": "gil"}],
}
WRONG_CHUNK = {
    "query": "wrong",
    "retrieved": [
        {"text": "threads in general", "document": "gil"},
        {"text": "something else", "document": "faq"},
    ],
    "ground_truth": [{"quote": "a lock for threads", "document": "gil"}],
}


def table(found):
    return next(iter(found.document().blocks))


def means(found, name):
    return {level: scores[name].mean for level, scores in found.scores.items()}


def test_the_levels_differ_where_they_should():
    found = levels([SPLIT, WRONG_CHUNK], metrics="recall@2")
    assert means(found, "recall@2") == {"evidence": 0.5, "chunk": 0.0, "document": 1.0}
    assert found.not_computed == ()
    shown = table(found)
    assert shown.columns[1:] == ("evidence", "chunk", "document")
    [(name, *cells)] = shown.rows
    assert name.text == "recall@2"
    assert [cell.split()[0] for cell in cells] == ["0.500", "0.000", "1.000"]


def test_a_level_that_cannot_be_computed_is_explained():
    bare = {**SPLIT, "ground_truth": [{"quote": "the lock is held"}]}
    found = levels([bare], metrics="recall@2")
    assert list(found.scores) == ["evidence", "chunk"]
    assert list(levels([bare], at="chunk, evidence").scores) == ["chunk", "evidence"]
    assert "document is not known, the first of query 'split'" in found.not_computed[0]
    with pytest.raises(NoDocuments, match="document is not known"):
        levels([bare], at="document", metrics="recall@2")


def test_characters_are_not_counted_in_documents():
    span = {"document": "d", "start": 0, "end": 9}
    rows = [{"query": "q", "retrieved": [span], "ground_truth": [span]}]
    found = levels(rows, metrics="recall@1,iou@1")
    assert list(found.scores["document"]) == ["recall@1"]
    assert found.not_computed == ("Not at the level of documents, which have no spans: iou@1.",)
    assert {row[0].text: row[3] for row in table(found).rows}["iou@1"] == ""


def test_no_level_at_all_is_an_error():
    bare = {**SPLIT, "ground_truth": [{"quote": "the lock is held"}]}
    with pytest.raises(InvalidInput, match=r"document is not known.*level of pages"):
        levels([bare], at="document,page", metrics="recall@2")
    with pytest.raises(InvalidInput, match=r"Not at the level of documents.*iou@1"):
        levels([SPLIT], at="document,page", metrics="iou@1")


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("chunks", "no level 'chunks'.*Did you mean chunk"),
        ([], "No level is named; name all, or"),
        ({}, "at of levels is {}; it must be a text or a list"),
    ],
    ids=str,
)
def test_an_unknown_level_is_an_error(at, said):
    with pytest.raises(InvalidInput, match=said):
        levels([SPLIT], at=at)


def test_the_commonest_finding_is_the_first_sentence():
    found = levels([SPLIT, WRONG_CHUNK], metrics="hit_rate@1,2")
    assert found.document().sentence == "Right document, wrong chunk: 1 of 2 queries."


def test_ids_are_the_same_at_two_levels_and_that_is_said():
    rows = [{"query": "q", "retrieved": [{"id": "a", "document": "d"}], "ground_truth": ["a"]}]
    notes = [one.text for one in in_order(levels(rows, metrics="recall@1").document().notes)]
    assert "The targets are ids of chunks, so evidence and chunk are the same here." in notes
