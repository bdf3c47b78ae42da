"""Export and import of labels: our own files, Label Studio, Argilla."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.write import check_place, whole_file
from calipers.io.load import load_ground_truth
from calipers.io.records.json_files import decoded, opening
from calipers.io.records.label_files import Placed, read_labels, write_labels
from calipers.io.tables.columns import Columns
from calipers.labels.agreement import agreement, decide
from calipers.labels.desk import PoolSession, check_free
from calipers.labels.judging import check_quote, judged_truth
from calipers.labels.result import Agreement, Exported, Imported
from calipers.model.labels import Label, Pair, TargetsAs
from calipers.model.result import from_moment, moment
from calipers.questions.convert.rule import ToConvert, convert
from calipers.store.label_pools import append_on, check_entry, check_judge, new_request
from calipers.store.pool import LabelState, LogEntry, PoolItem, PoolSettings

TOOLS = ("label-studio", "argilla")
"""The labelling tools that tasks can be written for."""
LAST = datetime.max.replace(tzinfo=UTC)


def write_every_label(
    desk: PoolSession, path: str | os.PathLike[str], *, overwrite: bool = False
) -> Exported:
    """Write every current label, skip, note and final label as CSV or JSON lines."""
    check_free(path, overwrite)
    rows = [
        replace(
            desk.items[one.item].label.judged(one.judge, one.grade, note),
            quote=one.quote,
            quote_start=one.quote_start,
            kind=one.kind,
            saved=one.saved,
        )
        for one, note in desk.state().held()
    ]
    if not rows:
        raise InvalidInput(f"Nothing is judged yet in the pool {desk.name}; label something.")
    write_labels(rows, Path(path))
    counts = len({one.query_id for one in rows}), len({one.pair for one in rows}), len(rows)
    return Exported((str(path),), "every label", *counts, 0, None, desk.agreement())


def write_tasks(
    desk: PoolSession, path: str | os.PathLike[str], tool: str, *, overwrite: bool = False
) -> Exported:
    """Write the items as tasks of another tool, with the settings of its project.

    Labels are not included, so annotators there judge blind too.
    """
    if Path(path).suffix.lower() != ".json":
        raise InvalidInput(f"The output is {path}; tasks of {tool} are JSON, so end it in .json.")
    beside = Path(path).with_suffix(".xml" if tool == "label-studio" else ".settings.json")
    tasks, settings = (_studio if tool == "label-studio" else _argilla)(desk)
    files = {str(path): _json(tasks), str(beside): settings}
    for place in files:
        check_free(place, overwrite)
        check_place(place)
    for place, content in files.items():
        with whole_file(place) as file:
            file.write(content)
    queries = len({one.label.query_id for one in desk.items})
    return Exported(tuple(files), f"tasks of {tool}", queries, len(desk.items), 0, 0, None)


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value))


def _shown(one: PoolItem) -> dict[str, str]:
    label = one.label
    text = label.text if label.text is not None else label.item or ""
    return {"query": label.query or label.query_id, "title": label.title or "", "text": text}


def _studio(desk: PoolSession) -> tuple[list[dict[str, Any]], bytes]:
    """Return the Label Studio tasks, and the labelling interface with our grades."""
    settings = desk.content.settings
    choices = "\n".join(
        f'    <Choice value="{grade:g} {escape(name)}" hotkey="{at}"/>'
        for at, (grade, name) in enumerate(zip(settings.grades, settings.grade_names, strict=True))
    )
    view = f"""<View>
  <Header value="$query"/>
  <Header value="$title" size="5"/>
  <Labels name="quote" toName="text"><Label value="quote"/></Labels>
  <Text name="text" value="$text"/>
  <Choices name="grade" toName="text" choice="single" required="true">
{choices}
  </Choices>
  <TextArea name="note" toName="text" placeholder="A note" maxSubmissions="1"/>
