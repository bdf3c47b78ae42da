"""From quotes to documents and spans, once and for all."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.corpus import open_corpus
from calipers.io.kept_records import kept_records, write_records
from calipers.io.load import load
from calipers.io.source import Progress
from calipers.match.resolution import OUTCOMES, Located, Wanted, resolve_quotes
from calipers.model.ground_truth import GroundTruth

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Resolution:
    """What became of every quote, and the records with the spans in them."""

    quotes: tuple[Located, ...]
    records: tuple[Record, ...]
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
        write_records(list(self.records), path)

    def to_dict(self) -> dict[str, Any]:
        """The counts, and every quote that was not found exactly once."""
        return {
            "quotes": len(self.quotes),
            "resolved": self.resolved,
            "counts": self.counts,
            "first": self.first,
            "unclear": [one.to_dict() for one in self.quotes if one.outcome != "once"],
            "notes": list(self.notes),
        }


def resolve(
    ground_truth: Any, corpus: Any, *, first: bool = False, progress: Progress | None = None
) -> Resolution:
    """Find the document, start and end of every quote of a ground truth.

    Start and end count characters of the document as it stands in the corpus; the quote stays
    beside them. A quote that is not found, or found in several places, is left as it is and
    reported; ``first`` takes the first place instead. Targets that are ids or have a span
    already are left alone, and so is everything else in the records.

    >>> evals = [{"query": "What is the GIL?", "ground_truth": [{"quote": "is a lock"}]}]
    >>> found = resolve(evals, {"gil.md": "The GIL  is\\na lock."})
    >>> found.counts
    {'once': 1, 'several': 0, 'none': 0}
    >>> found.records[0]["ground_truth"]
    [{'quote': 'is a lock', 'document': 'gil.md', 'start': 9, 'end': 18}]
    """
    opened = open_corpus(corpus, progress)
    data = load(ground_truth, "ground_truth", progress)
    truth = data.ground_truth
    if truth is None:
        raise InvalidInput(
            f"There is no ground truth to resolve: found {data.kind}, which holds results only; "
            "give the file with the quotes."
        )
    notes = _check_kinds(truth)
    records = [
        {**record, "ground_truth": _targets(record["ground_truth"], as_quotes=bool(notes))}
        for record in kept_records(ground_truth, data)
    ]
    wanted = [
        Wanted(str(record.get("id") or record["query"]), target["quote"], _document(target))
        for record, target in _open(records)
    ]
    located = tuple(resolve_quotes(wanted, opened.batches(), opened.name))
    for (_, target), found in zip(_open(records), located, strict=True):
        if found.outcome == "once" or (first and found.places):
            target.update(found.places[0].to_dict())
    return Resolution(located, tuple(records), first, notes)


def _check_kinds(truth: GroundTruth) -> tuple[str, ...]:
    """A note where plain strings are taken as quotes; an error where there is no quote at all."""
    if "quote" in truth.kinds:
        return ()
    if truth.kinds == {"item"} and truth.targets["item"].str.contains(r"\s").all():
        return ("The targets are plain strings that read like texts: they were taken as quotes.",)
    shown = ", ".join(repr(one) for one in truth.targets["item"].drop_nulls().head(3))
    found = f"ids such as {shown}" if shown else "spans" if truth.kinds else "no target"
    raise InvalidInput(
        f"There is no quote to resolve in the ground truth: found {found}; a target to resolve "
        'is {"quote": "a passage of the text"}.'
    )


def _targets(given: Any, *, as_quotes: bool) -> list[Any]:
    """The targets of a record as a list, copied."""
    if isinstance(given, dict):
        name = "quote" if as_quotes else "id"
        return [{name: one, "grade": grade} for one, grade in given.items()]
    return [
        dict(one) if isinstance(one, dict) else {"quote": str(one)} if as_quotes else one
        for one in given or []
    ]


def _open(records: list[Record]) -> list[tuple[Record, dict[str, Any]]]:
    """The targets that have a quote and no span yet, each with its record."""
    return list(_iter_open(records))


def _iter_open(records: list[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    for record in records:
        for target in record["ground_truth"]:
            if not isinstance(target, dict) or target.get("quote") is None:
                continue
            if target.get("id") is None and target.get("start") is None:
                yield record, target


def _document(target: dict[str, Any]) -> str | None:
    named = target.get("document")
    return None if named is None else str(named)
