"""Elasticsearch and OpenSearch: requests to ``_rank_eval``, its answers, and judgement lists.

The request holds ratings. In the answer a hit carries its rating, so that it holds results and
ratings both; but of what was not returned it knows nothing. It is taken for one or the other, as
the caller says.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import PathPlace, WholeFormat
from calipers.io.records.documents import finite
from calipers.io.records.json_files import BROKEN, explain_mismatch, is_list_of_objects
from calipers.io.records.records import Id, Record, Result, Target, each

SCORES = ("metric_score", "quality_level")
"""The mean of all queries; early versions had the second name."""
SEARCHED = ("query", "query_string", "value")
"""Where the query language gives what is searched for."""


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


class Requests(msgspec.Struct):
    """The body of the request."""

    requests: list[Request]


def wording(body: Any) -> str | None:
    """The text that a query searches for, where exactly one stands in it.

    >>> wording({"query": {"match": {"title": {"query": "amsterdam"}}}})
    'amsterdam'
    >>> wording({"query": {"match_all": {}}})
    """
    found = list(dict.fromkeys(_texts(body)))
    return found[0] if len(found) == 1 else None


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
        return isinstance(value, list) or (
            isinstance(value, msgspec.Raw)
            and (is_list_of_objects(value) or (bytes(value) == b"[]" and "metric" in first))
        )

    def records(self, whole: Requests, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """Every query with its ratings."""
        for i, one in enumerate(whole.requests):
            truth: list[Id | Target] = [Target(id=r.id, grade=r.rating) for r in one.ratings]
            text = wording(one.request) or wording(one.params) or one.id
            yield place(f"$.requests[{i}]"), Record(text, id=one.id, ground_truth=truth)


class FoundDocument(msgspec.Struct):
    """A document as the search engine returned it."""

    id: Id = msgspec.field(name="_id")
    score: float | None = msgspec.field(name="_score", default=None)


class Hit(msgspec.Struct):
    """A document in the order of the ranking, rated or not."""

    hit: FoundDocument
    rating: float | None = None


class Detail(msgspec.Struct):
    """One query."""

    hits: list[Hit]


class RankEvalAnswer(msgspec.Struct):
    """The body of the answer."""

    details: dict[str, Detail]
    failures: dict[str, Any] = {}


def _reason(failure: Any) -> str:
    """Why the search engine could not answer, as short as it says.

    >>> _reason({"error": {"type": "parsing_exception", "reason": "no [query] registered"}})
    'no [query] registered'
    """
    error = failure.get("error", failure) if isinstance(failure, Mapping) else failure
    if isinstance(error, Mapping):
        error = error.get("reason") or error.get("type") or "failed"
    return str(error)


class _AnswerFormat(WholeFormat):
    whole = RankEvalAnswer
    example = (
        '{"metric_score": …, "details": {"query": {"hits": [{"hit": {"_id": …}, "rating": 1}]}}, '
        '"failures": {}}'
    )
    kept = frozenset({"details", "failures", *SCORES})

    def recognise(self, first: Mapping[str, Any]) -> bool:
        """An object of ``details`` beside a score of all."""
        value = first.get("details")
        is_object = isinstance(value, Mapping) or (
            isinstance(value, msgspec.Raw) and bytes(memoryview(value)[:1]) == b"{"
        )
        return is_object and any(name in first for name in SCORES)


class RankEvalHits(_AnswerFormat):
    """The results in an answer."""

    name = "rank_eval_hits"
    title = "the hits in an answer of _rank_eval"
    results_field = "hits"
    only = "run"

    def records(self, whole: RankEvalAnswer, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """The hits of every query, and why others failed."""
        for query, detail in whole.details.items():
            hits = [one.hit for one in detail.hits]
            retrieved = each(lambda hit: Result(id=hit.id, score=hit.score), hits)
            yield place(f"$.details[{query!r}]"), Record(query, retrieved=retrieved)
        for query, failure in whole.failures.items():
            record = Record(query, retrieved=[], error=_reason(failure))
            yield place(f"$.failures[{query!r}]"), record


class RankEvalRatings(_AnswerFormat):
    """The ratings in an answer."""

    name = "rank_eval_ratings"
    title = "the ratings of the hits in an answer of _rank_eval"
    truth_field = "hits"
    only = "ground_truth"
    partial_truth = (
        "The ground truth knows the ratings of returned hits alone: what was not returned is not "
        "missed, so recall and all that builds on it are too high. The request to _rank_eval has "
        "all ratings."
    )

    def records(self, whole: RankEvalAnswer, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """The ratings of the hits of every query."""
        for query, detail in whole.details.items():
            truth: list[Id | Target] = [
                Target(id=one.hit.id, grade=one.rating)
                for one in detail.hits
                if one.rating is not None
            ]
            yield place(f"$.details[{query!r}]"), Record(query, ground_truth=truth)


RATINGS = "judgmentRatings"


class JudgedDocument(msgspec.Struct):
    """A document with its rating, which is written as a text."""

    doc: Id = msgspec.field(name="docId")
    rating: str | float


class RatedQuery(msgspec.Struct):
    """One query with the documents rated for it."""

    query: str
    ratings: list[JudgedDocument]


Lists = list[RatedQuery] | dict[str, list[JudgedDocument]]
"""Early versions had a mapping of query to documents."""


class Judgements(msgspec.Struct):
    """A judgement list, or the hits among which it stands."""

    ratings: Lists | None = msgspec.field(name=RATINGS, default=None)
    hits: Any = None


class OpenSearchJudgements(WholeFormat):
    """A judgement list, as it is imported, or as the search for it answers."""

    name = "opensearch_judgements"
    title = "judgements of OpenSearch"
    whole = Judgements
    example = '{"judgmentRatings": [{"query": …, "ratings": [{"docId": …, "rating": "2.0"}]}]}'
    truth_field = RATINGS

    def recognise(self, first: Mapping[str, Any]) -> bool:
        """``judgmentRatings``, by itself or in what a search found."""
        return RATINGS in first or bool(_found(first.get("hits")))

    def records(self, whole: Judgements, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """Every query with its ratings."""
        path, lists = "$", whole.ratings
        if lists is None:
            path = "$.hits.hits[0]._source"
            lists = self._among_hits(whole.hits, place(path))
        if isinstance(lists, dict):
            lists = [RatedQuery(query, rated) for query, rated in lists.items()]
        for i, one in enumerate(lists):
            at = place(f"{path}.{RATINGS}[{i}]")
            truth: list[Id | Target] = [
                Target(id=rated.doc, grade=_grade(rated, f"{at}.ratings[{n}]"))
                for n, rated in enumerate(one.ratings)
            ]
            yield at, Record(one.query, ground_truth=truth)

    def _among_hits(self, hits: Any, place: str) -> Lists:
        found = _found(hits)
        if not found:
            raise InvalidInput(
                f"A required field is missing at {place.partition('$')[0]}$: no {RATINGS!r}; a "
                f"file is {self.example}."
            )
        if len(found) > 1:
            names = [str(one["_source"].get("name", one.get("_id"))) for one in found]
            raise InvalidInput(
                f"There are {len(found)} judgement lists among the hits at {place}: "
                f"{', '.join(names)[:200]}; keep the one you mean."
            )
        try:
            made = msgspec.convert(found[0]["_source"], Judgements)
        except msgspec.ValidationError as error:
            raise InvalidInput(explain_mismatch(str(error), place, self.example)) from None
        return made.ratings or []


def _found(hits: Any) -> list[dict[str, Any]]:
    """The judgement lists among the hits of a search; none where they are hits of another kind."""
    if isinstance(hits, msgspec.Raw):
        try:
            hits = msgspec.json.decode(hits)
        except BROKEN:
            return []
    inner = hits.get("hits") if isinstance(hits, Mapping) else None
    listed = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
    sources = [(one, one.get("_source")) for one in listed]
    return [one for one, source in sources if isinstance(source, dict) and RATINGS in source]


def _grade(rated: JudgedDocument, at: str) -> float:
    grade = finite(rated.rating)
    if grade is None:
        raise InvalidInput(f"A rating is {rated.rating!r:.60} at {at}; a rating is a number.")
    return grade
