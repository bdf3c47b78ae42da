"""Shapes of scores and of differences, drawn or real, that no rule was tuned on.

All shapes here and beside the sections, and their seeds, were fixed before the rules were run on
them. They are not changed when a rule breaks its promise on one of them: the page then says so.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 25_071_601
REAL_SCORES = Path(__file__).parent / "real_scores.csv"
"""What `calipers eval --per-query` gave for the three retrievers of the demo, on its questions
("demo") and on the test claims of SciFact in BEIR's form ("claims"): scores, and no text."""
Floats = NDArray[Any]
Generator = np.random.Generator
Draw = Callable[[Generator, tuple[int, ...]], Floats]


@dataclass(frozen=True)
class Shape:
    """How values are drawn, and their true mean."""

    name: str
    draw: Draw
    mean: float = 0.0
    share: bool = False
    """Only 0 and 1: discrete, so that coverage cannot be even."""


def choice(values: list[float], shares: list[float]) -> Draw:
    """Values with their shares."""
    ends = np.cumsum(shares)
    known = np.array(values, dtype=np.float64)
    return lambda rng, size: known[np.searchsorted(ends, rng.random(size) * ends[-1])]


def hits(share: float) -> Draw:
    """1 with a share, else 0."""
    return lambda rng, size: (rng.random(size) < share) * 1.0


def among(values: Floats) -> Draw:
    """Values of a real sample, as if it were the whole population."""
    return lambda rng, size: values[rng.integers(0, len(values), size)]


@cache
def real(collection: str, system: str, metric: str) -> Floats:
    """Scores of a system on a collection, in the same order of queries for every system."""
    with REAL_SCORES.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["collection"] == collection]
    return np.array([float(row[f"{system} {metric}"]) for row in rows])


TARGETS = np.array([1, 1, 1, 2, 3, 4])


def several_targets(rng: Generator, size: tuple[int, ...]) -> Floats:
    """Recall of one to four targets, each found with a rate of the query's own (mean 0.7)."""
    wanted = rng.choice(TARGETS, size)
    return rng.binomial(wanted, rng.beta(3.5, 1.5, size)) / wanted


def third_zeros_fifth_ones(rng: Generator, size: tuple[int, ...]) -> Floats:
    kind = rng.random(size)
    return np.where(kind < 1 / 3, 0.0, np.where(kind < 8 / 15, 1.0, rng.beta(3, 3, size)))


def ranked(found: Floats, rank: Floats) -> Floats:
    """Recall and nDCG of one target, by whether it was found and at which rank."""
    return np.column_stack([found * 1.0, found / np.log2(1.0 + rank)])
