"""Short names for contents: the same content has the same fingerprint, whatever brought it.

Made with SHA-256 over a canonical form, so that it holds over row order, file format, machine
and library version.
"""

import hashlib
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import polars as pl

from calipers.model.arrays import Ints

_FIELD = "\x1f"
_ROW = "\x1e"


def fingerprint_rows(frame: pl.DataFrame, columns: Iterable[str]) -> str:
    """A fingerprint of the rows as a bag: their order does not matter."""
    texts = [_canonical(frame[name]).alias(f"{i}") for i, name in enumerate(columns)]
    rows = pl.DataFrame(texts).select(
        row=pl.concat_str(pl.all().fill_null("\x00"), separator=_FIELD)
    )
    blob = rows["row"].sort().str.join(_ROW).item() if rows.height else ""
    return hashlib.sha256(f"{rows.height}{_ROW}{blob}".encode()).hexdigest()[:32]


def fingerprint_settings(settings: Any) -> str:
    """A fingerprint of plain settings, whatever the order of their keys."""
    return hashlib.sha256(msgspec.json.encode(settings, order="deterministic")).hexdigest()[:32]


class RankingFingerprint:
    """Grows with each query's ranking; the order in which queries come does not matter."""

    def __init__(self) -> None:
        # Sums that wrap around at 2^64: adding is what makes the order of queries not matter.
        self._sums = np.zeros(2, dtype=np.uint64)
        self._count = 0

    def add(self, queries: pl.Series, items: pl.Series, starts: Ints) -> None:
        """Take the rankings of whole queries: items in rank order, cut at ``starts``."""
        if not len(items):
            return
        items = items.fill_null("\x00")
        texts = items.clone().scatter(starts, queries + _FIELD + items.gather(starts))
        blob = texts.str.join(_ROW).item().encode()
        row_ends = np.cumsum(texts.str.len_bytes().to_numpy().astype(np.int64) + len(_ROW))
        cuts = [0, *row_ends[np.append(starts[1:], len(items)) - 1].tolist()]
        sha256 = hashlib.sha256
        digests = [sha256(blob[begin : end - 1]).digest() for begin, end in pairwise(cuts)]
        halves = np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 4)[:, :2]
        self._sums += halves.sum(axis=0, dtype=np.uint64)
        self._count += len(queries)

    def hexdigest(self) -> str:
        """The fingerprint of everything added so far."""
        return hashlib.sha256(f"{self._count}:{self._sums.tolist()}".encode()).hexdigest()[:32]


def _canonical(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Float64:
        # The bits, not the digits: how a float is printed is the library's business. + 0.0
        # makes -0.0 the same as 0.0.
        bits = (series.to_numpy() + 0.0).view(np.int64)
        return pl.Series(bits).cast(pl.String)
    return series.cast(pl.String)
