"""People judge a drawn sample and stop: shapes that no rule was tuned on, and what is counted.

Shapes and seed were fixed before the rule was run on them. Queries are those of `judged_samples`,
with other judges and other numbers.
"""

from collections.abc import Iterator

import numpy as np

from calipers.statistics.drawn_sample import DrawnSample, planned_looks
from calipers.statistics.prediction_powered import CorrectedMean
from simulations.judged_samples import METRICS, POPULATION, relevant, said
from simulations.rates import Rate
from simulations.shapes import Floats

SEED = 28_111_610
MEASURED = ("hits near 0.8", "recall", "nDCG")
JUDGES = (("invents", 0.03), ("misses", 0.12), ("both ways", 0.06), ("both ways", 0.3))
QUERIES = (150, 900)
MOST = 300
UNTIL = (0.12, 0.08)
"""To either side. What cannot be reached ends when everything is judged."""
FIXED = 100


def coverage(draws: int, seed: int = SEED) -> Iterator[Rate]:
    """How often the interval holds the truth, by when people stop."""
    for name, size, machine, values, rng in _cells(seed):
        mean = float(values.mean())
        held: dict[str, int] = {}
        for _ in range(draws):
            some = rng.integers(0, POPULATION, size)
            for until in UNTIL:
                stopped, all_looks = _stopped(machine[some], values[some], until, mean)
                for rule, good in ((f"at ±{until}", stopped), ("at the worst look", all_looks)):
                    held[rule] = held.get(rule, 0) + good
        for rule, count in held.items():
            of = draws * (len(UNTIL) if rule == "at the worst look" else 1)
            yield Rate(f"{name}, {size} queries", rule, count / of, of, 0.93)


def labels(draws: int, seed: int = SEED + 1) -> Iterator[Rate]:
    """How many queries people judge until the interval is as wide as a fixed 100 would give."""
    for name, size, machine, values, rng in _cells(seed):
        numbers: dict[str, float] = {}
        for _ in range(draws):
            some = rng.integers(0, POPULATION, size)
            mine, people = machine[some], values[some]
            for until in UNTIL:
                rule = f"±{until}"
                numbers[rule] = numbers.get(rule, 0.0) + _number(mine, people, until)
            fixed = DrawnSample(mine, people, size, (FIXED,)).width(FIXED) or 1.0
            numbers["a fixed 100 gives ±"] = numbers.get("a fixed 100 gives ±", 0.0) + fixed
            once = _number(mine, people, fixed)
            numbers["for the same"] = numbers.get("for the same", 0.0) + once
        for rule, total in numbers.items():
            yield Rate(f"{name}, {size} queries", rule, total / draws, draws)


def _looked(
    mine: Floats, people: Floats, until: float
) -> Iterator[tuple[int, CorrectedMean, bool]]:
    """Each look, what it says, and whether that is narrow enough to stop."""
    looks, _ = planned_looks(mine, until, min(len(mine), MOST))
    for look in looks:
        known = np.where(np.arange(len(people)) < look, people, np.nan)
        found = DrawnSample(mine, known, look, looks).at(look)
        if found is not None:
            yield look, found, found.interval.high - found.interval.low <= 2.0 * until


def _stopped(mine: Floats, people: Floats, until: float, mean: float) -> tuple[bool, bool]:
    """Whether the interval holds the truth where people stop, and whether it does at every look."""
    stopped = None
    good = every = True
    for _, found, narrow in _looked(mine, people, until):
        good = found.interval.low <= mean <= found.interval.high
        every = every and good
        if narrow and stopped is None:
            stopped = good
    return good if stopped is None else stopped, every


def _number(mine: Floats, people: Floats, until: float) -> int:
    look = 0
    for look, _, narrow in _looked(mine, people, until):
        if narrow:
            return look
    return look


def _cells(seed: int) -> Iterator[tuple[str, int, Floats, Floats, np.random.Generator]]:
    cells = [(name, judge, size) for name in MEASURED for judge in JUDGES for size in QUERIES]
    for number, (name, (way, error), size) in enumerate(cells):
        rng = np.random.default_rng([seed, number])
        hard, metric = METRICS[name]
        people = relevant(rng, hard)
        machine, values = metric(said(rng, people, way, error)), metric(people)
        yield f"{name}, {way} {error:.2g}", size, machine, values, rng
