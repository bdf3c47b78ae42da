"""Exact neighbours, and what an index finds of them, in words."""

from collections.abc import Iterator
from typing import Any

from calipers.present.escape import printable
from calipers.present.terminal import show_lines
from calipers.questions.index_recall.neighbours import Neighbours
from calipers.questions.index_recall.rule import IndexRecall, IndexRecalls
from calipers.words import number, plural


def recall_line(found: IndexRecall) -> str:
    """How much of exact search the index finds, at its worst, and how quickly."""
    speed = f"; {found.speedup:.1f} times as fast" if found.speedup is not None else ""
    return (
        f"{printable(found.name, 40)} finds {number(found.recall)} of the exact first {found.k} "
        f"({number(found.worst)} at worst, all of them for {found.perfect:.0%} of "
        f"{plural(found.queries, 'query', 'queries')}){speed}."
    )


def _recall_row(found: IndexRecall) -> dict[str, Any]:
    return {name: value for name, value in found.to_dict().items() if name != "per_query"}


def _neighbours(found: Neighbours) -> list[str]:
    queries, k = found.ids.shape
    return [f"The {plural(k, 'nearest vector')} of {plural(queries, 'query', 'queries')}."]


def _near(found: Neighbours) -> Iterator[dict[str, Any]]:
    for query, (ids, scores) in enumerate(zip(found.ids, found.scores, strict=True)):
        for rank, (one, score) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True), 1):
            yield {"query": query, "rank": rank, "id": one, "score": score}


show_lines(
    IndexRecall, lambda one: [recall_line(one)], table=False, rows=lambda one: [_recall_row(one)]
)
show_lines(
    IndexRecalls,
    lambda some: [*map(recall_line, some)],
    table=False,
    rows=lambda some: map(_recall_row, some),
)
show_lines(Neighbours, _neighbours, rows=_near)