</View>
"""
    tasks = [{"data": {"calipers": one.key, **_shown(one)}} for one in desk.items]
    return tasks, view.encode()


def _argilla(desk: PoolSession) -> tuple[list[dict[str, Any]], bytes]:
    """Return Argilla records as its ``to_json`` writes them, and the settings of the dataset."""
    kept = desk.content.settings
    grades = [
        {"value": f"{grade:g}", "text": name}
        for grade, name in zip(kept.grades, kept.grade_names, strict=True)
    ]
    quote = {"allow_overlapping": False, "options": [{"value": "quote", "text": "quote"}]}
    plain = {"type": "text", "use_markdown": False}

    def part(name: str, required: bool, how: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "title": name, "required": required, "settings": how}

    settings = {
        "guidelines": kept.guidelines or None,
        "questions": [
            part("grade", True, {"type": "label_selection", "options": grades}),
            part("note", False, plain),
            part("quote", False, {"type": "span", "field": "text", **quote}),
        ],
        "fields": [part(name, name != "title", plain) for name in ("query", "title", "text")],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
    }
    empty: dict[str, Any] = {"metadata": {}, "suggestions": {}, "responses": {}, "vectors": {}}
    records = [{"id": one.key, "fields": _shown(one), **empty} for one in desk.items]
    return records, _json(settings)


def _read(path: str | os.PathLike[str], items: Sequence[PoolItem]) -> list[Placed]:
    """Read the rows of one of our files, or of another tool's export."""
    source = Source(Path(path))
    if opening(source) != "list":
        return read_labels(path)
    found = decoded(source.read(), source)
    by_key = {one.key: one.label for one in items}
    rows: list[Placed] = []
    for at, record in enumerate(found):
        place = f"{source.name}[{at}]"
        fields = record if isinstance(record, dict) else {}
        key = fields.get("id") if "responses" in fields else fields.get("data", {}).get("calipers")
        if key not in by_key:
            raise InvalidInput(
                f"The record at {place} names nothing of this pool: found {key!r:.60}; import what "
                f"Label Studio (JSON) or Argilla (to_json) made of `calipers labels export --to`."
            )
        given = _of_argilla if "responses" in record else _of_studio
        try:
            rows += [(place, one) for one in given(record, by_key[key])]
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidInput(f"The record at {place} cannot be read: {error!r:.120}.") from None
    return rows


def _of_studio(record: Mapping[str, Any], label: Label) -> Iterator[Label]:
    """Read the labels of a Label Studio task."""
    for one in record.get("annotations", ()):
        who = one.get("completed_by")
        judge = who.get("email") or str(who["id"]) if isinstance(who, dict) else str(who)
        when = one.get("updated_at") or one.get("created_at")
        found = {part["from_name"]: part["value"] for part in one.get("result", ())}
        marked = found.get("quote", {})
        yield replace(
            label.judged(
                judge,
                _grade(found["grade"]["choices"][0]) if "grade" in found else None,
                "\n".join(found.get("note", {}).get("text", ())),
            ),
            kind="skip" if one.get("was_cancelled") else "label" if "grade" in found else "note",
            saved=None if when is None else _moment(when),
            **_marked(label, marked.get("start"), marked.get("end")),
        )


def _of_argilla(record: Mapping[str, Any], label: Label) -> Iterator[Label]:
    """Read the labels of an Argilla record; its export has no timestamps."""
    said: dict[str, dict[str, Any]] = {}
    for question, given in record["responses"].items():
        for one in given:
            if one.get("status", "submitted") != "draft":
                said.setdefault(str(one["user_id"]), {})[question] = one["value"]
                said[str(one["user_id"])]["skip"] = one.get("status") == "discarded"
    for judge, found in said.items():
        marked: dict[str, Any] = next(iter(found.get("quote") or ()), {})
        has_grade = "grade" in found and not found["skip"]
        yield replace(
            label.judged(judge, _grade(found["grade"]) if has_grade else None, found.get("note")),
            kind="skip" if found["skip"] else "label" if has_grade else "note",
            **_marked(label, marked.get("start"), marked.get("end")),
        )


def _grade(chosen: Any) -> float:
    """Read the grade at the start of a choice: "2 helps" is 2."""
    return float(str(chosen).split()[0])


