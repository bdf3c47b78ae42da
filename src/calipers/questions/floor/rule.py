"""The floor under the scores: below which score a result is better not returned.

A floor is chosen by the rule of a fixed sequence: from the lowest floor upwards each is put to a
one-sided test of whether it keeps what was asked for, and the last before the first failure is
taken. The chance that the floor so chosen keeps less is then at most one minus the confidence,
however many floors were looked at. The test is Chernoff's bound for means of values between 0 and
1, which holds for any distribution and any number of queries.

That is the safe floor. The best guess is the highest that loses at most half of what may be lost in
these queries; with it goes what it may lose in others, and how many more queries would settle it.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calipers.errors import InvalidInput, check_number
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Matched
from calipers.questions.floor.evidence import (
    EVERYTHING,
    FloorEvidence,
    KeptResults,
    gather,
    kept_values,
)
from calipers.questions.floor.result import Floor, FloorGoal, FloorPoint, Goal, HeldOut, floor_claim
from calipers.statistics.score_interval import mean_interval

MOST_FLOORS = 200
"""So many floors are looked at; with more different scores, quantiles of them."""
SHOWN = 20
"""So many floors are in the result."""


def find_floor(
    pair: Matched,
    *,
    k: int = 10,
    keep: float | None = None,
    recall: float | None = None,
    confidence: float = 0.95,
    folds: int = 5,
    seed: int = 0,
    cluster: str | None = None,
) -> Floor:
    """The highest floor that keeps what was asked for, and how it does on other queries."""
    goal, least = check_goal(keep, recall, confidence, folds)
    evidence = gather(pair, k, cluster)
    return floor_of(evidence, k, goal, least, confidence, folds, seed)


def floor_of(
    evidence: FloorEvidence,
    k: int,
    goal: Goal,
    least: float,
    confidence: float,
    folds: int,
    seed: int,
) -> Floor:
    """The floor that the scores of some queries allow."""
    answerable = evidence.wanted > 0
    if not answerable.any():
        raise InvalidInput(
            "No query of the ground truth has an answer, so there is no recall that a floor could "
            "keep; label some queries that have one."
        )
    floors = candidates(evidence)
    everyone = np.ones(evidence.n_queries, dtype=np.bool_)
    chosen = choose(evidence, everyone, floors, goal, least, confidence)
    guess = _guess(evidence, floors, goal, least, chosen)
    keeps = more = None
    if guess is not None:
        kept = KeptResults.of(evidence, guess, goal)
        keeps = kept.lowest(confidence)
        more = None if guess == chosen else kept.more_for(least, confidence)
    without, safe = point(evidence, EVERYTHING), None if chosen is None else point(evidence, chosen)
    best = None if guess is None else point(evidence, guess)
    asked = FloorGoal(
        goal, least, confidence, KeptResults.of(evidence, EVERYTHING, goal).values.size
    )
    found = Floor(
        k=k,
        goal=goal,
        least=least,
        confidence=confidence,
        answerable=int(answerable.sum()),
        unanswerable=int((~answerable).sum()),
        without=without,
        guess=best,
        guess_keeps=keeps,
        more=more,
        chosen=safe,
        claim=floor_claim(asked, without, best, keeps, more, safe),
        points=tuple(point(evidence, floor) for floor in _some(floors, chosen, guess)),
        held_out=_held_out(evidence, floors, goal, least, confidence, folds, seed),
        notes=(),
    )
    return replace(found, notes=tuple(_notes(found, evidence)))


def check_goal(
    keep: float | None, recall: float | None, confidence: float, folds: int
) -> tuple[Goal, float]:
    """What is to be kept, or a sentence about what cannot be meant."""
    if keep is not None and recall is not None:
        raise InvalidInput(
            "Both keep and recall are given; give the share of what is found to keep, or the "
            "recall to reach."
        )
    goal: Goal = "keep" if recall is None else "recall"
    least = recall if recall is not None else 0.95 if keep is None else keep
    what = "The share to keep" if recall is None else "The recall to keep"
    check_number(what, least, above=0, below=1, such_as=0.95)
    check_number("The confidence", confidence, least=0.5, below=1, such_as=0.95)
    check_number("The number of folds", folds, whole=True, least=2, such_as=5)
    return goal, float(least)


def candidates(evidence: FloorEvidence) -> Floats:
    """The floors to look at, from the lowest up: scores that occur."""
    scores = np.unique(evidence.result_score)
    if scores.size > MOST_FLOORS:
        scores = np.unique(
            np.quantile(scores, np.linspace(0, 1, MOST_FLOORS), method="closest_observation")
        )
    return scores


def choose(
    evidence: FloorEvidence,
    among: Bools,
    floors: Floats,
    goal: Goal,
    least: float,
    confidence: float,
) -> float | None:
    """The last floor, from the lowest up, that keeps enough of the queries in question."""

    def keeps_enough(floor: float) -> bool:
        kept = KeptResults.of(evidence, floor, goal, among)
        return kept.values.size > 0 and kept.lowest(confidence) >= least

    # No query keeps more under a higher floor, so the first failure is found by halves.
    held, failed = 0, floors.size
    while held < failed:
        middle = (held + failed) // 2
        held, failed = (middle + 1, failed) if keeps_enough(floors[middle]) else (held, middle)
    return float(floors[held - 1]) if held else None


def _guess(
    evidence: FloorEvidence, floors: Floats, goal: Goal, least: float, safe: float | None
) -> float | None:
    """The highest floor that loses at most half of what may be lost, in these queries."""
    now = KeptResults.of(evidence, EVERYTHING, goal).mean
    enough = [
        floor
        for floor in floors.tolist()
        if KeptResults.of(evidence, floor, goal).mean >= 0.5 * (now + least) - 1e-12
        and now >= least
    ]
    known = [*enough, *([] if safe is None else [safe])]
    return max(known, default=None)


def point(evidence: FloorEvidence, floor: float | Floats, shown: float | None = None) -> FloorPoint:
    """Every value under one floor, or under a floor for each query."""
    each = np.broadcast_to(np.asarray(floor, dtype=np.float64), evidence.n_queries)
    if isinstance(floor, float) and floor > EVERYTHING:
        shown = floor
    returned, answerable = evidence.returned(each), evidence.wanted > 0
    useful = evidence.returned(each, evidence.useful)
    return FloorPoint(
        floor=shown,
        precision=_share(useful.sum(), returned.sum()),
        recall=_mean(kept_values(evidence, each, "recall")),
        kept=_mean(kept_values(evidence, each, "keep")),
        wrongly_answered=_mean((returned[~answerable] > 0).astype(np.float64)),
        wrongly_refused=_mean((returned[answerable] == 0).astype(np.float64)),
        results=float(returned.mean()),
    )


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def _held_out(
    evidence: FloorEvidence,
    floors: Floats,
    goal: Goal,
    least: float,
    confidence: float,
    folds: int,
    seed: int,
) -> HeldOut | None:
    units = np.arange(evidence.n_queries)
    if evidence.clusters is not None:
        units = np.unique(evidence.clusters, return_inverse=True)[1]
    n = int(units.max()) + 1
    if n < 2 * folds:
        return None
    # Paraphrases in another fold would not be other queries.
    fold = folds_of(n, folds, seed)[units]
    chosen = [choose(evidence, fold != i, floors, goal, least, confidence) for i in range(folds)]
    each = np.array([EVERYTHING if one is None else one for one in chosen])[fold]
    values = kept_values(evidence, each, goal)
    return HeldOut(
        folds,
        tuple(chosen),
        point(evidence, each),
        mean_interval(values, confidence, clusters=evidence.clusters),
    )


def folds_of(n: int, folds: int, seed: int) -> Ints:
    """Which part each of n queries is in; the parts are as large as one another, or nearly."""
    parts: Ints = np.random.default_rng(seed).permutation(n) % folds
    return parts


def _some(floors: Floats, *named: float | None) -> Sequence[float]:
    """A few floors spread over all, those that are named among them."""
    if not floors.size:
        return ()
    at = np.unique(np.linspace(0, floors.size - 1, SHOWN).round().astype(int))
    return sorted({*floors[at].tolist(), *(one for one in named if one is not None)})


def _notes(found: Floor, evidence: FloorEvidence) -> list[str]:
    lines = []
    if found.chosen is None:
        lines.append(_why_none(found, evidence))
    if not found.unanswerable:
        lines.append(
            "Every query has an answer, so how often a question without one would be answered is "
            "not known; add queries with an empty ground truth."
        )
    if found.held_out is None:
        lines.append("There are too few queries to try a floor on queries that did not choose it.")
    elif None in found.held_out.floors and found.chosen is not None:
        lines.append(
            "Without some of the queries no floor can be promised; those were measured without one."
        )
    return lines


def _why_none(found: Floor, evidence: FloorEvidence) -> str:
    n = KeptResults.of(evidence, EVERYTHING, found.goal).values.size
    needed = math.ceil(math.log(1 - found.confidence) / math.log(found.least))
    if found.goal == "recall" and (found.without.recall or 0) < found.least:
        return (
            f"No floor can be promised: without a floor the recall is {found.without.recall:.3f}, "
            f"below the {found.least:g} that was asked for."
        )
    if n < needed:
        return (
            f"No floor can be promised: {n} queries say too little, and at least {needed} are "
            f"needed to promise {found.least:g} with {found.confidence:.0%} confidence."
        )
    return (
        f"No floor can be promised to keep {found.least:g} with {found.confidence:.0%} "
        "confidence: even the lowest loses too much for so few queries."
    )
