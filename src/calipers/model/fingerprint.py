"""Short names for contents: the same content has the same fingerprint, whatever its source.

Made with SHA-256 over a canonical form, so that it depends on no row order, file format,
machine or library version.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np
import polars as pl

from calipers.model.arrays import Hashes, Ints

_FIELD = "\x1f"
_ROW = "\x1e"
_NOTHING = "\x00"
_ESCAPE = "\x1d"
_ESCAPED = {
    _ESCAPE: f"{_ESCAPE}e",
    _FIELD: f"{_ESCAPE}f",
    _ROW: f"{_ESCAPE}r",
    _NOTHING: f"{_ESCAPE}n",
}
"""How our separators are written when they are part of an id, so that none can be
forged."""


def fingerprint_rows(frame: pl.DataFrame, columns: Iterable[str]) -> str:
    """A fingerprint of the rows as a bag: their order does not matter.

    A column without any value is the same as no column.
    """
    used = [name for name in columns if frame[name].null_count() < frame.height]
    texts = [_canonical(frame[name]).alias(name) for name in used]
    blob = _joined_rows(_row_texts(texts).sort())
    ours = frame.height * len(used) - 1 + sum(text.null_count() for text in texts)
    if _n_control_characters(blob) != ours:
        blob = _joined_rows(_row_texts([_escaped(text) for text in texts]).sort())
    digest = hashlib.sha256(f"{frame.height}{_ROW}{_FIELD.join(used)}{_ROW}".encode())
    digest.update(blob)
    return digest.hexdigest()[:32]


def _row_texts(texts: list[pl.Series]) -> pl.Series:
    if not texts:
        return pl.Series("row", [], dtype=pl.String)
    row = pl.concat_str(pl.all().fill_null(_NOTHING), separator=_FIELD)
    return pl.DataFrame(texts).select(row.alias("row"))["row"]


def _joined_rows(rows: pl.Series) -> bytes:
    """Row texts as one blob."""
    # Cast first: a text would be decoded for Python, and encoded again.
    blob: bytes = rows.str.join(_ROW).cast(pl.Binary).item()
    return blob


def _n_control_characters(blob: bytes) -> int:
    """The number of control characters; more than our separators means that ids hold some."""
    return int(np.count_nonzero(np.frombuffer(blob, dtype=np.uint8) < ord(" ")))


def fingerprint_settings(settings: object) -> str:
    """A fingerprint of plain settings, whatever the order of their keys."""
    return hashlib.sha256(
        msgspec.json.encode(settings, order="deterministic")
    ).hexdigest()[:32]


class Fingerprints(Mapping[str, str]):
    """Fingerprints by name, each computed on first access.

    >>> prints = Fingerprints({"settings": lambda: fingerprint_settings({"k": 10})})
    >>> list(prints), prints["settings"] == fingerprint_settings({"k": 10})
    (['settings'], True)
    """

    def __init__(self, makers: Mapping[str, Callable[[], str]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle the fingerprints, not the functions that compute them.
        return dict, (dict(self),)


class DigestSum:
    """SHA-256 digests added up: adding is what makes their order not matter.

    >>> one, other = DigestSum(), DigestSum()
    >>> one.add([hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest()])
    >>> other.add([hashlib.sha256(b"b").digest()])
    >>> other.add([hashlib.sha256(b"a").digest()])
    >>> one.hexdigest() == other.hexdigest()
    True
    """

    def __init__(self) -> None:
        # Sums that wrap around at 2^64.
        self._sums = np.zeros(2, dtype=np.uint64)
        self._count = 0

    def add(self, digests: Sequence[bytes]) -> None:
        """Add digests; many at a time cost least."""
        halves = np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 4)[:, :2]
        self._sums += halves.sum(axis=0, dtype=np.uint64)
        self._count += len(digests)

    def merge(self, other: "DigestSum") -> None:
        """Add everything that another sum holds."""
        self._sums += other._sums
        self._count += other._count

    def hexdigest(self) -> str:
        """The fingerprint of everything added so far."""
        return hashlib.sha256(
            f"{self._count}:{self._sums.tolist()}".encode()
        ).hexdigest()[:32]


class RankingFingerprint:
    """The fingerprint of rankings, added query by query in any order."""

    def __init__(self) -> None:
        self._sum = DigestSum()
        self._later: list[Callable[[], tuple[pl.Series, pl.Series, Ints]]] = []

    def add(self, queries: pl.Series, items: pl.Series, starts: Ints) -> None:
        """Take the rankings of whole queries: items in rank order, cut at ``starts``."""
        if not len(items):
            return
        filled = items.fill_null(_NOTHING)
        texts = filled.clone().scatter(starts, queries + _FIELD + filled.gather(starts))
        blob = _joined_rows(texts)
        ours = len(items) - 1 + len(queries) + items.null_count()
        if _n_control_characters(blob) != ours:
            filled = _escaped(items).fill_null(_NOTHING)
            texts = filled.scatter(
                starts, _escaped(queries) + _FIELD + filled.gather(starts)
            )
            blob = _joined_rows(texts)
        # No text holds a separator by now: the ends of the rows are where they stand.
        is_end = np.frombuffer(blob, dtype=np.uint8) == ord(_ROW)
        row_ends = np.append(np.flatnonzero(is_end), len(blob))
        cuts = [-1, *row_ends[np.append(starts[1:], len(items)) - 1].tolist()]
        sha256 = hashlib.sha256
        whole = memoryview(blob)
        digests = [
            sha256(whole[begin + 1 : end]).digest() for begin, end in pairwise(cuts)
        ]
        self._sum.add(digests)

    def add_without_results(self, queries: pl.Series, why: str) -> None:
        """Take queries for which nothing came back, or nothing that counts."""
        if not len(queries):
            return
        names = _escaped(queries).to_list()
        self._sum.add(
            [
                hashlib.sha256(f"{name}{_FIELD}{_ESCAPE}{why}".encode()).digest()
                for name in names
            ]
        )

    def merge(self, other: "RankingFingerprint") -> None:
        """Add everything that another sum holds."""
        self._sum.merge(other._sum)

    def add_later(self, ranking: Callable[[], tuple[pl.Series, pl.Series, Ints]]) -> None:
        """As ``add``, once the fingerprint is needed; the data stays in memory until then."""
        self._later.append(ranking)

    def __getstate__(self) -> dict[str, object]:
        """Pickle the sum alone: the functions that add to it cannot be pickled."""
        return {"_sum": self.sum(), "_later": []}

    def hexdigest(self) -> str:
        """The fingerprint of everything added so far."""
        return self.sum().hexdigest()

    def sum(self) -> DigestSum:
        """The sum so far, to be merged with others."""
        while self._later:
            self.add(*self._later.pop()())
        return self._sum


def _canonical(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Float64:
        # The bits, not the digits: how a float is printed is the library's business. +
        # 0.0 makes -0.0 the same as 0.0.
        bits = (series.to_numpy() + 0.0).view(np.int64)
        return pl.Series(bits).cast(pl.String)
    return series.cast(pl.String)


def _escaped(texts: pl.Series) -> pl.Series:
    return texts.str.replace_many(_ESCAPED)


# Hashes that distinguish most values quickly; equal ones are compared in full. They are
# good within one process only: the library does not promise the same ones in its next
# version.


def mixed_hashes(of_query: Hashes, of_item: Hashes, items: Ints | None = None) -> Hashes:
    """Combine two hashes; ``items`` is the number of items per query where it is not one."""
    spread = of_query * np.uint64(0x9E3779B97F4A7C15)
    return of_item ^ (spread if items is None else np.repeat(spread, items))


def suspected_duplicates(hashes: Hashes) -> Ints:
    """The rows that may be duplicates; no duplicate is missed.

    >>> suspected_duplicates(np.array([7, 8, 7], dtype=np.uint64) << np.uint64(40)).tolist()
    [0, 2]
    """
    # Half the bits sort in half the time, and collide seldom enough.
    upper = (hashes >> np.uint64(32)).astype(np.uint32)
    ordered = np.sort(upper)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not repeated.size:
        return np.empty(0, dtype=np.int64)
    near = np.zeros(1 << 16, dtype=np.bool_)
    near[repeated >> 16] = True
    rows = np.flatnonzero(near[upper >> 16])
    # Now all bits, for the few that are left.
    _, which, counts = np.unique(hashes[rows], return_inverse=True, return_counts=True)
    return rows[counts[which] > 1]
