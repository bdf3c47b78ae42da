"""Find near-duplicate texts without comparing all pairs.

A text is the set of its shingles: runs of a few words or letters. The similarity of two
texts is the share of their shingles that both have (Jaccard). Only texts that share one
of the rarest shingles are candidates: of two texts with a similarity of at least t, the
second must have one of any ``n - ceil(t * n) + 1`` of the n shingles of the first. So
nothing is missed, and a stream can be compared with an index of the few texts that
matter.
"""

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
        return self._rarest_of(self.shingled)

    def _rarest_of(self, shingled: pl.DataFrame) -> pl.DataFrame:
        """The rarest shingles of each text: two similar texts have one of them in common."""
        position = pl.int_range(pl.len()).over("owner")
        count = pl.len().over("owner")
        # Subtract a little so that 0.7 * 10 = 7.000000000000001 does not become 8.
        needed = (count * self.least - 1e-9).ceil()
        return (
            shingled.join(self._sharing, on="shingle", how="left")
            .with_columns(pl.col("sharing").fill_null(0))
            .sort("owner", "sharing", "shingle")
            .filter(position < count - needed + 1, pl.col("sharing") <= MOST_SHARING)
            .select("owner", "shingle")
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
        pairs = (
            self._rarest_of(others)
            .rename({"owner": "other"})
            .join(self._rarest, on="shingle")
        )
        pairs = pairs.select("other", "owner").unique()
        others = others.rename({"owner": "other"})
        known = self.shingled.join(pairs.select("owner").unique(), on="owner", how="semi")
        size = pl.col("size")
        other_size = pl.col("size_right")
        sizes, other_sizes = (
            table.group_by(name).agg(size=pl.len().cast(pl.Int64))
            for table, name in ((known, "owner"), (others, "other"))
        )
        candidates = (
            pairs.join(sizes, on="owner")
            .join(other_sizes, on="other")
            .filter(
                other_size >= size * self.least - 1e-9,
                size >= other_size * self.least - 1e-9,
            )
        )
        shared = (
            candidates.select("other", "owner")
            .join(others, on="other")
            .join(known, on=["owner", "shingle"])
            .group_by("other", "owner")
            .len("shared")
        )
        return (
            candidates.join(shared, on=["other", "owner"])
            .select(
                "other",
                "owner",
                similarity=pl.col("shared") / (size + other_size - pl.col("shared")),
            )
            .filter(pl.col("similarity") >= self.least - 1e-9)
            .sort("other", "owner")
        )
