"""The questions to ask, from whatever holds them: a file, a ground truth, a mapping, a list.

They are read as often as needed, so that the questions of a large file are never in memory.
"""

import hashlib
from array import array
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from calipers.errors import InvalidInput
from calipers.io.tables.columns import Columns
from calipers.live.adapters.base import Question
from calipers.live.question_sources import Origin, named_origin, origin_of
from calipers.model.arrays import Ints
from calipers.model.fingerprint import DigestSum

_encode = msgspec.json.Encoder().encode
SOME = 512
"""So many digests are added up at a time."""


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
        return Questions(origin_of(value))
    try:
        origin = named_origin(value, columns)
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
