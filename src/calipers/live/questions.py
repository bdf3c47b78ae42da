"""The questions to ask, from whatever holds them: a file, a ground truth, a mapping, a list.

They are read as often as needed, so that the questions of a large file are never in memory.
"""

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from calipers.errors import InvalidInput
from calipers.io.files.open import Source, stamp
from calipers.io.files.probe import Sight
from calipers.io.formats.ours import Asked, question_and_id
from calipers.io.load import load
from calipers.io.records.json_files import BROKEN, first_line, opening, plain_records
from calipers.io.tables.columns import IDENTITIES, Columns, renaming
from calipers.live.adapters.base import Question
from calipers.model.arrays import Ints
from calipers.model.fingerprint import DigestSum
from calipers.model.ground_truth import GroundTruth

BLOCK = 1 << 15
"""Bytes of a file to have in memory at a time."""
SOME = 512
"""So many digests are added up at a time."""

Record = dict[str, Any]
_encode = msgspec.json.Encoder().encode
_LINE = msgspec.json.Decoder(Asked)
_LIST = msgspec.json.Decoder(list[Asked | str])


@dataclass(frozen=True, eq=False)
class Origin:
    """Questions that can be read again and again, and where each of them stands."""

    name: str
    read: Callable[[], Iterator[Question]]
    place: Callable[[int], str]
    """The number of a question, from 0, in words for an error."""


class Questions:
    """Questions that were checked once and are read again whenever they are gone through.

    Eight bytes are kept of each, a hash of its id: what tells the questions of a run file apart.
    """

    fingerprint: str
    """The same for the same questions, whatever their order."""

    def __init__(self, origin: Origin) -> None:
        self.name = origin.name
        self._origin = origin
        self._salt = 0
        self._keys, self.fingerprint = _checked(origin)
        while doubled := _doubled(self._keys):
            self._complain_about_doubles(doubled)
            # Two ids with one hash, and nothing wrong with either: other hashes will differ.
            self._salt += 1
            self._keys = array("q", (self.key(one.id) for one in self))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Question]:
        expected, number = len(self), 0
        for number, question in enumerate(self._origin.read(), 1):
            if number > expected:
                break
            yield question
        if number != expected:
            raise InvalidInput(
                f"{self.name} held {len(self)} questions at first and holds another number now; "
                "begin again, and leave it alone until all are answered."
            )

    def key(self, name: str) -> int:
        """What stands for an id."""
        return hash(f"{self._salt}:{name}" if self._salt else name)

    def numbers(self, keys: "array[int]") -> Ints:
        """The place of each key among the questions, from 0; -1 for those of none of them."""
        known, wanted = np.frombuffer(self._keys, np.int64), np.frombuffer(keys, np.int64)
        order = np.argsort(known)
        places = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
        return np.where(known[places] == wanted, places, -1)

    def _complain_about_doubles(self, keys: frozenset[int]) -> None:
        seen: dict[str, int] = {}
        for number, question in enumerate(self):
            if self.key(question.id) not in keys:
                continue
            before = seen.setdefault(question.id, number)
            if before != number:
                raise InvalidInput(
                    f"Two questions have the same id {question.id!r:.80}: "
                    f"{self._origin.place(before)} and {self._origin.place(number)}; give each an "
                    "'id' of its own, or keep one."
                )


def open_questions(value: Any, columns: Columns | None = None) -> Questions:
    """The questions in a file, a ground truth, a mapping of id to text, or a list.

    A file of JSON lines is read again each time and never held; a list stays the caller's.
    ``columns`` says which field is what, where their names do not.

    >>> questions = open_questions(["Who wrote it?", {"query": "When?", "id": "q2"}])
    >>> len(questions), [question.text for question in questions]
    (2, ['Who wrote it?', 'When?'])
    """
    if isinstance(value, Questions):
        return value
    if columns is None or not columns:
        return Questions(_origin_of(value))
    try:
        origin = _named_origin(value, columns)
    finally:
        # A name that is not there explains everything else.
        columns.check_used()
    return Questions(origin)


