"""The k that is called safe, the best guess, and floors under scores."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from calipers.questions.recall_advice import CONFIDENCE, MARGIN, advise_recall, usual_cutoffs
from calipers.questions.sweep.floor import EVERYTHING, KEEP, FloorEvidence, candidates, choose
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


def kept_by(kind: str) -> Callable[[float], float]:
    """The share that a floor keeps of what all queries of a kind find, counted apart."""
    everything = queries(kind, REFERENCE, np.random.default_rng(99))
    found = np.isfinite(everything.target_score)
    of, score = everything.target_query[found], everything.target_score[found]
    per_query = np.bincount(of, minlength=REFERENCE)
    order = np.argsort(score)
    weights = (1.0 / per_query[of] / np.count_nonzero(per_query))[order]
    left = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    return lambda floor: float(left[np.searchsorted(score[order], floor)])


def broken_promises(
    draws: int, numbers: Sequence[int] = (60, 100, 300), seed: int = 12
) -> Iterator[Rate]:
    """How often a floor is advised that keeps less than was asked for."""
    for kind in KINDS:
        kept = kept_by(kind)
        for n in numbers:
            rng = np.random.default_rng([seed, n])
            broken = 0
            for _ in range(draws):
                some = queries(kind, n, rng)
                floor = choose(some, candidates(some), KEEP, CONFIDENCE)
                broken += floor is not None and kept(floor) < KEEP
            yield Rate(f"{kind}, keep {KEEP:g}", n, broken / draws, draws, highest=1 - CONFIDENCE)
