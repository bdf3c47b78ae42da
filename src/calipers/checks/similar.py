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
import numpy.typing as npt
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
class _Numbered:
    """The shingles of some texts, text by text, each once, those that most texts share first."""

    owner: Ints
    number: Ints
    begins: Ints
    """Where each text begins."""
    size: Ints
    """How many shingles each text has."""

    @classmethod
    def of(cls, owner: Ints, number: Ints) -> Self:
        """From the text and the number of each shingle, in any order."""
        # Both in one number: sorting these is several times faster than a table of two columns.
        key = (owner << 32) + number
        key.sort()
        key = key[_is_new(key)]
        owner = key >> 32
        begins = np.flatnonzero(_is_new(owner))
        return cls(owner, key & 0xFFFFFFFF, begins, np.diff(begins, append=owner.size))

    def rarest(self, least: float) -> npt.NDArray[np.bool_]:
        """The rarest of each text: a text of this similarity has one of them, too."""
        # Subtract a little so that 0.7 * 10 = 7.000000000000001 does not become 8.
        needed = np.ceil(self.size * least - 1e-9).astype(np.int64)
        # They stand at the end of their text: those before them are the others.
        first = self.begins + needed - 1
        return np.arange(self.owner.size) >= np.repeat(first, self.size)


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
    def of(cls, texts: _Numbered, known: int) -> Self:
        """The sketches of texts; shingles from the number ``known`` on count for the size alone."""
        n_texts = texts.begins.size
        text = np.repeat(np.arange(n_texts), texts.size)
        is_rare = (texts.number >= _COMMON) & (texts.number < known)
        bit = np.where(is_rare, _COMMON + texts.number % _HASHED, texts.number)
        places = _COMMON + _HASHED
        at = (text * places + bit)[texts.number < known]
        at.sort()
        word = at >> 6
        begins = np.flatnonzero(_is_new(word))
        bits = np.zeros(n_texts * (places // 64), dtype=np.uint64)
        if begins.size:
            each = np.uint64(1) << (at & 63).astype(np.uint64)
            bits[word[begins]] = np.bitwise_or.reduceat(each, begins)
        many = np.bincount(text[is_rare], minlength=n_texts)
        return cls(
            texts.owner[texts.begins],
            texts.size,
            bits.reshape(n_texts, places // 64),
            texts.number[is_rare],
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


def _is_new(ordered: Ints | Hashes) -> npt.NDArray[np.bool_]:
    """Which of some sorted values differ from the one before."""
    new = np.ones(ordered.size, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return new


def _coded(hashes: Hashes) -> tuple[Hashes, Ints]:
    """The different hashes, ascending, and where each one stands among them.

    >>> _coded(np.array([9 << 60, 7, 9 << 60], dtype=np.uint64))[1].tolist()
    [1, 0, 1]
    """
    ordered = np.sort(hashes)
    different = ordered[_is_new(ordered)]
    # Hashes are spread evenly, so their first bits say nearly where they stand: that takes
    # a fourth of the time of a sort that remembers the places.
    bits = different.size.bit_length() + 1
    shift = np.uint64(64 - bits)
    begins = np.searchsorted(different, np.arange(1 << bits, dtype=np.uint64) << shift)
    code = begins[(hashes >> shift).astype(np.int64)]
    behind = np.flatnonzero(different[code] != hashes)
    while behind.size:
        code[behind] += 1
        behind = behind[different[code[behind]] != hashes[behind]]
    return different, code


@dataclass(frozen=True, eq=False)
class SimilarTexts:
    """An index of shingled texts to compare others with."""

    shingles: Hashes
    """The hash of each different shingle, ascending."""
    number: Ints
    """The number of each: the more texts share it, the lower."""
    sharing: Ints
    """How many texts share each, by number."""
    texts: _Numbered
    least: float
    """The similarity from which two texts are near-duplicates."""

    @classmethod
    def of(cls, shingled: pl.DataFrame, least: float) -> Self:
        """Build an index from texts, which may repeat shingles."""
        owner = shingled["owner"].to_numpy()
        shingles, code = _coded(shingled["shingle"].to_numpy())
        once = _Numbered.of(owner, code)
        shared = np.bincount(once.number, minlength=shingles.size)
        order = np.argsort(-shared, kind="stable")
        number = np.empty_like(order)
        number[order] = np.arange(order.size)
        texts = _Numbered.of(once.owner, number[once.number])
        return cls(shingles, number, shared[order], texts, least)

    @cached_property
    def _sketches(self) -> _Sketches:
        return _Sketches.of(self.texts, self.shingles.size)

    def _rarest(self, texts: _Numbered, least: float) -> tuple[Ints, Ints]:
        """The text and the number of the shingles by which similar texts are found.

        Of the rarest of each text, those that are no boilerplate here.
        """
        rows = np.flatnonzero(texts.rarest(least))
        number = texts.number[rows]
        # What this index does not have comes last, and is shared by none of its texts.
        sharing = np.append(self.sharing, 0)[np.minimum(number, self.sharing.size)]
        kept = sharing <= MOST_SHARING
        return texts.owner[rows[kept]], number[kept]

    @cached_property
    def _own_rarest(self) -> tuple[Ints, Ints]:
        return self._rarest(self.texts, self.least)

    @cached_property
    def _is_wanted(self) -> npt.NDArray[np.bool_]:
        """By number: whether a text of the index is found by this shingle."""
        wanted = np.zeros(self.shingles.size, dtype=np.bool_)
        wanted[self._own_rarest[1]] = True
        return wanted

    def find(self, others: pl.DataFrame) -> pl.DataFrame:
        """Find the others (owner, shingle) that are similar to texts of the index.

        Returns other, owner, similarity.
        """
        owner = others["owner"].to_numpy()
        shingle = others["shingle"].to_numpy()
        if not owner.size or not self.shingles.size:
            return _NO_PAIRS
        place = np.minimum(
            np.searchsorted(self.shingles, shingle), self.shingles.size - 1
        )
        is_known = self.shingles[place] == shingle
        number = self.number[place]
        # Most texts of a stream resemble nothing in the index, so the full work is for
        # few.
        some = np.zeros(int(owner.max()) + 1, dtype=np.bool_)
        some[owner[is_known & self._is_wanted[number]]] = True
        rows = some[owner]
        own = np.unique(shingle[rows], return_inverse=True)[1]
        number = np.where(is_known[rows], number[rows], self.shingles.size + own)
        texts = _Numbered.of(owner[rows], number)
        sketches = _Sketches.of(texts, self.shingles.size)
        rarest = self._rarest(texts, self.least)
        found = [
            self._similar(other, known, sketches)
            for other, known in _candidates(rarest, self._own_rarest, self.shingles.size)
        ]
        return pl.concat([_NO_PAIRS, *found]).sort("other", "owner")

    def find_pairs(self) -> pl.DataFrame:
        """Find the pairs of similar texts in the index: other, owner, similarity.

        Each pair is there once, with the lower number as owner.
        """
        mine = self._sketches
        # Of the smaller of two similar texts fewer shingles are enough to meet the larger.
        few = self._rarest(self.texts, 2 * self.least / (1 + self.least))
        found = []
        for other, owner in _candidates(self._own_rarest, few, self.shingles.size):
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


_PAIRS = {"other": pl.Int64(), "owner": pl.Int64(), "similarity": pl.Float64()}
_NO_PAIRS = pl.DataFrame(schema=_PAIRS)


def _candidates(
    rarest: tuple[Ints, Ints], index: tuple[Ints, Ints], known: int
) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of an other text and one of the index that have a rare shingle in common.

    Both are texts and the numbers of shingles, of which the index has those below ``known``;
    ``rarest`` is sorted by text. Each pair comes once; some blocks of pairs at a time.
    """
    other, asked = rarest
    owner = index[0][np.argsort(index[1], kind="stable")]
    ends = np.cumsum(np.bincount(index[1], minlength=known + 1))
    begins = np.append(0, ends)[:-1]
    asked = np.minimum(asked, known)
    first = begins[asked]
    many = ends[asked] - first
    before = np.cumsum(many) - many
    # Cut where a text begins, so that both ends of a pair's repeats stand in one block.
    texts = np.flatnonzero(np.diff(other, prepend=-1) != 0)
    block = before[texts] // _CANDIDATES_AT_ONCE
    cuts = [*texts[np.flatnonzero(np.diff(block, prepend=-1))].tolist(), other.size]
    for start, stop in pairwise(cuts):
        counts = many[start:stop]
        row = np.repeat(np.arange(start, stop), counts)
        within = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
        # Both in one number: sorting these is several times faster than sorting rows of two.
        pair = (other[row] << 32) + owner[first[row] + within]
        pair.sort()
        pair = pair[_is_new(pair)]
        yield pair >> 32, pair & 0xFFFFFFFF
