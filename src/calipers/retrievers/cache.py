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
        try:
            self._base = sqlite3.connect(place, check_same_thread=False, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, entry BLOB NOT NULL)"
            )
        except sqlite3.Error as error:
            raise WriteFailed(
                f"The cache {place} cannot be used: {error}; name another file."
            ) from error

    def get(self, question: Question) -> RunEntry | None:
        """The answer to a question that was asked before, for this question's id."""
        with self._one_at_a_time:
            found = self._base.execute(
                "SELECT entry FROM answers WHERE key = ?", (self._key(question),)
            ).fetchone()
        if found is None:
            return None
        entry = _decode(found[0])
        entry.id = None if question.id == question.text else question.id
        # The time it took belongs to the day it was asked.
        entry.latency_ms, entry.warm_up, entry.cached = None, False, True
        return entry

    def put(self, question: Question, line: bytes) -> None:
        """Keep an answer, as it is written to the run."""
        with self._one_at_a_time:
            self._base.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?)", (self._key(question), line)
            )

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _key(self, question: Question) -> bytes:
        return hashlib.sha256(self._settings + b"\x1e" + question.text.encode()).digest()
