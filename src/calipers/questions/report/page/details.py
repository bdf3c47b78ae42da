"""What a row opens to: the ranking as it was, and what was missed."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import polars as pl

from calipers.present.escape import clean
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.report.page.excerpt import LONGEST, Place, excerpt, places_of
from calipers.questions.report.result import OpenedQuery, SystemReport

EXPECTED = 300
"""Characters that the page keeps of what was expected."""
NAME = 200
"""Characters of an id that the page keeps."""
_IDENTITY = ("item", "quote", "document", "start", "end")
_REASON = {reason.name: reason for reason in REASONS}


class Details:
    """The rankings and misses of some queries of one system."""

    def __init__(
        self,
        rankings: pl.DataFrame,
        targets: pl.DataFrame,
        misses: Misses | None,
        queries: pl.Series,
        wanted: pl.Series | None = None,
    ) -> None:
        """``queries`` are all of the system, in the order of their codes; None: all are wanted."""
        codes = pl.DataFrame({"query": queries}).with_row_index("code")
        numbered = targets.with_row_index("number")
        lost = None if misses is None else misses.by_query
        if wanted is not None:
            # Only these become objects of Python, however many queries there are.
            codes = codes.filter(pl.col("query").is_in(wanted.implode()))
            numbered = numbered.filter(pl.col("query").is_in(wanted.implode()))
            lost = None if lost is None else lost.filter(pl.col("query").is_in(wanted.implode()))
        own = rankings.filter(pl.col("query").is_in(codes["code"].cast(pl.Int64).implode()))
        self._rankings = _ByQuery(own)
        self._why = misses
        self._misses = None
        if lost is not None:
            what = targets.select(_IDENTITY)[lost["target"]]
            self._misses = _ByQuery(pl.concat([lost, what], how="horizontal"))
        self._targets = {row["number"]: row for row in numbered.iter_rows(named=True)}
        self._wanted: dict[str, list[int]] = {}
        for number, target in self._targets.items():
            # A grade of 0 says what is not wanted.
            if target["grade"] is None or target["grade"] > 0:
                self._wanted.setdefault(target["query"], []).append(number)
        expected = pl.col("item").is_in(numbered["item"].drop_nulls().unique().implode())
        named = rankings.select("item", "text").drop_nulls().filter(expected)
        self._texts: dict[str, str] = dict(named.unique("item", keep="first").iter_rows())
        if misses is not None:
            told = misses.by_query.select("expected_text").with_columns(
                item=targets["item"][misses.by_query["target"]]
            )
            said = told.drop_nulls().filter(expected).select("item", "expected_text")
            self._texts |= dict(said.iter_rows())
        self._codes: dict[str, int] = {name: code for code, name in codes.iter_rows()}

    @classmethod
    def of_system(cls, system: SystemReport, wanted: pl.Series | None = None) -> Self:
        """Those of a retriever in a report: all, or the ``wanted`` queries."""
        names = system.head.queries["query"]
        return cls(system.rankings(wanted), system.targets, system.misses, names, wanted)

    def lost(self, query: str) -> dict[str, dict[str, str]]:
        """Why each miss of a query was missed, by what was expected."""
        return {expected(row): self._missed(row) for row in self._missed_by(query)}

    def of(self, query: str, longest: int | None = LONGEST) -> dict[str, Any]:
        """What the page shows of one query, texts cut to ``longest`` characters; None: whole."""
        rows = self._rankings.of(self._codes.get(query))
        return {
            "expected": self._expected(query, rows, longest),
            "results": [self._shown(row, longest) for row in rows],
        }

    def _expected(
        self, query: str, rows: Sequence[dict[str, Any]], longest: int | None
    ) -> list[dict[str, Any]]:
        """What should be found: what it says, and its rank, or why it has none."""
        ranks = _first_ranks(rows)
        lost = {_identity(row): row for row in self._missed_by(query)}
        found = []
        for number in self._wanted.get(query, ()):
            target = self._targets[number]
            one: dict[str, Any] = {"name": expected(target)}
            text = None if target["item"] is None else self._texts.get(target["item"])
            if text is not None:
                one["text"] = clean(_shortened(text, min(longest or EXPECTED, EXPECTED)))
            if number in ranks:
                one["rank"] = ranks[number]
            if _identity(target) in lost:
                one |= self._missed(lost[_identity(target)])
            found.append(one)
        return found

    def whole(self, query: str) -> dict[str, Any]:
        """Everything about one query, as it came."""
        rows = self._rankings.of(self._codes.get(query))
        return {
            "retrieved": [
                {
                    name: value
                    for name, value in row.items()
                    if name not in ("query", "targets") and value is not None
                }
                for row in rows
            ],
            "missed": [
                {name: row[name] for name in (*_IDENTITY, "reason") if row[name] is not None}
                for row in self._missed_by(query)
            ],
        }

    def _shown(self, row: dict[str, Any], longest: int | None) -> dict[str, Any]:
        found: dict[str, Any] = {"rank": row["rank"], "state": row["state"]}
        if row["item"] is not None or row["document"] is not None:
            found["name"] = clean(_name(row))
        if row["document"] is not None and row["item"] is not None:
            found["document"] = clean(row["document"][:NAME])
        if row["score"] is not None:
            found["score"] = float(f"{row['score']:.5g}")
        if row["grade"] is not None:
            found["grade"] = row["grade"]
        if row["text"] is not None:
            most = len(row["text"]) if longest is None else longest
            found["text"] = excerpt(row["text"], self._marked(row), most)
        return found

    def _marked(self, row: dict[str, Any]) -> list[Place]:
        found: list[Place] = []
        for number in row["targets"] or ():
            target = self._targets[number]
            if target["quote"] is not None:
                found += places_of(target["quote"], row["text"])
            elif target["start"] is not None and row["start"] is not None:
                start, end = (max(0, target[end] - row["start"]) for end in ("start", "end"))
                found.append((start, min(end, len(row["text"]))))
        return [place for place in found if place[0] < place[1]]

    def _missed_by(self, query: str) -> list[dict[str, Any]]:
        return [] if self._misses is None else self._misses.of(query)

    def _missed(self, row: dict[str, Any]) -> dict[str, str]:
        reason = _REASON[row["reason"]]
        remedy = reason.remedy if self._why is None else self._why.remedy(reason.name)
        place = f" (rank {row['rank']})" if row["rank"] is not None else ""
        return {"reason": reason.means + place, "remedy": remedy}


STATES = {
    "relevant": "relevant",
    "not relevant": "judged not relevant",
    "repeated": "stood above already",
}
"""What became of a result, in words; script.js has the same for the page."""


def opened_view(opened: OpenedQuery) -> dict[str, Any]:
    """One query as a page shows it: what was expected first, then the ranking."""
    query = opened.row.query
    if not opened.rankings.columns:
        return {"expected": [], "results": [], "known": False}
    details = Details(
        opened.rankings, opened.targets, opened.misses, pl.Series([query], dtype=pl.String)
    )
    found = details.of(query)
    ranks = _first_ranks(opened.rankings.select("rank", "targets").iter_rows(named=True))
    missed = details.lost(query)
    unknown: dict[str, Any] = {"reason": None, "remedy": None}
    targets = [
        {
            "name": expected(row),
            "grade": row["grade"],
            "rank": ranks.get(number),
            **missed.get(expected(row), unknown),
        }
        for number, row in enumerate(opened.targets.iter_rows(named=True))
    ]
    # Nobody judges whole chunks where quotes or places should be found.
    by_id = opened.targets.select(pl.col("quote", "start").is_null().all()).row(0) == (True, True)
    said = {**STATES, "unjudged": "unjudged" if by_id else "holds no target"}
    results = [{**one, "said": said[one["state"]]} for one in found["results"]]
    return {"expected": targets, "results": results, "known": True}


def _first_ranks(rows: Iterable[dict[str, Any]]) -> dict[int, int]:
    """The rank at which each target, by its number, was found first."""
    ranks: dict[int, int] = {}
    for row in rows:
        for number in row["targets"] or ():
            ranks.setdefault(number, row["rank"])
    return ranks


def expected(row: dict[str, Any]) -> str:
    """A piece of ground truth in words."""
    if row["item"] is not None:
        return clean(str(row["item"])[:NAME])
    if row["quote"] is not None:
        return f"“{clean(_shortened(row['quote'], 300))}”"
    return f"{clean(str(row['document'])[:NAME])}, characters {row['start']} to {row['end']}"


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    """What tells the targets of one query apart."""
    return tuple(row[name] for name in _IDENTITY)


def _name(row: dict[str, Any]) -> str:
    """The id of a result, or where it stands in its document."""
    if row["item"] is not None:
        return str(row["item"])[:NAME]
    document = str(row["document"])[:NAME]
    return document if row["start"] is None else f"{document}, {row['start']}–{row['end']}"


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


class _ByQuery:
    """The rows of each query; as objects of Python they take ten times the memory."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame.sort("query", maintain_order=True)
        self._places: dict[Any, tuple[int, int]] = {}
        start = 0
        for length, query in self._frame["query"].rle().struct.unnest().iter_rows():
            self._places[query] = start, length
            start += length

    def of(self, query: Any) -> list[dict[str, Any]]:
        """Those of one query; none of one that has none."""
        return self._frame.slice(*self._places.get(query, (0, 0))).to_dicts()
