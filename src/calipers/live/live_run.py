"""A run that was just made. One that was written to a file stays there until it is looked into."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.files.open import stamp
from calipers.io.load import load
from calipers.live.result import RetrievalReport
from calipers.model.run import Run


class RunFile:
    """The file of a run, read when somebody needs it, as it was when the run was made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp = stamp(path)

    @cached_property
    def run(self) -> Run:
        """What is in the file."""
        if self.path.exists() and stamp(self.path) != self._stamp:
            raise InvalidInput(
                f"The run {self.path} was changed after it was made, so it is not this run any "
                "more; read the file itself, or give each run an output of its own."
            )
        found = load(self.path, "run").run
        if found is None:
            raise InvalidInput(
                f"The run {self.path} holds no results; begin again with restart=True."
            )
        return found

    @property
    def was_read(self) -> bool:
        """Whether somebody needed it yet."""
        return "run" in vars(self)

    def scan(self) -> Iterator[pl.DataFrame]:
        """The results in batches."""
        return self.run.scan()


@dataclass(frozen=True, eq=False, repr=False)
class LiveRun(Run):
    """A run that was just made, with the report of how it went."""

    report: RetrievalReport = field(kw_only=True)
    file: RunFile | None = field(default=None, kw_only=True)
    """Where the run stands, if it was written."""

    @classmethod
    def in_file(cls, path: Path, report: RetrievalReport) -> "LiveRun":
        """The run in that file, of which nothing is in memory yet."""
        file = RunFile(path)
        return cls(
            file.scan,
            name=str(path),
            report=report,
            file=file,
            asked_for=report.k,
            queries=lambda: file.run.queries,
            stages=lambda: file.run.stages,
        )

    def __repr__(self) -> str:
        """What is known without reading anything."""
        if self.file is None or self.file.was_read:
            return super().__repr__()
        n = self.report.questions
        asked = f"{n:,} {'query' if n == 1 else 'queries'}"
        return f"<{type(self).__name__}: {self.name!r}; {asked}; as listed>"
