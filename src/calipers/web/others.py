"""Where the results of a query stand in other runs over the same ground truth."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from calipers.model.evaluation import Evaluation
from calipers.present.escape import clean
from calipers.store.listing import evaluations
from calipers.store.schema import EVALUATION
from calipers.web.sources import WebShelf

MOST = 3
"""Other runs that a page looks at."""
LOOKED_AT = 50
"""Evaluations of the history among which other runs are looked for, the newest first."""
OPENED_UNASKED = 5_000
"""Queries of an evaluation up to which it is opened unasked; a larger one gets a link."""


@dataclass(frozen=True)
class OtherRun:
    """Another run that answered the same questions."""

    reference: str
    name: str
    queries: int


def other_runs(shelf: WebShelf, reference: str, saved: Evaluation | None) -> list[OtherRun]:
    """The other runs: those given beside this one, or the newest of the history."""
    if saved is None:
        return [
            OtherRun(name, clean(name), len(pair.matches.queries))
            for name, pair in shelf.given.items()
            if name != reference
        ][:MOST]
    found: dict[str, OtherRun] = {}
    # Newest first, so that of the same name the newest stays.
    for one in evaluations(
        shelf.store(),
        metrics=(),
        last=LOOKED_AT,
        where=[
            EVALUATION.c.ground_truth == saved.fingerprints["ground_truth"],
            EVALUATION.c.run != saved.fingerprints["run"],
        ],
    ):
        called = one.name if one.name != saved.name else f"{one.name} {one.short}"
        found.setdefault(one.name, OtherRun(one.id, clean(called), one.queries))
    return list(found.values())[:MOST]


def ranks_in(
    shelf: WebShelf, others: Collection[OtherRun], query: str, wanted: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The ranks of each other run, by item; ``ranks`` is None for one that must be asked for."""
    for other in others:
        shown: dict[str, Any] = {"name": other.name, "reference": other.reference, "ranks": None}
        if other.queries <= OPENED_UNASKED or other.reference in wanted:
            browse, _ = shelf.evaluation(other.reference)
            row = browse.row_of(query)
            if row is None or browse.pair is None:
                continue
            ranks = browse.open(row).rankings.select("item", "rank").reverse()
            shown["ranks"] = {clean(str(item)): rank for item, rank in ranks.iter_rows()}
        yield shown
