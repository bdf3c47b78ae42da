"""Slices that do much worse than the rest of the queries."""

from collections.abc import Sequence

from calipers.analyse.cuts import MOST_SLICES, cut
from calipers.analyse.slices import slice_scores
from calipers.model.scores import Scores
from calipers.model.slices import Slice


def worst_slices(
    scores: Scores, *, gap: float, least: int, cuts: Sequence[str] | None = None
) -> list[Slice] | str:
    """Slices of at least so many queries, significantly below the rest by at least the gap.

    Where no cuts are named, all tags are looked at, the length of the query and the number of
    its targets; worst first. A sentence where the queries cannot be cut in any way.
    """
    cuts = usable_cuts(scores) if cuts is None else cuts
    if not cuts:
        return "the queries have no tags with a few values, and are alike in length and targets"
    recall = next(m.name for m in scores.metrics if m.stem.partition("(")[0] == "recall")
    found = slice_scores(scores, cuts, metrics=[recall])
    worst = [
        row
        for row in found.rows
        if row.is_worse and row.n >= least and row.difference is not None and row.difference <= -gap
    ]
    return sorted(worst, key=lambda row: row.difference or 0.0)


def usable_cuts(scores: Scores) -> list[str]:
    """The ways to cut these queries that give between 2 and 100 slices."""
    has_texts = scores.queries["text"].null_count() < len(scores)
    computed = [*(["length"] if has_texts else []), "targets"]
    few = [name for name, values in scores.tags.items() if 1 < values.n_unique() <= MOST_SLICES]
    named = [*few, *(name for name in computed if name not in scores.tags)]
    return [name for name in named if len(cut(scores, name)) > 1]
