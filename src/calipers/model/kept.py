"""Frames that stay in memory between two readers of a run."""

from collections.abc import Callable, Iterator

import polars as pl

MOST_KEPT = 64 << 20
"""A run of fewer bytes is read once, however often it is looked at."""


_VIEW = 16
"""Bytes by which the table library finds each text, and which it does not count."""


def held_bytes(frame: pl.DataFrame) -> int:
    """What a table takes in memory."""
    texts = sum(kind == pl.String for kind in frame.dtypes)
    return int(frame.estimated_size()) + _VIEW * texts * frame.height


class Kept:
    """Frames that stay once they were read; a second reader goes on where the first stopped.

    Where they turn out to be too large to stay, they are let go, and every reader reads the file.
    """

    def __init__(self, scan: Callable[[], Iterator[pl.DataFrame]], most: int | None) -> None:
        self._scan = scan
        self._most = most
        self._size = 0
        self._frames: list[pl.DataFrame] | None = []
        self._rest: Iterator[pl.DataFrame] | None = None

    def __call__(self) -> Iterator[pl.DataFrame]:
        """The frames, from memory as far as they are there."""
        at = seen = 0
        while (frames := self._frames) is not None:
            if at == len(frames):
                self._rest = self._scan() if self._rest is None else self._rest
                following = next(self._rest, None)
                if following is None:
                    return
                self._size += held_bytes(following)
                if self._most is not None and self._size > self._most:
                    rest, self._rest, self._frames = self._rest, None, None
                    # Whoever reads them now would hold them to the end.
                    frames.clear()
                    yield following
                    yield from rest
                    return
                frames.append(following)
            seen += frames[at].height
            yield frames[at]
            at += 1
        # Another reader let them go.
        for frame in self._scan():
            if frame.height > seen:
                yield frame[seen:]
            seen = max(0, seen - frame.height)
