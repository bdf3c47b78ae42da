"""Export and import of labels: our own files, Label Studio, Argilla."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.files.open import Source
from calipers.io.files.write import check_place, whole_file
from calipers.io.load import load_ground_truth
from calipers.io.records.json_files import decoded, opening
from calipers.io.records.label_files import Placed, read_labels, write_labels
from calipers.io.tables.columns import Columns
from calipers.labels.agreement import agreement, decide
from calipers.labels.agreement_result import Agreement
from calipers.labels.desk import (
    AnyPath,
    Exported,
    PoolSession,
    check_free,
    check_quote,
    open_desk,
    write_truth,
)
from calipers.labels.judged_truth import judged_truth
from calipers.model.document import Document, Note
from calipers.model.fact import Fact, named, sentence
from calipers.model.labels import Label, Pair
from calipers.model.result import Plain, ShowsItself, from_moment, moment
from calipers.present.escape import printable
from calipers.store.label_pools import append_on, check_entry, check_judge
from calipers.store.pool import LabelState, LogEntry, NewEntry, PoolItem, PoolSettings
from calipers.words import name_without_ending

if TYPE_CHECKING:
    from calipers.labels.settings import LabelsExportSettings

LAST = datetime.max.replace(tzinfo=UTC)


def export(
    paths: Sequence[AnyPath], output: AnyPath | None, settings: "LabelsExportSettings"
) -> Exported:
    """Write what was judged in a pool or in files; without ``output`` only say the agreement."""
    to = settings.to
    overwrite = settings.overwrite
    in_files = len(paths) != 1 or Path(paths[0]).is_file()
    if not paths:
        raise InvalidInput(
            "No pool is named; `calipers labels export --list` lists them."
        )
    if in_files and (to in TOOLS or settings.every_label):
        raise InvalidInput("Tasks and every label are written of a pool; name one.")
    if in_files:
        return _merge_files(paths, output, settings)
    desk = open_desk(str(paths[0]), settings.store)
    if settings.add_to is not None:
        raise InvalidInput(
            "A pool knows the ground truth it adds to; leave --add-to out."
        )
    if output is None:
        return _said(desk.agreement())
    if to is not None and to in TOOLS:
        return write_tasks(desk, output, to, overwrite=overwrite)
    if settings.every_label:
        return write_every_label(desk, output, overwrite=overwrite)
    return desk.export(
        output,
        to=to,
        targets_as=settings.targets_as,
        machines=settings.machines,
        overwrite=overwrite,
    )


def _said(agreement: Agreement) -> Exported:
    """A result with the agreement alone, when nothing is written."""
    return Exported((), "", 0, 0, agreement.judged, agreement.left_out, None, agreement)


def write_every_label(
    desk: PoolSession, path: AnyPath, *, overwrite: bool = False
) -> Exported:
    """Write every current label, skip, note and final label as CSV or JSON lines."""
    check_free(path, overwrite)
    rows = []
    for entry, note in desk.state().held():
        label = desk.items[entry.item].label.judged(entry.judge, entry.grade, note)
        marks: dict[str, Any] = {"quote": entry.quote, "quote_start": entry.quote_start}
        rows.append(replace(label, **marks, kind=entry.kind, saved=entry.saved))
    if not rows:
        raise InvalidInput(
            f"Nothing is judged yet in the pool {desk.name}; label something."
        )
    write_labels(rows, Path(path))
    counts = (
        len({row.query_id for row in rows}),
        len({row.pair for row in rows}),
        len(rows),
    )
    return Exported((str(path),), "every label", *counts, 0, agreement=desk.agreement())


def write_tasks(
    desk: PoolSession, path: AnyPath, tool: str, *, overwrite: bool = False
) -> Exported:
    """Write the items as tasks of another tool.

    Labels are not included, so annotators there judge blind too.
    """
    if Path(path).suffix.lower() != ".json":
        raise InvalidInput(
            f"The output is {path}; tasks of {tool} are JSON, so end it in .json."
        )
    check_free(path, overwrite)
    check_place(path)
    with whole_file(path) as file:
        tasks = [TOOLS[tool](item) for item in desk.items]
        file.write(msgspec.json.format(msgspec.json.encode(tasks)))
    queries = len({item.label.query_id for item in desk.items})
    return Exported((str(path),), f"tasks of {tool}", queries, len(desk.items), 0, 0)


def _shown(pool_item: PoolItem) -> dict[str, str]:
    label = pool_item.label
    text = label.text if label.text is not None else label.item or ""
    return {
        "query": label.query or label.query_id,
        "title": label.title or "",
        "text": text,
    }


def _studio_task(pool_item: PoolItem) -> dict[str, Any]:
    return {"data": {"calipers": pool_item.key, **_shown(pool_item)}}


def _argilla_record(pool_item: PoolItem) -> dict[str, Any]:
    """A record as ``to_json`` of Argilla writes it."""
    empty: dict[str, object] = {
        "metadata": {},
        "suggestions": {},
        "responses": {},
        "vectors": {},
    }
    return {"id": pool_item.key, "fields": _shown(pool_item), **empty}


TOOLS: Mapping[str, Callable[[PoolItem], object]] = {
    "label-studio": _studio_task,
    "argilla": _argilla_record,
}
"""Labelling tools, and an item as a task of each; docs/make-ground-truth.md has their
settings."""


def _read(path: AnyPath, items: Sequence[PoolItem]) -> list[Placed]:
    """Read the rows of one of our files, or of another tool's export."""
    source = Source(Path(path))
    if opening(source) != "list":
        return read_labels(path)
    by_key = {item.key: item.label for item in items}
    rows: list[Placed] = []
    for at, record in enumerate(decoded(source.read(), source)):
        place = f"{source.name}[{at}]"
        fields = record if isinstance(record, dict) else {}
        is_argilla = "responses" in fields or "grade.responses" in fields
        key = fields.get("id") if is_argilla else fields.get("data", {}).get("calipers")
        if key not in by_key:
            raise InvalidInput(
                f"The record at {place} names nothing of this pool ({key!r:.60}); import "
                "the JSON that Label Studio or Argilla made of `calipers labels export "
                "--to`."
            )
        read = _of_argilla if is_argilla else _of_studio
        try:
            rows += [(place, label) for label in read(record, by_key[key])]
        except InvalidInput:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidInput(
                f"The record at {place} cannot be read: {error!r:.120}."
            ) from None
    return rows


