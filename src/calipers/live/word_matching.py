"""What plain word matching finds: BM25 over the chunks of a corpus, also as a first retriever.

Lucene's variant with k1 = 1.5 and b = 0.75; lower-cased words of two or more letters,
without English stop words or stemming; in scripts without spaces each character is a
word. Ties go to the chunk that comes first in the corpus.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from calipers.checks.similar import WORDS
from calipers.frozen import dataclass
from calipers.io.corpus import Corpus, open_corpus
from calipers.io.documents.walk import open_folder
from calipers.live.adapters.base import Retriever
from calipers.live.adapters.callable import from_callable
from calipers.live.answers import Layout
from calipers.model.arrays import Counts, Floats, Ints
from calipers.model.run import Run
from calipers.names import words_in

SPLIT_AT_ONCE = 1_000
"""Chunks whose words are in memory at once: they take twenty times the room of what is kept."""
OWNER_BITS = 16
"""Bits for the number of a chunk among so many."""
K1 = 1.5
B = 0.75
DEPTH = 10
STOP_WORDS = words_in(
    "a an and are as at be but by for if in into is it no not of on or such that the "
    "their then there these they this to was will with"
)
_TERMS = WORDS.replace(r"\w+", r"\w\w+")


def words_of(texts: pl.Series) -> pl.DataFrame:
    """The indexed words of each text: owner (the number of the text) and word."""
    listed = texts.str.to_lowercase().str.extract_all(_TERMS)
    words = pl.DataFrame({"owner": np.arange(len(texts)), "word": listed}).explode("word")
    return words.filter(pl.col("word").is_not_null() & ~pl.col("word").is_in(STOP_WORDS))


@dataclass(frozen=True, eq=False)
class _Postings:
    """Which of some chunks hold which words, in the order of the words and then of the chunks."""

    term: Counts
    """The number of each word."""
    owner: Counts
    """The number of the chunk that holds it, behind the first of these chunks."""
    often: Counts
    first: int

    @classmethod
    def of(cls, words: pl.DataFrame, terms: dict[str, int], first: int) -> "_Postings":
        """From the words of chunks (owner, word); words without a number get the next one."""
        own = words.select("word").unique()
        numbers = [terms.setdefault(word, len(terms)) for word in own["word"]]
        own = own.with_columns(term=pl.Series(numbers, dtype=pl.Int64))
        pairs = words.join(own, on="word")
        # Both in one number, which sorts much faster than a table of two columns.
        key = (pairs["term"].to_numpy() << OWNER_BITS) + pairs["owner"].to_numpy()
        key, often = np.unique(key, return_counts=True)
        owner = key & ((1 << OWNER_BITS) - 1)
        return cls(_small(key >> OWNER_BITS), _small(owner), _small(often), first)


def _small(numbers: Ints) -> Counts:
    """Numbers in as few bytes as the largest takes."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


