"""Read the questions to ask from a file, a ground truth, a mapping or a list."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.load import load
from calipers.io.records.json_files import decoded, raw_records
from calipers.io.records.schema import Asked, question_and_id
from calipers.io.tables.columns import Columns
from calipers.io.tables.usual_names import IDENTITIES, renaming
from calipers.live.adapters.base import Question
from calipers.model.fingerprint import DigestSum

Found = tuple[str, Iterator[Question], Callable[[int], str]]
"""The name of the source, the questions, and the location of each, for error messages."""


class Questions(tuple[Question, ...]):
    """Valid questions: each has a text and a unique id."""

    name: str
    fingerprint: str
    """A fingerprint that does not depend on the order of the questions."""


def read_questions(value: object, columns: Columns | None = None) -> Questions:
    """Read the questions in a file, a ground truth, a mapping of id to text, or a list.

    ``columns`` maps fields with unusual names to ours.

    >>> read_questions(["Who wrote it?", {"query": "When?", "id": "q2"}])
    (Question(id='Who wrote it?', text='Who wrote it?'), Question(id='q2', text='When?'))
    """
    if isinstance(value, Questions):
        return value
    columns = columns or Columns()
    try:
        return _checked(*_found(value, columns))
    finally:
        # A missing column explains every other error.
        columns.check_used()


def _checked(
    name: str, read: Iterator[Question], place: Callable[[int], str]
) -> Questions:
    seen: dict[str, int] = {}
    digests = list[bytes]()
    checked = list[Question]()
    for number, question in enumerate(read):
        if not question.text or question.text.isspace():
            raise InvalidInput(
                f"A question is empty at {place(number)}; give it a text, or leave it "
                "out."
            )
        try:
            # As JSON, so that no text can look like two questions.
            digests.append(hashlib.sha256(msgspec.json.encode(question)).digest())
        except UnicodeEncodeError:
            raise InvalidInput(
                f"A question holds a lone surrogate, which is no valid Unicode, at "
                f"{place(number)}; write it again."
            ) from None
        before = seen.setdefault(question.id, number)
        if before != number:
            raise InvalidInput(
                f"Two questions have the same id {question.id!r:.80}: {place(before)} "
                f"and {place(number)}; give each an 'id' of its own, or keep one."
            )
        checked.append(question)
    if not checked:
        raise InvalidInput(f"{name} holds no questions; give at least one.")
    total = DigestSum()
    questions = Questions(checked)
    total.add(digests)
    questions.name, questions.fingerprint = name, total.hexdigest()
    return questions


def _found(value: object, columns: Columns) -> Found:
    name = str(value) if isinstance(value, str | os.PathLike) else "questions"
    if isinstance(value, list | tuple):
        return _records(name, value, lambda i: f"{name}[{i}]", columns)
    if isinstance(value, Mapping) and all(
        isinstance(text, str) for text in value.values()
    ):
        questions = (Question(str(key), text) for key, text in value.items())
        return name, questions, lambda number: f"{name}[{[*value][number]!r}]"
    if isinstance(value, str | os.PathLike) and not Path(value).is_dir():
        in_file = _in_file(Path(value), columns)
        if in_file is not None:
            return in_file
    return _in_ground_truth(value, name, columns)


def _in_file(path: Path, columns: Columns) -> Found | None:
    """Questions in records or rows; None if the file is read as a ground truth."""
    source = Source(path)
    probe = Probe(source, columns)
    probe.check()
    if probe.look is not None:
        raw = raw_records(source, probe.look)
        rows = (
            decoded(item, source, raw.line(number))
            for number, item in enumerate(raw.items)
        )
        first = next(rows, None)
        known = columns.renamed(first, source.name) if isinstance(first, dict) else first
        # Without a question: one object over all lines, or records of another format.
        if isinstance(known, str) or _question(known) is not None:
            place = lambda number: raw.place(number).removesuffix(" $")  # noqa: E731
            return _records(source.name, chain((first,), rows), place, columns)
        return None
    if probe.table is None:
        return None
    names = renaming(sorted(probe.table.columns))
    meant = set(names.values())
    if "query" not in meant or meant & {*IDENTITIES, "ground_truth"}:
        return None
    wanted = {
        theirs: ours for theirs, ours in names.items() if ours in ("query", "query_text")
    }
    table = probe.table.open().select(*wanted).rename(wanted).collect()
    return _records(
        source.name, table.iter_rows(named=True), lambda i: f"{path}[{i}]", Columns()
    )


def _records(
    name: str, rows: Iterable[object], place: Callable[[int], str], columns: Columns
) -> Found:
    def asked() -> Iterator[Question]:
        for number, record in enumerate(rows):
            if isinstance(record, Question):
                yield record
                continue
            row = (
                columns.renamed(record, name)
                if columns and isinstance(record, Mapping)
                else record
            )
            if "query_id" in columns.named and isinstance(row, dict):
                row["id"] = row.get("query_id")
            question = (
                Question(record, record) if isinstance(record, str) else _question(row)
            )
            if question is None:
                raise InvalidInput(
                    f'A record holds no question at {place(number)}; give it a "query" with the '
                    f"text to ask. Found {record!r:.80}."
                )
            yield question

    return name, asked(), place


def _question(row: object) -> Question | None:
    """The question in a record: its ``id``, if it has one, and the text to ask."""
    if isinstance(row, Mapping) and row.get("query_text") is not None:
        row = {
            **row,
            "id": row.get("query_id", row.get("query")),
            "query": row["query_text"],
        }
    try:
        text, known = question_and_id(msgspec.convert(row, Asked))
    except msgspec.ValidationError:
        return None
    return (
        None
        if text is None
        else Question(str(text if known is None else known), str(text))
    )


def _in_ground_truth(value: object, name: str, columns: Columns) -> Found:
    loaded = load(value, "ground_truth", columns)
    holder = loaded.ground_truth or loaded.run
    queries = None if holder is None else holder.queries
    if queries is None or not queries.height:
        raise InvalidInput(
            f"{name} holds no questions; give a file with a question per record."
        )
    ids = queries["query"]
    texts = queries["text"] if "text" in queries.columns else ids
    if texts.null_count() == queries.height:
        if not any(" " in query or query.endswith("?") for query in ids.head(20)):
            raise InvalidInput(
                f"{name} knows its queries only by ids such as {ids[0]!r}, and an id "
                'cannot be asked; give a file of records with "id" and "query" (the text).'
            )
        texts = ids
    pairs = zip(ids, texts, strict=True)
    questions = (
        Question(query, query if text is None else text) for query, text in pairs
    )
    return name, questions, lambda number: f"{name} (query {ids[number]!r:.60})"