def _of_studio(record: Mapping[str, Any], label: Label) -> Iterator[Label]:
    """Read the labels of a Label Studio task."""
    for annotation in record.get("annotations", ()):
        who = annotation.get("completed_by")
        judge = who.get("email") or str(who["id"]) if isinstance(who, dict) else str(who)
        values = {
            part["from_name"]: part["value"] for part in annotation.get("result", ())
        }
        grade = values["grade"]["choices"][0] if "grade" in values else None
        note = "\n".join(values.get("note", {}).get("text", ()))
        row = _row(label, judge, grade, note, bool(annotation.get("was_cancelled")))
        when = annotation.get("updated_at") or annotation.get("created_at")
        if when is not None:
            labelled_at = datetime.fromisoformat(when)
            row = replace(
                row,
                saved=moment(
                    labelled_at if labelled_at.tzinfo else labelled_at.replace(tzinfo=UTC)
                ),
            )
        yield row


def _of_argilla(record: Mapping[str, Any], label: Label) -> Iterator[Label]:
    """Read the labels of an Argilla record; its export has no timestamps.

    ``to_list(flatten=True)`` keeps the status of a response. Other exports drop it, and a
    draft or a discarded response would count as a label.
    """
    by_judge: dict[str, dict[str, Any]] = {}
    for question in ("grade", "note"):
        for value, judge, status in _responses(record, question):
            if status is None:
                raise InvalidInput(
                    "The responses of Argilla have no status here, so drafts and "
                    "discarded ones would count as labels; export them with "
                    "dataset.records.to_list(flatten=True)."
                )
            if status != "draft":
                answers = by_judge.setdefault(judge, {})
                answers |= {question: value, "skip": status == "discarded"}
    for judge, answers in by_judge.items():
        yield _row(
            label, judge, answers.get("grade"), answers.get("note"), answers["skip"]
        )


def _responses(
    record: Mapping[str, Any], question: str
) -> Iterator[tuple[Any, str, str | None]]:
    """Each response to a question: its value, who gave it, and its status if it is known."""
    flat = f"{question}.responses"
    if flat in record:
        users = record[f"{flat}.users"]
        statuses = record.get(f"{flat}.status") or [None] * len(users)
        yield from zip(record[flat], map(str, users), statuses, strict=True)
    for response in record.get("responses", {}).get(question, ()):
        yield response["value"], str(response["user_id"]), response.get("status")


def _row(
    label: Label, judge: str, grade: object, note: str | None, skipped: bool
) -> Label:
    """A label of another tool; its grade is at the start of the choice: "2 helps" is 2."""
    value = None if grade is None or skipped else float(str(grade).split()[0])
    kind = "skip" if skipped else "note" if value is None else "label"
    return replace(label.judged(judge, value, note), kind=kind)


@dataclass(frozen=True, repr=False)
class Imported(Plain, ShowsItself):
    """Labels that were read from files into a pool."""

    shown_by: ClassVar[str] = "calipers.labels.exchange:of_import"

    pool: str
    added: int
    known: int
    """Labels that the pool already had, or for which it had a later one of the same
    judge."""
    ungraded: int
    """Rows that nobody filled in."""
    judges: tuple[str, ...]


