"""The k that is called safe, the best guess, and marks on slices."""

from collections.abc import Iterator, Sequence

import numpy as np

import calipers
from calipers.questions.sweep.enough_k import CONFIDENCE, MARGIN, enough_k
from calipers.questions.sweep.rule import usual_cutoffs
from simulations.held_out import SEED
from simulations.held_out_cases import (
    DEPTH,
    FALLEN_SLICE,
    SLICE_SCORES,
    SLICE_SIZES,
    TARGET_RANKS,
    UNEQUAL_SPREADS,
    unequal_spreads,
)
from simulations.rates import Rate
from simulations.results import result
from simulations.shapes import Draw, Floats

ALL = 400_000
"""Queries that stand for all of their kind."""


def recall_at(
    ks: Sequence[int], draw: Draw, targets: int, n: int, rng: np.random.Generator
) -> Floats:
    """Recall per query (rows) at each k (columns)."""
    ranks = draw(rng, (n, targets))
    return np.stack([(ranks <= k).mean(axis=1) for k in ks], axis=1)


def which_k(draws: int, numbers: Sequence[int] = (20, 40, 80, 200, 600)) -> Iterator[Rate]:
    """How often a k loses more than the margin that is called safe, or the best guess."""
    ks = usual_cutoffs(DEPTH)
    for name, (draw, targets) in TARGET_RANKS.items():
        known = recall_at(ks, draw, targets, ALL // targets, np.random.default_rng([SEED, 11]))
        lost = dict(zip(ks, (known[:, -1:] - known).mean(axis=0).tolist(), strict=True))
        smallest = min(k for k in ks if lost[k] <= MARGIN)
        for n in numbers:
            rng = np.random.default_rng([SEED, 12, n])
            found = [
                enough_k(ks, recall_at(ks, draw, targets, n, rng), MARGIN, CONFIDENCE)
                for _ in range(draws)
            ]
            safe = float(np.mean([lost[one.safe] > MARGIN for one in found]))
            guess = float(np.mean([lost[one.guess] > MARGIN for one in found]))
            yield Rate(f"{name}: called safe", n, safe, draws, highest=0.05)
            yield Rate(f"{name}: best guess", n, guess, draws)
            wider = float(np.mean([one.safe / smallest for one in found]))
            yield Rate(f"{name}: safe k over the smallest that would do", n, wider, draws)


def marks(
    draws: int,
    scores: Sequence[str] = tuple(SLICE_SCORES),
    sizes: Sequence[str] = tuple(SLICE_SIZES),
) -> Iterator[Rate]:
    """Tables of `slices` of one distribution: how many carry any mark, by score and by size."""
    marked = {(name, size): _tables(draws, name, size) for name in scores for size in sizes}
    for title, names, cuts in (
        *((name, (name,), sizes) for name in scores),
        *((f"any of these, {size}", scores, (size,)) for size in sizes),
    ):
        tables = draws * len(names) * len(cuts)
        share = sum(marked[name, size] for name in names for size in cuts) / tables
        yield Rate(title, "marks anything", share, tables, highest=0.06)


def _tables(draws: int, name: str, size: str) -> int:
    """How many of so many tables carry any mark."""
    rng = np.random.default_rng([SEED, 13, len(SLICE_SIZES[size])])
    parts = np.repeat(np.arange(len(SLICE_SIZES[size])), SLICE_SIZES[size]).tolist()
    return sum(any(_marks(SLICE_SCORES[name](rng, (len(parts),)), parts)) for _ in range(draws))


def unequal(draws: int) -> Iterator[Rate]:
    """Two slices of the same mean, one of which spreads more: the permutation test mixes them."""
    for name, sizes in UNEQUAL_SPREADS.items():
        rng = np.random.default_rng([SEED, 22, *sizes])
        parts = np.repeat([0, 1], sizes).tolist()
        tables = [unequal_spreads(rng, *sizes) for _ in range(draws)]
        found = float(np.mean([any(_marks(values, parts)) for values in tables]))
        yield Rate(name, "marks anything", found, draws, highest=0.06, known=True)


def fallen(draws: int) -> Iterator[Rate]:
    """How often a slice that fell is marked."""
    rng = np.random.default_rng([SEED, 14])
    parts = np.repeat(np.arange(5), 20).tolist()
    rate = np.where(np.array(parts) == 1, 0.3, 0.9)
    found = sum(_marks((rng.random(len(parts)) < rate) * 1.0, parts)[1] for _ in range(draws))
    yield Rate(FALLEN_SLICE, "marked", found / draws, draws, lowest=0.9)


def _marks(values: Floats, parts: Sequence[int]) -> list[bool]:
    found = calipers.slices(result(values, {"part": parts}), "part")
    return [row.standing in ("above", "below") for row in found.rows]
