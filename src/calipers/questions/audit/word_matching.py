"""What plain word matching finds: BM25 over the chunks of a corpus.

Lucene's variant with k1 = 1.5 and b = 0.75; lower-cased words of two or more letters, without
English stop words or stemming; in scripts without spaces each character is a word. Ties go to
the chunk that comes first in the corpus.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from calipers.checks.similar import WORDS
from calipers.io.corpus import Corpus
from calipers.model.arrays import Floats, Ints
from calipers.model.run import Run
from calipers.names import words_in

K1, B = 1.5, 0.75
DEPTH = 10
STOP_WORDS = words_in(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
_TERMS = WORDS.replace(r"\w+", r"\w\w+")


def words_of(texts: pl.Series) -> pl.DataFrame:
    """The indexed words of each text: owner (the number of the text) and word."""
    listed = texts.str.to_lowercase().str.extract_all(_TERMS)
    words = pl.DataFrame({"owner": np.arange(len(texts)), "word": listed}).explode("word")
    return words.filter(pl.col("word").is_not_null() & ~pl.col("word").is_in(STOP_WORDS))


def word_matching(
    queries: pl.DataFrame, corpus: Corpus, *, with_texts: bool = True
) -> tuple[Run, int]:
    """The first results of each query (query, text) by BM25, and how many chunks there are.

    ``with_texts`` reads the corpus a second time for the texts of the results.
    """
    asked = words_of(queries["text"])
    known = asked.select("word").unique(maintain_order=True).with_row_index("term")
    wanted = asked.join(known, on="word", maintain_order="left")
    ends = np.searchsorted(wanted["owner"].to_numpy(), np.arange(1, queries.height))
    # Only words that occur in a question are kept, without the texts, to save memory.
    sizes, postings, names, chunks = [], [], [], 0
    for batch in corpus.batches():
        words = words_of(batch["text"])
        sizes.append(np.bincount(words["owner"].to_numpy(), minlength=batch.height))
        counted = words.join(known, on="word").group_by("term", "owner").len("often")
        postings.append(
            counted.select(
                "term", pl.col("owner").cast(pl.Int32) + chunks, pl.col("often").cast(pl.UInt16)
            )
        )
        names.append(batch.select("id", "document", "start", "end"))
        chunks += batch.height
    best = _best(
        pl.concat(postings).sort("term", "owner"),
        np.concatenate(sizes),
        np.split(wanted["term"].to_numpy(), ends),
        known.height,
    )
    found = best.hstack(pl.concat(names)[best["chunk"]].rename({"id": "item"}))
    if with_texts:
        found = found.join(
            _texts(best["chunk"].unique(), corpus), on="chunk", maintain_order="left"
        )
    found = found.with_columns(query=queries["query"].gather(best["number"]))
    run = Run.from_frame(found.drop("number", "chunk"), order="listed", name="plain word matching")
    return run, chunks


def _best(
    postings: pl.DataFrame, sizes: Ints, per_query: Sequence[Ints], terms: int
) -> pl.DataFrame:
    """The best chunks of each query, best first: number (of the query), chunk, score."""
    term, owner = postings["term"].to_numpy(), postings["owner"].to_numpy()
    often = postings["often"].to_numpy()
    starts = np.searchsorted(term, np.arange(terms + 1))
    holding = np.diff(starts)
    weights = np.log1p((len(sizes) - holding + 0.5) / (holding + 0.5))
    delay = K1 * (1 - B + B * sizes / max(sizes.mean(), 1e-9))
    gains = weights[term] * often / (often + delay[owner])
    found: list[tuple[Ints, Ints, Floats]] = []
    for number, wanted in enumerate(per_query):
        score = np.zeros(len(sizes))
        for one in wanted:
            here = slice(starts[one], starts[one + 1])
            score[owner[here]] += gains[here]
        least = np.partition(score, -DEPTH)[-DEPTH] if len(score) > DEPTH else 0.0
        chunk = np.flatnonzero((score >= least) & (score > 0.0))
        chunk = chunk[np.argsort(-score[chunk], kind="stable")][:DEPTH]
        found.append((np.full(len(chunk), number), chunk, score[chunk]))
    columns = (np.concatenate(part) for part in zip(*found, strict=True))
    return pl.DataFrame(dict(zip(("number", "chunk", "score"), columns, strict=True)))


def _texts(chunks: pl.Series, corpus: Corpus) -> pl.DataFrame:
    """The texts of some chunks: chunk, text."""
    seen, rows = 0, []
    for batch in corpus.batches():
        here = batch.select("text").with_row_index("chunk", seen).cast({"chunk": pl.Int64})
        rows.append(here.filter(pl.col("chunk").is_in(chunks.implode())))
        seen += batch.height
    return pl.concat(rows)
