import io

from calipers.questions.levels.show import level_notes, level_table, print_levels
from rich.console import Console

from calipers import levels
from tests.questions.levels.test_rule import SPLIT, WRONG_CHUNK


def printed(found):
    text = io.StringIO()
    print_levels(found, Console(file=text, width=90))
    return text.getvalue()


def test_levels_stand_side_by_side():
    view = level_table(levels([SPLIT, WRONG_CHUNK], metrics="recall@2"))
    assert view.columns == ("evidence", "chunk", "document")
    [(name, cells)] = view.rows
    assert name == "recall@2"
    assert [mean for mean, _ in cells] == ["0.500", "0.000", "1.000"]


def test_the_commonest_finding_is_said_in_words():
    found = levels([SPLIT, WRONG_CHUNK], metrics="hit_rate@1,2")
    first = " ".join(printed(found).partition("\n\n")[0].split())
    assert first.startswith("Right document, wrong chunk: 1 of 2 queries")
    assert "first 2" in first


def test_a_metric_that_a_level_lacks_leaves_its_cell_empty():
    span = {"document": "d", "start": 0, "end": 9}
    rows = [{"query": "q", "retrieved": [span], "ground_truth": [span]}]
    view = level_table(levels(rows, metrics="recall@1,iou@1"))
    assert dict(view.rows)["iou@1"][2] == ("", "")


def test_ids_are_the_same_at_two_levels_and_that_is_said():
    rows = [{"query": "q", "retrieved": [{"id": "a", "document": "d"}], "ground_truth": ["a"]}]
    notes = level_notes(levels(rows, metrics="recall@1"))
    assert "The targets are ids of chunks, so evidence and chunk are the same here." in notes
