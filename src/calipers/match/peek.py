"""A look at the beginning of a run, without reading that beginning twice."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import polars as pl

from calipers.model.run import Run, Scan


class _Resumed:
    """The first call goes on behind the frame that was looked at; later calls read again."""

    def __init__(self, first: pl.DataFrame, rest: Iterator[pl.DataFrame], again: Scan) -> None:
        self._begun: Iterator[pl.DataFrame] | None = chain((first,), rest)
        self._again = again

    def __call__(self) -> Iterator[pl.DataFrame]:
        begun, self._begun = self._begun, None
        return self._again() if begun is None else begun


def peek(run: Run) -> tuple[pl.DataFrame | None, Run]:
    """The first frame of a run that has rows, and the run to use from here on."""
    frames = run.scan()
    for first in frames:
        if first.height:
            return first, replace(run, scan=_Resumed(first, frames, run.scan))
    return None, run


def with_ids_as_texts(run: Run) -> Run:
    """The run whose plain strings are texts and not ids."""
    scan = run.scan
    return replace(run, scan=lambda: (frame.rename({"item": "text"}) for frame in scan()))
