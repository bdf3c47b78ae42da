"""Quepid: books and spreadsheets of judged pairs of query and document, ratings by query."""

from collections.abc import Iterator

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.probe import Sight
from calipers.io.format import EachRow, RowFormat, Rows
from calipers.io.formats.elastic import RATINGS
from calipers.io.records.documents import finite
from calipers.io.records.records import At, Id, Record, Result, Target
from calipers.names import ROW, words_in


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


class ExportedPair(msgspec.Struct):
    """One row of a spreadsheet that Quepid exports, of a case or of a snapshot of one."""

    query: str = msgspec.field(name="Query Text")
    doc_id: Id = msgspec.field(name="Doc ID")
    position: str | int | None = msgspec.field(name="Doc Position", default=None)
    rating: str | float | None = msgspec.field(name="Rating", default=None)
    snapshot: Id | None = msgspec.field(name="Snapshot Name", default=None)


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
    results_field = "position"
    truth_field = "judgements"

    def recognise(self, keys: frozenset[str]) -> bool:
        """Pairs of ``query_text`` and ``doc_id``, or ``judgements``; with a grade it is a table."""
        if "judgements" in keys:
            return "query_text" in keys
        return {"query_text", "doc_id"} <= keys and keys.isdisjoint((*ROW["grade"], "score"))

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


class QuepidExport(RowFormat):
    """A case, or a snapshot of one, as a spreadsheet."""

    name = "quepid_export"
    title = "a spreadsheet of Quepid"
    row = ExportedPair
    example = "a row with Query Text, Doc ID, Doc Position and Rating"
    results_field = "Doc Position"
    truth_field = "Rating"
    known_by = ({"Query Text", "Doc ID"}, {"Query Text", "Doc Position"})

    def records(self, rows: Rows) -> Iterator[Record]:
        """Rows gathered by query.

        A blank rating is a document that nobody judged, and a blank position one that was judged
        and not returned. A snapshot holds results and no ratings.
        """
        ranked: dict[str, dict[int, tuple[At, Id]]] = {}
        judged: dict[str, list[Id | Target]] = {}
        snapshots: dict[Id | None, None] = {}
        for at, pair in rows:
            snapshots[pair.snapshot] = None
            if len(snapshots) > 1:
                one, other = snapshots
                raise InvalidInput(
                    f"There are two snapshots in one file: {one!r}, and {other!r} at {at()}; each "
                    "is a ranking of its own, so keep the rows of one."
                )
            places = ranked.setdefault(pair.query, {})
            position = _number(pair.position, "Doc Position", at)
            if position is not None:
                before, _ = places.setdefault(int(position), (at, pair.doc_id))
                if before is not at:
                    raise InvalidInput(
                        f"Two documents stand at position {position:g} of the query "
                        f"{pair.query!r:.60}: {before()} and {at()}; a file holds one ranking for "
                        "each query, so keep the rows of one search."
                    )
            grade = _number(pair.rating, "Rating", at)
            if grade is not None:
                judged.setdefault(pair.query, []).append(Target(id=pair.doc_id, grade=grade))
        has_results = any(ranked.values())
        for query, places in ranked.items():
            found: list[Id | Result] = [places[one][1] for one in sorted(places)]
            yield Record(
                query,
                retrieved=found if has_results else None,
                ground_truth=judged.get(query, []) if judged else None,
            )


def _number(value: str | float | None, name: str, at: At) -> float | None:
    """The number in a cell; None where it is blank."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = finite(value)
    if number is None or (name == "Doc Position" and not number.is_integer()):
        raise InvalidInput(f"{name} is {value!r:.60} at {at()}; it must be a number, or blank.")
    return number


class QuepidRatings(EachRow):
    """Ratings by query."""

    name = "quepid_ratings"
    title = "Quepid ratings"
    row = Ratings
    example = '{"query": …, "ratings": {"doc": 3}}'
    truth_field = "ratings"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``ratings``, alone or beside what says which query they are for."""
        return "ratings" in keys and keys <= {
            *words_in("query ratings query_id id notes options"),
        }

    def detect(self, sight: Sight) -> bool:
        """The same in a file; under a key of OpenSearch they are its own."""
        found = (self.recognise(keys) for key, keys in sight.row_keys.items() if key != RATINGS)
        return any(found)

    def record(self, row: Ratings, _: At) -> Record:
        """A row as a record."""
        given = {item: grade for item, grade in row.ratings.items() if grade is not None}
        return Record(row.query, ground_truth=given)
