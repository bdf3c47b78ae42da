"""Numbers of queries that are planned: whether that many show the difference."""

from collections.abc import Iterator, Sequence

import numpy as np

import calipers
from simulations.differences import ALPHA, rejected
from simulations.held_out import SEED
from simulations.held_out_cases import PILOT_SIZES, PILOTS
from simulations.rates import Rate
from simulations.results import pair_of
from simulations.shapes import Floats

TRIED = 48
MOST = 1000
"""Queries of a comparison that is tried; what needs more is cut, and shows less."""


def planned(draws: int, numbers: Sequence[int] = PILOT_SIZES) -> Iterator[Rate]:
    """How often the number of queries that `plan` gives shows the difference it was asked for."""
    for name, shape in PILOTS.items():
        for n in numbers:
            rng = np.random.default_rng([SEED, 17, n])
            shown = []
            for _ in range(draws):
                pilot = np.clip(shape.pilot(rng, (n,)), -1.0, 1.0)
                if np.count_nonzero(pilot) >= 2 and np.ptp(pilot):
                    found = calipers.plan(pair_of(pilot), difference=shape.difference)
                    shown.append(_shown(shape.later(rng, (TRIED, min(found.queries, MOST)))))
            yield Rate(name, f"{n}, mean", float(np.mean(shown)), 10 * len(shown), 0.72)
            worst = float(np.quantile(shown, 0.1))
            yield Rate(name, f"{n}, worst tenth", worst, 10 * len(shown))


def _shown(values: Floats) -> float:
    return float(rejected(np.clip(values, -1.0, 1.0), ALPHA)[1].mean())
