"""Labels are a log that only grows; what holds is what a naive reading of it says."""

import csv
import sqlite3
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput, WriteFailed
from calipers.store.label_pools import read_on
from calipers.store.pool import LabelState, LogEntry
from tests.store.judged import BM25, DENSE, TRUTH, labels, pool


def test_a_label_is_there_for_whoever_opens_the_store_next(place):
    desk = pool(place)
    item = desk.next("anna")[0]
    given_ = desk.give("anna", item.position, 3, quote=item.label.text[:10], note="clear")
    again = calipers.labels_desk("first", store=place)
    assert again.state().current(item.position, "anna") == given_
    assert item not in again.next("anna", 99)
    assert item in again.next("ben", 99)


def test_an_undo_is_an_entry_and_brings_back_what_was_before(place):
    desk = pool(place)
    desk.give("anna", 0, 1)
    desk.give("anna", 0, 3)
    desk.give("ben", 0, 2)
    undo = desk.give("anna", kind="undo")
    assert (undo.item, desk.state().current(0, "anna").grade) == (0, 1)
    desk.give("anna", kind="undo")
    assert desk.state().current(0, "anna") is None
    assert desk.state().current(0, "ben").grade == 2
    with pytest.raises(InvalidInput, match="nothing to undo: anna has no label left"):
        desk.give("anna", kind="undo")
    assert len(read_on(desk.store, desk.content.number, 0).entries) == 5


def test_an_undo_leaves_final_labels_alone(place):
    desk = pool(place)
    desk.give("anna", 0, 1)
    desk.give("ben", 0, 3)
    desk.give("anna", 0, 3, kind="final")
    undo = desk.give("anna", kind="undo")
    state = desk.state()
    assert state.taken_back[undo.undoes].kind == "label"
    # It is an undo of a label that it settled, so the conflict is shown again.
    assert (state.current(0, "anna"), state.final(0), state.reopened(0).grade) == (None, None, 3)
    with pytest.raises(InvalidInput, match="nothing to undo"):
        desk.give("anna", kind="undo")


