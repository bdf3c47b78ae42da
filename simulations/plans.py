"""Numbers of queries that are planned: whether that many show the difference."""

from collections.abc import Iterator, Sequence

import numpy as np

import calipers
from simulations.differences import ALPHA, rejected
from simulations.held_out import SEED
from simulations.held_out_cases import PILOT_SIZES, PILOTS
from simulations.rates import Rate
from simulations.results import pair_of
from simulations.shapes import Draw, Floats

NUMBERS = (6, 12, 24, 48, 96, 192, 384, 768)
"""Queries for which the power is simulated; between them it is read off a line."""
PROMISED = 0.72


def planned(
    draws: int, numbers: Sequence[int] = PILOT_SIZES, shapes: Sequence[str] = tuple(PILOTS)
) -> Iterator[Rate]:
    """How often the number of queries that `plan` gives shows the difference it was asked for."""
    for name in shapes:
        shape = PILOTS[name]
        powers = _powers(shape.later, 3 * draws)
        for n in numbers:
            rng = np.random.default_rng([SEED, 17, n])
            pilots = (np.clip(shape.pilot(rng, (n,)), -1.0, 1.0) for _ in range(draws))
            plans = [
                calipers.plan(pair_of(pilot), difference=shape.difference)
                for pilot in pilots
                if np.count_nonzero(pilot) >= 2 and np.ptp(pilot)
            ]
            reached = np.interp([np.log(one.queries) for one in plans], np.log(NUMBERS), powers)
            ends = [np.log(one.high or one.queries) for one in plans]
            at_end = np.interp(ends, np.log(NUMBERS), powers)
            # The power of a plan is a share already, which varies less than a yes or no.
            tried = 10 * len(plans)
            yield Rate(name, f"{n}, mean", float(reached.mean()), tried, PROMISED)
            yield Rate(name, f"{n}, worst tenth", float(np.quantile(reached, 0.1)), tried)
            worst = float(np.quantile(at_end, 0.1))
            yield Rate(name, f"{n}, with the range's end", worst, tried, PROMISED)


def _powers(draw: Draw, samples: int) -> Floats:
    """How often so many queries show the difference, for each of the numbers."""
    rng = np.random.default_rng([SEED, 20])
    return np.array(
        [rejected(np.clip(draw(rng, (samples, n)), -1.0, 1.0), ALPHA)[1].mean() for n in NUMBERS]
    )
