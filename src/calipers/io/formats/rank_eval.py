"""Elasticsearch: the ratings in a request to ``_rank_eval``."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from calipers.io.json_files import is_list_of_objects
from calipers.io.records import Id, Record, Target
from calipers.io.wholes import Place, WholeFormat


class Rating(msgspec.Struct):
    """What one document is worth."""

    id: Id = msgspec.field(name="_id")
    rating: float


class Request(msgspec.Struct):
    """One query with its ratings."""

    id: Id
    ratings: list[Rating]
    request: dict[str, Any] | None = None
    params: dict[str, Any] | None = None


class RankEval(msgspec.Struct):
    """The body of the request."""

    requests: list[Request]


def recognise(first: Mapping[str, Any]) -> bool:
    """A list of ``requests``."""
    value = first.get("requests")
    return isinstance(value, list) or (
        isinstance(value, msgspec.Raw)
        and (is_list_of_objects(value) or (bytes(value) == b"[]" and "metric" in first))
    )


def _records(whole: RankEval, place: Place) -> Iterator[tuple[str, Record]]:
    for i, one in enumerate(whole.requests):
        truth: list[Id | Target] = [Target(id=r.id, grade=r.rating) for r in one.ratings]
        text = wording(one.request) or wording(one.params) or one.id
        yield place(f"$.requests[{i}]"), Record(text, id=one.id, ground_truth=truth)


def wording(body: Any) -> str | None:
    """The text that a query searches for, where exactly one stands in it.

    >>> wording({"query": {"match": {"title": {"query": "amsterdam"}}}})
    'amsterdam'
    >>> wording({"query": {"match_all": {}}})
    """
    found = list(dict.fromkeys(_texts(body)))
    return found[0] if len(found) == 1 else None


SEARCHED = ("query", "query_string", "value")


def _texts(body: Any, *, inside: bool = False) -> Iterator[str]:
    """Texts under the names by which the query language gives what is searched for."""
    if not isinstance(body, Mapping):
        return
    for key, value in body.items():
        if isinstance(value, str):
            if inside or key in SEARCHED:
                yield value
        elif isinstance(value, list):
            for one in value:
                yield from _texts(one)
        else:
            yield from _texts(value, inside=key in ("match", "match_phrase", "term"))


FORM = WholeFormat(
    name="rank_eval",
    title="a rank_eval request of Elasticsearch",
    recognise=recognise,
    whole=RankEval,
    records=_records,
    example='{"requests": [{"id": …, "request": {…}, "ratings": [{"_id": …, "rating": 1}]}]}',
    kept=frozenset({"requests"}),
    fields={"ground_truth": "ratings"},
)
