"""OpenSearch: judgement lists of its Search Relevance Workbench."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records.documents import finite
from calipers.io.records.json_files import BROKEN, explain_mismatch
from calipers.io.records.records import Id, Record, Target
from calipers.io.records.rows import PathPlace, WholeFormat

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
