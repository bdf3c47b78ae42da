"""Find near-duplicate texts without comparing all pairs.

A text is the set of its shingles: runs of a few words or letters. The similarity of two
texts is the share of their shingles that both have (Jaccard). Only texts that share one
of the rarest shingles are candidates: of two texts with a similarity of at least t, the
second must have one of any ``n - ceil(t * n) + 1`` of the n shingles of the first. So
nothing is missed, and a stream can be compared with an index of the few texts that
matter.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.model.arrays import Hashes, Ints

# Scripts without spaces between words: every character is a word.
WORDS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|\w+"
WORDS_IN_SHINGLE = 5
LETTERS_IN_SHINGLE = 3
MOST_SHARING = 100
"""A shingle in more texts than this is boilerplate and makes no candidates."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHINGLED = {"owner": pl.Int64(), "shingle": pl.UInt64()}


def word_shingles(texts: pl.Series, owners: Ints) -> pl.DataFrame:
    """The five-word shingles of each text, ignoring case and punctuation."""
    words = pl.DataFrame({"owner": owners, "text": texts}).select(
        "owner", word=pl.col("text").str.to_lowercase().str.extract_all(WORDS)
    )
    words = words.explode("word").drop_nulls("word")
    units = words["word"].hash().to_numpy()
    return _shingled(units, words["owner"].to_numpy(), WORDS_IN_SHINGLE)


def letter_shingles(texts: pl.Series, owners: Ints) -> pl.DataFrame:
    """The three-character shingles of each text, ignoring case and punctuation."""
    plain = plain_words(texts)
    lengths = plain.str.len_chars().to_numpy().astype(np.int64)
    content = "".join(plain.to_list()).encode("utf-32-le", "surrogatepass")
    units = np.frombuffer(content, dtype=np.uint32).astype(np.uint64)
    return _shingled(units, np.repeat(owners, lengths), LETTERS_IN_SHINGLE)


def plain_words(texts: pl.Series) -> pl.Series:
    """The words of each text in lower case, separated by single spaces.

    >>> plain_words(pl.Series(["What is  the GIL?", "what is the gil"])).n_unique()
    1
    """
    return texts.str.to_lowercase().str.replace_all(r"[^\w+#]+", " ").str.strip_chars()


def _shingled(units: np.ndarray, owner: Ints, size: int) -> pl.DataFrame:
    """The hash of every run of ``size`` units per owner; a shorter text is one shingle."""
    if not units.size:
        return pl.DataFrame(schema=_SHINGLED)
    mixed = np.zeros(units.size, dtype=np.uint64)
    whole = np.zeros(units.size, dtype=np.bool_)
    for step in range(size):
        left = max(0, units.size - step)
        same = np.zeros(units.size, dtype=np.bool_)
        same[:left] = owner[step:] == owner[:left]
        ahead = np.zeros(units.size, dtype=np.uint64)
        ahead[:left] = units[step:]
        # Overflow is intended: this is a hash.
        mixed = (mixed ^ np.where(same, ahead + np.uint64(1), np.uint64(0))) * _MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
        whole = same
    first = np.ones(units.size, dtype=np.bool_)
    first[1:] = owner[1:] != owner[:-1]
    kept = whole | first
    return pl.DataFrame({"owner": owner[kept], "shingle": mixed[kept]}, schema=_SHINGLED)


_COMMON = 768
"""So many of the most shared shingles have a bit of their own in a sketch."""
_HASHED = 256
"""All others share so many bits."""
_CANDIDATES_AT_ONCE = 1 << 17
_COUNTED_AT_ONCE = 1 << 15
"""Pairs that are looked at, and counted, at once: the memory beside the texts themselves."""


