"""Machine labels corrected by people, and the agreement of judges."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from calipers.labels.agreement import cohen_kappa
from calipers.statistics.agreement_interval import agreement_interval
from calipers.statistics.corrected_test import corrected_differences as corrected_tests
from calipers.statistics.prediction_powered import corrected_mean
from calipers.statistics.score_interval import Ends
from simulations.differences import AT_ONCE
from simulations.held_out import SEED
from simulations.held_out_cases import (
    JUDGED_QUERIES,
    JUDGES,
    PAIR_JUDGES,
    PAIR_METRICS,
    PAIR_SAMPLES,
    PAIRS_SEED,
    SAMPLES,
    judged,
    judged_pairs,
)
from simulations.rates import Rate
from simulations.shapes import Floats

ALL = 200_000
"""Queries that stand for all of their kind."""
METRICS: dict[str, Callable[[Floats], Floats]] = {
    "precision@5": lambda labels: np.asarray(labels.mean(axis=1)),
    "hits": lambda labels: np.asarray(labels[:, :2].any(axis=1) * 1.0),
}


def corrected(
    draws: int, kinds: Sequence[str] = tuple(JUDGES), samples: Sequence[int] = SAMPLES
) -> Iterator[Rate]:
    """Coverage of the corrected mean; a test holds `calipers.corrected` to the same ends."""
    for kind in kinds:
        for name, metric in METRICS.items():
            mean = float(metric(judged(kind, np.random.default_rng([SEED, 18]), 400_000)[0]).mean())
            for sampled in samples:
                rng = np.random.default_rng([SEED, 19, sampled])
                held = 0
                for _ in range(draws):
                    people, machine = map(metric, judged(kind, rng, JUDGED_QUERIES))
                    people[sampled:] = np.nan
                    low, high = corrected_mean(machine, people).interval
                    held += low <= mean <= high
                column = f"{sampled} of {JUDGED_QUERIES}"
                yield Rate(f"{kind}, {name}", column, held / draws, draws, 0.93)


def corrected_differences(
    draws: int, samples: Sequence[tuple[int, int]] = PAIR_SAMPLES
) -> Iterator[Rate]:
    """Coverage of the corrected difference of two retrievers; `compare` has the same ends."""
    # What people say does not depend on the machine.
    people, _ = judged_pairs(next(iter(PAIR_JUDGES)), np.random.default_rng([PAIRS_SEED, 0]), ALL)
    for kind in PAIR_JUDGES:
        for name, metric in PAIR_METRICS.items():
            mean = float(np.diff(metric(people)).mean())
            for sampled, n in samples:
                rng = np.random.default_rng([PAIRS_SEED, sampled, n])
                columns = []
                for _ in range(draws):
                    both = judged_pairs(kind, rng, n)
                    mine, machine = (np.diff(metric(one))[:, 0] for one in both)
                    mine[sampled:] = np.nan
                    columns.append((machine, mine))
                held = 0
                for start in range(0, draws, AT_ONCE):
                    for test in corrected_tests(columns[start : start + AT_ONCE]):
                        low, high = test.interval()
                        held += low <= mean <= high
                yield Rate(f"{kind}, {name}", f"{sampled} of {n}", held / draws, draws, 0.93)


# How often two judges give which grades: rows are those of the first.
TWO_JUDGES = {
    "kappa 0.40, grades even": [[0.4, 0.1], [0.2, 0.3]],
    "kappa 0.80, grades even": [[0.45, 0.05], [0.05, 0.45]],
    "kappa 0.96, grades even": [[0.49, 0.01], [0.01, 0.49]],
    "kappa 0, chance alone": [[0.25, 0.25], [0.25, 0.25]],
    "kappa 0.59, one grade rare": [[0.05, 0.03], [0.03, 0.89]],
    "kappa 0.17, one grade rare": [[0.02, 0.08], [0.05, 0.85]],
    "kappa 0.62, three grades": [[0.30, 0.05, 0.02], [0.05, 0.20, 0.05], [0.01, 0.07, 0.25]],
    "kappa 0.63, two of three rare": [[0.80, 0.03, 0.01], [0.03, 0.06, 0.02], [0.005, 0.01, 0.035]],
}


AGREED = (10, 20, 50, 100)


def agreement(draws: int, numbers: Sequence[int] = AGREED, seed: int = 15) -> Iterator[Rate]:
    """Coverage of the interval of Cohen's kappa, where there is a kappa."""
    for name, shares in TWO_JUDGES.items():
        table = np.array(shares) / np.sum(shares)
        chance = float(table.sum(axis=0) @ table.sum(axis=1))
        kappa = (float(np.trace(table)) - chance) / (1.0 - chance)
        for n in numbers:
            rng = np.random.default_rng([seed, n])
            counts = rng.multinomial(n, table.ravel(), draws)
            ends = [_kappa_ends(tuple(one), len(table)) for one in counts.tolist()]
            known = [one for one in ends if one is not None]
            held = sum(low <= kappa <= high for low, high in known)
            yield Rate(name, n, held / len(known), len(known), 0.93)


@lru_cache(maxsize=100_000)
def _kappa_ends(counts: tuple[int, ...], grades: int) -> Ends | None:
    cells = [(i, j) for i in range(grades) for j in range(grades)]
    table = np.repeat(np.array(cells, dtype=np.float64), counts, axis=0)
    return agreement_interval(table, lambda some: cohen_kappa(some).value)
