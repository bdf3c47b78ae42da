"""What a page shows of a query: its targets, and its ranking with what was matched marked."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import NotRequired, TypedDict, cast

import polars as pl

from calipers.errors import InvalidInput
from calipers.match.locate import MappedText, positions
from calipers.present.escape import clean
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.report.browse import Browse, QueryRow
from calipers.text import normalise

EXPECTED = 300
"""Characters of a target that the page keeps."""
NAME = 200
"""Characters of an id or a title that the page keeps."""
_MEANS = {reason.name: reason.means for reason in REASONS}
LONGEST = 700
"""Characters of a text that the page keeps, around the match."""
SEARCHED = 50_000
"""A quote that was matched in pieces is marked in texts up to this long."""
SMALLEST = 12
"""Fewer matching characters than this may be chance, and are not marked."""
MARKS = 100
"""The most occurrences of a quote to mark in one text."""

Place = tuple[int, int]


class TargetRow(TypedDict):
    """A target, as a row of the ground truth."""

    target: int
    item: str | None
    document: str | None
    start: int | None
    end: int | None
    quote: str | None
    grade: float | None


class ResultRow(TypedDict):
    """A result of a ranking, with the targets that it holds."""

    rank: int
    state: str
    item: str | None
    document: str | None
    start: int | None
    end: int | None
    score: float | None
    grade: float | None
    title: str | None
    text: str | None
    targets: list[int] | None


class LostRow(TypedDict):
    """A target that was missed, and why."""

    target: int
    rank: int | None
    reason: str
    expected_text: str | None


class Excerpt(TypedDict):
    """A part of a text: its pieces, every second one marked, and how much is left out."""

    parts: list[str]
    before: int
    after: int


class ShownTarget(TypedDict):
    """A target as a page shows it; what is not known is not there."""

    name: str
    grade: NotRequired[float | None]
    text: NotRequired[str]
    rank: NotRequired[int]
    reason: NotRequired[str]
    remedy: NotRequired[str]


class ShownResult(TypedDict):
    """A result as a page shows it; what is not known is not there."""

    rank: int
    state: str
    name: NotRequired[str]
    document: NotRequired[str]
    score: NotRequired[float]
    grade: NotRequired[float]
    title: NotRequired[str]
    text: NotRequired[Excerpt]
    before: NotRequired[int | None]
    moved: NotRequired[int | None]
    new: NotRequired[bool]


class ShownQuery(TypedDict):
    """What a page shows of one query."""

    expected: list[ShownTarget]
    results: list[ShownResult]


class ShownSystem(ShownQuery):
    """What a page shows of one query in one system."""

    by_id: bool
    name: NotRequired[str]
    """The system, where there are several."""
    row: NotRequired[QueryRow]
    known: NotRequired[bool]
    """Whether the targets and the ranking are known, where the query is opened alone."""


class Details:
    """The rankings and misses of some queries of one evaluation."""

    def __init__(self, browse: Browse, wanted: pl.Series) -> None:
        self._why: Misses | None = None
        lost = pl.DataFrame(schema={"query": pl.String})
        with suppress(InvalidInput):
            self._why = browse.explain()
            lost = self._why.by_query
        rankings = browse.rankings(wanted)
        targets = browse.targets.with_row_index("target")
        named = browse.scores.queries["query"].gather(rankings["query"])
        # Only these become Python objects, however many queries there are.
        ranked = _by_query(rankings.with_columns(query=named), wanted)
        self._rankings = cast("dict[str, list[ResultRow]]", ranked)
        self._targets = cast("dict[str, list[TargetRow]]", _by_query(targets, wanted))
        self._lost = cast("dict[str, list[LostRow]]", _by_query(lost, wanted))

    def of(self, query: str, longest: int = LONGEST) -> ShownQuery:
        """The details of one query, texts cut to ``longest`` characters."""
        rows = self._rankings.get(query, [])
        targets = {row["target"]: row for row in self._targets.get(query, ())}
        lost = {row["target"]: row for row in self._lost.get(query, ())}
        first: dict[int, ResultRow] = {}
        for row in rows:
            for number in row["targets"] or ():
                first.setdefault(number, row)
        return {
            "expected": [
                self._expected(target, first.get(number), lost.get(number), longest)
                for number, target in targets.items()
                # A target of grade 0 is not wanted.
                if target["grade"] is None or target["grade"] > 0
            ],
            "results": [_result(row, targets, longest) for row in rows],
        }

    def _expected(
        self,
        target: TargetRow,
        result: ResultRow | None,
        lost: LostRow | None,
        longest: int,
    ) -> ShownTarget:
        """A target: its text, and its rank or why it was missed."""
        shown: ShownTarget = {"name": expected(target)}
        if target["grade"] not in (None, 1):
            shown["grade"] = target["grade"]
        text = None if result is None else result["text"]
        if not text:
            text = None if lost is None else lost["expected_text"]
        if text is not None and target["item"] is not None:
            shown["text"] = clean(_shortened(text, min(longest, EXPECTED)))
        if result is not None:
            shown["rank"] = result["rank"]
        if lost is not None and self._why is not None:
            place = f" (rank {lost['rank']})" if lost["rank"] is not None else ""
            shown["reason"] = _MEANS[lost["reason"]] + place
            # A page takes no option: which input would tell more, the command for misses says.
            if self._why.tells(lost["reason"]):
                shown["remedy"] = self._why.remedy(lost["reason"])
        return shown


def _by_query(
    table: pl.DataFrame, wanted: pl.Series
) -> dict[str, list[dict[str, object]]]:
    """The rows of the wanted queries, by query."""
    some = table.filter(pl.col("query").is_in(wanted.implode()))
    return some.rows_by_key("query", named=True)


def _result(row: ResultRow, targets: dict[int, TargetRow], longest: int) -> ShownResult:
    """One result, with the targets it contains marked in its text."""
    shown: ShownResult = {"rank": row["rank"], "state": row["state"]}
    if row["item"] is not None or row["document"] is not None:
        shown["name"] = clean(_name(row))
    if row["document"] is not None and row["item"] is not None:
        shown["document"] = clean(row["document"][:NAME])
    if row["score"] is not None:
        shown["score"] = float(f"{row['score']:.5g}")
    if row["grade"] is not None:
        shown["grade"] = row["grade"]
    if row["title"] is not None:
        shown["title"] = " ".join(clean(row["title"][: 2 * NAME]).split())[:NAME]
    if row["text"] is not None:
        contained = [targets[number] for number in row["targets"] or ()]
        shown["text"] = excerpt(
            row["text"], _marked(row["text"], row["start"], contained), longest
        )
    return shown


def _marked(text: str, first: int | None, contained: list[TargetRow]) -> list[Place]:
    """Where the targets stand in a text that begins at a place of its document."""
    places: list[Place] = []
    for target in contained:
        if target["quote"] is not None:
            places += places_of(target["quote"], text)
        elif (
            target["start"] is not None
            and target["end"] is not None
            and first is not None
        ):
            start = max(0, target["start"] - first)
            end = max(0, target["end"] - first)
            places.append((start, min(end, len(text))))
    return [place for place in places if place[0] < place[1]]


def expected(row: TargetRow) -> str:
    """A target in words."""
    if row["item"] is not None:
        return clean(str(row["item"])[:NAME])
    if row["quote"] is not None:
        return f"“{clean(_shortened(row['quote'], 300))}”"
    return (
        f"{clean(str(row['document'])[:NAME])}, characters {row['start']} to {row['end']}"
    )


def _name(row: ResultRow) -> str:
    """The id of a result, or its position in its document."""
    if row["item"] is not None:
        return str(row["item"])[:NAME]
    document = str(row["document"])[:NAME]
    return (
        document if row["start"] is None else f"{document}, {row['start']}–{row['end']}"
    )


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def beside(systems: Iterable[ShownSystem]) -> list[ShownSystem]:
    """The details of one query in several systems, each result with its rank in the first."""
    columns = list(systems)
    first = {
        _called(result): result["rank"] for result in reversed(columns[0]["results"])
    }
    for column in columns[1:]:
        for result in column["results"]:
            before = first.get(_called(result))
            result["before"] = before
            result["moved"] = None if before is None else before - result["rank"]
            result["new"] = before is None
    return columns


def _called(result: ShownResult) -> str:
    """What identifies a result: its name, or else its text."""
    return result.get("name") or str(result.get("text"))


def excerpt(text: str, marked: Sequence[Place], longest: int = LONGEST) -> Excerpt:
    """The part of a text to show: a list of pieces, every second one marked.

    ``before`` and ``after`` count the characters left out.

    >>> excerpt("The GIL is a lock.", [(8, 17)])
    {'parts': ['The GIL ', 'is a lock', '.'], 'before': 0, 'after': 0}
    """
    start = 0
    end = len(text)
    if len(text) > longest:
        first = marked[0][0] if marked else 0
        last = min(marked[0][1], first + longest) if marked else 0
        start = max(0, min(first - (longest - (last - first)) // 2, len(text) - longest))
        end = min(len(text), start + longest)
    parts: list[str] = []
    at = start
    for begin, stop in merged(marked):
        begin = max(begin, at)
        stop = min(stop, end)
        if begin < stop:
            parts += [clean(text[at:begin]), clean(text[begin:stop])]
            at = stop
    parts.append(clean(text[at:end]))
    return {"parts": parts, "before": start, "after": len(text) - end}


def merged(places: Sequence[Place]) -> list[Place]:
    """Sort places and merge overlapping ones.

    >>> merged([(5, 9), (1, 3), (2, 4)])
    [(1, 4), (5, 9)]
    """
    found: list[Place] = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


@lru_cache(maxsize=4096)
def places_of(quote: str, text: str) -> tuple[Place, ...]:
    """Find a quote in a text: whole, or else its longest piece.

    >>> places_of("is a lock", "The GIL is\\n a lock."), places_of("zebra", "The GIL is")
    (((8, 18),), ())
    """
    wanted = normalise(quote)
    if not wanted:
        return ()
    there = wanted in normalise(text)
    if not there and len(text) > SEARCHED:
        return ()
    mapped = MappedText.of(text)
    if there:
        found = islice(positions(mapped.text, wanted), MARKS)
        return tuple(mapped.span(at, at + len(wanted)) for at in found)
    folded = (wanted.lower(), mapped.text.lower())
    if len(folded[0]) != len(wanted) or len(folded[1]) != len(mapped.text):
        folded = (wanted, mapped.text)
    piece = SequenceMatcher(None, *folded, autojunk=False).find_longest_match()
    if piece.size < min(SMALLEST, len(wanted)):
        return ()
    return (mapped.span(piece.b, piece.b + piece.size),)
