"""Which ids may be alike: a filter that lets through too much, and leaves nothing out.

Hashes of the letters and digits of each id, and of its parts, find the pairs, for a fraction of
what the rules of ``calipers.match.near_ids`` cost.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Hashes, Ints, as_series
from calipers.model.matching import IdMap
from calipers.text import FORMS, INVISIBLE

_AT_ONCE = 1 << 15
"""Results whose hashes are in memory at once."""
_MOST = 0.7
"""From this share of the results on, all are looked at."""
_BASE = np.uint64(0x9E3779B97F4A7C15)
_UNDO = np.uint64(pow(int(_BASE), -1, 1 << 64))
_PER_QUERY = np.uint64(0xC2B2AE3D27D4EB4F)
_CODES = np.zeros(256, dtype=np.uint64)
"""What counts of each byte: letters of either case, digits but 0, all beyond ASCII."""
_CODES[48 + 1 : 58] = np.arange(49, 58)
_CODES[65:91] = _CODES[97:123] = np.arange(97, 123)
_CODES[128:] = np.arange(128, 256)
_COUNTED: Bools = _CODES > 0
_SIGNS = np.ones(256, dtype=np.bool_)
"""Bytes that are neither letter nor digit."""
_SIGNS[48:58] = _SIGNS[65:91] = _SIGNS[97:123] = _SIGNS[128:] = False
_POINTS = ".?#"
"""Signs behind which an extension or the query of an address may stand."""
_LINE_END = 10
_CODE_OF = bytes(code or byte for byte, code in enumerate(_CODES.tolist()))
_NOT_COUNTED = bytes(
    byte for byte, code in enumerate(_CODES.tolist()) if not code and byte != _LINE_END
)
_CODE_OR_POINT = _CODE_OF.translate(
    bytes.maketrans(_POINTS.encode(), b"." * len(_POINTS))
)
"""The same with all points as one of them."""
_NOT_COUNTED_NOR_POINT = _NOT_COUNTED.translate(None, _POINTS.encode())
_PADDING = bytes(8)
"""Before and behind a text, so that eight bytes can be read at each place."""
_SCHEME = "^[A-Za-z][0-9A-Za-z_+.-]*://"
_MOST_PAIRS = 10_000
"""How many pairs of a target and a result are looked at one by one."""


class Named(NamedTuple):
    """Ids as lists, none of them empty, each with the number of its query."""

    query: list[int]
    name: list[str]

    def ids(self) -> "Ids":
        """The same as columns."""
        return Ids(
            np.array(self.query, dtype=np.int64), pl.Series(self.name, dtype=pl.String)
        )


@dataclass(frozen=True, eq=False)
class Ids:
    """Ids, none of them null, each with the number of its query."""

    query: Ints
    name: pl.Series

    def rows(self, rows: Ints) -> "Ids":
        """Some of the ids, by ascending row."""
        if rows.size and rows[-1] - rows[0] + 1 == rows.size:
            together = slice(int(rows[0]), int(rows[-1]) + 1)
            return Ids(self.query[together], self.name[together])
        return Ids(self.query[rows], self.name.gather(as_series(rows)))


def may_be_alike(wanted: Ids, returned: Ids) -> tuple[Ints, Ints]:
    """Rows of targets and results of one query that some rule may make equal."""
    pairs = [np.empty((2, 0), dtype=np.int64)]
    if wanted.query.size and returned.query.size:
        rows = np.flatnonzero(_is_among(returned.query, wanted.query))
        if rows.size > _MOST * returned.query.size:
            # To look at some in vain costs less than to copy all others.
            rows = np.arange(returned.query.size)
        edges = _EdgesOf.of(wanted.query, _Edges.of(wanted.name))
        blocks = _at_once(rows)
        rows = np.concatenate(
            [block[_may_hold(edges, returned.rows(block))] for block in blocks]
        )
        targets = _Wanted.of(wanted, np.flatnonzero(edges.seen))
        for block in _at_once(rows):
            results = _Skeletons.of(returned.rows(block))
            pairs += _equal_skeletons(targets, results, block)
    return _each_once(np.concatenate(pairs, axis=1))


def _at_once(rows: Ints) -> list[Ints]:
    """The rows in blocks; an empty one where there are none."""
    return np.split(rows, range(_AT_ONCE, rows.size, _AT_ONCE))


@dataclass(frozen=True, eq=False)
class _Wanted:
    """The hashes of some targets and of their parts, to be looked up."""

    rows: Ints
    whole: "Keys"
    parts: "Keys"
    part_rows: Ints

    @classmethod
    def of(cls, ids: Ids, rows: Ints) -> "_Wanted":
        """The hashes of the targets at some rows."""
        skeletons = _Skeletons.of(ids.rows(rows))
        parts = Keys.of(skeletons.part_keys)
        return cls(rows, Keys.of(skeletons.keys), parts, skeletons.part_rows)


@dataclass(frozen=True, eq=False)
class _Edges:
    """Where the letters and digits of each id begin and end, and the first and last eight."""

    text: Hashes
    """At each byte, that and the next seven."""
    start: Ints
    length: Ints
    cut: Ints | None
    """How many are before the last point; None where no id has one."""
    head: Hashes
    tail: Hashes
    least: int
    """The length of the shortest."""

    @classmethod
    def of(cls, names: pl.Series) -> "_Edges":
        """The edges of some ids."""
        lines = _joined_lines(names).translate(_CODE_OR_POINT, _NOT_COUNTED_NOR_POINT)
        letters = lines.replace(b".", b"")
        padded = _PADDING + letters + _PADDING
        with_points = np.frombuffer(lines, dtype=np.uint8)
        ends = np.flatnonzero(with_points == _LINE_END) + len(_PADDING)
        points = np.empty(0, dtype=np.int64)
        if len(letters) < len(lines):
            points = np.flatnonzero(with_points == ord(".")) + len(_PADDING)
        before = np.searchsorted(points, ends)
        ends -= before
        start = np.append(len(_PADDING), ends[:-1] + 1)[: ends.size]
        cut = None
        if points.size:
            last = (points - np.arange(points.size))[before - 1]
            # A point that belongs to an id before this one cuts nothing off.
            cut = np.where(before > 0, np.maximum(last - start, 0), 0)
        text = np.ndarray(len(padded) - 7, "<u8", padded, strides=(1,))
        length = ends - start
        least = int(length.min(initial=np.iinfo(np.int64).max))
        return cls(text, start, length, cut, text[start], text[ends - 8], least)

    def at(self, rows: Ints, before: Ints) -> Hashes:
        """The last of the letters at some place of ids, eight with what stands before them."""
        last: Hashes = self.text[self.start[rows] + before - 8]
        return last

    def behind(self, rows: Ints, before: Ints) -> Hashes:
        """The letters behind some place of ids."""
        first: Hashes = self.text[self.start[rows] + before]
        return first


def _are_alike(some: _Edges, rows: Ints, others: _Edges, other_rows: Ints) -> Bools:
    """Which pairs may be alike: one begins or ends with the other, as far as eight letters tell.

    Or it does so before its last point.
    """
    if some.cut is None and others.cut is None:
        # As many letters as all have can be compared for all at once, and few agree in these.
        unseen_in_all = np.uint64((8 - max(0, min(some.least, others.least, 8))) * 8)
        if unseen_in_all < 64:
            begin = (some.head[rows] ^ others.head[other_rows]) << unseen_in_all == 0
            end = (some.tail[rows] ^ others.tail[other_rows]) >> unseen_in_all == 0
            alike: Bools = begin | end
            few = np.flatnonzero(alike)
            alike[few] = _begin_or_end_alike(some, rows[few], others, other_rows[few])
            return alike
    return _begin_or_end_alike(some, rows, others, other_rows)


def _begin_or_end_alike(
    some: _Edges, rows: Ints, others: _Edges, other_rows: Ints
) -> Bools:
    """The same, looked at one by one."""
    length = some.length[rows]
    other_length = others.length[other_rows]
    shorter = np.minimum(length, other_length)
    unseen = ((8 - np.clip(shorter, 1, 8)) * 8).astype(np.uint64)
    begin = (some.head[rows] ^ others.head[other_rows]) << unseen == 0
    end = (some.tail[rows] ^ others.tail[other_rows]) >> unseen == 0
    alike: Bools = np.zeros(rows.size, dtype=np.bool_)
    for which, from_end in ((begin, False), (end, True)):
        few = np.flatnonzero(which & (shorter > 0))
        first, second, m = rows[few], other_rows[few], shorter[few]
        if from_end:
            differ = some.behind(first, length[few] - m) ^ others.behind(
                second, other_length[few] - m
            )
            alike[few] |= differ << unseen[few] == 0
        else:
            differ = some.at(first, m) ^ others.at(second, m)
            alike[few] |= differ >> unseen[few] == 0
    for one, at, other, other_at in (
        (some, rows, others, other_rows),
        (others, other_rows, some, rows),
    ):
        if other.cut is None:
            continue
        cut = other.cut[other_at]
        own = one.length[at]
        few = np.flatnonzero((own > 0) & (own <= cut))
        hidden = ((8 - np.minimum(own[few], 8)) * 8).astype(np.uint64)
        differ = one.tail[at[few]] ^ other.at(other_at[few], cut[few])
        alike[few] |= differ >> hidden == 0
    return alike


@dataclass(frozen=True, eq=False)
class _EdgesOf:
    """The edges of some targets, by query."""

    edges: _Edges
    order: Ints
    starts: Ints
    """Where the targets of each query begin."""
    counts: Ints
    seen: Bools
    """Which targets some result may be alike; set while results are looked at."""

    @classmethod
    def of(cls, query: Ints, edges: _Edges) -> "_EdgesOf":
        """The edges of some targets."""
        order = np.argsort(query, kind="stable")
        counts = np.bincount(query)
        seen = np.zeros(order.size, dtype=np.bool_)
        return cls(edges, order, np.cumsum(counts) - counts, counts, seen)


_FEW_TARGETS = 64
"""Targets of a query that are compared with its results at their ends, before they are hashed."""


def _may_hold(targets: _EdgesOf, results: Ids) -> Bools:
    """Which results may be alike a target of their query, as nearly none is."""
    edges = _Edges.of(results.name)
    known = np.minimum(results.query, targets.counts.size - 1)
    counts = np.where(results.query == known, targets.counts[known], 0)
    starts = targets.starts[known]
    # One by one, many targets of a query would take the square of their number.
    are_many = targets.counts > _FEW_TARGETS
    targets.seen[targets.order] |= np.repeat(are_many, targets.counts)
    may: Bools = counts > _FEW_TARGETS
    counts[may] = 0
    for nth in range(int(counts.max(initial=0))):
        some = np.flatnonzero(counts > nth)
        target = targets.order[starts[some] + nth]
        alike = _are_alike(targets.edges, target, edges, some)
        may[some[alike]] = True
        targets.seen[target[alike]] = True
    return may


def _equal_skeletons(targets: _Wanted, results: "_Skeletons", rows: Ints) -> list[Ints]:
    """Pairs of a target and a result, one of which is a part of the other, as two rows each."""
    target, part = targets.whole.equal_to(results.part_keys)
    whole = np.stack([targets.rows[target], rows[results.part_rows[part]]])
    part, result = targets.parts.equal_to(results.keys)
    return [whole, np.stack([targets.rows[targets.part_rows[part]], rows[result]])]


def _each_once(pairs: Ints) -> tuple[Ints, Ints]:
    """Pairs by target and result, each once; not by np.unique, which loads numpy.ma."""
    target, result = pairs
    order = np.lexsort((result, target))
    target = target[order]
    result = result[order]
    is_new = np.ones(target.size, dtype=np.bool_)
    is_new[1:] = (target[1:] != target[:-1]) | (result[1:] != result[:-1])
    return target[is_new], result[is_new]


def _is_among(queries: Ints, others: Ints) -> Bools:
    """Which of the queries are among the others."""
    there = np.zeros(int(max(queries.max(), others.max())) + 1, dtype=np.bool_)
    there[others] = True
    return there[queries]


@dataclass(frozen=True, eq=False)
class _Skeletons:
    """Hashes of the letters and digits of ids, and of the parts of each id, with its query."""

    keys: Hashes
    """Of the whole ids."""
    part_keys: Hashes
    part_rows: Ints
    """Which id each part is of."""

    @classmethod
    def of(cls, ids: Ids) -> "_Skeletons":
        """The hashes of some ids."""
        text = _as_lines(ids.name)
        counted = np.take(_COUNTED, text)
        # Where each byte stands among those that count.
        place = _counts_before(counted)
        hashes = _Rolling.of(_CODES[text[counted]])
        ends = np.flatnonzero(text == _LINE_END)
        starts = np.concatenate([[0], ends[:-1] + 1])
        salt = (ids.query.astype(np.uint64) + np.uint64(1)) * _PER_QUERY
        everyone = np.arange(ends.size)
        whole = hashes.between(place[starts], place[ends]) ^ salt
        row_of = _counts_before(text == _LINE_END)
        signs = np.take(_SIGNS, text)
        begin = _where_parts_begin(text, signs, starts)
        signs[ends] = False
        stop = np.flatnonzero(signs)
        of_begin = row_of[begin]
        of_stop = row_of[stop]
        parts = [
            (of_begin, place[begin], place[ends[of_begin]]),
            (of_stop, place[starts[of_stop]], place[stop]),
        ]
        if any((text == ord(point)).any() for point in _POINTS):
            points = np.isin(text, [*_POINTS.encode()])
            # The last point, question mark or hash sign: what follows may be an extension.
            point = np.maximum.accumulate(np.where(points, np.arange(text.size), -1))[
                ends
            ]
            cut = np.where(point > starts, point, ends)
            begin = np.concatenate([starts, begin])
            of_begin = np.concatenate([everyone, of_begin])
            is_early = begin < cut[of_begin]
            early = of_begin[is_early]
            parts.append((early, place[begin[is_early]], place[cut[early]]))
        rows, first, last = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        some = np.flatnonzero(first < last)
        rows = rows[some]
        keys = hashes.between(first[some], last[some]) ^ salt[rows]
        named = np.flatnonzero(place[starts] < place[ends])
        return cls(
            whole,
            np.concatenate([keys, whole[named]]),
            np.concatenate([rows, named]),
        )


Places = npt.NDArray[np.int32]
"""Places in a text: half as wide as other numbers, as there is one for each byte."""


def _counts_before(which: Bools) -> Places:
    """How many are before each place, and at the end how many there are."""
    counts = np.zeros(which.size + 1, dtype=np.int32)
    np.cumsum(which, out=counts[1:])
    return counts


def _where_parts_begin(text: npt.NDArray[np.uint8], signs: Bools, starts: Ints) -> Ints:
    """Where a word or a number begins within a line; the line itself is no part."""
    digit = text - np.uint8(48) < 10
    begins = ~signs[1:] & (signs[:-1] | (digit[1:] & ~digit[:-1]))
    begins[starts[1:] - 1] = False
    return np.flatnonzero(begins) + 1


@dataclass(frozen=True, eq=False)
class Keys:
    """Hashes in which others are looked up."""

    order: Ints
    ordered: Hashes
    marked: Bools
    """By its first bits, whether a hash may be there."""
    marked_last: Bools
    """The same by its last bits."""

    @classmethod
    def of(cls, keys: Hashes) -> "Keys":
        """The hashes, sorted."""
        order = np.argsort(keys, kind="stable")
        size = 1 << max(12, (16 * keys.size).bit_length())
        marked, marked_last = np.zeros((2, size), dtype=np.bool_)
        marked[_first_bits(keys, size)] = True
        marked_last[_last_bits(keys, size)] = True
        return cls(order, keys[order], marked, marked_last)

    def equal_to(self, many: Hashes) -> tuple[Ints, Ints]:
        """Pairs of places, here and among many, at which the same hash stands."""
        # Nearly all keys have no equal: looks at tables of marks are cheaper than a search.
        passing = np.flatnonzero(self.marked[_first_bits(many, self.marked.size)])
        last_bits = _last_bits(many[passing], self.marked_last.size)
        passing = passing[self.marked_last[last_bits]]
        first = np.searchsorted(self.ordered, many[passing])
        last = np.searchsorted(self.ordered, many[passing], side="right")
        counts = last - first
        before = np.cumsum(counts) - counts
        places = np.repeat(first - before, counts) + np.arange(int(counts.sum()))
        return self.order[places], np.repeat(passing, counts)


def _first_bits(keys: Hashes, size: int) -> Ints:
    """The place of each hash in a table of so many marks."""
    return (keys >> np.uint64(65 - size.bit_length())).view(np.int64)


def _last_bits(keys: Hashes, size: int) -> Ints:
    """The same by the last bits."""
    return (keys & np.uint64(size - 1)).view(np.int64)


@lru_cache(maxsize=8)
def _powers(base: np.uint64, size: int) -> Hashes:
    """The powers of a number from 0 on, modulo 2^64."""
    powers = np.full(size, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers)


@dataclass(frozen=True, eq=False)
class _Rolling:
    """Sums from which the hash of any stretch of bytes follows, wherever it stands."""

    sums: Hashes
    undo: Hashes

    @classmethod
    def of(cls, codes: Hashes) -> "_Rolling":
        """The sums over some bytes."""
        size = 1 << max(10, codes.size.bit_length())
        sums = np.zeros(codes.size + 1, dtype=np.uint64)
        np.cumsum(codes * _powers(_BASE, size)[1 : codes.size + 1], out=sums[1:])
        return cls(sums, _powers(_UNDO, size))

    def between(self, first: "Places", last: "Places") -> Hashes:
        """The hash of the bytes from ``first`` to ``last``, which is excluded."""
        stretch: Hashes = (self.sums[last] - self.sums[first]) * self.undo[first]
        return stretch


_FOLD = IdMap((), ("width", "percent", "case"))


def none_alike(wanted: Named, returned: Named) -> bool:
    """Whether no rule makes a target equal to a result of its query, at a glance.

    Of ids that a rule makes equal, the letters and digits of one are all in the other, side by
    side. False where some are, or where there are too many pairs to look at.
    """
    by_query: dict[int, list[str]] = {query: [] for query in wanted.query}
    for query, name in zip(returned.query, returned.name, strict=True):
        if query in by_query:
            by_query[query].append(name)
    if sum(len(by_query[query]) for query in wanted.query) > _MOST_PAIRS:
        return False
    targets = counted_letters(without_schemes(wanted.name))
    results_of_all = without_schemes(list(chain.from_iterable(by_query.values())))
    lines = iter(counted_letters(results_of_all))
    results = {
        query: _Beside.of(islice(lines, len(names))) for query, names in by_query.items()
    }
    return not any(
        results[query].holds(target)
        for query, target in zip(wanted.query, targets, strict=True)
        if target
    )


@dataclass(frozen=True)
class _Beside:
    """What counts of the results of one query."""

    joined: bytes
    """All of them, so that one search looks for a target in each."""
    by_length: list[bytes]
    lengths: list[int]

    @classmethod
    def of(cls, results: Iterable[bytes]) -> Self:
        """What counts of these results; those of which nothing does are left out."""
        by_length = sorted(filter(None, results), key=len)
        return cls(b"\n".join(by_length), by_length, list(map(len, by_length)))

    def holds(self, target: bytes) -> bool:
        """Whether the target is in a result, or a result in it."""
        # One of the same length is in it only where it is equal, which the search has seen.
        shorter = self.by_length[: bisect_left(self.lengths, len(target))]
        return target in self.joined or any(map(target.__contains__, shorter))


def counted_letters(names: list[str]) -> list[bytes]:
    """What counts of each name: letters of either case as one, and digits but 0."""
    lines = _lines("\n".join(names), names).translate(_CODE_OF, _NOT_COUNTED)
    return lines.split(b"\n")[: len(names)]


def without_schemes(names: list[str]) -> list[str]:
    """Names without the scheme that an address begins with."""
    if not any("://" in name for name in names):
        return names
    return [re.sub(_SCHEME, "", name) for name in names]


def _as_lines(ids: pl.Series) -> npt.NDArray[np.uint8]:
    """The bytes of all names, each with a line end."""
    return np.frombuffer(_joined_lines(ids), dtype=np.uint8)


def _joined_lines(ids: pl.Series) -> bytes:
    """The same as one text."""
    if not len(ids):
        return b""
    joined = ids.str.join(chr(_LINE_END))
    plain: bytes = joined.cast(pl.Binary()).item()
    if plain.isascii() and b"://" in plain:
        plain = (
            _without_web_schemes(ids).str.join(chr(_LINE_END)).cast(pl.Binary()).item()
        )
    if plain.isascii() and b"%" not in plain and b"://" not in plain:
        # The usual case; line ends are counted ten times as fast in bytes.
        is_end = np.frombuffer(plain, dtype=np.uint8) == _LINE_END
        if np.count_nonzero(is_end) == len(ids) - 1:
            return plain + b"\n"
    text = joined.item()
    if "://" in text:
        # Both sides may have a scheme, and not the same.
        ids = ids.str.replace(_SCHEME, "")
        text = ids.str.join(chr(_LINE_END)).item()
    return _lines(text, ids)


def _without_web_schemes(ids: pl.Series) -> pl.Series:
    """Names without http:// or https:// at their beginning, which needs no pattern.

    >>> _without_web_schemes(pl.Series(["https://a.org/b", "http://c", "d"])).to_list()
    ['a.org/b', 'c', 'd']
    """
    name = pl.col("name")
    is_secure = name.str.starts_with("https://")
    secure, other = (name.str.strip_prefix(scheme) for scheme in ("https://", "http://"))
    frame = ids.alias("name").to_frame()
    return frame.select(pl.when(is_secure).then(secure).otherwise(other)).to_series()


def _lines(text: str, names: Sequence[str] | pl.Series) -> bytes:
    """The bytes of all names, each with a line end; ``text`` has them, joined."""
    n_lines = len(names)
    text = f"{text}\n" if n_lines else ""
    is_whole = text.count("\n") == n_lines
    if is_whole and not text.isascii() and _is_plain(text):
        return text.casefold().encode()
    if not text.isascii() or "%" in text or not is_whole:
        lines = text.split("\n")[:-1] if is_whole else names
        text = "\n".join(map(_folded, lines)) + "\n"
    return text.encode()


def _is_plain(text: str) -> bool:
    """Whether only the case of these names is to be folded: that is done for all at once."""
    return (
        "%" not in text
        and unicodedata.is_normalized("NFC", text)
        and re.search(rf"{INVISIBLE}|{FORMS}|[^\S\n]", text) is None
    )


def _folded(name: str) -> str:
    """A name without line ends, percent signs and unusual forms of letters."""
    if name.isascii() and name.isprintable() and "%" not in name:
        return name
    return " ".join(_FOLD.of(name).split())
