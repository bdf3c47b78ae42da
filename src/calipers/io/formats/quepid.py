"""Quepid: a book of judged pairs of query and document, and ratings by query."""

from collections.abc import Iterator

import msgspec

from calipers.io.records.records import Id, Record, Result, Target
from calipers.io.records.rows import At, EachRow, RowFormat, Rows


class Judgement(msgspec.Struct):
    """What one judge said of a pair."""

    rating: float | None = None
    unrateable: bool = False


class Pair(msgspec.Struct):
    """One query with one document."""

    query_text: str
    doc_id: Id
    position: int | None = None
    judgements: list[Judgement] = []


class Ratings(msgspec.Struct):
    """One query with the documents rated for it."""

    query: str
    ratings: dict[str, float | None]


def _is_ranking(group: list[Pair]) -> bool:
    positions = [pair.position for pair in group]
    return None not in positions and len(set(positions)) == len(positions)


class QuepidBook(RowFormat):
    """Judged pairs of query and document."""

    name = "quepid_book"
    title = "a Quepid book"
    row = Pair
    example = '{"query_text": …, "doc_id": …, "position": 1, "judgements": [{"rating": 2}]}'
    kept = frozenset(Pair.__struct_fields__)
    results_field = "position"
    truth_field = "judgements"

    def recognise(self, keys: frozenset[str]) -> bool:
        """Pairs of ``query_text`` and ``doc_id``, or ``judgements``."""
        return {"query_text", "doc_id"} <= keys or {"query_text", "judgements"} <= keys

    def records(self, rows: Rows) -> Iterator[Record]:
        """Pairs gathered by query.

        Several judges' ratings of a pair become their mean, as in Quepid. The positions are a
        ranking only where every pair has one and no position is taken twice for a query: a book
        that pools several searches holds no single ranking.
        """
        pairs: dict[str, list[Pair]] = {}
        for _, pair in rows:
            pairs.setdefault(pair.query_text, []).append(pair)
        ranked = all(_is_ranking(group) for group in pairs.values())
        for query, group in pairs.items():
            truth: list[Id | Target] = []
            for pair in group:
                given = [
                    j.rating for j in pair.judgements if j.rating is not None and not j.unrateable
                ]
                if given:
                    truth.append(Target(id=pair.doc_id, grade=sum(given) / len(given)))
            found: list[Id | Result] | None = None
            if ranked:
                found = [Result(id=p.doc_id) for p in sorted(group, key=lambda p: p.position or 0)]
            yield Record(query, retrieved=found, ground_truth=truth)


class QuepidRatings(EachRow):
    """Ratings by query."""

    name = "quepid_ratings"
    title = "Quepid ratings"
    row = Ratings
    example = '{"query": …, "ratings": {"doc": 3}}'
    kept = frozenset(Ratings.__struct_fields__)
    truth_field = "ratings"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``ratings``, alone or beside what says which query they are for."""
        return "ratings" in keys and keys <= {
            "query",
            "ratings",
            "query_id",
            "id",
            "notes",
            "options",
        }

    def record(self, row: Ratings, _: At) -> Record:
        """A row as a record."""
        given = {item: grade for item, grade in row.ratings.items() if grade is not None}
        return Record(row.query, ground_truth=given)
