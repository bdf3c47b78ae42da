from calipers import levels
from calipers.model.document import in_order
from tests.questions.levels.test_rule import SPLIT, WRONG_CHUNK


def table(found):
    return next(iter(found.document().blocks))


def test_levels_stand_side_by_side():
    shown = table(levels([SPLIT, WRONG_CHUNK], metrics="recall@2"))
    assert shown.columns[1:] == ("evidence", "chunk", "document")
    [(name, *cells)] = shown.rows
    assert name.text == "recall@2"
    assert [cell.split()[0] for cell in cells] == ["0.500", "0.000", "1.000"]


def test_the_commonest_finding_is_the_first_sentence():
    found = levels([SPLIT, WRONG_CHUNK], metrics="hit_rate@1,2")
    assert found.document().sentence == "Right document, wrong chunk: 1 of 2 queries."


def test_a_metric_that_a_level_lacks_leaves_its_cell_empty():
    span = {"document": "d", "start": 0, "end": 9}
    rows = [{"query": "q", "retrieved": [span], "ground_truth": [span]}]
    shown = table(levels(rows, metrics="recall@1,iou@1"))
    assert {row[0].text: row[3] for row in shown.rows}["iou@1"] == ""


def test_ids_are_the_same_at_two_levels_and_that_is_said():
    rows = [{"query": "q", "retrieved": [{"id": "a", "document": "d"}], "ground_truth": ["a"]}]
    notes = [one.text for one in in_order(levels(rows, metrics="recall@1").document().notes)]
    assert "The targets are ids of chunks, so evidence and chunk are the same here." in notes
