"""The details of a row: the targets and the ranking."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.present.escape import clean
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.report.browse import Browse
from calipers.questions.report.page.excerpt import LONGEST, Place, excerpt, places_of

EXPECTED = 300
"""Characters of a target that the page keeps."""
NAME = 200
"""Characters of an id that the page keeps."""
_MEANS = {reason.name: reason.means for reason in REASONS}


class Details:
    """The rankings and misses of some queries of one evaluation."""

    def __init__(self, browse: Browse, wanted: pl.Series) -> None:
        self._why: Misses | None = None
        lost = pl.DataFrame(schema={"query": pl.String})
        with suppress(InvalidInput):
            self._why = browse.explain()
            lost = self._why.by_query
        rankings, targets = browse.rankings(wanted), browse.targets.with_row_index("target")
        named = browse.scores.queries["query"].gather(rankings["query"])
        # Only these become Python objects, however many queries there are.
        self._rankings, self._targets, self._lost = (
            one.filter(pl.col("query").is_in(wanted.implode())).rows_by_key("query", named=True)
            for one in (rankings.with_columns(query=named), targets, lost)
        )

    def of(self, query: str, longest: int = LONGEST) -> dict[str, Any]:
        """The details of one query, texts cut to ``longest`` characters."""
        rows = self._rankings.get(query, [])
        targets = {row["target"]: row for row in self._targets.get(query, ())}
        lost = {row["target"]: row for row in self._lost.get(query, ())}
        first: dict[int, dict[str, Any]] = {}
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
        target: dict[str, Any],
        found: dict[str, Any] | None,
        lost: dict[str, Any] | None,
        longest: int,
    ) -> dict[str, Any]:
        """A target: its text, and its rank or why it was missed."""
        one: dict[str, Any] = {"name": expected(target)}
        if target["grade"] not in (None, 1):
            one["grade"] = target["grade"]
        text = (found or {}).get("text") or (lost or {}).get("expected_text")
        if text is not None and target["item"] is not None:
            one["text"] = clean(_shortened(text, min(longest, EXPECTED)))
        if found is not None:
            one["rank"] = found["rank"]
        if lost is not None and self._why is not None:
            place = f" (rank {lost['rank']})" if lost["rank"] is not None else ""
            one["reason"] = _MEANS[lost["reason"]] + place
            one["remedy"] = self._why.remedy(lost["reason"])
        return one


def _result(
    row: dict[str, Any], targets: dict[int, dict[str, Any]], longest: int
) -> dict[str, Any]:
    """One result, with the targets it contains marked in its text."""
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
        contained = [targets[number] for number in row["targets"] or ()]
        found["text"] = excerpt(row["text"], _marked(row, contained), longest)
    return found


def _marked(row: dict[str, Any], contained: list[dict[str, Any]]) -> list[Place]:
    found: list[Place] = []
    for target in contained:
        if target["quote"] is not None:
            found += places_of(target["quote"], row["text"])
        elif target["start"] is not None and row["start"] is not None:
            start, end = (max(0, target[end] - row["start"]) for end in ("start", "end"))
            found.append((start, min(end, len(row["text"]))))
    return [place for place in found if place[0] < place[1]]


def expected(row: dict[str, Any]) -> str:
    """A target in words."""
    if row["item"] is not None:
        return clean(str(row["item"])[:NAME])
    if row["quote"] is not None:
        return f"“{clean(_shortened(row['quote'], 300))}”"
    return f"{clean(str(row['document'])[:NAME])}, characters {row['start']} to {row['end']}"


def _name(row: dict[str, Any]) -> str:
    """The id of a result, or its position in its document."""
    if row["item"] is not None:
        return str(row["item"])[:NAME]
    document = str(row["document"])[:NAME]
    return document if row["start"] is None else f"{document}, {row['start']}–{row['end']}"


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def beside(systems: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The details of one query in several systems, each result with its rank in the first."""
    columns = list(systems)
    first = {_called(one): one["rank"] for one in reversed(columns[0]["results"])}
    for column in columns[1:]:
        for one in column["results"]:
            before = first.get(_called(one))
            moved = None if before is None else before - one["rank"]
            one |= {"before": before, "moved": moved, "new": before is None}
    return columns


def _called(result: dict[str, Any]) -> str:
    """What identifies a result: its name, or else its text."""
    return result.get("name") or str(result.get("text"))
