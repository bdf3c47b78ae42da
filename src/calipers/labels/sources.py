"""Whose labels a ground truth holds, and how they were chosen: exported with it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.labels import IMPORT, JUDGED_BY, QUEUE, WHOLE_QUEUE
from calipers.store.pool import PoolItem


@dataclass(frozen=True, eq=False)
class JudgedTruth:
    """What was known before, with what the judges said."""

    ground_truth: GroundTruth | None
    """None while nothing is known and nothing was judged."""
    labels: int
    """Items whose grade comes from the judges."""
    unsettled: int
    """Items left out: judges differ, and nobody settled it."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Whose the labels of each query are: person:anna, machine:small, import, or several."""
    finished: bool = False
    """Whether people judged everything in the pool."""
    grades: Mapping[int, float] = field(default_factory=dict)
    """The grade of each item that was judged, by its position in the pool."""

    def tagged(self, order: str) -> GroundTruth | None:
        """The ground truth with two tags: whose labels a query has, how it came to be judged."""
        truth = self.ground_truth
        if truth is None:
            return None
        said = [self.sources.get(one, IMPORT) for one in truth.queries["query"]]
        chosen = WHOLE_QUEUE if self.finished else order
        queue = [None if one == IMPORT else chosen for one in said]
        tags = {
            name: pl.Series(name, values, dtype=pl.String)
            for name, values in ((JUDGED_BY, said), (QUEUE, queue))
        }
        return replace(truth, tags={**truth.tags, **tags})


def sources(
    truth: GroundTruth,
    labelled: pl.DataFrame,
    items: Sequence[PoolItem],
    said_by: Mapping[int, Collection[str]],
) -> dict[str, str]:
    """Whose the labels of each query are; what nobody judged here came with the ground truth.

    ``said_by`` are the sources of each item of the pool that was judged.
    """
    found: dict[str, set[str]] = {}
    for one in items:
        found.setdefault(one.label.query_id, set()).update(said_by.get(one.position, (IMPORT,)))
    same = [name for name in TARGET_SCHEMA if name not in ("grade", "group")]
    kept = truth.targets.join(labelled, on=same, how="anti", nulls_equal=True)
    for query in kept["query"].unique():
        found.setdefault(query, set()).add(IMPORT)
    return {query: ",".join(sorted(one)) for query, one in found.items()}
