"""A sample of queries judged by people: shapes that no rule was tuned on, and what is counted.

Shapes and seed were fixed before the rule was run on them. A judge errs on the label of one result,
one way only or both ways; what follows for the metric of a query is computed, not assumed.
"""

from collections.abc import Callable, Iterator

import numpy as np

from calipers.statistics.corrected_test import corrected_difference
from calipers.statistics.prediction_powered import corrected_mean
from calipers.statistics.score_interval import score_interval
from simulations.rates import Rate
from simulations.shapes import Floats

SEED = 25_111_606
POPULATION = 60_000
SHOWN = 6
"""Results whose labels a metric looks at."""
POOLED = 12
"""Results that are judged for each query."""
SIZES = ((20, 200), (30, 1000), (50, 200), (100, 1000))
ERRORS = (0.02, 0.08, 0.25)
WAYS: dict[str, tuple[float, float]] = {
    "invents": (1.0, 0.0),
    "misses": (0.0, 1.0),
    "both ways": (1.0, 1.0),
}
"""Whether it calls relevant what is not, and the other way round."""


def relevant(rng: np.random.Generator, hard: float) -> Floats:
    """What people find relevant: likelier in front, and likelier for easy queries."""
    ease = rng.beta(hard, 1.5, POPULATION)[:, None]
    return rng.random((POPULATION, POOLED)) < ease * 0.8 / np.sqrt(np.arange(1, POOLED + 1))


def said(rng: np.random.Generator, people: Floats, way: str, error: float) -> Floats:
    """What the machine says of the same."""
    invents, misses = WAYS[way]
    wrong = rng.random(people.shape) < error * np.where(people, misses, invents)
    return np.asarray(people ^ wrong)


def hit(labels: Floats) -> Floats:
    return np.asarray(labels[:, :2].any(axis=1) * 1.0)


def recall(labels: Floats) -> Floats:
    return labels[:, :SHOWN].sum(axis=1) / np.maximum(labels.sum(axis=1), 1)


def precision(labels: Floats) -> Floats:
    return np.asarray(labels[:, :SHOWN].mean(axis=1))


def ndcg(labels: Floats) -> Floats:
    gains = 1.0 / np.log2(np.arange(2, POOLED + 2))
    best = np.append(0.0, np.cumsum(gains[:SHOWN]))[np.minimum(labels.sum(axis=1), SHOWN)]
    return (labels[:, :SHOWN] * gains[:SHOWN]).sum(axis=1) / np.where(best > 0, best, 1.0)


METRICS: dict[str, tuple[float, Callable[[Floats], Floats]]] = {
    "hits near 0.8": (2.5, hit),
    "hits near 0.4": (0.6, hit),
    "recall": (1.5, recall),
    "precision": (1.5, precision),
    "nDCG": (2.0, ndcg),
}


def corrected_means(
    draws: int, metrics: tuple[str, ...] = tuple(METRICS), seed: int = SEED
) -> Iterator[Rate]:
    """Coverage of `corrected_mean` for each metric, way and rate of errors."""
    for (name, way, error, (n, size)), rng in _cells(metrics, seed):
        hard, metric = METRICS[name]
        people = relevant(rng, hard)
        machine = metric(said(rng, people, way, error))
        values = metric(people)
        mean, held = values.mean(), 0
        for _ in range(draws):
            some = rng.integers(0, POPULATION, size)
            low, high = corrected_mean(machine[some], _sampled(values[some], n)).interval
            held += low <= mean <= high
        yield Rate(f"{name}, {way} {error:.2g}", f"{n} of {size:,}", held / draws, draws, 0.93)


def corrected_differences(
    draws: int, metrics: tuple[str, ...] = ("hits near 0.8", "nDCG"), seed: int = SEED + 1
) -> Iterator[Rate]:
    """The same for `corrected_difference`: another ranking swaps neighbours of some queries."""
    for (name, way, error, (n, size)), rng in _cells(metrics, seed):
        hard, metric = METRICS[name]
        people = relevant(rng, hard)
        labels = said(rng, people, way, error)
        moved = rng.random(POPULATION) < 0.4
        order = np.tile(np.arange(POOLED), (POPULATION, 1))
        order[moved] = rng.permuted(order[moved], axis=1)
        machine, values = (
            metric(np.take_along_axis(one, order, axis=1)) - metric(one) for one in (labels, people)
        )
        mean, held = values.mean(), 0
        for _ in range(draws):
            some = rng.integers(0, POPULATION, size)
            low, high = corrected_difference(machine[some], _sampled(values[some], n)).interval()
            held += low <= mean <= high
        yield Rate(f"{name}, {way} {error:.2g}", f"{n} of {size:,}", held / draws, draws, 0.93)


def widths(draws: int, seed: int = SEED + 2) -> Iterator[Rate]:
    """The width of the corrected interval of hits over that of people's sample alone."""
    for (name, way, error, (n, size)), rng in _cells(("hits near 0.8",), seed):
        hard, metric = METRICS[name]
        people = relevant(rng, hard)
        machine, values = metric(said(rng, people, way, error)), metric(people)
        wide = alone = 0.0
        for _ in range(draws):
            some = rng.integers(0, POPULATION, size)
            judged = _sampled(values[some], n)
            low, high = corrected_mean(machine[some], judged).interval
            wide += high - low
            ends = score_interval(judged)
            alone += ends.high - ends.low if ends else 1.0
        highest = 1.0 if error < 0.1 else 1.1
        yield Rate(f"{way} {error:.2g}", f"{n} of {size:,}", wide / alone, draws, 0.0, highest)


def _cells(
    metrics: tuple[str, ...], seed: int
) -> Iterator[tuple[tuple[str, str, float, tuple[int, int]], np.random.Generator]]:
    cells = [
        (name, way, error, sizes)
        for name in metrics
        for way in WAYS
        for error in ERRORS
        for sizes in SIZES
    ]
    for number, cell in enumerate(cells):
        yield cell, np.random.default_rng([seed, number])


def _sampled(values: Floats, n: int) -> Floats:
    """People's values for the first of the queries, which are in random order."""
    judged = np.full(len(values), np.nan)
    judged[:n] = values[:n]
    return judged
