"""From quotes to documents and spans, once and for all."""

from collections.abc import Iterator
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.corpus.read import Corpus
from calipers.io.records.kept import kept_records
from calipers.io.tables.columns import Columns
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset
from calipers.questions.resolve.quotes import resolve_quotes
from calipers.questions.resolve.result import Resolution, Wanted

Record = dict[str, Any]


def resolve(
    ground_truth: Any, data: Dataset, corpus: Corpus, *, first: bool, columns: Columns
) -> Resolution:
    """Find the document, start and end of every quote of a ground truth.

    ``data`` is the ground truth as it was read; what was given is needed too, as everything else
    in its records is kept.
    """
    truth = data.ground_truth
    if truth is None:
        raise InvalidInput(
            f"There is no ground truth to resolve: found {data.kind}, which holds results only; "
            "give the file with the quotes."
        )
    notes = _check_kinds(truth)
    records = [
        {**record, "ground_truth": _targets(record["ground_truth"], as_quotes=bool(notes))}
        for record in kept_records(ground_truth, data, columns)
    ]
    unplaced = list(_unplaced(records))
    wanted = [
        Wanted(str(record.get("id") or record["query"]), target["quote"], _document(target))
        for record, target in unplaced
    ]
    located = tuple(resolve_quotes(wanted, corpus.batches(), corpus.name))
    for (_, target), found in zip(unplaced, located, strict=True):
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


def _unplaced(records: list[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """The targets that have a quote and no span yet, each with its record."""
    for record in records:
        for target in record["ground_truth"]:
            if not isinstance(target, dict) or target.get("quote") is None:
                continue
            if target.get("id") is None and target.get("start") is None:
                yield record, target


def _document(target: dict[str, Any]) -> str | None:
    named = target.get("document")
    return None if named is None else str(named)
