"""Elasticsearch and OpenSearch: ``_rank_eval`` requests and responses, and judgement lists.

The request holds the ratings, the response the results. It repeats the ratings of the hits alone,
which would make recall too high.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import PathPlace, WholeFormat
from calipers.io.formats.ours import record_from
from calipers.io.records.json_files import is_list_of_objects, opened
from calipers.io.records.records import Record

SCORES = ("metric_score", "quality_level")
"""The mean over all queries; early versions used the second name."""
SEARCHED = ("query", "query_string", "value")
"""Keys of the query language that hold the search text."""


def wording(body: Any) -> str | None:
    """The search text of a query, if it has exactly one.

    >>> wording({"query": {"match": {"title": {"query": "amsterdam"}}}})
    'amsterdam'
    """
    found = list(dict.fromkeys(_texts(body)))
    return found[0] if len(found) == 1 else None


def _texts(body: Any, *, inside: bool = False) -> Iterator[str]:
    for key, value in body.items() if isinstance(body, Mapping) else ():
        if isinstance(value, str):
            if inside or key in SEARCHED:
                yield value
        elif isinstance(value, list):
            for one in value:
                yield from _texts(one)
        else:
            yield from _texts(value, inside=key in ("match", "match_phrase", "term"))


class Requests(msgspec.Struct):
    """The body of the request."""

    requests: list[dict[str, Any]]


class RankEval(WholeFormat):
    """Ratings in a request."""

    name = "rank_eval"
    title = "a rank_eval request of Elasticsearch"
    whole = Requests
    example = '{"requests": [{"id": …, "request": {…}, "ratings": [{"_id": …, "rating": 1}]}]}'
    truth_field = "ratings"

    def recognise(self, first: Mapping[str, Any]) -> bool:
        """A list of ``requests``."""
        value = first.get("requests")
        return is_list_of_objects(value) or ("metric" in first and opened(value) == [])

    def records(self, whole: Requests, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """Every query with its ratings."""
        for i, one in enumerate(whole.requests):
            at = place(f"$.requests[{i}]")
            text = wording(one.get("request")) or wording(one.get("params"))
            row = {"id": one.get("id"), "query": text, "ground_truth": one.get("ratings")}
            yield at, record_from(row, partial(str, at))


class RankEvalAnswer(msgspec.Struct):
    """The body of the response."""

    details: dict[str, dict[str, Any]]
    failures: dict[str, Any] = {}


class RankEvalHits(WholeFormat):
    """The results in a response."""

    name = "rank_eval_hits"
    title = "the hits in an answer of _rank_eval"
    whole = RankEvalAnswer
    example = (
        '{"metric_score": …, "details": {"query": {"hits": [{"hit": {"_id": …}, "rating": 1}]}}, '
        '"failures": {}}'
    )
    results_field = "hits"
    no_truth = "it rates the returned hits alone; the request to _rank_eval has all ratings"

    def recognise(self, first: Mapping[str, Any]) -> bool:
        """Whether the object has ``details`` and an overall score."""
        return isinstance(opened(first.get("details")), Mapping) and any(n in first for n in SCORES)

    def records(self, whole: RankEvalAnswer, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """Yield the hits of every query, and the errors of failed ones."""
        for query, detail in whole.details.items():
            at = place(f"$.details[{query!r}]")
            if not isinstance(listed := detail.get("hits"), list):
                raise InvalidInput(f"A required field is missing at {at}: no 'hits'.")
            hits = [one.get("hit", {}) if isinstance(one, dict) else one for one in listed]
            yield at, record_from({"query": query, "retrieved": hits}, partial(str, at))
        for query, failure in whole.failures.items():
            error = failure.get("error", failure) if isinstance(failure, Mapping) else failure
            if isinstance(error, Mapping):
                error = error.get("reason") or error.get("type") or "failed"
            yield place(f"$.failures[{query!r}]"), Record(query, retrieved=[], error=str(error))


class JudgementList(msgspec.Struct):
    """A judgement list as it is imported."""

    judgmentRatings: list[dict[str, Any]]  # noqa: N815 - its name there


class OpenSearchJudgements(WholeFormat):
    """A judgement list."""

    name = "opensearch_judgements"
    title = "judgements of OpenSearch"
    whole = JudgementList
    example = '{"judgmentRatings": [{"query": …, "ratings": [{"docId": …, "rating": "2.0"}]}]}'
    truth_field = "judgmentRatings"
    known_by = ({"judgmentRatings"},)

    def records(self, whole: JudgementList, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """Yield every query with its ratings."""
        for i, one in enumerate(whole.judgmentRatings):
            at = place(f"$.judgmentRatings[{i}]")
            row = {"query": one.get("query"), "ground_truth": one.get("ratings")}
            yield at, record_from(row, partial(str, at))
