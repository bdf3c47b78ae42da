"""Texts that are almost the same, found without comparing each with each.

A text is taken as the set of its shingles: stretches of a few words, or of a few letters. Two
texts are as similar as the share of their shingles that both have (Jaccard). Only texts that
share one of the rarest shingles are compared: of two texts with a similarity of at least t, the
second must have one of any ``n - ceil(t * n) + 1`` of the n shingles of the first. Of these only
pairs are counted out whose signatures, of one bit for each shingle, could be so similar. So nothing
is missed, and a stream can be compared with an index of the few texts that matter.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from calipers.model.arrays import Ints

# Scripts that put no space between words: every character is a word.
WORDS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|\w+"
WORDS_IN_SHINGLE = 5
LETTERS_IN_SHINGLE = 3
MOST_SHARING = 100
"""A shingle of more texts than this is boilerplate and no reason to compare two texts."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHINGLED = {"owner": pl.Int64(), "shingle": pl.UInt64()}
_KEPT = {"owner": pl.UInt32(), "shingle": pl.UInt64()}
_SIZES = {"owner": pl.UInt32(), "size": pl.UInt32()}


def word_shingles(texts: pl.Series, owners: Ints) -> pl.DataFrame:
    """The shingles of five words of each text; case and punctuation do not count."""
    words = pl.DataFrame({"owner": owners, "text": texts}).select(
        "owner", word=pl.col("text").str.to_lowercase().str.extract_all(WORDS)
    )
    words = words.explode("word").drop_nulls("word")
    units = words["word"].hash().to_numpy()
    return _shingled(units, words["owner"].to_numpy(), WORDS_IN_SHINGLE)


def letter_shingles(texts: pl.Series, owners: Ints) -> pl.DataFrame:
    """The shingles of three characters of each text; case and punctuation do not count."""
    plain = plain_words(texts)
    lengths = plain.str.len_chars().to_numpy().astype(np.int64)
    content = "".join(plain.to_list()).encode("utf-32-le", "surrogatepass")
    units = np.frombuffer(content, dtype=np.uint32).astype(np.uint64)
    return _shingled(units, np.repeat(owners, lengths), LETTERS_IN_SHINGLE)


def plain_words(texts: pl.Series) -> pl.Series:
    """The words of each text in lower case, one space between them.

    >>> plain_words(pl.Series(["What is  the GIL?", "what is the gil"])).n_unique()
    1
    """
    return texts.str.to_lowercase().str.replace_all(r"[^\w+#]+", " ").str.strip_chars()


def _shingled(units: np.ndarray, owner: Ints, size: int) -> pl.DataFrame:
    """Every run of ``size`` units of one owner as one number; a shorter text is one shingle."""
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
        # Numbers wrap around on purpose: this is a hash.
        mixed = (mixed ^ np.where(same, ahead + np.uint64(1), np.uint64(0))) * _MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
        whole = same
    first = np.ones(units.size, dtype=np.bool_)
    first[1:] = owner[1:] != owner[:-1]
    kept = whole | first
    return pl.DataFrame({"owner": owner[kept], "shingle": mixed[kept]}, schema=_SHINGLED)


@dataclass(frozen=True, eq=False)
class SimilarTexts:
    """An index of shingled texts, to compare others with."""

    blocks: list[pl.DataFrame]
    """owner, shingle, each pair once; all shingles of a text are in one block."""
    least: float
    """The similarity from which two texts are almost the same."""

    @classmethod
    def of(cls, shingled: Iterable[pl.DataFrame], least: float) -> Self:
        """An index of blocks of whole texts; a shingle of a text may stand there several times.

        Only a block at a time is sorted and joined: that takes many times the room of the index.
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
        """Of each text the shingles of which a similar one must have at least one."""
        sharing = self._shingled.group_by("shingle").len("sharing")
        position = pl.int_range(pl.len()).over("owner")
        # The small step down keeps 0.7 * 10 = 7.000000000000001 from becoming 8.
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
        """Whether the signatures leave it open that two texts are similar."""
        theirs = _Signatures(others["other"], others["shingle"])
        sizes, other_sizes = pairs["size"].to_numpy(), pairs["other_size"].to_numpy()
        shared = (sizes.astype(np.int64) + other_sizes) * (self.least / (1 + self.least))
        lacking = self._signatures.lacking(pairs["owner"], theirs, pairs["other"])
        return pl.Series(lacking <= sizes - shared + 1e-9)

    def find(self, others: pl.DataFrame) -> pl.DataFrame:
        """Which of the others (owner, shingle) are similar to which texts of the index.

        other, owner, similarity.
        """
        others = others.select(pl.col("owner").alias("other"), "shingle")
        pairs = others.join(self._rarest, on="shingle").select("other", "owner").unique()
        # Most texts of a stream are like nothing in the index: only now is it worth the work.
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
        # A join makes a table of all that it is given: far more than the few that are compared.
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
    """For each text a bit for each of its shingles, of which several may have the same one."""

    WORDS = 8
    """Of 64 bits each."""
    AT_ONCE = 1 << 17
    """Pairs whose signatures are held side by side."""

    def __init__(self, owners: pl.Series, shingles: pl.Series) -> None:
        self.owners, rows = np.unique(owners.to_numpy(), return_inverse=True)
        self.bits = np.zeros((self.owners.size, self.WORDS), dtype=np.uint64)
        mixed = shingles.to_numpy()
        word = (mixed >> np.uint64(55)).astype(np.int64) % self.WORDS
        np.bitwise_or.at(self.bits, (rows, word), np.uint64(1) << (mixed >> np.uint64(58)))

    def lacking(self, mine: pl.Series, others: "_Signatures", theirs: pl.Series) -> Ints:
        """Of each pair, how many shingles of the first the second surely lacks."""
        first = np.searchsorted(self.owners, mine.to_numpy())
        second = np.searchsorted(others.owners, theirs.to_numpy())
        parts = [
            np.bitwise_count(self.bits[first[some]] & ~others.bits[second[some]]).sum(axis=1)
            for start in range(0, first.size, self.AT_ONCE)
            for some in [slice(start, start + self.AT_ONCE)]
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)
