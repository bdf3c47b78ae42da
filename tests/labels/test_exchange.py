"""Labels out and in again: files of ours, Label Studio, Argilla; and what several files make."""

import csv
import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.records.label_files import write_labels
from calipers.model.labels import Label
from tests.command import calipers_command
from tests.store.judged import labels, pool

FORMULA = "=HYPERLINK(1) of\n\"anna\", 'quoted'; and more"


def judged(store):
    """A pool with all kinds of entries, some of which do not hold any more."""
    desk = pool(store)
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
    desk.give("lea", 0, 2, kind="final")
    return desk


def held(desk):
    return [
        (one.item, one.judge, one.kind, one.grade, one.quote, one.quote_start, note, one.saved)
        for one, note in desk.state().held()
    ]


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_what_is_exported_and_imported_is_the_same_pool(tmp_path, ending):
    store, path = str(tmp_path / "one.db"), tmp_path / f"labels{ending}"
    desk = judged(store)
    written = calipers.labels_export("first", path, every_label=True, store=store)
    assert (written.labels, written.fingerprint) == (6, None)
    assert "6 labels of 4 results to 2 queries" in " ".join(str(written).split())
    other = str(tmp_path / "other.db")
    copy = pool(other)
    first = calipers.labels_import("first", path, store=other)
    assert (first.added, first.known) == (6, 0)
    assert held(copy) == held(desk)
    assert copy.truth().ground_truth.fingerprint == desk.truth().ground_truth.fingerprint
    again = calipers.labels_import("first", path, store=other)
    assert (again.added, again.known) == (0, 6)
    # An older label takes the place of no newer one.
    desk.give("anna", 1, 1)
    taken = calipers.labels_import("first", path, store=store)
    assert (taken.added, taken.known) == (0, 6)
    assert desk.state().current(1, "anna").grade == 1
    if ending == ".csv":  # no cell is a formula
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        assert {"judge", "grade", "quote", "note", "saved", "kind"} <= set(rows[0])
        assert not any(cell[:1] in ("=", "+", "-", "@") for row in rows for cell in row.values())
        assert any(row["note"] == "'" + FORMULA for row in rows)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ('"kind": "drop", "grade": 1', "of the kind 'drop'"),
        ('"kind": "undo"', "An undo has no place in a file"),
        ('"kind": "skip", "grade": 1', "only labels have one"),
        ('"kind": "label"', "The grade is None; it can be 0, 1, 2, 3"),
        ('"grade": 1, "saved": "yesterday"', "it is written in UTC"),
        ('"grade": 1, "quote": "nowhere"', "does not stand in the text"),
        ('"grade": 7', r"odd.jsonl:2 cannot be taken. The grade is 7.0; it can be 0, 1, 2, 3"),
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


# Label Studio and Argilla


def from_label_studio(tasks):
    """What Label Studio exports as JSON: two annotators, a skip and a note."""

    def annotation(who, when, *parts, skipped=False):
        result = [
            {"from_name": name, "to_name": "text", "type": kind, "id": kind, "value": value}
            for name, kind, value in parts
        ]
        said = {"id": 1001, "completed_by": who, "result": result, "was_cancelled": skipped}
        return {**said, "ground_truth": False, "created_at": when, "updated_at": when}

    anna: dict[str, Any] = {"id": 7, "email": "anna@example.org", "first_name": "Anna"}
    answers, useless = ({"choices": [one]} for one in ("3 answers it", "0 useless"))
    first = [("grade", "choices", answers)]
    second = [("grade", "choices", useless), ("note", "textarea", {"text": ["odd"]})]
    said = [
        [
            annotation(anna, "2026-01-31T06:00:00.5Z", *first),
            annotation(9, "2026-01-31T08:00:00+01:00", *second),
        ],
        [annotation(anna, "2026-01-31T06:01:00Z", skipped=True)],
    ]
    return [
        {**task, "id": n + 1, "project": 83, "annotations": some, "predictions": []}
        for n, (task, some) in enumerate(zip(tasks, [*said, *[[]] * len(tasks)], strict=False))
    ]


