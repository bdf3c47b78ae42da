"""False alarms a year, and how soon a loss is heard, with the looks that the alarm takes."""

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.statistics.drift import first_quiet, looks
from simulations.rates import Rate
from simulations.shapes import Floats

YEAR = 365
REFERENCE = 7
ALLOW = 0.02
LEVEL = 1.0 / YEAR
NOISES = (
    "no noise",
    "one query in a hundred thousand runs",
    "one query in 200",
    "a fifth undecided",
    "recall near 1",
    "small noise",
    "nDCG, a tenth shaken",
    "thirds",
)
DEPENDENT = (
    "sticky queries, 0.5",
    "sticky queries, 0.95",
    "rebuilt weekly",
    "rebuilt weekly, and noise of nights",
    "rebuilt weekly, nDCG",
    "rebuilt every 30 nights",
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
    if noise.startswith("sticky"):
        return np.where(rng.random(n) < 0.2, _sticky(size, float(noise.split()[-1]), rng), sure)
    if noise.startswith("rebuilt"):
        return _rebuilt(noise, size, rng)
    hard = rng.beta(4, 2, n)
    return np.clip(hard + rng.normal(0, 0.05, size), 0.0, 1.0)


def _sticky(size: tuple[int, int], stays: float, rng: np.random.Generator) -> Floats:
    """Each query is found or not as the night before, or drawn anew."""
    found = (rng.random(size) < 0.5) * 1.0
    same = rng.random(size) < stays
    for night in range(1, size[0]):
        found[night] = np.where(same[night], found[night - 1], found[night])
    return found


def _rebuilt(noise: str, size: tuple[int, int], rng: np.random.Generator) -> Floats:
    """An index that stays as it was built for some nights."""
    count, n = size
    stays = 30 if noise.endswith("30 nights") else 7
    builds = nights(
        "nDCG, a tenth shaken" if "nDCG" in noise else "a fifth undecided", count, n, rng
    )
    values = builds[np.arange(count) // stays]
    if noise.endswith("noise of nights"):
        values = np.abs(values - (rng.random(size) < 0.01))
    return values


def rung(values: Floats) -> list[int]:
    """The nights that ring, as they would one after the other."""

    def doubtful(reference: Sequence[int], night: int) -> bool:
        return any(look.doubtful for look in looks(values, reference, [night], ALLOW, LEVEL)[0])

    reference = first_quiet(doubtful, len(values) + 1, REFERENCE)
    after = range(reference[-1] + 1, len(values))
    found = looks(values, reference, after, ALLOW, LEVEL)
    return [at for at, one in zip(after, found, strict=True) if any(x.rings for x in one)]


def false_alarms(
    years: int,
    numbers: Sequence[int] = (20, 50, 200, 1000),
    noises: Sequence[str] = NOISES + DEPENDENT,
    seed: int = 2512,
) -> Iterator[Rate]:
    """Nights that ring in a year like the reference, with a budget of one."""
    for noise in noises:
        for n in numbers:
            rng = np.random.default_rng([seed, n])
            some = max(min(years, 10), min(years, years * 50 // n))
            alarms = sum(len(rung(nights(noise, REFERENCE + YEAR, n, rng))) for _ in range(some))
            yield Rate(noise, n, alarms / some, some, highest=2.0)


def heard(
    draws: int,
    hows: Sequence[str] = ("for good", "by chance"),
    longest: int = 60,
    seed: int = 2513,
) -> Iterator[Rate]:
    """How often a loss of some of 200 queries is heard in time, after seven nights or more."""
    cases = (
        ("no noise", 0.035, 1, 1.0),
        ("a fifth undecided", 0.28, 1, 0.99),
        ("a fifth undecided", 0.10, 1, 0.0),
        ("a fifth undecided", 0.10, 7, 0.9),
        ("a fifth undecided", 0.05, 60, 0.6),
        ("recall near 1", 0.05, 60, 0.6),
        ("nDCG, a tenth shaken", 0.05, 60, 0.6),
        ("sticky queries, 0.95", 0.28, 1, 0.9),
        ("rebuilt weekly", 0.28, 1, 0.9),
    )
    for how in hows:
        for noise, loss, within, lowest in (case for case in cases if case[2] <= longest):
            rng = np.random.default_rng([seed, within])
            found = 0
            for _ in range(draws):
                values = nights(noise, 30 + within, 200, rng)
                lose(values[30:], loss, how, rng)
                found += any(night >= 30 for night in rung(values))
            label = f"{loss:g} of {noise}, {how}"
            yield Rate(label, f"within {within}", found / draws, draws, lowest, 1.0)


def lose(values: Floats, loss: float, how: str, rng: np.random.Generator) -> None:
    """Take so much from the mean: the same queries each night, or others each night."""
    level = float(values.mean())
    if how == "for good":
        found = np.flatnonzero(values.mean(axis=0) > 0.4)
        rng.shuffle(found)
        for query in found:
            if level - float(values.mean()) >= loss - 1e-9:
                break
            values[:, query] = 0.0
    else:
        values[rng.random(values.shape) < loss / level] = 0.0
