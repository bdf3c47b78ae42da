"""A progress bar for what takes more than two seconds, on a terminal only."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from calipers.cli.output import is_terminal

PATIENCE_SECONDS = 2.0


@contextmanager
def reading() -> Iterator[Any]:
    """A callback (bytes read, bytes in all) that shows a bar when reading takes long."""
    if not is_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
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
