"""A Parquet file that grows block by block; what it says about itself is known at the end."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from typing import Any, BinaryIO

import polars as pl

from calipers.io.files.write import check_writable, whole_file

_LOOKS_EVERY = 0.1
"""Seconds after which a writer who waits looks whether the file can still be written."""


class _LeftError(BaseException):
    """Whoever made the blocks stopped, so there will be no file."""


@contextmanager
def parquet_in_blocks(path: str | Path) -> Iterator["ParquetBlocks"]:
    """A file to put blocks into; it takes its name when all are there, and else there is none."""
    check_writable(path)
    stopped: BaseException | None = None
    # What stops the caller is not about this file, whatever kind of error it is.
    with suppress(_LeftError), whole_file(path) as file:
        blocks = ParquetBlocks(file)
        try:
            yield blocks
        except BaseException as error:
            blocks.abandon()
            if error is blocks.failure:
                raise
            stopped = error
            raise _LeftError from error
        blocks.finish()
    if stopped is not None:
        raise stopped


class ParquetBlocks:
    """Takes blocks of one table, and writes them on a thread of its own.

    The table library pulls its rows. On another thread it does so without taking over the one
    that makes them, which is the one that errors and Ctrl-C come to.
    """

    def __init__(self, file: BinaryIO, **options: Any) -> None:
        self._file = file
        self._options = options
        self._waiting: Queue[pl.DataFrame | None] = Queue(1)
        self._thread: Thread | None = None
        self._is_left = False
        self._is_whole = False
        self.about: Mapping[str, str] = {}
        """What the file says about itself; may be set as long as it is not finished."""
        self.failure: BaseException | None = None
        """Why it cannot be written."""

    def put(self, block: pl.DataFrame) -> None:
        """Write one more block; all have the same columns."""
        if self._thread is None:
            # It must not keep a process alive that has nothing else to do.
            self._thread = Thread(target=self._write, args=(block.schema,), daemon=True)
            self._thread.start()
        self._hand_over(block)

    def finish(self) -> None:
        """Write what is left, and the end of the file."""
        self._hand_over(None)
        if self._thread is not None:
            self._thread.join()
        if self.failure is not None:
            raise self.failure

    def abandon(self) -> None:
        """Stop writing."""
        self._is_left = True
        if self._thread is not None:
            with suppress(Full):
                self._waiting.put_nowait(None)
            self._thread.join()

    def _hand_over(self, block: pl.DataFrame | None) -> None:
        while self.failure is None:
            with suppress(Full):
                self._waiting.put(block, timeout=_LOOKS_EVERY)
                return
        raise self.failure

    def _write(self, schema: pl.Schema) -> None:
        from polars.io.plugins import register_io_source

        try:
            table = register_io_source(self._source, schema=dict(schema))
            table.sink_parquet(self._file, metadata=self._said, **self._options)
        except BaseException as error:  # noqa: BLE001 - raised where the blocks come from
            self.failure = error
            with suppress(Empty):
                self._waiting.get_nowait()

    def _source(
        self, columns: list[str] | None, _: pl.Expr | None, __: int | None, ___: int | None
    ) -> Iterator[pl.DataFrame]:
        while (block := self._waiting.get()) is not None and not self._is_left:
            yield block if columns is None else block.select(columns)
        if self._is_left:
            raise _LeftError
        self._is_whole = True

    def _said(self, _: Any = None) -> dict[str, str]:
        if not self._is_whole:
            raise RuntimeError("The metadata of a Parquet file are asked for before its last row.")
        return dict(self.about)
