"""Resolve quotes to documents and spans."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.corpus import Corpus
from calipers.io.records.entries import query_records, write_records
from calipers.match.locate import QuoteFinder, locate
from calipers.model.document import Column, Document, Lines, Note, Table
from calipers.model.fact import Fact, sentence
from calipers.model.matched import Dataset
from calipers.model.result import HasRows, Plain, plain, sentences_of
from calipers.present.escape import printable
from calipers.text import normalise
from calipers.words import plural

Outcome = Literal["once", "several", "none"]


@dataclass(frozen=True, order=True)
class QuotePlace(Plain):
    """A span of a document in characters; the end is exclusive."""

    document: str
    start: int
    end: int


@dataclass(frozen=True)
class Located(Plain):
    """A quote of one query and all its places, in one document if that is named."""

    query: str
    quote: str
    document: str | None = None
    places: tuple[QuotePlace, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Whether it was found once, several times or not at all."""
        return (
            "none" if not self.places else "once" if len(self.places) == 1 else "several"
        )

    def to_dict(self) -> dict[str, Any]:
        """The quote, whether it was found, and its places."""
        return {**super().to_dict(), "outcome": self.outcome}


@dataclass(frozen=True, eq=False, repr=False)
class Resolution(Plain, HasRows):
    """The outcome for every quote, and the records with the spans filled in."""

    shown_by: ClassVar[str] = "calipers.questions.convert.resolve"

    quotes: tuple[Located, ...]
    records: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Quotes found once, several times, not at all."""
        counted = Counter(quote.outcome for quote in self.quotes)
        return {outcome: counted[outcome] for outcome in get_args(Outcome)}

    def write(self, path: str | Path) -> None:
        """Write the records as JSON lines, atomically."""
        write_records(list(self.records), path)

    def to_dict(self) -> dict[str, Any]:
        """The counts, and every quote that was not found exactly once."""
        result: dict[str, Any] = plain(
            {
                "quotes": len(self.quotes),
                "counts": self.counts,
                "unclear": [quote for quote in self.quotes if quote.outcome != "once"],
                "notes": self.notes,
                **sentences_of(self),
            }
        )
        return result


Record = dict[str, Any]


def resolve_truth(data: Dataset, corpus: Corpus) -> Resolution:
    """Find the document, start and end of every quote of a ground truth."""
    truth = data.ground_truth
    if truth is None:
        raise InvalidInput(
            f"There is no ground truth to resolve: found {data.kind}, which holds "
            "results only; give the file with the quotes."
        )
    if "quote" not in truth.kinds:
        shown = ", ".join(
            repr(item) for item in truth.targets["item"].drop_nulls().head(3)
        )
        what = (
            f"ids such as {shown}" if shown else "spans" if truth.kinds else "no target"
        )
        raise InvalidInput(
            f"There is no quote to resolve in the ground truth: found {what}; a target to resolve "
            'is {"quote": "a passage of the text"}.'
        )
    records = [
        {**record, "ground_truth": _targets(record["ground_truth"])}
        for record in query_records(data, Counter())
        if "ground_truth" in record
    ]
    unplaced = list(_unplaced(records))
    wanted = [
        Located(
            str(record.get("id") or record["query"]),
            target["quote"],
            None if target.get("document") is None else str(target["document"]),
        )
        for record, target in unplaced
    ]
    located = tuple(resolve_quotes(wanted, corpus.batches(), corpus.name))
    for (_, target), location in zip(unplaced, located, strict=True):
        if location.outcome == "once":
            target.update(location.places[0].to_dict())
    return Resolution(located, tuple(records), tuple(truth.notes))


def _targets(targets: Any) -> list[Any]:
    """The targets of a record as a list, copied."""
    if isinstance(targets, dict):
        return [{"id": item, "grade": grade} for item, grade in targets.items()]
    return [
        dict(target) if isinstance(target, dict) else target for target in targets or []
    ]


def _unplaced(records: list[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """The targets that have a quote and no span yet, each with its record."""
    for record in records:
        for target in record["ground_truth"]:
            if not isinstance(target, dict) or target.get("quote") is None:
                continue
            if target.get("id") is None and target.get("start") is None:
                yield record, target


MOST_PLACES = 20
"""The most places of one quote that are recorded; further ones are ignored."""


def resolve_quotes(
    wanted: Sequence[Located], batches: Iterable[pl.DataFrame], name: str
) -> Iterator[Located]:
    """Every quote with its places, in the order of ``wanted``.

    >>> corpus = pl.DataFrame({"document": ["a.md"], "text": ["It is\\na lock."], "start": [0]})
    >>> [found] = resolve_quotes([Located("q", "is a lock")], [corpus], "corpus")
    >>> found.places
    (QuotePlace(document='a.md', start=3, end=12),)
    """
    quotes = [normalise(target.quote) for target in wanted]
    if "" in quotes:
        located = wanted[quotes.index("")]
        raise InvalidInput(
            f"A quote is empty: query {located.query!r} has the quote {located.quote!r}; "
            "a quote is a passage of the text that should be found. Write it, or remove "
            "the target."
        )
    by_quote: dict[str, list[int]] = defaultdict(list)
    for at, quote in enumerate(quotes):
        by_quote[quote].append(at)
    finder = QuoteFinder(tuple(by_quote))
    askers = [*by_quote.values()]
    # In order of appearance, without repeats from overlapping chunks.
    places: list[dict[QuotePlace, None]] = [{} for _ in wanted]
    unplaced: set[str] = set()
    for batch in batches:
        names: list[str] = batch["document"].to_list()
        for document in batch.filter(pl.col("start").is_null())["document"]:
            if document in unplaced:
                raise InvalidInput(
                    f"Quotes cannot be placed in {name}: the document {document!r} comes "
                    "in several chunks that do not say where they begin; give the whole "
                    "documents, or a column 'start' with the first character of each "
                    "chunk."
                )
            unplaced.add(document)
        starts: list[int] = batch["start"].fill_null(0).to_list()
        for at, quote_number, start, end in locate(batch["text"].to_list(), finder):
            place = QuotePlace(names[at], starts[at] + start, starts[at] + end)
            for asker in askers[quote_number]:
                is_here = wanted[asker].document in (None, place.document)
                if is_here and len(places[asker]) < MOST_PLACES:
                    places[asker][place] = None
    for located, spots in zip(wanted, places, strict=True):
        yield replace(located, places=tuple(spots))


SHOWN = 3
QUOTED = 70


def document(resolution: Resolution) -> Document:
    """The number of resolved quotes, and those found several times or not at all."""
    counts = resolution.counts
    words = {
        "once": "found once: document, start and end are known",
        "several": "found in several places: left as they are",
        "none": "not found: left as they are",
    }
    rows = [(f"{counts[outcome]:,}", meaning) for outcome, meaning in words.items()]
    return Document(
        verdict(resolution),
        blocks=[
            *(
                [Table(("quotes", Column("", words=True)), rows)]
                if resolution.quotes
                else []
            ),
            *_examples(resolution),
        ],
        notes=[
            *(Note("missing", advice) for advice in _advice(resolution)),
            *resolution.notes,
        ],
        rows=lambda: resolution.quotes,
    )


def _examples(resolution: Resolution) -> Iterator[Lines]:
    for outcome, title in (("several", "Found in several places"), ("none", "Not found")):
        lines = [_line(quote) for quote in resolution.quotes if quote.outcome == outcome]
        if lines:
            yield Lines(lines[:SHOWN], title)


def _advice(resolution: Resolution) -> Iterator[str]:
    """What to do about the quotes that have no place."""
    if resolution.counts["several"]:
        yield "Quote more of the passage, or add its document as the corpus names it."
    if resolution.counts["none"]:
        yield (
            "Check those not found against the documents; spelling, punctuation and the "
            "name of the document count. --json lists them all."
        )


def verdict(resolution: Resolution) -> str:
    """How many of the quotes are resolved."""
    once = resolution.counts["once"]
    total = len(resolution.quotes)
    if not total:
        return "No quote is open: each has its place, or there is none."
    size = Fact(about="count", count=once, of=total, text="once")
    if once == total:
        template = "{it.of:quote|quotes}, found once each in the documents."
        return sentence(template, it=size)
    return sentence(
        "{it.count} of {it.of:quote|quotes} {verb} once in the documents; {others} a look.",
        it=size,
        verb="stands" if once == 1 else "stand",
        others="the other needs" if total - once == 1 else "the others need",
    )


def _line(located: Located) -> str:
    line = f"· query {printable(located.query, QUOTED)}: “{printable(located.quote, QUOTED)}”"
    if located.document is not None:
        line += f" in {printable(located.document, QUOTED)}"
    if located.places:
        shown = [
            f"{printable(at.document, QUOTED)} {at.start}–{at.end}"
            for at in located.places[:3]
        ]
        least = "at least " if len(located.places) >= MOST_PLACES else ""
        more = ", …" if len(located.places) > 3 else ""
        line += (
            f": {least}{plural(len(located.places), 'place')}, {', '.join(shown)}{more}"
        )
    return line