def read_questions(value: Any, columns: Columns | None = None) -> tuple[Question, ...]:
    """The same questions, all of them in memory.

    >>> read_questions(["Who wrote it?", {"query": "When?", "id": "q2"}])
    (Question(id='Who wrote it?', text='Who wrote it?'), Question(id='q2', text='When?'))
    """
    return tuple(open_questions(value, columns))


def _checked(origin: Origin) -> "tuple[array[int], str]":
    """A key for each question, and the fingerprint of all; each may be asked."""
    keys, total, some = array("q"), DigestSum(), list[bytes]()
    for number, question in enumerate(origin.read()):
        name, text = question
        if not text or text.isspace():
            raise InvalidInput(
                f"A question is empty at {origin.place(number)}; give it a text, or leave it out."
            )
        try:
            # As JSON, so that no text can be written to look like two.
            some.append(hashlib.sha256(_encode(question)).digest())
        except UnicodeEncodeError:
            raise InvalidInput(
                f"A question holds a lone surrogate, which is no valid Unicode, at "
                f"{origin.place(number)}; write it again."
            ) from None
        keys.append(hash(name))
        if len(some) >= SOME:
            total.add(some)
            some.clear()
    total.add(some)
    if not keys:
        raise InvalidInput(f"{origin.name} holds no questions; give at least one.")
    return keys, total.hexdigest()


def _doubled(keys: "array[int]") -> frozenset[int]:
    """Keys that stand for more than one question."""
    ordered = np.sort(np.frombuffer(keys, np.int64))
    return frozenset(ordered[1:][ordered[1:] == ordered[:-1]].tolist())


def _origin_of(value: Any) -> Origin:
    """The questions in a path, a mapping of id to text, a list, or a ground truth."""
    if isinstance(value, str | os.PathLike):
        return _file(Path(value))
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
        return _mapping(value)
    if isinstance(value, list | tuple):
        return _list(value)
    return _ground_truth(value, "questions")


def _named_origin(value: Any, columns: Columns) -> Origin:
    """The same, where the user says which field is what."""
    if isinstance(value, list | tuple):
        return _list(_named_records(list(value), columns, "questions"))
    if isinstance(value, str | os.PathLike):
        rows = _records_of_questions(Path(value), columns)
        if rows is not None:
            return _list(rows, str(value))
    return _ground_truth(value, str(value), columns)


def _file(path: Path) -> Origin:
    if path.is_dir():
        return _ground_truth(path, str(path))
    source = Source(path)
    begins_as = opening(source)
    if begins_as is None:
        rows = _records_of_questions(path, Columns())
        return _ground_truth(path, str(path)) if rows is None else _list(rows, str(path))
    source.check_has_content()
    if begins_as == "list":
        try:
            return _list(_LIST.decode(source.read()), str(path))
        except BROKEN:
            return _ground_truth(path, str(path))
    try:
        first = _LINE.decode(first_line(source))
    except BROKEN:
        first = Asked()
    # Without a question: one object over all lines, or records of another form.
    return _ground_truth(path, str(path)) if _question(first) is None else _lines(source)


def _lines(source: Source) -> Origin:
    """A record per line. Nothing is kept; a file that changes meanwhile is noticed."""
    before = stamp(source.path)

    def unchanged(*_: int) -> None:
        if stamp(source.path) != before:
            raise InvalidInput(
                f"The file {source.name} was changed while its questions were asked; begin again, "
                "and leave it alone until all are answered."
            )

    # Told after each block is read, so that no line of another file is ever passed on.
    watched = Source(source.path, unchanged, BLOCK)

    def read() -> Iterator[Question]:
        decode = _LINE.decode
        for number, line in watched.lines():
            if not line or line.isspace():
                continue
            try:
                asked = decode(line)
            except BROKEN:
                raise InvalidInput(
                    f"A line is no question at {source.name}:{number}; each line is a JSON object "
                    'with "query", such as {"query": "Who wrote it?"}.'
                ) from None
            yield _question(asked) or _nothing_asked(f"{source.name}:{number}")

    def place(wanted: int) -> str:
        filled = (number for number, line in source.lines() if line.strip())
        return f"{source.name}:{next(islice(filled, wanted, None))}"

    return Origin(source.name, read, place)


