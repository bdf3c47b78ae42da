"""False alarms a year, and how soon a slow decline is found."""

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.questions.alarm.rule import watch
from calipers.statistics.drift import drift
from simulations.rates import Rate
from simulations.shapes import Floats

YEAR = 365
NOISES = (
    "no noise",
    "one query in a hundred thousand runs",
    "one query in 200",
    "a fifth undecided",
    "recall near 1",
    "small noise",
    "nDCG, a tenth shaken",
    "thirds",
    "noise of whole nights",
)


def nights(noise: str, count: int, n: int, rng: np.random.Generator) -> Floats:
    """One row per night, the same queries each night."""
    size = (count, n)
    sure = (rng.random(n) < 0.75) * 1.0
    if noise == "no noise":
        return np.tile(sure, (count, 1))
    if noise == "one query in a hundred thousand runs":
        return np.abs(sure - (rng.random(size) < 1e-5))
    if noise == "one query in 200":
        return np.abs(sure - (rng.random(size) < 0.005))
    if noise == "a fifth undecided":
        return np.where(rng.random(n) < 0.2, rng.random(size) < 0.5, sure) * 1.0
    if noise == "recall near 1":
        return (rng.random(size) < np.where(rng.random(n) < 0.9, 0.99, 0.5)) * 1.0
    if noise == "nDCG, a tenth shaken":
        hard = np.where(rng.random(n) < 0.3, 0.0, rng.beta(5, 2, n))
        return np.where(rng.random(size) < 0.1, hard * rng.random(size), hard)
    if noise == "thirds":
        return rng.integers(0, 4, size) / 3.0
    hard = rng.beta(4, 2, n)
    whole = rng.normal(0, 0.02, (count, 1)) if noise == "noise of whole nights" else 0.0
    return np.clip(hard + rng.normal(0, 0.05, size) + whole, 0.0, 1.0)


def false_alarms(
    years: int,
    numbers: Sequence[int] = (20, 50, 200, 1000),
    reference_nights: int = 7,
    noises: Sequence[str] = NOISES,
    seed: int = 12,
) -> Iterator[Rate]:
    """Alarms in a year like the reference, with a budget of one; each starts the sum again."""
    for noise in noises:
        for n in numbers:
            some = max(min(years, 40), min(years, years * 50 // n))
            rng = np.random.default_rng([seed, n])
            alarms = 0
            for _ in range(some):
                values = nights(noise, reference_nights + YEAR, n, rng)
                seen = watch(values, reference_nights, 1.0)
                while seen.alarm is not None:
                    alarms += 1
                    seen = drift(seen.means[seen.alarm + 1 :], seen.reference)
            yield Rate(noise, n, alarms / some, some, highest=2.0)


def slow_decline(draws: int, seed: int = 13) -> Iterator[Rate]:
    """A loss of 0.10 over 100 nights: how often found, after how many nights, and since when."""
    n = 50
    for noise in NOISES:
        rng = np.random.default_rng(seed)
        after, since = [], []
        for _ in range(draws):
            values = nights(noise, 107, n, rng)
            values[7:] -= 0.001 * np.arange(1, 101)[:, np.newaxis]
            found = watch(values, 7, 1.0)
            if found.alarm is not None and found.since is not None:
                after.append(found.alarm + 1)
                since.append(found.since + 1)
        yield Rate(noise, "found", len(after) / draws, draws, 0.8, 1.0)
        yield Rate(noise, "after nights", float(np.median(after)), draws)
        yield Rate(noise, "said to begin at night", float(np.median(since)), draws)
