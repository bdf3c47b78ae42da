"""Held-out slices, nights, ranks, judges, clusters, pilots and families (see `held_out.py`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simulations.held_out import (
    EFFECTS,
    RARE_SCORES,
    Generator,
    among,
    ranked,
    real,
    several_targets,
    third_zeros_fifth_ones,
)
from simulations.shapes import Draw, Floats, choice

# Slices of one distribution

SLICE_SCORES: dict[str, Draw] = {
    "hits, 0.8": lambda rng, size: (rng.random(size) < 0.8) * 1.0,
    "AP, skewed (beta ½, 1½)": lambda rng, size: rng.beta(0.5, 1.5, size),
    "nDCG, ⅓ at 0, ⅕ at 1": third_zeros_fifth_ones,
    "recall of 1 to 4 targets": several_targets,
    "2% at 0, others near 0.9": RARE_SCORES[0].draw,
    "3% at 0, others near 0.6": RARE_SCORES[1].draw,
    "real: claims, bm25 ndcg@10": among(real("claims", "bm25", "ndcg@10")),
    "real: claims, dense ndcg@10": among(real("claims", "dense", "ndcg@10")),
}
SLICE_SIZES: dict[str, tuple[int, ...]] = {
    "5 × 20": (20,) * 5,
    "8 × 12": (12,) * 8,
    "8, 20, 60, 150": (8, 20, 60, 150),
    "2 × 40": (40, 40),
}
FALLEN_SLICE = "one of 5 × 20 hits falls from 0.9 to 0.3"
UNEQUAL_SPREADS: dict[str, tuple[int, int]] = {
    "12 hits beside 80 scores near ½": (12, 80),
    "40 hits beside 40 scores near ½": (40, 40),
    "80 hits beside 12 scores near ½": (80, 12),
}
"""Two slices with the same mean, of which the first spreads more: how many queries each has."""


def unequal_spreads(rng: Generator, wide: int, narrow: int) -> Floats:
    return np.concatenate([(rng.random(wide) < 0.5) * 1.0, rng.beta(40.0, 40.0, narrow)])


# Nights: a row per night, and what each night is truly worth


@dataclass(frozen=True, eq=False)
class Nights:
    """Values by night and query, and the mean that each night has over all such queries."""

    values: Floats
    truth: Floats


def _chances(rng: Generator, n: int) -> Floats:
    """Queries that are always found, never, or sometimes (a fifth)."""
    kind = rng.random(n)
    return np.where(kind < 0.65, 1.0, np.where(kind < 0.8, 0.0, rng.uniform(0.2, 0.8, n)))


_CHANCES = 0.65 + 0.2 * 0.5


def _steady(values: Floats, mean: float) -> Nights:
    return Nights(values, np.full(len(values), mean))


def independent_hits(rng: Generator, count: int, n: int) -> Nights:
    return _steady((rng.random((count, n)) < _chances(rng, n)) * 1.0, _CHANCES)


def independent_ndcg(rng: Generator, count: int, n: int) -> Nights:
    """nDCG that a reranker shakes in a quarter of the queries of every night."""
    level = np.where(rng.random(n) < 0.25, 0.0, rng.beta(6, 2, n))
    shaken = rng.random((count, n)) < 0.25
    factor = np.where(shaken, rng.choice([0.5, 0.63, 1.0], (count, n)), 1.0)
    return _steady(level * factor, 0.75 * 0.75 * (0.75 + 0.25 * (0.5 + 0.63 + 1) / 3))


def _sticky(stays: float) -> Callable[[Generator, int, int], Nights]:
    def draw(rng: Generator, count: int, n: int) -> Nights:
        values = (rng.random((count, n)) < _chances(rng, n)) * 1.0
        same = rng.random((count, n)) < stays
        for night in range(1, count):
            values[night] = np.where(same[night], values[night - 1], values[night])
        return _steady(values, _CHANCES)

    return draw


def _rebuilt(every: int) -> Callable[[Generator, int, int], Nights]:
    """An index that stays as it was built, and a tenth of the queries undecided every night."""

    def draw(rng: Generator, count: int, n: int) -> Nights:
        builds = (rng.random((count // every + 1, n)) < _chances(rng, n)) * 1.0
        values = builds[np.arange(count) // every]
        noisy = rng.random(n) < 0.1
        values[:, noisy] = rng.random((count, int(noisy.sum()))) < 0.6
        return _steady(values, 0.9 * _CHANCES + 0.1 * 0.6)

    return draw


def _with_effect(size: float) -> Callable[[Generator, int, int], Nights]:
    """What a night has in common for all queries, half of which stays for the next (ρ = .5)."""

    def draw(rng: Generator, count: int, n: int) -> Nights:
        effect = np.zeros(count)
        for night in range(1, count):
            effect[night] = 0.5 * effect[night - 1] + rng.normal(0.0, size * np.sqrt(0.75))
        chance = np.clip(rng.choice([0.2, 0.5, 0.9], n) + effect[:, None], 0.0, 1.0)
        truth = np.clip(np.array([0.2, 0.5, 0.9]) + effect[:, None], 0.0, 1.0).mean(axis=1)
        return Nights((rng.random((count, n)) < chance) * 1.0, truth)

    return draw


def identical(rng: Generator, count: int, n: int) -> Nights:
    return _steady(np.tile((rng.random(n) < 0.8) * 1.0, (count, 1)), 0.8)


NIGHTS: dict[str, Callable[[Generator, int, int], Nights]] = {
    "independent, hits": independent_hits,
    "independent, nDCG": independent_ndcg,
    "sticky queries, 0.5": _sticky(0.5),
    "sticky queries, 0.95": _sticky(0.95),
    "rebuilt weekly": _rebuilt(7),
    "nights with an effect of 0.01, ρ = .5": _with_effect(0.01),
    "nights with an effect of 0.03, ρ = .5": _with_effect(0.03),
    "identical": identical,
}


# Ranks of targets, for the k of a sweep

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


# Judges: a machine's labels beside people's, for five results of each query


def judged(kind: str, rng: Generator, n: int) -> tuple[Floats, Floats]:
    """What people and the machine call relevant: a row per query, a column per result."""
    share = np.clip(rng.beta(2, 2, n), 0.02, 0.98)[:, None]
    people = rng.random((n, 5)) < share
    luck = rng.random((n, 5))
    wrong_yes, wrong_no = JUDGES[kind]
    machine = np.where(people, luck >= wrong_no, luck < wrong_yes)
    return people, machine


JUDGES: dict[str, tuple[float, float]] = {
    "errs both ways, 0.15": (0.15, 0.15),
    "errs both ways, 0.05": (0.05, 0.05),
    "too generous only, 0.2": (0.2, 0.0),
    "too generous only, 0.04": (0.04, 0.0),
    "too strict only, 0.15": (0.0, 0.15),
    "too strict only, 0.03": (0.0, 0.03),
}
"""How often it says yes to what is not relevant, and no to what is."""
JUDGED_QUERIES = 200
SAMPLES = (20, 40, 100)


# Two retrievers, judged by a machine: fixed later than the shapes above, with a seed of their own

PAIRS_SEED = 26_031_107
POOL, FIRST = 9, 5
"""Results that are judged for a query, and how many of them a metric looks at."""


@dataclass(frozen=True)
class PairJudge:
    """How often a machine calls relevant what is not, misses what is, and invents for one side."""

    wrong_yes: float = 0.0
    wrong_no: float = 0.0
    invents: float = 0.0
    """Among what only the second retriever shows: it then looks better than it is."""


PAIR_JUDGES: dict[str, PairJudge] = {
    "errs both ways, 0.1": PairJudge(0.1, 0.1),
    "too generous only, 0.12": PairJudge(wrong_yes=0.12),
    "too strict only, 0.06": PairJudge(wrong_no=0.06),
    "generous to the second retriever, 0.2": PairJudge(invents=0.2),
}
PAIR_SAMPLES = ((20, 150), (50, 150), (50, 400), (120, 400))
"""Queries that people judged, and all queries."""


def judged_pairs(kind: str, rng: Generator, n: int) -> tuple[Floats, Floats]:
    """What people and the machine call relevant: query, retriever, result in order, all judged."""
    judge = PAIR_JUDGES[kind]
    people = rng.random((n, POOL)) < rng.beta(1.2, 1.6, n)[:, None] * np.linspace(0.9, 0.3, POOL)
    # The second ranks half of the queries anew, and knows a little of what is relevant.
    anew = np.argsort(-(0.35 * people + rng.random((n, POOL))), axis=1)
    second = np.where((rng.random(n) < 0.5)[:, None], anew, np.arange(POOL))
    place = np.argsort(second, axis=1)
    only_second = (place < FIRST) & (np.arange(POOL) >= FIRST)
    luck = rng.random((n, POOL))
    wrong_yes = np.where(only_second, np.maximum(judge.invents, judge.wrong_yes), judge.wrong_yes)
    machine = np.where(people, luck >= judge.wrong_no, luck < wrong_yes)
    both = [np.stack([one, np.take_along_axis(one, second, 1)], 1) for one in (people, machine)]
    return both[0], both[1]


def first_five_ndcg(labels: Floats) -> Floats:
    gains = 1.0 / np.log2(np.arange(2, FIRST + 2))
    best = np.append(0.0, np.cumsum(gains))[np.minimum(labels.sum(axis=-1), FIRST)]
    return np.asarray((labels[..., :FIRST] * gains).sum(axis=-1) / np.where(best > 0, best, 1.0))


PAIR_METRICS: dict[str, Callable[[Floats], Floats]] = {
    "hits in two": lambda labels: np.asarray(labels[..., :2].any(axis=-1) * 1.0),
    "recall@5": lambda labels: (
        labels[..., :FIRST].sum(axis=-1) / np.maximum(labels.sum(axis=-1), 1)
    ),
    "nDCG@5": first_five_ndcg,
}


# Clusters: sizes of each

CLUSTERS: dict[str, tuple[int, ...]] = {
    "12 × 6": (6,) * 12,
    "30 × 3": (3,) * 30,
    "1 to 12": tuple(range(1, 13)) * 2,
    "one of 30 among 15 pairs": (30, *(2,) * 15),
    "one of 40 among 40 single queries": (40, *(1,) * 40),
}
CLUSTER_SCORES: dict[str, tuple[float, float]] = {
    "alike within (beta 0.8, 0.4)": (0.8, 0.4),
    "partly alike (beta 3, 2)": (3.0, 2.0),
}
"""The rate of hits of each cluster."""


def clustered_hits(kind: str, sizes: Sequence[int], rng: Generator) -> tuple[Floats, Floats]:
    """Hits, and the cluster of each query."""
    names = np.repeat(np.arange(len(sizes)), sizes)
    rates = rng.beta(*CLUSTER_SCORES[kind], len(sizes))[names]
    return (rng.random(len(names)) < rates) * 1.0, names


# Pilots of a plan


@dataclass(frozen=True)
class PilotShape:
    """Differences in the pilot, those to be shown later, and the mean that is planned for."""

    pilot: Draw
    later: Draw
    difference: float


def _hits_and_order(gained: float, lost: float) -> Draw:
    """Recall and nDCG of one target: what is found or lost, and a fifth that is ranked anew."""

    def draw(rng: Generator, size: tuple[int, ...]) -> Floats:
        moved = choice([1, -1, 0], [gained, lost, 1 - gained - lost])(rng, size)
        worth, other = (1.0 / np.log2(1.0 + rng.geometric(0.4, size)) for _ in range(2))
        again = np.where(rng.random(size) < 0.2, other - worth, 0.0)
        return np.stack([moved, np.where(moved != 0, moved * worth, again)], axis=-1)

    return draw


PILOTS: dict[str, PilotShape] = {
    "hits, where order decides as well": PilotShape(
        _hits_and_order(0.11, 0.11), _hits_and_order(0.17, 0.05), 0.12
    ),
    "hits: 10% each way, then 16% and 6%": PilotShape(
        choice([1, -1, 0], [0.10, 0.10, 0.80]), choice([1, -1, 0], [0.16, 0.06, 0.78]), 0.10
    ),
    "nDCG: normal, +0.06": PilotShape(
        lambda rng, size: rng.normal(0.0, 0.2, size),
        lambda rng, size: rng.normal(0.06, 0.2, size),
        0.06,
    ),
    "a third moves, ±0.3": PilotShape(
        choice([0.3, -0.3, 0], [1 / 6, 1 / 6, 2 / 3]),
        choice([0.3, -0.3, 0], [1 / 4, 1 / 12, 2 / 3]),
        0.05,
    ),
    "real: claims, hybrid over dense": PilotShape(
        EFFECTS["real: claims, hybrid over dense"],
        EFFECTS["real: claims, hybrid over dense"],
        float((real("claims", "hybrid", "ndcg@10") - real("claims", "dense", "ndcg@10")).mean()),
    ),
}
PILOT_SIZES = (30, 60, 150)


# Families: everything that one command marks, where nothing differs


def equal_systems(rng: Generator, systems: int, n: int) -> Floats:
    """Systems by queries by (recall@10, ndcg@10): all find each query equally often."""
    rate = rng.beta(3.0, 1.2, n)
    return np.stack([ranked(rng.random(n) < rate, rng.geometric(0.5, n)) for _ in range(systems)])


FAMILIES: dict[str, tuple[int, int]] = {
    "2 systems, 40 queries": (2, 40),
    "4 systems, 60 queries": (4, 60),
    "6 systems, 25 queries": (6, 25),
}
FAMILY_TAGS: dict[str, int] = {"type": 3, "language": 4}
"""Tags that have nothing to do with the scores, and how many values each has."""
