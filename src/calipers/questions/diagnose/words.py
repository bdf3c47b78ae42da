"""What facts say, how sure they are, and the slices that fall behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calipers.model.scores import Scores
from calipers.model.slicing import MOST_SLICES, auto_cuts
from calipers.questions.diagnose.evidence import Evidence, Fact
from calipers.questions.diagnose.result import FEW, Confidence
from calipers.questions.slices.result import Slice
from calipers.questions.slices.rule import slice_scores

Thresholds = Mapping[str, float]


@dataclass(frozen=True)
class Symptom:
    """What one rule saw."""

    confidence: Confidence
    evidence: tuple[str, ...]
    advice: tuple[str, ...]
    numbers: Mapping[str, float]


def confidence(*deciding: tuple[Fact, float, int]) -> Confidence:
    """High where every interval lies beyond its threshold on the side that decides."""
    if min(fact.n for fact, _, _ in deciding) < FEW:
        return "low"
    for fact, threshold, side in deciding:
        if fact.interval is None:
            return "low"
        if (fact.interval.low < threshold) if side > 0 else (fact.interval.high > threshold):
            return "moderate"
    return "high"


def multi_hop(seen: Evidence) -> list[str]:
    """Whether queries with several targets suffer most."""
    recall = seen.metric("recall")
    several = seen.fact(np.where(seen.wanted > 1, recall, np.nan))
    one = seen.fact(np.where(seen.wanted == 1, recall, np.nan))
    if not several or not one or min(several.n, one.n) < 5 or several.value >= one.value:
        return []
    return [
        f"Queries with several targets are hit hardest: recall {several.value:.3f} ({several.n} "
        f"queries) against {one.value:.3f} with one target ({one.n})."
    ]


def raise_k(seen: Evidence, recall: Fact) -> list[str]:
    """How much more the longer lists hold, where they hold more."""
    depth = int(seen.matches.retrieved.max(initial=0))
    deeper = seen.fact(seen.recall_at(depth))
    if depth <= seen.k or not deeper or deeper.value <= recall.value + 0.01:
        return []
    now, then = seen.tokens_at(seen.k), seen.tokens_at(depth)
    cost = f"for up to {depth - seen.k} more results per query"
    if now is not None and then is not None:
        cost = f"for {then:,.0f} instead of {now:,.0f} tokens per query"
    return [f"Raise k: at k = {depth} recall is {deeper.value:.3f}, {cost} (`calipers sweep`)."]


def waste(seen: Evidence) -> list[str]:
    """What is spent on results that hold no target, in tokens and in money."""
    wasted = seen.wasted_tokens()
    if wasted is None:
        return []
    mean = float(wasted[seen.answerable].mean())
    roughly = " (estimated as characters / 4)" if "estimate" in seen.facts.tokens else ""
    line = f"{mean:,.0f} tokens per query are spent on results that hold no target{roughly}"
    if seen.price is not None:
        line += f": {mean / 1000 * seen.price:,.2f} per 1,000 queries"
    return [f"{line}."]


def in_words(fact: Fact) -> str:
    """A mean with its interval."""
    ends = f" ({fact.interval.low:.3f}–{fact.interval.high:.3f})" if fact.interval else ""
    return f"{fact.value:.3f}{ends}"


def in_percent(fact: Fact) -> str:
    """A share with its interval."""
    ends = f" ({fact.interval.low:.0%}–{fact.interval.high:.0%})" if fact.interval else ""
    return f"{fact.value:.0%}{ends}"


def worst_slices(
    scores: Scores, *, gap: float, least: int, cuts: Sequence[str] | None = None
) -> list[Slice] | str:
    """Slices of at least so many queries, significantly below the rest by at least the gap.

    Where no cuts are named, all tags are looked at and whatever "auto" stands for; worst first.
    A sentence where the queries cannot be cut in any way.
    """
    cuts = usable_cuts(scores) if cuts is None else cuts
    if not cuts:
        return "the queries have no tags with a few values, and are alike in length and targets"
    recall = next(m.name for m in scores.metrics if m.kind == "recall")
    found = slice_scores(scores, cuts, metrics=[recall])
    worst = [
        row
        for row in found.rows
        if row.is_worse and row.n >= least and row.difference is not None and row.difference <= -gap
    ]
    return sorted(worst, key=lambda row: row.difference or 0.0)


def usable_cuts(scores: Scores) -> list[str]:
    """The ways to cut these queries that give between 2 and 100 slices."""
    few = [name for name, values in scores.tags.items() if 1 < values.n_unique() <= MOST_SLICES]
    return list(dict.fromkeys([*few, *auto_cuts(scores)]))
