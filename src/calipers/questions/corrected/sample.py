"""Queries that people judged, to correct a machine by: whose labels they are, how they were chosen.

A queue that begins with what moves the metric is made to build a pool, and is the opposite of a
random sample: corrected by what was judged of it, no interval of 40 held the truth.
"""

from collections.abc import Collection
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import AT_RANDOM, JUDGED_BY, PEOPLE, QUEUE, WHOLE_QUEUE
from calipers.words import plural

_DRAW = (
    "Draw queries at random, make a pool of these alone with --again, let people judge all of it, "
    "and export that"
)


def sample_of_people(people: Any, sampled: str | None, queries: Collection[str]) -> GroundTruth:
    """What people judged, refused where it is theirs in part only or was not drawn at random.

    ``queries`` are those that the machine judged; where people judged all of them nothing was
    drawn. A file of `calipers labels export` knows whose its labels are and how its queue was
    ordered; of any other, ``sampled`` must say that it was drawn at random.
    """
    if sampled not in (None, AT_RANDOM):
        raise InvalidInput(
            f"sampled is {sampled!r}; it can be {AT_RANDOM}, the one way that makes a sample."
        )
    truth = load(people, "ground_truth").ground_truth
    if truth is None:
        raise InvalidInput(
            "What people judged holds no ground truth; give a file or a mapping with what should "
            "be found for each query of the sample."
        )
    queue = truth.tags.get(QUEUE)
    if (judged := truth.tags.get(JUDGED_BY)) is not None:
        theirs = (judged == PEOPLE).fill_null(value=False)
        if not theirs.any():
            raise InvalidInput(
                f"None of {plural(len(judged), 'query', 'queries')} was judged by people alone: "
                f"the tag {JUDGED_BY} says {', '.join(sorted(set(judged.drop_nulls())))}. What "
                f"came with the ground truth must be judged, too. {_DRAW}."
            )
        truth = _only(truth, theirs)
        queue = None if queue is None else queue.filter(theirs)
    if set(queries) <= set(truth.queries["query"]):
        return truth
    known = set() if queue is None else set(queue)
    if odd := sorted(str(one) for one in known - {WHOLE_QUEUE, AT_RANDOM, "plain", None}):
        raise InvalidInput(
            f"The queries that people judged are no random sample: their queue was not finished "
            f"and began with what can move the metric most (the tag {QUEUE} says {odd[0]}), so "
            f"they tell nothing about the others. {_DRAW}; or let people finish the queue."
        )
    if sampled is None and known != {AT_RANDOM}:
        raise InvalidInput(
            "It is not known how the queries that people judged were chosen, and only those "
            "drawn at random can correct the others. If they were, and people gave every label, "
            "say so with --sampled at-random (sampled='at-random' in Python)."
        )
    return truth


def _only(truth: GroundTruth, chosen: pl.Series) -> GroundTruth:
    """The ground truth of some of its queries."""
    queries = truth.queries.filter(chosen)
    targets = truth.targets.join(queries.select("query"), on="query", how="semi")
    tags = {name: tag.filter(chosen) for name, tag in truth.tags.items()}
    return GroundTruth.from_targets(targets, queries=queries, tags=tags)