def test_tasks_go_to_label_studio_and_come_back_with_who_when_and_why(tmp_path):
    store, path = str(tmp_path / "h.db"), tmp_path / "tasks.json"
    desk = judged(store)
    written = calipers.labels_export("first", path, to="label-studio", store=store)
    tasks = json.loads(path.read_text())
    assert len(tasks) == len(desk.items) == written.targets
    # Who labels there is as blind as here.
    assert set(tasks[0]) == {"data"}
    assert set(tasks[0]["data"]) == {"calipers", "query", "title", "text"}
    page = Path(__file__).parents[2] / "docs" / "make-ground-truth.md"
    [shown] = re.findall("```xml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    view = ElementTree.fromstring(shown)
    used = {one.get("value") for one in view.iter() if (one.get("value") or "").startswith("$")}
    assert {one[1:] for one in used} <= set(tasks[0]["data"])
    grades = [one.get("value") for one in view.iter("Choice")]
    assert grades == ["0 useless", "1 touches it", "2 helps", "3 answers it"]
    back = tmp_path / "back.json"
    back.write_text(json.dumps(from_label_studio(tasks)))
    other = str(tmp_path / "other.db")
    copy = pool(other)
    taken = calipers.labels_import("first", back, store=other)
    assert (taken.added, taken.judges) == (3, ("anna@example.org", "9"))
    first = copy.state().current(0, "anna@example.org")
    assert (first.grade, first.saved) == (3, "2026-01-31T06:00:00.500000Z")
    second = copy.state().current(0, "9")
    assert (second.grade, second.saved) == (0, "2026-01-31T07:00:00.000000Z")
    assert copy.state().note(0, "9") == "odd"
    assert copy.state().current(1, "anna@example.org").kind == "skip"
    assert calipers.labels_import("first", back, store=other).added == 0


def test_records_go_to_argilla_and_come_back(tmp_path):
    store, path = str(tmp_path / "h.db"), tmp_path / "records.json"
    desk = pool(store)
    calipers.labels_export("first", path, to="argilla", store=store)
    records = json.loads(path.read_text())
    assert set(records[0]) >= {"id", "fields", "metadata", "suggestions", "responses", "vectors"}
    assert set(records[0]["fields"]) == {"query", "title", "text"}
    who = "1a2b3c4d-0000-4000-8000-000000000001"
    records[0]["responses"] = {
        "grade": [
            {"value": "2", "user_id": who, "status": "submitted"},
            {"value": "0", "user_id": "other", "status": "submitted"},
        ],
        "note": [{"value": "close", "user_id": who, "status": "submitted"}],
    }
    records[1]["responses"] = {"grade": [{"value": "1", "user_id": who, "status": "draft"}]}
    records[2]["responses"] = {"grade": [{"value": "1", "user_id": who, "status": "discarded"}]}
    path.write_text(json.dumps(records))
    taken = calipers.labels_import("first", path, store=store)
    assert (taken.added, taken.judges) == (3, (who, "other"))
    assert sorted((one.judge, one.grade) for one in labels(desk)) == [(who, 2.0), ("other", 0.0)]
    assert desk.state().note(0, who) == "close"
    assert desk.state().current(2, who).kind == "skip"


def test_a_response_without_its_status_is_refused(tmp_path):
    """What ``to_json`` of Argilla 2.8 writes: a draft looks like a label."""
    store, path = str(tmp_path / "h.db"), tmp_path / "records.json"
    desk = pool(store)
    calipers.labels_export("first", path, to="argilla", store=store)
    records = json.loads(path.read_text())
    records[0]["responses"] = {"grade": [{"value": "2", "user_id": "anna"}]}
    path.write_text(json.dumps(records))
    with pytest.raises(calipers.CalipersError, match=r"no status.*to_list\(flatten=True\)"):
        calipers.labels_import("first", path, store=store)
    assert labels(desk) == []


def test_responses_of_the_real_argilla_keep_their_status(tmp_path):
    argilla = pytest.importorskip("argilla", reason="Argilla is not installed")
    from argilla.records._io import GenericIO

    store, path = str(tmp_path / "h.db"), tmp_path / "records.json"
    desk = pool(store)
    calipers.labels_export("first", path, to="argilla", store=store)
    who = [UUID(int=number) for number in (1, 2, 3)]
    given = zip(("submitted", "draft", "discarded"), who, strict=True)
    responses = [
        argilla.Response("grade", "2", user_id=user, status=status) for status, user in given
    ]
    first, *_ = json.loads(path.read_text())
    record = argilla.Record(id=first["id"], fields=first["fields"], responses=responses)
    path.write_text(json.dumps(GenericIO.to_list([record], flatten=True), default=str))
    taken = calipers.labels_import("first", path, store=store)
    assert taken.added == 2
    assert [(one.judge, one.grade) for one in labels(desk)] == [(str(who[0]), 2.0)]
    assert desk.state().current(0, str(who[2])).kind == "skip"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1]", "names nothing"),
        ('[{"data": {"calipers": "other"}}]', "names nothing of this pool \\('other'\\)"),
        ('[{"id": "x", "responses": {}}]', "names nothing of this pool"),
        ("[", "ends in the middle"),
    ],
)
def test_what_another_tool_gives_back_is_held_to_the_pool(tmp_path, text, sentence):
    store = str(tmp_path / "h.db")
    pool(store)
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(calipers.CalipersError, match=sentence):
        calipers.labels_import("first", tmp_path / "x.json", store=store)


