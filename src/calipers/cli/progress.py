"""A progress bar for what takes more than two seconds, on a terminal only."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE_SECONDS = 2.0


def is_terminal() -> bool:
    """Whether somebody is looking at standard error."""
    return sys.stderr.isatty()


@contextmanager
def asking() -> Iterator[tuple[Any, Any]]:
    """Two callbacks, for the number of questions and for the counts, that show a bar."""
    if not is_terminal():
        yield None, None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[errors]}"),
        console=Console(stderr=True),
        transient=True,
    )
    started = time.monotonic()
    task: Any = None
    questions = 0
    before: int | None = None

    def total(n: int) -> None:
        nonlocal questions
        questions = n

    def told(tally: Any) -> None:
        nonlocal task, before
        before = tally.done if before is None else before
        passed = time.monotonic() - started
        if passed < PATIENCE_SECONDS:
            return
        if task is None:
            bar.start()
            task = bar.add_task("asking", total=questions, rate="", errors="", completed=before)
        failed = tally.errors.total()
        bar.update(
            task,
            completed=tally.done,
            rate=f"{(tally.done - before) / passed:,.1f}/s",
            errors=f"{failed:,} failed" if failed else "",
        )

    try:
        yield total, told
    finally:
        bar.stop()


@contextmanager
def reading() -> Iterator[Any]:
    """A callback (bytes read, bytes in all) that shows a bar when reading takes long."""
    if not is_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    started = time.monotonic()
    task: Any = None

    def told(done: int, total: int) -> None:
        nonlocal task
        if task is None and time.monotonic() - started > PATIENCE_SECONDS:
            bar.start()
            task = bar.add_task("reading", total=total)
        if task is not None:
            bar.update(task, completed=done, total=total)

    try:
        yield told
    finally:
        bar.stop()


@contextmanager
def working(at: str) -> Iterator[None]:
    """Say what is being done, as long as it takes and somebody is looking."""
    if not is_terminal():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{at} …"):
        yield
