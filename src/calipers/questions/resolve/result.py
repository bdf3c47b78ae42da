"""What became of the quotes of a ground truth: where each stands in the corpus."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from calipers.model.result import HasRows, Plain, plain

SHOWN_PLACES = 20
"""Places of one quote that JSON lists."""

Outcome = Literal["once", "several", "none"]
OUTCOMES: tuple[Outcome, ...] = ("once", "several", "none")


@dataclass(frozen=True, order=True)
class QuotePlace(Plain):
    """A stretch of a document, in characters; the end is not part of it."""

    document: str
    start: int
    end: int


@dataclass(frozen=True)
class Wanted:
    """A quote to be found, for one query; in one document only, if that is named."""

    query: str
    quote: str
    document: str | None = None


@dataclass(frozen=True)
class Located(Plain):
    """A quote and all its places."""

    wanted: Wanted
    places: tuple[QuotePlace, ...]
    unknown_document: bool = False
    """Whether it names a document that the corpus does not have."""
    elsewhere: tuple[QuotePlace, ...] = ()
    """Where it stands in documents that it does not name."""

    @property
    def outcome(self) -> Outcome:
        """Whether it stands nowhere, in one place or in several."""
        return "none" if not self.places else "once" if len(self.places) == 1 else "several"

    def to_dict(self) -> dict[str, Any]:
        """The quote, how many places there are, and the first of them."""
        return plain(
            {
                "query": self.wanted.query,
                "quote": self.wanted.quote,
                "document": self.wanted.document,
                "outcome": self.outcome,
                "count": len(self.places),
                "places": self.places[:SHOWN_PLACES],
                "unknown_document": self.unknown_document,
                "elsewhere": self.elsewhere[:SHOWN_PLACES],
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class Resolution(Plain, HasRows):
    """What became of every quote, and the records with the spans in them."""

    shown_by: ClassVar[str] = "calipers.questions.resolve.show"

    quotes: tuple[Located, ...]
    records: tuple[dict[str, Any], ...]
    first: bool
    """Whether the first of several places was taken."""
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Quotes found once, several times, not at all."""
        counted = Counter(one.outcome for one in self.quotes)
        return {outcome: counted[outcome] for outcome in OUTCOMES}

    @property
    def resolved(self) -> int:
        """Quotes that have a span now."""
        return self.counts["once"] + (self.counts["several"] if self.first else 0)

    def write(self, path: str | Path) -> None:
        """The records as JSON lines, whole or not at all."""
        from calipers.io.records.kept import write_records

        write_records(list(self.records), path)

    def to_dict(self) -> dict[str, Any]:
        """The counts, and every quote that was not found exactly once."""
        return plain(
            {
                "quotes": len(self.quotes),
                "resolved": self.resolved,
                "counts": self.counts,
                "first": self.first,
                "unclear": [one for one in self.quotes if one.outcome != "once"],
                "notes": self.notes,
            }
        )
