"""Elasticsearch and OpenSearch: ``_rank_eval`` requests, and judgement lists."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from calipers.io.format import PathPlace, WholeFormat
from calipers.io.records.fields import resolve_record
from calipers.io.records.json_files import is_list_of_objects, opened
from calipers.io.records.schema import PlainRecord

SEARCHED = ("query", "query_string", "value")
"""Keys of the query language that hold the search text."""


def wording(body: object) -> str | None:
    """The search text of a query, if it has exactly one.

    >>> wording({"query": {"match": {"title": {"query": "amsterdam"}}}})
    'amsterdam'
    """
    found = list(dict.fromkeys(_texts(body)))
    return found[0] if len(found) == 1 else None


def _texts(body: object, *, inside: bool = False) -> Iterator[str]:
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
    example = (
        '{"requests": [{"id": …, "request": {…}, "ratings": [{"_id": …, "rating": 1}]}]}'
    )
    truth_field = "ratings"

    def recognise(self, first: Mapping[str, object]) -> bool:
        """A list of ``requests``."""
        value = first.get("requests")
        return is_list_of_objects(value) or ("metric" in first and opened(value) == [])

    def records(
        self, whole: Requests, place: PathPlace
    ) -> Iterator[tuple[str, PlainRecord]]:
        """Every query with its ratings."""
        for i, one in enumerate(whole.requests):
            at = place(f"$.requests[{i}]")
            text = wording(one.get("request")) or wording(one.get("params"))
            row = {"id": one.get("id"), "query": text, "ground_truth": one.get("ratings")}
            yield at, resolve_record(row, partial(str, at))


class JudgementList(msgspec.Struct):
    """A judgement list as it is imported."""

    judgmentRatings: list[dict[str, Any]]  # noqa: N815 - its name there


class OpenSearchJudgements(WholeFormat):
    """A judgement list."""

    name = "opensearch_judgements"
    title = "judgements of OpenSearch"
    whole = JudgementList
    example = (
        '{"judgmentRatings": [{"query": …, "ratings": [{"docId": …, "rating": "2.0"}]}]}'
    )
    truth_field = "judgmentRatings"
    known_by = ({"judgmentRatings"},)

    def records(
        self, whole: JudgementList, place: PathPlace
    ) -> Iterator[tuple[str, PlainRecord]]:
        """Yield every query with its ratings."""
        for i, one in enumerate(whole.judgmentRatings):
            at = place(f"$.judgmentRatings[{i}]")
            row = {"query": one.get("query"), "ground_truth": one.get("ratings")}
            yield at, resolve_record(row, partial(str, at))
