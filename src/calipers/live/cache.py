"""Cache answers between runs, so that a language model gets the same prompt only once."""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import WriteFailed
from calipers.io.files.write import check_place
from calipers.live.adapters.base import Question
from calipers.live.run_file import RunEntry, read_entry


class Cache:
    """A small database file. The key is the question and every setting that decides the answer.

    Several workers may use it at once. Only answers are cached, never errors.
    """

    def __init__(
        self, path: str | os.PathLike[str], settings: Mapping[str, object]
    ) -> None:
        self._one_at_a_time = threading.Lock()
        self._settings = msgspec.json.encode(settings, order="deterministic")
        self._place = Path(path)
        self._is_new = not self._place.exists()
        check_place(path)
        try:
            self._base = sqlite3.connect(
                path, check_same_thread=False, isolation_level=None
            )
            self._execute("PRAGMA journal_mode=WAL")
            self._execute("PRAGMA synchronous=NORMAL")
            self._execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, entry BLOB "
                "NOT NULL)"
            )
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        except WriteFailed:
            self._base.close()
            raise

    def get(self, question: Question) -> RunEntry | None:
        """The cached answer to a question, under this question's id."""
        kept = self._execute(
            "SELECT entry FROM answers WHERE key = ?", self._key(question)
        )
        return None if kept is None else read_entry(kept).for_question(question)

    def put(self, question: Question, line: bytes) -> None:
        """Cache an answer, as a line of the run."""
        insert = "INSERT OR REPLACE INTO answers VALUES (?, ?)"
        self._execute(insert, self._key(question), line)

    def close(self) -> None:
        """Close the file; a new one that holds no answer is removed."""
        is_empty = False
        if self._is_new:
            with suppress(WriteFailed):
                is_empty = self._execute("SELECT 1 FROM answers LIMIT 1") is None
        self._base.close()
        if is_empty:
            self._place.unlink(missing_ok=True)

    def _key(self, question: Question) -> bytes:
        return hashlib.sha256(self._settings + b"\x1e" + question.text.encode()).digest()

    def _execute(self, statement: str, *values: bytes) -> Any:
        try:
            with self._one_at_a_time:
                row = self._base.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return None if row is None else row[0]

    def _unusable(self, why: sqlite3.Error) -> WriteFailed:
        return WriteFailed(
            f"The cache {self._place} cannot be used: {why!s:.200}; name another file, "
            "or remove this one. What was answered stays, and the same command goes on."
        )