@dataclass(frozen=True, eq=False)
class WordIndex:
    """Which chunks hold which words, and how much that counts."""

    terms: dict[str, int]
    starts: Ints
    """Where the chunks of each term begin in ``owner``."""
    owner: Counts
    often: Counts
    """How often each of these chunks holds the term."""
    weights: Floats
    """How much each term counts."""
    delays: Floats
    """How much the words of a chunk lose by its length."""
    chunks: pl.DataFrame
    """id, document, start and end; with text where it is kept."""
    texts: Callable[[pl.DataFrame], pl.Series] | None = None
    """The texts of some chunks, where somebody else keeps them."""

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        *,
        with_texts: bool = False,
        texts: Callable[[pl.DataFrame], pl.Series] | None = None,
        queries: pl.Series | None = None,
    ) -> "WordIndex":
        """Index a corpus; where all ``queries`` are known, the words of these alone.

        The index keeps the texts itself ``with_texts``, or asks ``texts`` for those of results.
        """
        wanted = None if queries is None else words_of(queries)["word"].unique()
        columns = ["id", "document", "start", "end", *(["text"] if with_texts else [])]
        sizes = []
        postings = []
        names = []
        before = 0
        terms: dict[str, int] = {}
        parts = (batch.iter_slices(SPLIT_AT_ONCE) for batch in corpus.batches())
        for batch in chain.from_iterable(parts):
            words = words_of(batch["text"])
            sizes.append(np.bincount(words["owner"].to_numpy(), minlength=batch.height))
            if wanted is not None:
                words = words.filter(pl.col("word").is_in(wanted.implode()))
            postings.append(_Postings.of(words, terms, before))
            names.append(batch.select(columns))
            before += batch.height
        starts, owner, often = _by_term(postings, len(terms), before)
        holding = np.diff(starts)
        length = np.concatenate(sizes)
        weights = np.log1p((before - holding + 0.5) / (holding + 0.5))
        delays = K1 * (1 - B + B * length / max(length.mean(), 1e-9))
        return cls(terms, starts, owner, often, weights, delays, pl.concat(names), texts)

    def best(self, words: Sequence[str], k: int) -> tuple[Ints, Floats]:
        """The best chunks for some words, best first, and their scores."""
        score = np.zeros(self.chunks.height)
        for word in words:
            if (term := self.terms.get(word)) is not None:
                here = slice(self.starts[term], self.starts[term + 1])
                owner = self.owner[here]
                often = self.often[here]
                gains = self.weights[term] * often / (often + self.delays[owner])
                score[owner] += gains
        least = np.partition(score, -k)[-k] if len(score) > k else 0.0
        chunk = np.flatnonzero((score >= least) & (score > 0.0))
        chunk = chunk[np.argsort(-score[chunk], kind="stable")][:k]
        return chunk, score[chunk]

    def run(self, queries: pl.DataFrame, k: int = DEPTH) -> Run:
        """The first results of each query (query, text), with texts where they are kept."""
        spoken = words_of(queries["text"])
        ends = np.searchsorted(spoken["owner"].to_numpy(), np.arange(1, queries.height))
        words = np.split(spoken["word"].to_numpy(), ends)
        rankings = [self.best(word.tolist(), k) for word in words]
        owners = np.repeat(
            np.arange(len(rankings)), [len(chunk) for chunk, _ in rankings]
        )
        rows = self.chunks[np.concatenate([chunk for chunk, _ in rankings])]
        if self.texts is not None:
            rows = rows.with_columns(text=self.texts(rows))
        rows = rows.rename({"id": "item"})
        score = np.concatenate([score for _, score in rankings])
        rows = rows.with_columns(query=queries["query"].gather(owners), score=score)
        return Run.from_frame(rows, order="listed", name=NAME)


def _by_term(
    postings: list[_Postings], terms: int, chunks: int
) -> tuple[Ints, Counts, Counts]:
    """Where each term begins, and the chunks and counts of all terms; takes the postings away."""
    holding = np.zeros(terms, dtype=np.int64)
    for some in postings:
        holding += np.bincount(some.term, minlength=terms)
    starts = np.concatenate([[0], np.cumsum(holding)]).astype(np.int64)
    owner = np.empty(starts[-1], dtype=np.min_scalar_type(chunks))
    often = np.empty(
        starts[-1],
        dtype=np.result_type(np.uint8, *(some.often.dtype for some in postings)),
    )
    free = starts[:-1].copy()
    postings.reverse()
    while postings:
        some = postings.pop()
        own = np.bincount(some.term, minlength=terms)
        # Its terms stand in order: each posting goes behind those of its term that came before.
        at = np.arange(some.term.size) + (free - np.cumsum(own) + own)[some.term]
        owner[at] = some.owner.astype(owner.dtype) + owner.dtype.type(some.first)
        often[at] = some.often
        free += own
    return starts, owner, often


NAME = "plain word matching"


Search = Callable[[str, int], list[dict[str, object]]]
"""The k best chunks for a query, the best first: id, document, start, end, text and
score."""


def search_folder(place: str | PathLike[str]) -> Search:
    """Word matching over the sections of a folder, or the chunks of a file, as a function.

    The index is made at once, so that no question waits for it. What `calipers init FOLDER`
    writes imports it.
    """
    index = _index(Path(place))
    return _search(lambda: index)


def _index(path: Path) -> WordIndex:
    """The words of a folder's sections, or of a file's chunks."""
    corpus = open_folder(path) if path.is_dir() else open_corpus(path)
    return WordIndex.of(corpus, with_texts=True)


def _search(index: Callable[[], WordIndex]) -> Search:
    """A function that asks an index, which may be made with the first question."""

    def search(query: str, k: int) -> list[dict[str, object]]:
        words = words_of(pl.Series([query]))["word"].to_list()
        chunk, score = index().best(words, k)
        rows = index().chunks[chunk].iter_rows(named=True)
        return [
            {**row, "score": gain} for row, gain in zip(rows, score.tolist(), strict=True)
        ]

    return search


def from_words(place: str, *, layout: Layout) -> Retriever:
    """Word matching as a retriever, over the sections of a folder or the chunks of a file."""
    search = _search(cache(partial(_index, Path(place))))
    # One worker: the first question makes the index.
    return from_callable(search, name=f"words:{place}", layout=layout, workers=1, code={})
