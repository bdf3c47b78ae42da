"""The shapes that scores and differences of scores take."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


@dataclass(frozen=True)
class Shape:
    """How values are drawn, and their true mean."""

    name: str
    draw: Draw
    mean: float
    share: bool = False
    """Only 0 and 1: discrete, so that coverage cannot be even."""


def choice(values: list[float], shares: list[float]) -> Draw:
    """Values with their shares."""
    ends = np.cumsum(shares)
    return lambda rng, size: np.array(values)[np.searchsorted(ends, rng.random(size) * ends[-1])]


def share_of(p: float) -> Shape:
    return Shape(f"share {p:g}", lambda rng, size: (rng.random(size) < p) * 1.0, p, share=True)


def zero_inflated(zeros: float, a: float, b: float) -> Draw:
    return lambda rng, size: np.where(rng.random(size) < zeros, 0.0, rng.beta(a, b, size))


_RANKS = np.arange(1, 200)

VALUES = [
    share_of(0.5),
    share_of(0.8),
    share_of(0.95),
    share_of(0.05),
    share_of(0.99),
    Shape("even (beta 2, 5)", lambda rng, size: rng.beta(2, 5, size), 2 / 7),
    Shape("two ends (beta ½, ½)", lambda rng, size: rng.beta(0.5, 0.5, size), 0.5),
    Shape("nDCG, 40% zeros", zero_inflated(0.4, 5, 2), 0.6 * 5 / 7),
    Shape("nDCG, 80% zeros", zero_inflated(0.8, 3, 3), 0.1),
    Shape("recall near 1", choice([1, 0.5, 2 / 3, 0], [0.9, 0.05, 0.03, 0.02]), 0.945),
    Shape("thirds", choice([0, 1 / 3, 2 / 3, 1], [0.1, 0.2, 0.3, 0.4]), 2 / 3),
    Shape(
        "reciprocal ranks",
        lambda rng, size: 1.0 / rng.geometric(0.5, size),
        float((0.5**_RANKS / _RANKS).sum()),
    ),
    Shape("skewed (beta 0.3, 3)", lambda rng, size: rng.beta(0.3, 3, size), 0.3 / 3.3),
    Shape("narrow (beta 200, 50)", lambda rng, size: rng.beta(200, 50, size), 0.8),
]


def three(loss: float, gain: float, down: float, up: float) -> Draw:
    """A loss, a gain or nothing."""
    return choice([-down, up, 0.0], [loss, gain, 1.0 - loss - gain])


def gamma(shape: float, scale: float) -> Draw:
    """Skewed by 2 / sqrt(shape), with mean 0."""
    return lambda rng, size: (rng.gamma(shape, 1.0, size) - shape) * scale


def rare_noise(share: float, loss: float) -> Draw:
    """Rare large losses, small noise otherwise, with mean 0."""
    up = share * loss / (1.0 - share)
    return lambda rng, size: np.where(
        rng.random(size) < share, -loss, rng.normal(0.0, 0.05, size) + up
    )


def jumps(share: float, size: float) -> Draw:
    """Some move far, either way, the others hardly."""
    return lambda rng, shape: np.where(
        rng.random(shape) < share, rng.choice([-size, size], shape), rng.normal(0.0, 0.05, shape)
    )


SYMMETRIC = [
    Shape("normal", lambda rng, size: rng.normal(0.0, 0.2, size), 0.0),
    Shape("long tails (t, 3)", lambda rng, size: 0.1 * rng.standard_t(3, size), 0.0),
    Shape("10% move by ±½, others noise", jumps(0.1, 0.5), 0.0),
    Shape("even", lambda rng, size: rng.uniform(-0.3, 0.3, size), 0.0),
    Shape("80% ties, ±1", three(0.1, 0.1, 1.0, 1.0), 0.0),
    Shape("90% ties, ±1", three(0.05, 0.05, 1.0, 1.0), 0.0),
    Shape("halves, 60% ties", choice([-1, -0.5, 0, 0.5, 1], [0.05, 0.15, 0.6, 0.15, 0.05]), 0.0),
]
SKEWED = [
    Shape("skewness 1", gamma(4.0, 0.1), 0.0),
    Shape("skewness −1", lambda rng, size: -gamma(4.0, 0.1)(rng, size), 0.0),
    Shape("skewness 1.4", gamma(2.0, 0.1), 0.0),
    Shape("skewness −2", lambda rng, size: -gamma(1.0, 0.1)(rng, size), 0.0),
    Shape("70% ties, −½ or +¼", three(0.1, 0.2, 0.5, 0.25), 0.0),
    Shape(
        "half ties, skewed",
        lambda rng, size: np.where(rng.random(size) < 0.5, 0.0, rng.gamma(4.0, 0.05, size) - 0.2),
        0.0,
    ),
]
RARE = [
    Shape("10% lose 0.45, others gain 0.05", three(0.1, 0.9, 0.45, 0.05), 0.0),
    Shape("5% lose 0.475, others gain 0.025", three(0.05, 0.95, 0.475, 0.025), 0.0),
    Shape("3% lose 0.97, others gain 0.03", three(0.03, 0.97, 0.97, 0.03), 0.0),
    Shape("5% lose 0.5, others noise", rare_noise(0.05, 0.5), 0.0),
    Shape("3% lose 0.7, others noise", rare_noise(0.03, 0.7), 0.0),
]
