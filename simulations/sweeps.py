"""The k that is called safe, the best guess, and floors under scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from calipers.questions.sweep.floor import (
    EVERYTHING,
    FloorEvidence,
    candidates,
    choose,
    floor_of,
    folds_of,
)
from calipers.questions.sweep.floor_answer import Floor, FloorGoal, Goal, HeldOut
from calipers.questions.sweep.rule import CONFIDENCE, MARGIN, advise_recall, usual_cutoffs
from simulations.rates import Rate
from simulations.shapes import SEED, Draw, Floats, Generator

DEPTH = 20
NOWHERE = DEPTH + 79


def _two_depths(rng: Generator, size: tuple[int, ...]) -> Floats:
    deep = rng.random(size) < 0.12
    return np.where(deep, rng.integers(2, DEPTH + 1, size), 1)


def _hump(rng: Generator, size: tuple[int, ...]) -> Floats:
    ranks = 1 + rng.binomial(19, 0.3, size)
    return np.where(rng.random(size) < 0.1, NOWHERE, ranks)


def _geometric(rng: Generator, size: tuple[int, ...]) -> Floats:
    ranks = rng.geometric(0.3, size)
    return np.where((rng.random(size) < 0.05) | (ranks > DEPTH), NOWHERE, ranks)


TARGET_RANKS: dict[str, tuple[Draw, int]] = {
    "one target, geometric": (_geometric, 1),
    "one target, first or deep": (_two_depths, 1),
    "one target, around the seventh": (_hump, 1),
    "three targets, geometric": (_geometric, 3),
    "three targets, first or deep": (_two_depths, 3),
}
"""How deep each target of a query stands, and how many a query has."""

ALL = 400_000
"""Queries that stand for all of their kind."""


def recall_at(ks: Sequence[int], draw: Draw, targets: int, n: int, rng: Generator) -> Floats:
    """Recall per query (rows) at each k (columns)."""
    ranks = draw(rng, (n, targets))
    return np.stack([(ranks <= k).mean(axis=1) for k in ks], axis=1)


def which_k(draws: int, numbers: Sequence[int] = (20, 40, 80, 200, 600)) -> Iterator[Rate]:
    """How often a k loses more than the margin that is called safe, or the best guess."""
    ks = usual_cutoffs(DEPTH)
    for name, (draw, targets) in TARGET_RANKS.items():
        known = recall_at(ks, draw, targets, ALL // targets, np.random.default_rng([SEED, 11]))
        lost = dict(zip(ks, (known[:, -1:] - known).mean(axis=0).tolist(), strict=True))
        smallest = min(k for k in ks if lost[k] <= MARGIN)
        for n in numbers:
            rng = np.random.default_rng([SEED, 12, n])
            found = [
                advise_recall(ks, recall_at(ks, draw, targets, n, rng), MARGIN, CONFIDENCE)
                for _ in range(draws)
            ]
            safe = float(np.mean([lost[one.safe_k] > MARGIN for one in found]))
            guess = float(np.mean([lost[one.best_guess] > MARGIN for one in found]))
            yield Rate(f"{name}: called safe", n, safe, draws, highest=0.05)
            yield Rate(f"{name}: best guess", n, guess, draws)
            wider = float(np.mean([one.safe_k / smallest for one in found]))
            yield Rate(f"{name}: safe k over the smallest that would do", n, wider, draws)


# Floors

KEPT_WITH = 0.95
LEAST: dict[Goal, float] = {"keep": 0.95, "recall": 0.8}


def _goal(goal: Goal) -> FloorGoal:
    return FloorGoal(goal, LEAST[goal], KEPT_WITH)


RESULTS = 5
"""Results of each query that hold no target."""
REFERENCE = 40_000
"""Queries that stand for all of their kind."""


def _beta(a: float, b: float) -> Draw:
    return lambda rng, size: rng.beta(a, b, size)


def _rounded(draw: Draw) -> Draw:
    return lambda rng, size: np.round(draw(rng, size), 1)


def _low_tail(rng: Generator, size: tuple[int, ...]) -> Floats:
    low = rng.random(size) < 0.06
    return np.where(low, rng.uniform(0.0, 0.1, size), rng.beta(8, 2, size))


# How targets are scored, and how everything else is.
KINDS: dict[str, tuple[Draw, Draw]] = {
    "well apart": (_beta(8, 2), _beta(2, 8)),
    "overlapping": (_beta(5, 3), _beta(3, 5)),
    "of no use": (_beta(4, 4), _beta(4, 4)),
    "eleven values": (_rounded(_beta(5, 3)), _rounded(_beta(3, 5))),
    "low tail": (_low_tail, _beta(2, 8)),
}


def queries(kind: str, n: int, rng: Generator) -> FloorEvidence:
    """Queries of a kind: a quarter have no answer, and one target in ten is not returned."""
    target, other = KINDS[kind]
    wanted = np.where(rng.random(n) < 0.25, 0, rng.integers(1, 4, n))
    of = np.repeat(np.arange(n), wanted)
    # Half of the queries have one score for all their targets: these live and die together.
    score = np.where((rng.random(n) < 0.5)[of], target(rng, (n,))[of], target(rng, (of.size,)))
    score[rng.random(of.size) < 0.1] = EVERYTHING
    found = np.isfinite(score)
    beside = np.repeat(np.arange(n), RESULTS)
    return FloorEvidence(
        wanted,
        of,
        score,
        np.concatenate([of[found], beside]),
        np.concatenate([score[found], other(rng, (beside.size,))]),
        np.arange(found.sum() + beside.size) < found.sum(),
    )


@dataclass(frozen=True)
class Steps:
    """A share that falls as the floor rises: of each score, how much hangs on it."""

    score: Floats
    left: Floats
    """What is left under a floor at each score, and nothing behind the last."""

    @classmethod
    def of(cls, score: Floats, weight: Floats) -> "Steps":
        order = np.argsort(score)
        below = np.concatenate([[0.0], np.cumsum(weight[order])])
        return cls(score[order], below[-1] - below)

    def at(self, floor: float) -> float:
        return float(self.left[np.searchsorted(self.score, floor)])


@dataclass(frozen=True)
class Truth:
    """What floors do to all queries of a kind, counted apart from the library."""

    keep: Steps
    recall: Steps
    answered: Steps
    """Of the queries without an answer."""
    served: Steps
    """Of the queries with an answer."""
    held: Steps
    """Of the queries that find something without a floor."""

    @classmethod
    def of(cls, kind: str) -> "Truth":
        all_ = queries(kind, REFERENCE, np.random.default_rng(99))
        found = np.isfinite(all_.target_score)
        of, score = all_.target_query[found], all_.target_score[found]
        per_query = np.bincount(of, minlength=REFERENCE)
        best, hit = np.full(REFERENCE, EVERYTHING), np.full(REFERENCE, EVERYTHING)
        np.maximum.at(best, all_.result_query, all_.result_score)
        np.maximum.at(hit, of, score)
        answerable, finds = all_.wanted > 0, per_query > 0
        return cls(
            Steps.of(score, 1.0 / per_query[of] / finds.sum()),
            Steps.of(score, 1.0 / all_.wanted[of] / answerable.sum()),
            *(
                Steps.of(top[which], np.full(which.sum(), 1.0 / which.sum()))
                for top, which in ((best, ~answerable), (best, answerable), (hit, finds))
            ),
        )


def broken_promises(
    draws: int, numbers: Sequence[int] = (60, 100, 300), seed: int = 12
) -> Iterator[Rate]:
    """How often a floor is advised that keeps less than was asked for."""
    for kind in KINDS:
        truth = Truth.of(kind)
        for goal in get_args(Goal):
            kept: Steps = getattr(truth, goal)
            for n in numbers:
                rng = np.random.default_rng([seed, n])
                broken = 0
                for _ in range(draws):
                    some = queries(kind, n, rng)
                    everyone = np.ones(n, dtype=np.bool_)
                    floor = choose(some, everyone, candidates(some), _goal(goal))
                    broken += floor is not None and kept.at(floor) < LEAST[goal]
                name = f"{kind}, {goal} {LEAST[goal]:g}"
                yield Rate(name, n, broken / draws, draws, highest=1 - KEPT_WITH)


def shares(draws: int, numbers: Sequence[int] = (100, 300), seed: int = 13) -> Iterator[Rate]:
    """Wrongly answered and wrongly refused: what is true, and how far off what is shown is."""
    for kind in KINDS:
        truth = Truth.of(kind)
        for n in numbers:
            rng = np.random.default_rng([seed, n])
            true, off = [], []
            for _ in range(draws):
                some = queries(kind, n, rng)
                found = floor_of(some, RESULTS, _goal("keep"))
                true.append(_true(truth, found))
                if found.held_out is not None:
                    off.append(_shown(found.held_out) - _expected(truth, some, found.held_out))
            answered, refused, lost = np.mean(true, axis=0)
            yield Rate(f"{kind}: wrongly answered", n, answered, draws)
            yield Rate(f"{kind}: wrongly refused", n, refused, draws)
            yield Rate(f"{kind}: lose all they found", n, lost, draws, highest=0.05)
            error = np.abs(np.mean(off, axis=0))
            yield Rate(f"{kind}: answered, shown off by", n, error[0], draws, highest=0.01)
            yield Rate(f"{kind}: refused, shown off by", n, error[1], draws, highest=0.01)


def _true(truth: Truth, found: Floor) -> tuple[float, float, float]:
    floor = _floor(found.chosen.floor if found.chosen else None)
    refused, lost = (max(0.0, 1 - one.at(floor)) for one in (truth.served, truth.held))
    return truth.answered.at(floor), refused, lost


def _shown(held_out: HeldOut) -> Floats:
    return np.array([held_out.point.wrongly_answered, held_out.point.wrongly_refused])


def _expected(truth: Truth, some: FloorEvidence, held_out: HeldOut) -> Floats:
    """What is true of these queries, each under the floor of its fold."""
    floors = [_floor(one) for one in held_out.floors]
    true = np.array([[truth.answered.at(one), 1 - truth.served.at(one)] for one in floors])
    each, answerable = true[folds_of(some.n_queries)], some.wanted > 0
    return np.array([each[~answerable, 0].mean(), each[answerable, 1].mean()])


def _floor(floor: float | None) -> float:
    return EVERYTHING if floor is None else floor
