"""Elasticsearch and OpenSearch: what ``_rank_eval`` answers, the hits of every query.

A hit carries its rating, so that the answer holds results and ratings both; but of what was not
returned it knows nothing. It is taken for one or the other, as the caller says.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from calipers.io.records import Id, Record, Result, Target
from calipers.io.wholes import Place, WholeFormat

SCORES = ("metric_score", "quality_level")
"""The mean of all queries; early versions had the second name."""


class Found(msgspec.Struct):
    """A document as the search engine returned it."""

    id: Id = msgspec.field(name="_id")
    score: float | None = msgspec.field(name="_score", default=None)


class Hit(msgspec.Struct):
    """A document in the order of the ranking, rated or not."""

    hit: Found
    rating: float | None = None


class Detail(msgspec.Struct):
    """One query."""

    hits: list[Hit]


class RankEvalResponse(msgspec.Struct):
    """The body of the answer."""

    details: dict[str, Detail]
    failures: dict[str, Any] = {}


def recognise(first: Mapping[str, Any]) -> bool:
    """An object of ``details`` beside a score of all."""
    value = first.get("details")
    is_object = isinstance(value, Mapping) or (
        isinstance(value, msgspec.Raw) and bytes(memoryview(value)[:1]) == b"{"
    )
    return is_object and any(name in first for name in SCORES)


def _hits(whole: RankEvalResponse, place: Place) -> Iterator[tuple[str, Record]]:
    for query, detail in whole.details.items():
        retrieved: list[Id | Result] = [
            Result(id=one.hit.id, score=one.hit.score) for one in detail.hits
        ]
        yield place(f"$.details[{query!r}]"), Record(query, retrieved=retrieved)
    for query, failure in whole.failures.items():
        record = Record(query, retrieved=[], error=_reason(failure))
        yield place(f"$.failures[{query!r}]"), record


def _ratings(whole: RankEvalResponse, place: Place) -> Iterator[tuple[str, Record]]:
    for query, detail in whole.details.items():
        truth: list[Id | Target] = [
            Target(id=one.hit.id, grade=one.rating) for one in detail.hits if one.rating is not None
        ]
        yield place(f"$.details[{query!r}]"), Record(query, ground_truth=truth)


def _reason(failure: Any) -> str:
    """Why the search engine could not answer, as short as it says.

    >>> _reason({"error": {"type": "parsing_exception", "reason": "no [query] registered"}})
    'no [query] registered'
    """
    error = failure.get("error", failure) if isinstance(failure, Mapping) else failure
    if isinstance(error, Mapping):
        error = error.get("reason") or error.get("type") or "failed"
    return str(error)


EXAMPLE = (
    '{"metric_score": …, "details": {"query": {"hits": [{"hit": {"_id": …}, "rating": 1}]}}, '
    '"failures": {}}'
)
KEPT = frozenset({"details", "failures", *SCORES})

HITS = WholeFormat(
    name="rank_eval_hits",
    title="the hits in an answer of _rank_eval",
    recognise=recognise,
    whole=RankEvalResponse,
    records=_hits,
    example=EXAMPLE,
    kept=KEPT,
    fields={"retrieved": "hits"},
    only="run",
)

RATINGS = WholeFormat(
    name="rank_eval_ratings",
    title="the ratings of the hits in an answer of _rank_eval",
    recognise=recognise,
    whole=RankEvalResponse,
    records=_ratings,
    example=EXAMPLE,
    kept=KEPT,
    fields={"ground_truth": "hits"},
    only="ground_truth",
    partial_truth=(
        "The ground truth knows the ratings of returned hits alone: what was not returned is not "
        "missed, so recall and all that builds on it are too high. The request to _rank_eval has "
        "all ratings."
    ),
)
