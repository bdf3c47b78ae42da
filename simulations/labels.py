"""Machine labels corrected by people, people who stop when they know enough, and agreement."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from calipers.statistics.agreement_interval import agreement_interval
from calipers.statistics.prediction_powered import (
    CorrectedMean,
    DrawnSample,
    corrected_mean,
    planned_looks,
)
from calipers.statistics.score_interval import Ends
from simulations.rates import Rate
from simulations.shapes import SEED, Floats, Generator

# A machine's labels beside people's, for five results of each query


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
    """Coverage of the interval of Krippendorff's alpha, where there is an alpha."""
    for name, shares in TWO_JUDGES.items():
        table = np.array(shares) / np.sum(shares)
        both = (table + table.T) / 2.0
        used = both.sum(axis=0)
        middle = np.cumsum(used) - used / 2.0
        apart = np.subtract.outer(middle, middle) ** 2
        alpha = 1.0 - float((both * apart).sum() / (np.outer(used, used) * apart).sum())
        for n in numbers:
            rng = np.random.default_rng([seed, n])
            counts = rng.multinomial(n, table.ravel(), draws)
            ends = [_alpha_ends(tuple(one), len(table)) for one in counts.tolist()]
            known = [one for one in ends if one is not None]
            held = sum(low <= alpha <= high for low, high in known)
            yield Rate(name, n, held / len(known), len(known), 0.93)


@lru_cache(maxsize=100_000)
def _alpha_ends(counts: tuple[int, ...], grades: int) -> Ends | None:
    cells = [(i, j) for i in range(grades) for j in range(grades)]
    table = np.repeat(np.array(cells, dtype=np.float64), counts, axis=0)
    return agreement_interval(np.sort(table, axis=1))


# People judge a drawn sample and stop. A judge errs on the label of one result, one way only or
# both ways; what follows for the metric of a query is computed, not assumed.

STOPPED_SEED = 28_111_610
ERRING = (("invents", 0.03), ("misses", 0.12), ("both ways", 0.06), ("both ways", 0.3))
QUERIES = (150, 900)
MOST = 300
UNTIL = (0.12, 0.08)
"""To either side. What cannot be reached ends when everything is judged."""
FIXED = 100
POPULATION = 60_000
SHOWN = 6
"""Results whose labels a metric looks at."""
POOLED = 12
"""Results that are judged for each query."""
WAYS: dict[str, tuple[float, float]] = {
    "invents": (1.0, 0.0),
    "misses": (0.0, 1.0),
    "both ways": (1.0, 1.0),
}
"""Whether it calls relevant what is not, and the other way round."""


def relevant(rng: Generator, hard: float) -> Floats:
    """What people find relevant: likelier in front, and likelier for easy queries."""
    ease = rng.beta(hard, 1.5, POPULATION)[:, None]
    return rng.random((POPULATION, POOLED)) < ease * 0.8 / np.sqrt(np.arange(1, POOLED + 1))


def said(rng: Generator, people: Floats, way: str, error: float) -> Floats:
    """What the machine says of the same."""
    invents, misses = WAYS[way]
    wrong = rng.random(people.shape) < error * np.where(people, misses, invents)
    return np.asarray(people ^ wrong)


def recall(labels: Floats) -> Floats:
    return labels[:, :SHOWN].sum(axis=1) / np.maximum(labels.sum(axis=1), 1)


def ndcg(labels: Floats) -> Floats:
    gains = 1.0 / np.log2(np.arange(2, POOLED + 2))
    best = np.append(0.0, np.cumsum(gains[:SHOWN]))[np.minimum(labels.sum(axis=1), SHOWN)]
    return (labels[:, :SHOWN] * gains[:SHOWN]).sum(axis=1) / np.where(best > 0, best, 1.0)


MEASURED: dict[str, tuple[float, Callable[[Floats], Floats]]] = {
    "hits near 0.8": (2.5, METRICS["hits"]),
    "recall": (1.5, recall),
    "nDCG": (2.0, ndcg),
}
"""How hard the queries are, and the metric."""


def stopped(draws: int, seed: int = STOPPED_SEED) -> Iterator[Rate]:
    """How often the interval holds the truth, by when people stop."""
    for name, size, machine, values, rng in _cells(seed):
        mean = float(values.mean())
        held: dict[str, int] = {}
        for _ in range(draws):
            some = rng.integers(0, POPULATION, size)
            for until in UNTIL:
                stopped, all_looks = _held(machine[some], values[some], until, mean)
                for rule, good in ((f"at ±{until}", stopped), ("at the worst look", all_looks)):
                    held[rule] = held.get(rule, 0) + good
        for rule, count in held.items():
            of = draws * (len(UNTIL) if rule == "at the worst look" else 1)
            yield Rate(f"{name}, {size} queries", rule, count / of, of, 0.93)


def labels_needed(draws: int, seed: int = STOPPED_SEED + 1) -> Iterator[Rate]:
    """How many queries people judge until the interval is as wide as a fixed 100 would give."""
    for name, size, machine, values, rng in _cells(seed):
        numbers: dict[str, float] = {}
        for _ in range(draws):
            some = rng.integers(0, POPULATION, size)
            mine, people = machine[some], values[some]
            fixed = DrawnSample(mine, people, size, (FIXED,)).width(FIXED) or 1.0
            now = {f"±{until}": float(_number(mine, people, until)) for until in UNTIL}
            now |= {"a fixed 100 gives ±": fixed, "for the same": _number(mine, people, fixed)}
            numbers = {rule: numbers.get(rule, 0.0) + one for rule, one in now.items()}
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


def _held(mine: Floats, people: Floats, until: float, mean: float) -> tuple[bool, bool]:
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


def _cells(seed: int) -> Iterator[tuple[str, int, Floats, Floats, Generator]]:
    cells = [(name, judge, size) for name in MEASURED for judge in ERRING for size in QUERIES]
    for number, (name, (way, error), size) in enumerate(cells):
        rng = np.random.default_rng([seed, number])
        hard, metric = MEASURED[name]
        people = relevant(rng, hard)
        machine, values = metric(said(rng, people, way, error)), metric(people)
        yield f"{name}, {way} {error:.2g}", size, machine, values, rng
