"""Numbers of queries that are planned: whether that many show the difference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import calipers
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_to_detect import FEWEST_CHANGED
from simulations.differences import ALPHA, EFFECTS, rejected
from simulations.rates import Rate
from simulations.results import pair_of
from simulations.shapes import SEED, Draw, Floats, Generator, choice, real

NUMBERS = (6, 12, 24, 48, 96, 192, 384, 768)
"""Queries for which the power is simulated; between them it is read off a line."""
PROMISED = 0.72


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
                if np.count_nonzero(_first(pilot)) >= FEWEST_CHANGED and np.ptp(_first(pilot))
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
    return np.array([_shown(np.clip(draw(rng, (samples, n)), -1.0, 1.0)) for n in NUMBERS])


def _shown(values: Floats) -> float:
    """How often a gain is shown in the first metric; a second one is tested with it."""
    if values.ndim == 2:
        return float(rejected(values, ALPHA)[1].mean())
    return float(np.mean([paired_rows(list(one.T))[0].standing == "better" for one in values]))


def _first(pilot: Floats) -> Floats:
    """The differences in the metric that leads."""
    return pilot if pilot.ndim == 1 else pilot[:, 0]
