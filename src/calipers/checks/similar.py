"""Find near-duplicate texts without comparing all pairs.

A text is the set of its shingles: runs of a few words or letters. The similarity of two texts is
the share of their shingles that both have (Jaccard). Only texts that share one of the rarest
shingles are candidates: of two texts with a similarity of at least t, the second must have one of
any ``n - ceil(t * n) + 1`` of the n shingles of the first. Candidates are compared in full only if
their signatures, with one bit per shingle, allow that similarity. So nothing is missed, and a
stream can be compared with an index of the few texts that matter.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from calipers.model.arrays import Ints

# Scripts without spaces between words: every character is a word.
WORDS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|\w+"
WORDS_IN_SHINGLE = 5
LETTERS_IN_SHINGLE = 3
MOST_SHARING = 100
"""A shingle in more texts than this is boilerplate and makes no candidates."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHINGLED = {"owner": pl.Int64(), "shingle": pl.UInt64()}
_KEPT = {"owner": pl.UInt32(), "shingle": pl.UInt64()}
_SIZES = {"owner": pl.UInt32(), "size": pl.UInt32()}


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


@dataclass(frozen=True, eq=False)
class SimilarTexts:
    """An index of shingled texts to compare others with."""

    blocks: list[pl.DataFrame]
    """owner, shingle, without repeats; all shingles of a text are in one block."""
    least: float
    """The similarity from which two texts are near-duplicates."""

    @classmethod
    def of(cls, shingled: Iterable[pl.DataFrame], least: float) -> Self:
        """Build an index from blocks of whole texts, which may repeat shingles.

        Blocks are sorted and joined one at a time: that takes many times the memory of the index.
        """
        return cls([block.cast({"owner": pl.UInt32}).unique() for block in shingled], least)

    @cached_property
    def _shingled(self) -> pl.DataFrame:
        return pl.concat([pl.DataFrame(schema=_KEPT), *self.blocks])

    @cached_property
    def _sizes(self) -> pl.DataFrame:
        sizes = [block.group_by("owner").len("size") for block in self.blocks]
        return pl.concat([pl.DataFrame(schema=_SIZES), *sizes])

    @cached_property
    def _rarest(self) -> pl.DataFrame:
        """The rarest shingles of each text: a similar text must have at least one of them."""
        sharing = self._shingled.group_by("shingle").len("sharing")
        position = pl.int_range(pl.len()).over("owner")
        # Subtract a little so that 0.7 * 10 = 7.000000000000001 does not become 8.
        needed = (pl.len().over("owner") * self.least - 1e-9).ceil()
        kept = [
            block.join(sharing, on="shingle")
            .sort("owner", "sharing", "shingle")
            .filter(
                position < pl.len().over("owner") - needed + 1, pl.col("sharing") <= MOST_SHARING
            )
            .select("owner", "shingle")
            for block in self.blocks
        ]
        return pl.concat([pl.DataFrame(schema=_KEPT), *kept])

    @cached_property
    def _signatures(self) -> "_Signatures":
        return _Signatures(self._shingled["owner"], self._shingled["shingle"])

    def _may_be_similar(self, pairs: pl.DataFrame, others: pl.DataFrame) -> pl.Series:
        """Whether the signatures allow two texts to be similar."""
        theirs = _Signatures(others["other"], others["shingle"])
        sizes, other_sizes = pairs["size"].to_numpy(), pairs["other_size"].to_numpy()
        shared = (sizes.astype(np.int64) + other_sizes) * (self.least / (1 + self.least))
        lacking = self._signatures.lacking(pairs["owner"], theirs, pairs["other"])
        return pl.Series(lacking <= sizes - shared + 1e-9)

    def find(self, others: pl.DataFrame) -> pl.DataFrame:
        """Find the others (owner, shingle) that are similar to texts of the index.

        Returns other, owner, similarity.
        """
        others = others.select(pl.col("owner").alias("other"), "shingle")
        pairs = others.join(self._rarest, on="shingle").select("other", "owner").unique()
        # Most texts of a stream resemble nothing in the index, so the full work starts only here.
        others = others.join(pairs.select("other").unique(), on="other", how="semi").unique()
        sizes = others.group_by("other").len("other_size")
        candidates = (
            pairs.join(sizes, on="other")
            .join(self._sizes, on="owner")
            .filter(
                pl.col("other_size") >= pl.col("size") * self.least - 1e-9,
                pl.col("size") >= pl.col("other_size") * self.least - 1e-9,
            )
        )
        candidates = candidates.filter(self._may_be_similar(candidates, others))
        # A join builds a hash table of its whole input, so reduce that to the texts compared.
        compared = self._shingled.filter(
            pl.col("owner").is_in(candidates["owner"].unique().implode())
        )
        shared = (
            candidates.select("other", "owner")
            .join(others, on="other")
            .join(compared, on=["owner", "shingle"])
            .group_by("other", "owner")
            .len("shared")
        )
        together = pl.col("size") + pl.col("other_size") - pl.col("shared")
        return (
            candidates.join(shared, on=["other", "owner"])
            .select("other", "owner", similarity=pl.col("shared") / together)
            .filter(pl.col("similarity") >= self.least - 1e-9)
            .sort("other", "owner")
        )


class _Signatures:
    """For each text one bit per shingle; several shingles may share a bit."""

    WORDS = 8
    """The number of 64-bit words per signature."""
    AT_ONCE = 1 << 17
    """The number of pairs whose signatures are compared at once."""

    def __init__(self, owners: pl.Series, shingles: pl.Series) -> None:
        self.owners, rows = np.unique(owners.to_numpy(), return_inverse=True)
        self.bits = np.zeros((self.owners.size, self.WORDS), dtype=np.uint64)
        mixed = shingles.to_numpy()
        word = (mixed >> np.uint64(55)).astype(np.int64) % self.WORDS
        np.bitwise_or.at(self.bits, (rows, word), np.uint64(1) << (mixed >> np.uint64(58)))

    def lacking(self, mine: pl.Series, others: "_Signatures", theirs: pl.Series) -> Ints:
        """For each pair, a lower bound of the first's shingles that the second lacks."""
        first = np.searchsorted(self.owners, mine.to_numpy())
        second = np.searchsorted(others.owners, theirs.to_numpy())
        parts = [
            np.bitwise_count(self.bits[first[some]] & ~others.bits[second[some]]).sum(axis=1)
            for start in range(0, first.size, self.AT_ONCE)
            for some in [slice(start, start + self.AT_ONCE)]
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)