def take_labels(
    desk: PoolSession, paths: Iterable[AnyPath], judge: str | None = None
) -> Imported:
    """Import labels from files, in one transaction.

    ``judge`` is the judge of rows that name none.
    """
    at = {item.label.pair: item.position for item in desk.items}
    read = [row for path in paths for row in _read(path, desk.items)]
    filled = [row for row in read if row[1].kind is not None or row[1].grade is not None]
    rows = [_checked(desk, at, place, label, judge) for place, label in filled]
    state = desk.state()
    news = [list(_new(state, position, label)) for position, label in rows]
    with desk.store.writing() as connection:
        # By time; labels without a timestamp come last.
        new = sorted(
            (entry for each in news for entry in each),
            key=lambda entry: entry.now or LAST,
        )
        for entry in new:
            append_on(connection, desk.content.number, entry)
    added = sum(map(bool, news))
    names = dict.fromkeys(str(label.judge) for _, label in rows)
    return Imported(
        desk.name, added, len(rows) - added, len(read) - len(rows), tuple(names)
    )


def _checked(
    desk: PoolSession, at: Mapping[Pair, int], place: str, label: Label, judge: str | None
) -> tuple[int, Label]:
    """Return a row's position in the pool and the row with its judge; raise for a bad row."""
    if label.pair not in at:
        raise InvalidInput(
            f"The row at {place} is about something that is not in the pool {desk.name}: "
            f"query {label.query_id!r:.60}, item {label.item or label.text!r:.60}."
        )
    whose = (label.judge or "").strip() or judge
    if whose is None:
        raise InvalidInput(
            f"The row at {place} does not say who judged it; fill in 'judge', or say "
            "whose such rows are: --judge anna, or --judge machine:NAME for a language "
            "model."
        )
    kind = label.kind or "label"
    note = label.note or "none"
    try:
        if kind == "undo":
            raise InvalidInput(
                "An undo has no place in a file; leave out what it undoes."
            )
        new = NewEntry(
            item=at[label.pair], judge=whose, kind=kind, grade=label.grade, note=note
        )
        check_entry(new, desk.content.settings.grades)
        if label.quote is not None:
            check_quote(label.quote, label.quote_start, desk.items[at[label.pair]].label)
        if label.saved is not None:
            from_moment(label.saved)
    except InvalidInput as error:
        raise InvalidInput(f"The row at {place} cannot be taken. {error}") from None
    except ValueError:
        words = "it is written in UTC as 2026-01-31T06:00:00.000000Z, or left empty"
        raise InvalidInput(
            f"The time at {place} is {label.saved!r:.40}; {words}."
        ) from None
    return at[label.pair], replace(label, judge=check_judge(whose))


def _new(state: LabelState, position: int, label: Label) -> Iterator[NewEntry]:
    """The log entries for a row, unless the pool has the same or later ones."""
    who = str(label.judge)
    kind = label.kind or "label"
    held = state.final(position) if kind == "final" else state.current(position, who)
    if held is not None and label.saved is not None and held.saved > label.saved:
        return
    when = None if label.saved is None else from_moment(label.saved)
    marks = (label.quote, label.quote_start)
    if kind != "note" and (
        held is None
        or (held.kind, held.grade) != (kind, label.grade)
        # A file to label has no marked quotes, and removes none.
        or (label.kind is not None and (held.quote, held.quote_start) != marks)
    ):
        yield NewEntry(
            item=position,
            judge=who,
            kind=kind,
            grade=label.grade,
            quote=label.quote,
            quote_start=label.quote_start,
            now=when,
        )
    if (
        label.note is not None
        and kind != "final"
        and state.note(position, who) != label.note
    ):
        yield NewEntry(item=position, judge=who, kind="note", note=label.note, now=when)


# Filled-in files, read as a pool is, so that the same rules apply


def filled_grades(paths: Sequence[AnyPath]) -> dict[Pair, float | None]:
    """The grade that people gave each item of some files; None for a tie, or a machine's alone."""
    items, state, _ = _read_files(paths)
    decided = {item.label.pair: decide(state, item.position) for item in items}
    return {
        pair: decision.counts if decision else None for pair, decision in decided.items()
    }