KINDS = st.sampled_from(["label", "skip", "note", "final", "undo"])


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), KINDS, st.integers(0, 3))))
def test_what_holds_is_what_reading_the_log_from_its_end_says(script):
    entries: list[LogEntry] = []
    alive: dict[str, list[LogEntry]] = {"a": [], "b": []}
    for number, (item, judge, kind, grade) in enumerate(script, start=1):
        undoes = None
        if kind == "undo":
            if not alive[judge]:
                continue
            undoes = alive[judge].pop().number
        one = LogEntry(
            number=number,
            item=item,
            judge=judge,
            kind=kind,
            saved="",
            undoes=undoes,
            grade=grade if kind in ("label", "final") else None,
            note="n" if kind == "note" else None,
        )
        entries.append(one)
        if kind != "undo":
            alive[judge].append(one)
    state = LabelState(entries)
    gone = {one.undoes for one in entries}
    left = [one for one in entries if one.number not in gone]
    for item in range(4):
        mine = [one for one in left if one.item == item]
        for judge in "ab":
            said = [one for one in mine if one.judge == judge and one.kind in ("label", "skip")]
            assert state.current(item, judge) == (said[-1] if said else None)
        final = [one for one in mine if one.kind == "final"][-1:]
        spoken = ("label", "skip")
        touched = [one.number for one in entries if one.item == item and one.kind in spoken]
        touched += [
            one.number
            for one in entries
            if one.undoes is not None
            for was in entries
            if was.number == one.undoes and was.item == item and was.kind in spoken
        ]
        held = final and final[0].number > max(touched, default=0)
        assert state.final(item) == (final[0] if held else None)
        assert state.reopened(item) == (final[0] if final and not held else None)
    own = [one for one in alive["a"] if one.kind != "final"]
    assert state.latest("a") == (own[-1] if own else None)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"grade": 7}, "The grade is 7; it can be 0, 1, 2, 3"),
        ({"grade": None}, "The grade is None"),
        ({"item": 99, "grade": 1}, "There is no item 99 in the pool"),
        ({"grade": 1, "quote": "not in the text"}, "does not stand in the text"),
        ({"kind": "note"}, "A note is empty"),
        ({"kind": "skip", "grade": 1}, "only labels have one"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_kept(tmp_path, wrong, sentence):
    desk = pool(str(tmp_path / "h.db"))
    with pytest.raises(InvalidInput, match=sentence):
        desk.give("anna", **{"item": 0, **wrong})
    assert read_on(desk.store, desk.content.number, 0).entries == []


def test_the_number_moves_with_the_labels_and_is_that_of_the_exported_file(tmp_path):
    place = str(tmp_path / "h.db")
    desk = pool(place, metric="recall@2")
    before = desk.moved()[0].after.mean
    for item in desk.next("anna", 99):
        desk.give("anna", item.position, 3 if item.label.item in ("d2", "d5") else 0)
    moved = {one.run: one for one in desk.moved()}
    assert moved["bm25"].before.mean == before
    assert moved["bm25"].after.mean < before
    out = tmp_path / "gt.jsonl"
    done = calipers.labels_export("first", out, store=place)
    assert (done.labels, done.left_out) == (len(desk.items), 0)
    for name, run in {"bm25": BM25, "dense": DENSE}.items():
        scores = calipers.evaluate(ground_truth=str(out), run=run, metrics="recall@2")
        assert scores["recall@2"].mean == moved[name].after.mean
        assert scores["recall@2"].interval == moved[name].after.interval
    with pytest.raises(WriteFailed, match=r"exists already; name another file"):
        calipers.labels_export("first", out, store=place)
    calipers.labels_export("first", out, store=place, overwrite=True)


def test_a_conflict_is_left_out_until_a_third_label_settles_it(tmp_path):
    desk = pool(str(tmp_path / "h.db"))
    desk.give("anna", 0, 3)
    desk.give("ben", 0, 0)
    assert desk.truth().left_out == 1
    assert [one.item.position for one in desk.agreement().standing("open")] == [0]
    final = desk.give("ben", 0, 2, kind="final")
    assert desk.truth().left_out == 0
    assert desk.agreement().conflicts[0].final == final
    assert desk.agreement().standing("open") == []
    item = desk.items[0].label
    targets = desk.truth().ground_truth.targets.filter(query=item.query_id, item=item.item)
    assert targets["grade"].to_list() == [2.0]
    # Both labels are still there: the final one overwrites nothing.
    assert desk.state().current(0, "anna").grade == 3
    # Both judges change theirs: the conflict is shown again, and the export follows them.
    for judge in ("anna", "ben"):
        desk.give(judge, 0, 1)
    [again] = desk.agreement().conflicts if desk.agreement().conflicts else [None]
    grades = desk.truth().ground_truth.targets.filter(query=item.query_id, item=item.item)["grade"]
    assert (again, grades.to_list()) == (None, [1.0])
    desk.give("anna", 0, 3)
    assert [one.standing for one in desk.agreement().conflicts] == ["open"]


def test_labels_from_a_spreadsheet_come_in_once(place, tmp_path):
    pool(place)
    calipers.labels_draft([BM25, DENSE], ground_truth=TRUTH, k=10).write(tmp_path / "carla.csv")
    with (tmp_path / "carla.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:3]:
        row["grade"] = "2"
    with (tmp_path / "carla.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InvalidInput, match=r'csv:2 does not say who judged .* judge="anna"'):
        calipers.labels_import("first", tmp_path / "carla.csv", store=place)
    first = calipers.labels_import("first", tmp_path / "carla.csv", judge="carla", store=place)
    assert (first.added, first.known, first.judges) == (3, 0, ("carla",))
    again = calipers.labels_import("first", [tmp_path / "carla.csv"], judge="carla", store=place)
    assert (again.added, again.known) == (0, 3)
    assert first.ungraded == len(rows) - 3
    assert len(calipers.labels_desk("first", store=place).truth().grades) == 3


def test_texts_that_no_database_takes_are_kept_to_the_last_character(place):
    odd = [{"id": "q\x00", "query": "what \x00?", "retrieved": [{"id": "i\x00", "text": "a\x00b"}]}]
    desk = calipers.labels_pool("odd", {"one": odd}, store=place)
    label = calipers.labels_desk("odd", store=place).items[0].label
    assert (label.query_id, label.item, label.text) == ("q\x00", "i\x00", "a\x00b")
    with pytest.raises(InvalidInput, match="holds a character that no database keeps"):
        desk.give("me", 0, 1, note="n\x00")


def test_ten_judges_of_five_labels_each_leave_fifty(quick_place):
    judges, run = [f"judge{n}" for n in range(10)], {"what is it ?": [f"d{i}" for i in range(5)]}
    desk = calipers.labels_pool("many", {"one": run}, judges=judges, per_item=10, store=quick_place)
    failed = []

    def work(judge):
        try:
            own = calipers.labels_desk("many", store=quick_place)
            for item in own.next(judge, 5):
                own.give(judge, item.position, item.position % 4)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
            failed.append(error)

    threads = [threading.Thread(target=work, args=(judge,)) for judge in judges]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []
    assert len(labels(desk)) == 50
    assert all(one.grade == one.item % 4 for one in labels(desk))


def test_a_damaged_pool_is_refused(tmp_path):
    place = str(tmp_path / "h.db")
    pool(place)
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("UPDATE calipers_pool_content SET bytes = x'00' WHERE kind = 'items'")
    with pytest.raises(InvalidInput, match=r"The pool first in .* cannot be read"):
        calipers.labels_desk("first", store=place)
