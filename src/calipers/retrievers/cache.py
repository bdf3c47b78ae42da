"""Answers kept between runs: the same question to the same retriever is asked once."""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput, WriteFailed
from calipers.retrievers.base import Question
from calipers.retrievers.entry import RunEntry

_decode = msgspec.json.Decoder(RunEntry).decode
MAGIC = b"SQLite format 3\x00"
_CHECKED = 16
"""Bytes of the checksum before every answer."""


class Cache:
    """A small database file. The key is the question and all that decides the answer.

    Several workers may use it at a time. Only answers are kept, never errors.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self._one_at_a_time = threading.Lock()
        self._settings = msgspec.json.encode(settings, order="deterministic")
        place = Path(path)
        if place.is_dir() or not place.parent.is_dir():
            raise WriteFailed(
                f"The cache {place} cannot be written; name a file in a folder that exists."
            )
        if place.exists() and place.stat().st_size:
            with place.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise InvalidInput(
                        f"The file {place} is not a cache of Calipers; name another file, which "
                        "will be made."
                    )
        self._name = str(place)
        try:
            self._base = sqlite3.connect(place, check_same_thread=False, isolation_level=None)
        except sqlite3.Error as error:
            raise self._damaged(error) from error
        try:
            # Before anything is written: what cannot be read is said while there is no output yet.
            (found,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(found)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, entry BLOB NOT NULL)"
            )
            self._base.execute("SELECT key, entry FROM answers LIMIT 1").fetchone()
        except sqlite3.Error as error:
            self._base.close()
            raise self._damaged(error) from error

    def get(self, question: Question) -> RunEntry | None:
        """The answer to a question that was asked before, for this question's id."""
        found = self._execute("SELECT entry FROM answers WHERE key = ?", (self._key(question),))
        line = _whole(found)
        if line is None:
            return None
        entry = _decode(line)
        entry.id = None if question.id == question.text else question.id
        # The time it took belongs to the day it was asked.
        entry.latency_ms, entry.warm_up, entry.cached = None, False, True
        return entry

    def put(self, question: Question, line: bytes) -> None:
        """Keep an answer, as it is written to the run."""
        self._execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?)",
            (self._key(question), _checksum(line) + line),
        )

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _key(self, question: Question) -> bytes:
        return hashlib.sha256(self._settings + b"\x1e" + question.text.encode()).digest()

    def _execute(self, statement: str, values: tuple[bytes, ...]) -> Any:
        try:
            with self._one_at_a_time:
                found = self._base.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise self._damaged(error) from error
        return None if found is None else found[0]

    def _damaged(self, error: sqlite3.Error) -> WriteFailed:
        return WriteFailed(
            f"The cache {self._name} cannot be used: {error!s:.200}; remove it, or name another "
            "file."
        )


def _checksum(line: bytes) -> bytes:
    return hashlib.sha256(line).digest()[:_CHECKED]


def _whole(kept: Any) -> bytes | None:
    """What was kept; None where the disk changed it, so that it is asked again."""
    if not isinstance(kept, bytes) or _checksum(kept[_CHECKED:]) != kept[:_CHECKED]:
        return None
    return kept[_CHECKED:]