# Files that several filled in

ROWS = [Label("q1", "Who?", item, f"text of {item}") for item in "abcd"]
GRADES: list[Any] = [[2.0, 1.0, 0.0, None], [2.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / name for name in ("anna.csv", "bo.jsonl", "cem.jsonl")]
    for path, grades in zip(paths, GRADES, strict=True):
        write_labels([row.judged(None, g) for row, g in zip(ROWS, grades, strict=True)], path)
    return paths


def truth_of(path):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return {one.get("id") or one["query"]: one for one in records}


def test_the_majority_of_files_is_a_ground_truth_that_measures_a_run(files, tmp_path):
    found = calipers.labels_export(files, tmp_path / "truth.jsonl")
    agreed = found.agreement
    by_judge = {one.judge: one.labelled for one in agreed.judges}
    assert by_judge == {"anna": 3, "bo": 4, "cem": 4}
    assert (agreed.judged, agreed.shared, agreed.alike) == (4, 4, 2)
    assert agreed.alpha is None
    assert [(one.item.label.item, one.counts) for one in agreed.conflicts] == [("a", 2), ("b", 1)]
    grades = truth_of(tmp_path / "truth.jsonl")["q1"]["ground_truth"]
    assert grades == {"a": 2, "b": 1, "c": 0, "d": 1}
    scores = calipers.evaluate(
        ground_truth=tmp_path / "truth.jsonl", run={"q1": ["a", "c", "b"]}, metrics="recall@3"
    )
    assert scores["recall@3"].mean == pytest.approx(2 / 3)


def test_a_tie_is_left_out_and_named(files, tmp_path):
    found = calipers.labels_export([files[0], files[2]], tmp_path / "truth.jsonl")
    assert found.left_out == 1
    assert "a" not in truth_of(tmp_path / "truth.jsonl")["q1"]["ground_truth"]
    assert found.agreement.conflicts[0].verdict == "Left out: a tie."
    write_labels([ROWS[0].judged("x", 1.0), ROWS[0].judged("y", 0.0)], tmp_path / "two.csv")
    with pytest.raises(InvalidInput, match="every result is a tie"):
        calipers.labels_export(tmp_path / "two.csv", tmp_path / "no.jsonl")


def test_new_labels_join_an_old_ground_truth(files, tmp_path):
    old: list[dict[str, Any]] = [
        {"id": "q1", "query": "Who?", "ground_truth": {"z": 1, "b": 3}, "tags": {"type": "fact"}},
        {"id": "q2", "query": "When?", "ground_truth": ["y"]},
    ]
    calipers.labels_export(files, tmp_path / "truth.jsonl", add_to=old)
    found = truth_of(tmp_path / "truth.jsonl")
    # As in a pool, a label stands in the place of what was said before.
    assert found["q1"]["ground_truth"] == {"z": 1, "a": 2, "b": 1, "c": 0, "d": 1}
    assert found["q1"]["tags"]["type"] == "fact"
    assert set(found) == {"q1", "q2"}


def test_judges_are_told_apart_and_what_cannot_be_used_is_said(tmp_path):
    for folder, grade in (("one", 1.0), ("two", 0.0)):
        (tmp_path / folder).mkdir()
        write_labels([ROWS[0].judged(None, grade)], tmp_path / folder / "label.csv")
    paths = [tmp_path / folder / "label.csv" for folder in ("one", "two")]
    found = calipers.labels_export(paths).agreement
    assert [one.judge for one in found.judges] == list(map(str, paths))
    several = [ROWS[0].judged("x ", 1.0), ROWS[0].judged("y", 0.0), ROWS[1].judged("x", 1.0)]
    write_labels(several, tmp_path / "all.csv")
    found = calipers.labels_export([tmp_path / "all.csv", paths[0]]).agreement
    assert [one.judge for one in found.judges] == ["x", "y", "label"]
    write_labels([ROWS[0].judged("x", 1.0), ROWS[0].judged("x", 0.0)], tmp_path / "odd.csv")
    with pytest.raises(InvalidInput, match=r"'x' gave two grades.*odd\.csv:2 and .*odd\.csv:3"):
        calipers.labels_export(tmp_path / "odd.csv")
    write_labels(ROWS, tmp_path / "empty.csv")
    with pytest.raises(InvalidInput, match="no grade in any of its 4 rows"):
        calipers.labels_export(tmp_path / "empty.csv")
    with pytest.raises(InvalidInput, match="No pool is named"):
        calipers.labels_export([])


@pytest.mark.parametrize(
    ("judges", "tags"),
    [
        (["anna"], "person:anna"),
        (["machine:m"], "machine:m"),
        (["machine:m", "machine:n"], "machine:m,machine:n"),
        (["anna", "machine:m"], "machine:m,person:anna"),
        ([None], "import"),
    ],
)
def test_whose_labels_they_are_is_marked_and_a_machine_counts_on_request(tmp_path, judges, tags):
    paths = [tmp_path / f"f{n}.csv" for n in range(len(judges))]
    for path, judge in zip(paths, judges, strict=True):
        write_labels([Label("q", item="a", grade=1.0, judge=judge)], path)
    calipers.labels_export(paths, tmp_path / "t.jsonl", machines=True)
    assert truth_of(tmp_path / "t.jsonl")["q"]["tags"] == {"judged_by": tags}
    if judges == ["machine:m"]:
        with pytest.raises(InvalidInput, match="add machines=True to count them"):
            calipers.labels_export(paths, tmp_path / "u.jsonl")


def test_a_machine_is_held_against_people(tmp_path):
    for judge, grades in (("anna", "1100110011"), ("machine:m", "1110110001")):
        rows = [Label("q", item=f"d{n}", grade=float(g), judge=judge) for n, g in enumerate(grades)]
        write_labels(rows, tmp_path / f"{judge[-1]}.csv")
    [found] = calipers.labels_export([tmp_path / "a.csv", tmp_path / "m.csv"]).agreement.machines
    assert (found.both, found.missed, found.invented, found.neither) == (5, 1, 1, 3)
    assert (found.sensitivity, found.specificity) == (5 / 6, 3 / 4)


def test_other_ways_to_recognise_an_item(tmp_path):
    label = Label("q", item="a", text="A lock.", document="d", start=3, end=10, grade=1.0)
    write_labels([label], tmp_path / "x.csv")
    expected = {
        "quote": [{"quote": "A lock.", "document": "d"}],
        "span": [{"document": "d", "start": 3, "end": 10}],
    }
    by: Any
    for by, targets in expected.items():
        path = tmp_path / f"{by}.jsonl"
        calipers.labels_export(tmp_path / "x.csv", path, targets_as=by)
        assert truth_of(path)["q"]["ground_truth"] == targets
        write_labels([Label("q", item="a", grade=1.0)], tmp_path / "bare.csv")
        with pytest.raises(InvalidInput, match="'a' of the query 'q' has no text"):
            calipers.labels_export(tmp_path / "bare.csv", tmp_path / "no.jsonl", targets_as=by)


def test_the_command_shows_what_the_library_returns(files, tmp_path):
    printed = calipers_command("labels", "export", *files, "-o", tmp_path / "truth.jsonl")
    assert printed.code == 0, printed.err
    for words in ("4 targets of 1 query", "the same grade on 2 of 4", "anna 2, bo 2, cem 0"):
        assert words in " ".join(printed.out.split())
    assert "nobody to agree with" in calipers_command("labels", "export", files[0]).out