def _marked(label: Label, start: int | None, end: int | None) -> dict[str, Any]:
    if start is None or end is None or label.text is None:
        return {}
    return {"quote": label.text[start:end], "quote_start": start}


def _moment(text: str) -> str:
    when = datetime.fromisoformat(text)
    return moment(when if when.tzinfo else when.replace(tzinfo=UTC))


def take_labels(
    desk: PoolSession, paths: Iterable[str | os.PathLike[str]], judge: str | None = None
) -> Imported:
    """Import labels from files, in one transaction.

    ``judge`` is the judge of rows that name none.
    """
    at = {item.label.pair: item.position for item in desk.items}
    rows: list[tuple[int, Label]] = []
    ungraded = 0
    for path in paths:
        for place, label in _read(path, desk.items):
            if label.kind is None and label.grade is None:
                ungraded += 1
                continue
            rows.append(_checked(desk, at, place, label, judge))
    names = tuple(dict.fromkeys(str(one.judge) for _, one in rows))
    state = desk.state()
    found = [list(_new(state, position, label)) for position, label in rows]
    with desk.store.writing() as connection:
        # By time; labels without a timestamp come last.
        new = sorted((one for each in found for one in each), key=lambda one: one["now"] or LAST)
        for entry in new:
            append_on(connection, desk.content.number, request=new_request(), **entry)
    added = sum(map(bool, found))
    return Imported(desk.name, added, len(rows) - added, ungraded, names)


def _checked(
    desk: PoolSession, at: Mapping[Pair, int], place: str, label: Label, judge: str | None
) -> tuple[int, Label]:
    """Return a row's position in the pool and the row with its judge; raise for a bad row."""
    if label.pair not in at:
        raise InvalidInput(
            f"The row at {place} is about something that is not in the pool {desk.name}: query "
            f"{label.query_id!r:.60}, item {label.item or label.text!r:.60}; import it into the "
            "pool it was drafted from."
        )
    whose = (label.judge or "").strip() or judge
    if whose is None:
        raise InvalidInput(
            f"The row at {place} does not say who judged it, and labels of a machine "
            "must not count as people's; fill in 'judge', or say whose such rows are: "
            "--judge anna, or --judge machine:NAME for a language model."
        )
    kind, note = label.kind or "label", label.note or "none"
    try:
        if kind == "undo":
            raise InvalidInput("An undo has no place in a file; leave out what it undoes.")
        check_entry(kind, desk.content.settings.grades, {"grade": label.grade, "note": note})
    except InvalidInput as error:
        raise InvalidInput(f"The row at {place} cannot be taken. {error}") from None
    if label.quote is not None:
        check_quote(label.quote, label.quote_start, desk.items[at[label.pair]].label)
    if label.saved is not None:
        try:
            from_moment(label.saved)
        except ValueError:
            raise InvalidInput(
                f"The time at {place} is {label.saved!r:.40}; it is written in UTC as "
                "2026-01-31T06:00:00.000000Z, or left empty."
            ) from None
    return at[label.pair], replace(label, judge=check_judge(whose))


def _new(state: LabelState, position: int, label: Label) -> Iterator[dict[str, Any]]:
    """The log entries for a row, unless the pool has the same or later ones."""
    who, kind = str(label.judge), label.kind or "label"
    held = state.final(position) if kind == "final" else state.current(position, who)
    if held is not None and label.saved is not None and held.saved > label.saved:
        return
    when = None if label.saved is None else from_moment(label.saved)
    entry = {"item": position, "judge": who, "now": when}
    marks = (label.quote, label.quote_start)
    if kind != "note" and (
        held is None
        or (held.kind, held.grade) != (kind, label.grade)
        # A file to label has no marked quotes, and removes none.
        or (label.kind is not None and (held.quote, held.quote_start) != marks)
    ):
        quoted = {"quote": marks[0], "quote_start": marks[1]}
        yield {**entry, "kind": kind, "grade": label.grade, **quoted}
    if label.note is not None and kind != "final" and state.note(position, who) != label.note:
        yield {**entry, "kind": "note", "note": label.note}


