"""Look up targets in the corpus: whole in a chunk, split over chunks, or absent."""

from collections.abc import Iterable, Iterator
from dataclasses import field

import numpy as np
import polars as pl

from calipers.checks.evidence import Batches, SpanEvidence, among, split_quotes
from calipers.frozen import dataclass
from calipers.match.cover import Piece, enough, size, union
from calipers.match.locate import Shelf
from calipers.match.quote import Quote
from calipers.model.arrays import Bools
from calipers.model.matching import MatchRule
from calipers.text import normalise

CUT = 200
"""Characters of a chunk that are kept for display."""


@dataclass(frozen=True, eq=False)
class CorpusFacts:
    """For each target, whether one chunk contains it, or only several together."""

    whole: Bools
    """A single chunk contains the target."""
    split: Bools
    """No single chunk contains it, but several of one document do together."""
    document: pl.Series
    """The document that contains it; null where unknown."""
    document_of: dict[str, str] = field(default_factory=dict)
    """The document of every requested chunk."""
    text_of: dict[str, str] = field(default_factory=dict)
    """The beginning of the text of every requested chunk."""


@dataclass(frozen=True)
class Place:
    """Where one target is: whole in a document, split within one, or nowhere."""

    document: str | None = None
    split: bool = False


def study_corpus(
    batches: Batches,
    targets: pl.DataFrame,
    matching: MatchRule,
    items: Iterable[str] = (),
) -> CorpusFacts:
    """Look for every target in the corpus, in the way the run was matched.

    ``items`` are chunks whose document is returned too. Reads the corpus once, and a second time
    if some quote is not whole in any chunk.
    """
    wanted = {*items, *targets["item"].drop_nulls()}
    document_of: dict[str, str] = {}
    text_of: dict[str, str] = {}
    found: set[str] = set()
    for batch in batches():
        near = among(batch, "id", wanted)
        document_of.update(zip(near["id"], near["document"], strict=True))
        text_of.update(zip(near["id"], near["text"].str.slice(0, CUT), strict=True))
        # Targets may be whole documents, too.
        found |= wanted.intersection(batch["document"])
    if matching.kind == "quote":
        places = _quotes(batches, targets["quote"].to_list(), matching)
    elif matching.kind == "span":
        places = _spans(
            batches, targets.select("document", "start", "end"), matching.least
        )
    else:
        found |= document_of.keys()
        places = [
            Place(document_of.get(item, item)) if item in found else Place()
            for item in targets["item"].to_list()
        ]
    split = np.array([place.split for place in places], dtype=np.bool_)
    there = np.array([place.document is not None for place in places], dtype=np.bool_)
    documents = pl.Series([place.document or None for place in places], dtype=pl.String)
    named = targets["document"].fill_null(documents)
    return CorpusFacts(there & ~split, split, named, document_of, text_of)


def _quotes(batches: Batches, texts: list[str], matching: MatchRule) -> list[Place]:
    quotes = {raw: normalise(raw, ignore_case=matching.ignore_case) for raw in set(texts)}
    places: dict[str, Place] = {}
    for batch in batches():
        open_ones = sorted(set(quotes.values()) - set(places))
        if not open_ones:
            break
        chunks = pl.Series(
            [_plain(text, matching) for text in batch["text"]], dtype=pl.String
        )
        found = (
            pl.DataFrame(
                {
                    "quote": chunks.str.extract_many(open_ones, overlapping=True),
                    "document": batch["document"],
                }
            )
            .explode("quote")
            .drop_nulls("quote")
            .unique("quote", keep="first", maintain_order=True)
        )
        places.update((quote, Place(document)) for quote, document in found.iter_rows())
    missing = [Quote(text) for text in sorted(set(quotes.values()) - set(places))]
    if missing:
        places.update(_pieced_together(batches, missing, matching))
    return [places.get(quotes[raw], Place()) for raw in texts]


def _pieced_together(
    batches: Batches, quotes: list[Quote], matching: MatchRule
) -> Iterator[tuple[str, Place]]:
    """Find quotes without an exact match: close enough in one chunk, or split over several."""
    # Chunks that name no document may all belong together.
    together = pl.when("named").then("document").otherwise(pl.lit("")).alias("document")

    def joined() -> Iterator[pl.DataFrame]:
        return (batch.with_columns(together) for batch in batches())

    if matching.least == 1:
        split = split_quotes(joined, quotes, matching.ignore_case)
        yield from (
            (text, Place(document, split=True)) for text, document in split.items()
        )
        return
    alone: dict[str, str] = {}
    split = {}
    covered: dict[tuple[str, str], list[Piece]] = {}
    for batch in joined():
        shelf = Shelf([_plain(text, matching) for text in batch["text"]])
        shelf.look_for(seed for quote in quotes for _, seed in quote.seeds)
        documents = batch["document"].to_list()
        for quote in quotes:
            needed = enough(quote.length, matching.least)
            for number, held in quote.on_shelf(shelf, needed):
                document = documents[number]
                before = covered.get((quote.text, document), [])
                whole = covered[quote.text, document] = union([*before, *held])
                if size(held) >= needed:
                    alone.setdefault(quote.text, document)
                if size(whole) >= needed:
                    split.setdefault(quote.text, document)
    yield from ((text, Place(document, split=True)) for text, document in split.items())
    yield from ((text, Place(document)) for text, document in alone.items())


def _plain(text: str, matching: MatchRule) -> str:
    return normalise(text, ignore_case=matching.ignore_case)


def _spans(batches: Batches, spans: pl.DataFrame, least: float) -> list[Place]:
    plain = pl.lit(None, dtype=pl.String).alias("plain")
    evidence = SpanEvidence(spans.with_row_index("row").with_columns(plain), least)
    for batch in batches():
        evidence.add(batch)
    places = []
    for row, (document, start, end) in enumerate(spans.iter_rows()):
        # Without offsets, all that is known is that the document is there.
        is_there = document in evidence.unplaced or evidence.seen[row].chunks
        is_split = not is_there and evidence.is_split(row, start, end)
        places.append(
            Place(document, split=is_split) if is_there or is_split else Place()
        )
    return places