@dataclass(frozen=True, eq=False)
class _Sketches:
    """The shingles of each text as bits, and those without a bit of their own as a list."""

    owner: Ints
    """The texts, ascending."""
    size: Ints
    """How many shingles each has."""
    bits: Hashes
    """text × word: those of common shingles, then those that others share."""
    rare: Ints
    """The numbers of the shingles that are not common, text by text, ascending."""
    first: Ints
    """Where the rare ones of each text begin; the last entry is their number."""

    @classmethod
    def of(cls, shingled: pl.DataFrame, numbers: pl.DataFrame) -> "_Sketches":
        """The sketches of texts whose shingles are given without repeats.

        ``numbers`` has a number for each shingle of the index, the most shared first; others
        count for the size alone.
        """
        table = shingled.join(numbers, on="shingle", how="left").sort("owner", "number")
        owner = table["owner"].to_numpy()
        begins = np.flatnonzero(np.diff(owner, prepend=-1) != 0)
        text = np.cumsum(np.diff(owner, prepend=-1) != 0) - 1
        known = table["number"].is_not_null().to_numpy()
        number = table["number"].fill_null(0).to_numpy()
        is_rare = known & (number >= _COMMON)
        bit = np.where(is_rare, _COMMON + number % _HASHED, number)
        value = np.where(
            known, np.uint64(1) << (bit & 63).astype(np.uint64), np.uint64(0)
        )
        words = (_COMMON + _HASHED) // 64
        bits = np.zeros((begins.size, words), dtype=np.uint64)
        for word in range(words if begins.size else 0):
            mine = np.where(bit >> 6 == word, value, np.uint64(0))
            bits[:, word] = np.bitwise_or.reduceat(mine, begins)
        many = np.bincount(text[is_rare], minlength=begins.size)
        return cls(
            owner[begins],
            np.diff(begins, append=owner.size),
            bits,
            number[is_rare],
            np.concatenate([[0], np.cumsum(many)]),
        )

    def place(self, owner: Ints) -> Ints:
        """Where these texts stand here."""
        return owner if self._is_dense else np.searchsorted(self.owner, owner)

    @cached_property
    def _is_dense(self) -> bool:
        """Whether the texts are numbered without a gap, so that each stands at its number."""
        return bool((self.owner == np.arange(self.owner.size)).all())

    @cached_property
    def hidden(self) -> Ints:
        """How many rare shingles of each text share their bit with another of the text."""
        return np.diff(self.first) - _count_bits(self.bits[:, _COMMON // 64 :])

    @cached_property
    def rare_keys(self) -> Ints:
        """Text and number of each rare shingle as one number, ascending."""
        text = np.repeat(np.arange(self.size.size), np.diff(self.first))
        return (text << 32) + self.rare

    def shared_rare(self, at: Ints, others: "_Sketches", there: Ints) -> Ints:
        """How many rare shingles each of these texts shares with one of the others."""
        many = np.diff(others.first)[there]
        pair = np.repeat(np.arange(at.size), many)
        before = np.cumsum(many) - many
        row = np.arange(pair.size) + np.repeat(others.first[there] - before, many)
        key = (at[pair] << 32) + others.rare[row]
        place = np.searchsorted(self.rare_keys, key)
        place[place == self.rare_keys.size] = 0
        met = self.rare_keys[place] == key if self.rare_keys.size else key < 0
        return np.bincount(pair[met], minlength=at.size)


def _count_bits(words: Hashes) -> Ints:
    """The bits of each row."""
    # Column by column: a sum along such short rows takes several times as long.
    counts = np.zeros(len(words), dtype=np.int64)
    for column in np.bitwise_count(words).T:
        counts += column
    return counts


@dataclass(frozen=True, eq=False)
class SimilarTexts:
    """An index of shingled texts to compare others with."""

    shingled: pl.DataFrame
    """owner, shingle, without repeats."""
    least: float
    """The similarity from which two texts are near-duplicates."""

    @classmethod
    def of(cls, shingled: pl.DataFrame, least: float) -> Self:
        """Build an index from texts, which may repeat shingles."""
        return cls(shingled.unique(), least)

    @cached_property
    def _sharing(self) -> pl.DataFrame:
        return self.shingled.group_by("shingle").len("sharing")

    @cached_property
    def _rarest(self) -> pl.DataFrame:
        return self._rarest_of(self.shingled, self.least)

    @cached_property
    def _numbers(self) -> pl.DataFrame:
        """A number for each shingle: the more texts share it, the lower."""
        ordered = self._sharing.sort("sharing", "shingle", descending=[True, False])
        return ordered.select("shingle", number=pl.int_range(pl.len(), dtype=pl.Int64))

    @cached_property
    def _sketches(self) -> _Sketches:
        return _Sketches.of(self.shingled, self._numbers)

    def _rarest_of(self, shingled: pl.DataFrame, least: float) -> pl.DataFrame:
        """The rarest shingles of each text: two similar texts have one of them in common.

        Returns owner, shingle, its position among those of its text, and their count.
        """
        ordered = (
            shingled.join(self._sharing, on="shingle", how="left")
            .with_columns(pl.col("sharing").fill_null(0))
            .sort("owner", "sharing", "shingle")
            .with_columns(
                position=pl.int_range(pl.len(), dtype=pl.UInt32).over("owner"),
                count=pl.len().over("owner"),
            )
        )
        return ordered.filter(_enough(least), pl.col("sharing") <= MOST_SHARING).drop(
            "sharing"
        )

    def find(self, others: pl.DataFrame) -> pl.DataFrame:
        """Find the others (owner, shingle) that are similar to texts of the index.

        Returns other, owner, similarity.
        """
        # Most texts of a stream resemble nothing in the index, so the full work is for
        # few.
        some = (
            others.join(self._rarest, on="shingle", how="semi").select("owner").unique()
        )
        others = others.join(some, on="owner", how="semi").unique()
        rarest = self._rarest_of(others, self.least)
        sketches = _Sketches.of(others, self._numbers)
        found = [
            self._similar(other, owner, sketches)
            for other, owner in _candidates(rarest, self._rarest)
        ]
        return pl.concat([_NO_PAIRS, *found]).sort("other", "owner")

    def find_pairs(self) -> pl.DataFrame:
        """Find the pairs of similar texts in the index: other, owner, similarity.

        Each pair is there once, with the lower number as owner.
        """
        mine = self._sketches
        # Of the smaller of two similar texts fewer shingles are enough to meet the larger.
        few = self._rarest.filter(_enough(2 * self.least / (1 + self.least)))
        found = []
        for other, owner in _candidates(self._rarest, few):
            size = mine.size[mine.place(owner)]
            other_size = mine.size[mine.place(other)]
            once = (size < other_size) | ((size == other_size) & (owner < other))
            first = np.minimum(owner, other)[once]
            second = np.maximum(owner, other)[once]
            found.append(self._similar(second, first, mine))
        return pl.concat([_NO_PAIRS, *found]).sort("other", "owner")

    def _similar(self, other: Ints, owner: Ints, theirs: _Sketches) -> pl.DataFrame:
        """Those of some candidate pairs that are similar, with their similarity."""
        mine = self._sketches
        at = mine.place(owner)
        there = theirs.place(other)
        both = mine.size[at] + theirs.size[there]
        bits = mine.bits[at] & theirs.bits[there]
        shared = _count_bits(bits[:, : _COMMON // 64])
        # Rare ones that are shared share their bits: more than these show cannot be shared.
        most = shared + _count_bits(bits[:, _COMMON // 64 :])
        most += np.minimum(mine.hidden[at], theirs.hidden[there])
        least = self.least - 1e-9
        kept = np.flatnonzero(most >= both * least / (1 + least) - 1e-6)
        for first in range(0, kept.size, _COUNTED_AT_ONCE):
            some = kept[first : first + _COUNTED_AT_ONCE]
            shared[some] += mine.shared_rare(at[some], theirs, there[some])
        similarity = shared[kept] / (both[kept] - shared[kept])
        similar = similarity >= least
        kept = kept[similar]
        columns = {
            "other": other[kept],
            "owner": owner[kept],
            "similarity": similarity[similar],
        }
        return pl.DataFrame(columns, _PAIRS)


def _enough(least: float) -> pl.Expr:
    """Which of a text's shingles, the rarest first, a text of this similarity must meet."""
    # Subtract a little so that 0.7 * 10 = 7.000000000000001 does not become 8.
    needed = (pl.col("count") * least - 1e-9).ceil()
    return pl.col("position") < pl.col("count") - needed + 1


_PAIRS = {"other": pl.Int64(), "owner": pl.Int64(), "similarity": pl.Float64()}
_NO_PAIRS = pl.DataFrame(schema=_PAIRS)


def _candidates(rarest: pl.DataFrame, index: pl.DataFrame) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of an other text and one of the index that have a rare shingle in common.

    ``rarest`` is sorted by owner. Each pair comes once; some blocks of pairs at a time.
    """
    sorted_index = index.sort("shingle")
    known = sorted_index["shingle"].to_numpy()
    owner = sorted_index["owner"].to_numpy()
    asked = rarest["shingle"].to_numpy()
    other = rarest["owner"].to_numpy()
    first = np.searchsorted(known, asked)
    many = np.searchsorted(known, asked, side="right") - first
    before = np.cumsum(many) - many
    # Cut where a text begins, so that both ends of a pair's repeats stand in one block.
    begins = np.flatnonzero(np.diff(other, prepend=-1) != 0)
    block = before[begins] // _CANDIDATES_AT_ONCE
    cuts = [*begins[np.flatnonzero(np.diff(block, prepend=-1))].tolist(), other.size]
    for start, stop in pairwise(cuts):
        counts = many[start:stop]
        row = np.repeat(np.arange(start, stop), counts)
        within = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
        # Both in one number: sorting these is several times faster than sorting rows of two.
        pair = (other[row] << 32) + owner[first[row] + within]
        pair.sort()
        pair = pair[np.diff(pair, prepend=-1) != 0]
        yield pair >> 32, pair & 0xFFFFFFFF