@dataclass(frozen=True, eq=False)
class LabelFiles:
    """Labels read from files, in the form of a pool, so that the same rules apply."""

    items: Sequence[PoolItem]
    state: LabelState
    unnamed: Collection[str]
    """Judges named only by their file name; they may be human or not."""

    @property
    def agreement(self) -> Agreement:
        """How far the judges agree."""
        return agreement(self.items, self.state)


def filled_grades(paths: Sequence[str | os.PathLike[str]]) -> dict[Pair, float]:
    """The grade that people gave each item of some filled-in files; ties are left out."""
    if not paths:
        return {}
    read = read_files(paths)
    decided = {one.label.pair: decide(read.state, one.position) for one in read.items}
    return {pair: one.grade for pair, one in decided.items() if one and one.grade is not None}


def read_files(paths: Sequence[str | os.PathLike[str]]) -> LabelFiles:
    """Read filled-in files; the judge of a row that names none is the name of its file."""
    stems = [Path(path).name.split(".")[0] or str(path) for path in paths]
    names = stems if len(set(stems)) == len(stems) else list(map(str, paths))
    items: dict[Pair, PoolItem] = {}
    seen: dict[tuple[Pair, str, str], tuple[float | None, str]] = {}
    entries: list[LogEntry] = []
    unnamed: set[str] = set()
    for name, path in zip(names, paths, strict=True):
        read = read_labels(path)
        rows = [one for one in read if one[1].grade is not None or one[1].kind is not None]
        if not rows:
            raise InvalidInput(
                f"{path} has no grade in any of its {len(read)} rows; fill in 'grade' first."
            )
        for place, label in rows:
            judge, kind = (label.judge or "").strip() or name, label.kind or "label"
            if not label.judge:
                unnamed.add(judge)
            item = items.setdefault(label.pair, PoolItem(len(items), label.judged(None, None)))
            before = seen.setdefault((label.pair, judge, kind), (label.grade, place))
            if before[0] != label.grade:
                raise InvalidInput(
                    f"The judge {judge!r} gave two grades to one item: query {label.query_id!r}, "
                    f"item {label.item or label.text!r:.60} is graded {before[0]} at {before[1]} "
                    f"and {label.grade} at {place}; keep one, or name the judges apart."
                )
            if before[1] == place:
                marks = ("grade", "quote", "quote_start", "note")
                said: dict[str, Any] = {one: getattr(label, one) for one in marks}
                said |= {"item": item.position, "judge": judge, "kind": kind}
                entries.append(LogEntry(number=0, saved=label.saved or "", **said))
    # A final label comes after the labels that it settles.
    ordered = sorted(entries, key=lambda one: one.kind == "final")
    numbered = (replace(one, number=at) for at, one in enumerate(ordered, 1))
    return LabelFiles(tuple(items.values()), LabelState(numbered), unnamed)


def said(found: Agreement) -> Exported:
    """A result with the agreement alone, when nothing is written."""
    return Exported((), "", 0, 0, found.judged, found.left_out, None, found)


def merge_files(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None,
    *,
    to: str | None = None,
    targets_as: TargetsAs | None = None,
    machines: bool = False,
    add_to: Any = None,
    columns: Any = None,
    overwrite: bool = False,
) -> Exported:
    """Merge filled-in files into one ground truth, and measure the agreement."""
    read = read_files(paths)
    if output is None:
        return said(read.agreement)
    check_free(output, overwrite)
    before = None if add_to is None else load_ground_truth(add_to, Columns.of(columns))
    settings = PoolSettings(targets_as=targets_as or "id")
    found = judged_truth(
        before, read.items, read.state, settings, machines=machines, unnamed=read.unnamed
    )
    if not found.grades:
        only = "every result is a tie; let one more judge decide"
        if not found.left_out:
            only = "language models gave all of the labels; add --machines to count them"
        raise InvalidInput(f"There is no grade to make a ground truth of: {only}.")
    done = convert(ToConvert(ground_truth=found.tagged(None)), output, to)
    return Exported.of(done, found, read.agreement)
