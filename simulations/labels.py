"""Machine labels corrected by people, and the agreement of judges."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from calipers.labels.agreement import cohen_kappa
from calipers.statistics.agreement_interval import agreement_interval
from calipers.statistics.prediction_powered import AgainstPeople, corrected_mean, corrected_share
from calipers.statistics.score_interval import Ends
from simulations.rates import Rate
from simulations.shapes import Floats


def machine_and_people(kind: str, n: int, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    people: Floats
    if kind == "close to people":
        people = rng.beta(4, 2, n)
        return np.clip(people + rng.normal(0.05, 0.1, n), 0, 1), people, 2 / 3
    if kind == "recall near 1":
        people = np.where(rng.random(n) < 0.9, 1.0, 0.5)
        return np.where(rng.random(n) < 0.85, people, rng.choice([0.5, 1.0], n)), people, 0.95
    if kind == "right or wrong":
        people = (rng.random(n) < 0.3) * 1.0
        return np.where(rng.random(n) < 0.85, people, 1 - people), people, 0.3
    people = (rng.random(n) < 0.6) * 1.0
    return rng.random(n), people, 0.6


def corrected(draws: int, seed: int = 10) -> Iterator[Rate]:
    """Coverage of the corrected mean; a test holds `calipers.corrected` to the same ends."""
    for kind in ("close to people", "recall near 1", "right or wrong", "of no use"):
        for sampled, n in ((10, 200), (20, 200), (50, 500), (100, 1000), (100, 200)):
            rng = np.random.default_rng([seed, n, sampled])
            held = 0
            for _ in range(draws):
                machine, people, mean = machine_and_people(kind, n, rng)
                people[sampled:] = np.nan
                low, high = corrected_mean(machine, people).interval
                held += low <= mean <= high
            yield Rate(kind, f"{sampled} of {n:,}", held / draws, draws, 0.93, 1.0)


def corrected_shares(draws: int, seed: int = 11) -> Iterator[Rate]:
    """Coverage of Rogan and Gladen's share: 1,000 machine labels, people's for each side."""
    for share, right, left in ((0.3, 0.9, 0.8), (0.05, 0.9, 0.95), (0.6, 0.8, 0.7)):
        for judged in (20, 50, 100):
            rng = np.random.default_rng([seed, judged])
            held = 0
            for _ in range(draws):
                seen = rng.binomial(1000, share * right + (1 - share) * (1 - left))
                yes, no = rng.binomial(judged, right), rng.binomial(judged, left)
                found = corrected_share(
                    int(seen), 1000, AgainstPeople(yes, judged - yes, judged - no, no)
                )
                held += found is not None and found[1].low <= share <= found[1].high
            name = f"share {share}, sensitivity {right}, specificity {left}"
            yield Rate(name, f"{judged} of each side", held / draws, draws, 0.93, 1.0)


# How often two judges give which grades: rows are those of the first.
JUDGES = {
    "kappa 0.40, grades even": [[0.4, 0.1], [0.2, 0.3]],
    "kappa 0.80, grades even": [[0.45, 0.05], [0.05, 0.45]],
    "kappa 0.96, grades even": [[0.49, 0.01], [0.01, 0.49]],
    "kappa 0, chance alone": [[0.25, 0.25], [0.25, 0.25]],
    "kappa 0.59, one grade rare": [[0.05, 0.03], [0.03, 0.89]],
    "kappa 0.17, one grade rare": [[0.02, 0.08], [0.05, 0.85]],
    "kappa 0.62, three grades": [[0.30, 0.05, 0.02], [0.05, 0.20, 0.05], [0.01, 0.07, 0.25]],
    "kappa 0.63, two of three rare": [[0.80, 0.03, 0.01], [0.03, 0.06, 0.02], [0.005, 0.01, 0.035]],
}


AGREED = (5, 10, 20, 50, 100, 300)


def agreement(draws: int, numbers: Sequence[int] = AGREED, seed: int = 15) -> Iterator[Rate]:
    """Coverage of the interval of Cohen's kappa, where there is a kappa."""
    for name, shares in JUDGES.items():
        table = np.array(shares) / np.sum(shares)
        chance = float(table.sum(axis=0) @ table.sum(axis=1))
        kappa = (float(np.trace(table)) - chance) / (1.0 - chance)
        for n in numbers:
            rng = np.random.default_rng([seed, n])
            counts = rng.multinomial(n, table.ravel(), draws)
            ends = [_kappa_ends(tuple(one), len(table)) for one in counts.tolist()]
            known = [one for one in ends if one is not None]
            held = sum(low <= kappa <= high for low, high in known)
            yield Rate(name, n, held / len(known), len(known), 0.93, 1.0)


@lru_cache(maxsize=100_000)
def _kappa_ends(counts: tuple[int, ...], grades: int) -> Ends | None:
    cells = [(i, j) for i in range(grades) for j in range(grades)]
    table = np.repeat(np.array(cells, dtype=np.float64), counts, axis=0)
    return agreement_interval(table, lambda some: cohen_kappa(some).value)