def _mapping(texts: Mapping[Any, str]) -> Origin:
    def read() -> Iterator[Question]:
        return (Question(str(key), text) for key, text in texts.items())

    def place(wanted: int) -> str:
        return f"questions[{next(islice(texts, wanted, None))!r}]"

    return Origin("questions", read, place)


def _list(values: Sequence[Any], name: str = "questions") -> Origin:
    def place(wanted: int) -> str:
        return f"{name}[{wanted}]"

    def read() -> Iterator[Question]:
        for number, one in enumerate(values):
            if isinstance(one, str):
                yield Question(one, one)
            elif isinstance(one, Question):
                yield one
            else:
                yield _from_record(one, place(number))

    return Origin(name, read, place)


def _from_record(one: Any, place: str) -> Question:
    try:
        asked = one if isinstance(one, Asked) else msgspec.convert(one, Asked)
    except msgspec.ValidationError:
        raise InvalidInput(
            f"{place} is no question: {one!r:.80}; give a text, or a record with 'query'."
        ) from None
    return _question(asked) or _nothing_asked(place)


def _question(asked: Asked) -> Question | None:
    text, known = question_and_id(asked)
    return None if text is None else Question(str(text if known is None else known), str(text))


def _nothing_asked(place: str) -> Question:
    raise InvalidInput(
        f'A record holds no question at {place}; give it a "query" with the text to ask.'
    )


def _ground_truth(value: Any, name: str, columns: Columns | None = None) -> Origin:
    found = load(value, "ground_truth", None, columns)
    truth: GroundTruth | None = found.ground_truth
    queries = truth.queries if truth is not None else found.run.queries if found.run else None
    if queries is None or not queries.height:
        raise InvalidInput(f"{name} holds no questions; give a file with a question per record.")
    ids = queries["query"]
    texts = queries["text"] if "text" in queries.columns else ids
    if texts.null_count() == queries.height:
        if not any(" " in query or query.endswith("?") for query in ids.head(20)):
            raise InvalidInput(
                f"{name} knows its queries only by ids such as {ids[0]!r}, and an id "
                'cannot be asked; give a file of records with "id" and "query" (the text).'
            )
        texts = ids

    def read() -> Iterator[Question]:
        for query, text in zip(ids, texts, strict=True):
            yield Question(query, text if text is not None else query)

    return Origin(name, read, lambda wanted: f"{name} (query {ids[wanted]!r:.60})")


def _records_of_questions(path: Path, columns: Columns) -> list[Record] | None:
    """The records of a file that asks and says nothing of what should be found; None otherwise.

    Fields have the names that are meant: ``query``, and ``id`` where the file has one.
    """
    if not path.is_file():
        return None
    source = Source(path)
    sight = Sight(source, columns)
    sight.check()
    if sight.look is not None:
        if not columns.named:
            return None
        rows, _ = plain_records(source, sight.look)
        return _named_records(rows, columns, str(path))
    if sight.table is None:
        return None
    names = renaming(sorted(sight.table.columns))
    meant = set(names.values())
    if "query" not in meant or meant & {*IDENTITIES, "ground_truth"}:
        return None
    wanted = {theirs: ours for theirs, ours in names.items() if ours in ("query", "query_text")}
    frame = sight.table.open().select(*wanted).rename(wanted).collect()
    return [_asked(row) for row in frame.iter_rows(named=True)]


def _named_records(rows: Iterable[Any], columns: Columns, name: str) -> list[Any]:
    """Records with their fields under the names that are meant; anything else as it is."""
    return [_asked(columns.renamed(row, name)) if isinstance(row, Mapping) else row for row in rows]


def _asked(row: Record) -> Record:
    """A record as questions are read: an id beside a text is the ``id``, and the text asked."""
    if row.get("query_text") is not None:
        return {**row, "id": row.get("query_id", row.get("query")), "query": row["query_text"]}
    return {**row, "id": row["query_id"]} if "query_id" in row else row
