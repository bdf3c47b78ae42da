"""Every label out and in again: another pool of the same has then the same labels."""

import csv
import re

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.labels.take import every_label
from calipers.labels.team import own_labels, team
from tests.store.judged import pool

FORMULA = "=HYPERLINK(1) of\n\"anna\", 'quoted'; and more"


def judged(store):
    """A pool with all kinds of entries, some of which do not hold any more."""
    desk = pool(store, judges=("anna", "ben"))
    text = desk.items[0].label.text
    desk.give("anna", 0, 3, quote="the topic", quote_start=text.index("the topic"))
    desk.give("anna", 1, 1)
    desk.give("anna", 1, 2)
    desk.give("anna", 2, kind="skip")
    desk.give("anna", 0, kind="note", note=FORMULA)
    desk.give("ben", 0, 0, note="with the label itself")
    desk.give("ben", 3, 1)
    desk.give("ben", kind="undo")
    desk.give("ben", 4, kind="note", note="alone")
    desk.give("lea", 0, 2, kind="settle")
    return desk


def held(desk):
    return [
        (one.pair, one.judge, one.kind, one.grade, one.quote, one.quote_start, one.note, one.saved)
        for one in every_label(desk)
    ]


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_what_is_exported_and_imported_is_the_same_pool(tmp_path, ending):
    desk = judged(str(tmp_path / "one.db"))
    path = tmp_path / f"labels{ending}"
    written = calipers.labels_export(
        "first", path, every_label=True, store=str(tmp_path / "one.db")
    )
    assert (written.labels, written.fingerprint) == (6, None)
    assert re.search(r"6 labels of 4 results to \d quer", str(written))
    other = str(tmp_path / "other.db")
    copy = pool(other, judges=("anna", "ben"))
    first = calipers.labels_import("first", path, store=other)
    assert (first.added, first.known) == (6, 0)
    assert held(copy) == held(desk)
    assert copy.truth().ground_truth.fingerprint == desk.truth().ground_truth.fingerprint
    assert copy.judges == ("anna", "ben")
    again = calipers.labels_import("first", path, store=other)
    assert (again.added, again.known) == (0, 6)


def test_no_cell_of_the_export_is_a_formula(tmp_path):
    judged(str(tmp_path / "one.db"))
    path = tmp_path / "labels.csv"
    calipers.labels_export("first", path, every_label=True, store=str(tmp_path / "one.db"))
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"judge", "grade", "quote", "note", "saved", "kind"} <= set(rows[0])
    assert not any(cell[:1] in ("=", "+", "-", "@") for row in rows for cell in row.values())
    assert any(row["note"] == "'" + FORMULA for row in rows)


def test_an_older_label_takes_the_place_of_no_newer_one(tmp_path):
    store = str(tmp_path / "one.db")
    desk = judged(store)
    path = tmp_path / "labels.jsonl"
    calipers.labels_export("first", path, every_label=True, store=store)
    desk.give("anna", 0, 1)
    taken = calipers.labels_import("first", path, store=store)
    assert (taken.added, taken.known) == (0, 6)
    assert desk.state().current(0, "anna").grade == 1


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ('"kind": "drop", "grade": 1', "of the kind 'drop'"),
        ('"kind": "skip", "grade": 1', "alone have a grade"),
        ('"kind": "label"', "alone have a grade"),
        ('"grade": 1, "saved": "yesterday"', "it is written in UTC"),
        ('"grade": 1, "quote": "nowhere"', "does not stand in the text"),
        ('"grade": 7', "has the grade 7; in the pool first it can be 0, 1, 2, 3"),
    ],
)
def test_an_odd_row_gets_a_sentence_and_nothing_is_taken(tmp_path, row, sentence):
    store = str(tmp_path / "one.db")
    about = pool(store).items[0].label
    fine = f'{{"query_id": "{about.query_id}", "item": "{about.item}", "judge": "anna", %s}}\n'
    (tmp_path / "odd.jsonl").write_text(fine % '"grade": 1' + fine % row)
    with pytest.raises(InvalidInput, match=sentence):
        calipers.labels_import("first", tmp_path / "odd.jsonl", store=store)
    assert calipers.labels_list(store).pools[0].entries == 0


def test_a_lead_sees_who_did_how_much_and_who_is_strict(tmp_path):
    desk = pool(str(tmp_path / "one.db"), judges=("anna", "ben", "carl"))
    for item in range(4):
        desk.give("anna", item, 2)
        desk.give("ben", item, 2 if item < 3 else 0)
    desk.give("anna", 4, 3)
    found = team(desk)
    anna, ben, carl = found.judges
    assert (anna.progress.labelled, ben.progress.labelled, carl.progress.labelled) == (5, 4, 0)
    assert (anna.shared, anna.same, anna.leaning) == (4, 0.75, 0.5)
    assert (ben.same, ben.leaning) == (0.75, -0.5)
    assert (carl.shared, carl.same, carl.last) == (0, None, None)
    assert (found.items, found.unjudged, found.conflicts) == (
        len(desk.items),
        len(desk.items) - 5,
        1,
    )
    assert found.minutes_left is None
    desk.give("anna", 3, 2, kind="settle")
    assert team(desk).conflicts == 0
    desk.reopen("anna", 3)
    assert team(desk).conflicts == 1
    with pytest.raises(InvalidInput, match="Nothing is settled"):
        desk.reopen("anna", 3)


def test_a_judge_finds_labels_by_words_grade_and_note(tmp_path):
    desk = judged(str(tmp_path / "one.db"))
    assert [one.item.position for one in own_labels(desk, "anna")] == [2, 1, 0]
    assert [one.item.position for one in own_labels(desk, "anna", grade="2")] == [1]
    assert [one.item.position for one in own_labels(desk, "anna", grade="skip")] == [2]
    assert [one.item.position for one in own_labels(desk, "anna", grade="note")] == [0]
    assert [one.item.position for one in own_labels(desk, "anna", text="HYPERLINK")] == [0]
