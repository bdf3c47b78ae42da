"""Cache answers between runs, so that a retriever gets the same question only once."""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import WriteFailed
from calipers.live.adapters.base import Question
from calipers.live.run_file import RunEntry, read_entry

_CHECKED = 16
"""Bytes of the checksum before every answer."""


class Cache:
    """A small database file. The key is the question and every setting that decides the answer.

    Several workers may use it at once. Only answers are cached, never errors.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self._one_at_a_time = threading.Lock()
        self._settings = msgspec.json.encode(settings, order="deterministic")
        self._place = place = Path(path)
        if (place.exists() and not place.is_file()) or not place.parent.is_dir():
            raise WriteFailed(
                f"The cache {place} cannot be written; name a file in a folder that exists."
            )
        self._is_new = not place.exists()
        self._check()
        self._base = sqlite3.connect(place, check_same_thread=False, isolation_level=None)
        try:
            self._execute("PRAGMA journal_mode=WAL")
            self._execute("PRAGMA synchronous=NORMAL")
            self._execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, entry BLOB NOT NULL)"
            )
        except WriteFailed:
            self._base.close()
            raise

    def _check(self) -> None:
        """Check the file before writing to it, so that a damaged one stays as it is."""
        if self._is_new or self._place.with_name(f"{self._place.name}-wal").exists():
            # Another process has it open, or was killed: the file alone is not complete.
            return
        look = f"{self._place.absolute().as_uri()}?immutable=1"
        try:
            with closing(sqlite3.connect(look, uri=True)) as base:
                (found,) = base.execute("PRAGMA quick_check(1)").fetchone()
                if base.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'").fetchone():
                    base.execute("SELECT key, entry FROM answers LIMIT 1").fetchone()
        except sqlite3.Error as error:
            found = str(error)
        if found != "ok":
            raise self._unusable(found)

    def get(self, question: Question) -> RunEntry | None:
        """The cached answer to a question, under this question's id."""
        kept = self._execute("SELECT entry FROM answers WHERE key = ?", self._key(question))
        # An answer damaged on disk is asked for again.
        if not isinstance(kept, bytes) or _checksum(kept[_CHECKED:]) != kept[:_CHECKED]:
            return None
        return read_entry(kept[_CHECKED:]).for_question(question)

    def put(self, question: Question, line: bytes) -> None:
        """Cache an answer, as a line of the run."""
        insert = "INSERT OR REPLACE INTO answers VALUES (?, ?)"
        self._execute(insert, self._key(question), _checksum(line) + line)

    def close(self) -> None:
        """Close the file; remove it if it is new and empty."""
        with suppress(WriteFailed):
            self._is_new &= self._execute("SELECT 1 FROM answers LIMIT 1") is None
        self._base.close()
        if self._is_new:
            self._place.unlink(missing_ok=True)

    def _key(self, question: Question) -> bytes:
        return hashlib.sha256(self._settings + b"\x1e" + question.text.encode()).digest()

    def _execute(self, statement: str, *values: bytes) -> Any:
        try:
            with self._one_at_a_time:
                found = self._base.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(str(error)) from error
        return None if found is None else found[0]

    def _unusable(self, why: str) -> WriteFailed:
        return WriteFailed(
            f"The cache {self._place} cannot be used: {why:.200}; name another file, or remove "
            "this one. What was answered stays, and the same command goes on."
        )


def _checksum(line: bytes) -> bytes:
    return hashlib.sha256(line).digest()[:_CHECKED]