def _read_files(
    paths: Sequence[AnyPath],
) -> tuple[Sequence[PoolItem], LabelState, Collection[str]]:
    """Read filled-in files; the judge of a row that names none is the name of its file.

    Such judges, which may be human or not, are returned too.
    """
    stems = [name_without_ending(Path(path).name) for path in paths]
    names = stems if len(set(stems)) == len(stems) else list(map(str, paths))
    items: dict[Pair, PoolItem] = {}
    seen: dict[tuple[Pair, str, Any], tuple[Label, str]] = {}
    unnamed: set[str] = set()
    for name, path in zip(names, paths, strict=True):
        read = read_labels(path)
        rows = [
            row for row in read if row[1].grade is not None or row[1].kind is not None
        ]
        if not rows:
            raise InvalidInput(
                f"{path} has no grade in any of its {len(read)} rows; fill in 'grade' "
                "first."
            )
        for place, label in rows:
            judge = (label.judge or "").strip() or name
            kind = label.kind or "label"
            if not label.judge:
                unnamed.add(judge)
            items.setdefault(label.pair, PoolItem(len(items), label.judged(None, None)))
            before, first = seen.setdefault((label.pair, judge, kind), (label, place))
            if before.grade != label.grade:
                raise InvalidInput(
                    f"The judge {judge!r} gave two grades to one item of "
                    f"{label.query_id!r:.60}: {before.grade} at {first} and "
                    f"{label.grade} at {place}; keep one."
                )
    # A final label comes after the labels that it settles.
    ordered = sorted(seen.items(), key=lambda entry: entry[0][2] == "final")
    entries = []
    marks = ("grade", "quote", "quote_start", "note")
    for at, ((pair, judge, kind), (read_label, _)) in enumerate(ordered, 1):
        entry_fields: dict[str, Any] = {name: getattr(read_label, name) for name in marks}
        entry_fields |= {"item": items[pair].position, "judge": judge, "kind": kind}
        entries.append(LogEntry(number=at, saved=read_label.saved or "", **entry_fields))
    return tuple(items.values()), LabelState(entries), unnamed


def _merge_files(
    paths: Sequence[AnyPath], output: AnyPath | None, settings: "LabelsExportSettings"
) -> Exported:
    """Merge filled-in files into one ground truth, and measure the agreement."""
    items, state, unnamed = _read_files(paths)
    agreed = agreement(items, state)
    if output is None:
        return _said(agreed)
    check_free(output, settings.overwrite)
    before = None
    if settings.add_to is not None:
        before = load_ground_truth(settings.add_to, Columns.of(settings.columns))
    pool = PoolSettings(targets_as=settings.targets_as or "id")
    judged = judged_truth(
        before, items, state, pool, machines=settings.machines, unnamed=unnamed
    )
    truth = judged.tagged(None)
    if truth is None or not judged.grades:
        only = "every result is a tie; let one more judge decide"
        if not judged.left_out:
            only = "language models gave all of the labels; add --machines to count them"
        raise InvalidInput(f"There is no grade to make a ground truth of: {only}.")
    return write_truth(truth, judged, agreed, output, settings.to)


def document(exported: Exported) -> Document:
    """What was written, what was left out, and how far the judges agree."""
    agreed = None if exported.agreement is None else exported.agreement.document()
    if agreed is not None and not exported.files:
        return agreed
    size = Fact(about="count", count=exported.targets, queries=exported.queries)
    labels = Fact(about="count", count=exported.labels, text="labels")
    template = "{it.count} results to {it.queries:query|queries}"
    if exported.fingerprint is not None:
        template = (
            "{it.count:target|targets} of {it.queries:query|queries}, {labels.count} of "
            "them labelled here"
        )
    elif exported.labels:
        template = "{labels.count:label|labels} of " + template
        template += ", each with its judge and time"
    text = sentence(
        "Written to {files.text}: " + template + ".",
        files=named(", ".join(map(printable, exported.files))),
        it=size,
        labels=labels,
    )
    if agreed is None:
        return Document(text)
    if exported.fingerprint is None:
        return replace(agreed, sentence=text)
    notes = [Note("doubt", agreed.sentence)]
    if exported.left_out:
        left = Fact(about="count", count=exported.left_out, text="ties")
        template = "{it.count:result|results} left out as a tie: settle it, or ask one more judge."
        notes.append(Note("missing", sentence(template, it=left)))
    print_ = named(exported.fingerprint[:12])
    notes.append(Note("counted", sentence("Its fingerprint is {it.text}.", it=print_)))
    return Document(text, blocks=agreed.blocks, notes=notes)


def of_import(imported: Imported) -> Document:
    """How many labels were read, and how many were there already."""
    template = "{it.count:label|labels} by {judges.text} added to {pool.text}"
    if imported.known:
        template += ", {known.count} were there already"
    if imported.ungraded:
        template += ", {empty.count:row has|rows have} no grade"
    judges = ", ".join(printable(name, 40) for name in imported.judges) or "nobody"
    return Document(
        sentence(
            template + ".",
            it=Fact(about="count", count=imported.added, text="added"),
            judges=named(judges),
            pool=named(printable(imported.pool)),
            known=Fact(about="count", count=imported.known, text="known"),
            empty=Fact(about="count", count=imported.ungraded, text="without a grade"),
        )
    )
