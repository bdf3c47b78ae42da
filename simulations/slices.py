"""Marks on slices, and slices that a comparison names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import calipers
from simulations.means import RARE_SCORES
from simulations.rates import Rate
from simulations.results import result
from simulations.shapes import (
    SEED,
    Draw,
    Floats,
    Generator,
    among,
    hits,
    real,
    several_targets,
    third_zeros_fifth_ones,
)

SLICE_SCORES: dict[str, Draw] = {
    "hits, 0.8": hits(0.8),
    "AP, skewed (beta ½, 1½)": lambda rng, size: rng.beta(0.5, 1.5, size),
    "nDCG, ⅓ at 0, ⅕ at 1": third_zeros_fifth_ones,
    "recall of 1 to 4 targets": several_targets,
    "2% at 0, others near 0.9": RARE_SCORES[0].draw,
    "3% at 0, others near 0.6": RARE_SCORES[1].draw,
    "real: claims, bm25 ndcg@10": among(real("claims", "bm25", "ndcg@10")),
    "real: claims, dense ndcg@10": among(real("claims", "dense", "ndcg@10")),
}
SLICE_SIZES: dict[str, tuple[int, ...]] = {
    "5 × 20": (20,) * 5,
    "8 × 12": (12,) * 8,
    "8, 20, 60, 150": (8, 20, 60, 150),
    "2 × 40": (40, 40),
}
FALLEN_SLICE = "one of 5 × 20 hits falls from 0.9 to 0.3"
UNEQUAL_SPREADS: dict[str, tuple[int, int]] = {
    "12 hits beside 80 scores near ½": (12, 80),
    "40 hits beside 40 scores near ½": (40, 40),
    "80 hits beside 12 scores near ½": (80, 12),
    "8 hits beside 72 scores near ½": (8, 72),
}
"""Two slices with the same mean, of which the first spreads more: how many queries each has."""


def unequal_spreads(rng: Generator, wide: int, narrow: int) -> Floats:
    return np.concatenate([(rng.random(wide) < 0.5) * 1.0, rng.beta(40.0, 40.0, narrow)])


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
    """Two slices of the same mean, one of which spreads more than the other."""
    for name, sizes in UNEQUAL_SPREADS.items():
        rng = np.random.default_rng([SEED, 22, *sizes])
        parts = np.repeat([0, 1], sizes).tolist()
        tables = [unequal_spreads(rng, *sizes) for _ in range(draws)]
        found = float(np.mean([any(_marks(values, parts)) for values in tables]))
        yield Rate(name, "marks anything", found, draws, highest=0.06)


def fallen(draws: int) -> Iterator[Rate]:
    """How often a slice that fell is marked."""
    rng = np.random.default_rng([SEED, 14])
    parts = np.repeat(np.arange(5), 20).tolist()
    rate = np.where(np.array(parts) == 1, 0.3, 0.9)
    found = sum(_marks((rng.random(len(parts)) < rate) * 1.0, parts)[1] for _ in range(draws))
    yield Rate(FALLEN_SLICE, "marked", found / draws, draws, lowest=0.9)


def _marks(values: Floats, parts: Sequence[int]) -> list[bool]:
    found = calipers.slices(result(values, {"part": parts}), "part")
    return [row.standing in ("better", "worse") for row in found.rows]


# What `compare` names of its own accord: the slice that fell or rose most


@dataclass(frozen=True)
class Cut:
    """Slices of so many queries, and the share of each that chance decides anew."""

    sizes: tuple[int, ...]
    undecided: tuple[float, ...]
    kind: str = "hits"


CUTS: dict[str, Cut] = {
    "hits, 4 × 20, a fifth undecided": Cut((20,) * 4, (0.2,) * 4),
    "hits, 5 × 100, two fifths undecided": Cut((100,) * 5, (0.4,) * 5),
    "hits, 20, 30, 100, 200, half undecided": Cut((20, 30, 100, 200), (0.5,) * 4),
    "hits, four undecided of 60 beside 400": Cut((60, 60, 60, 60, 400), (0.6,) * 4 + (0.0,)),
    "scores, 8 × 12, all undecided": Cut((12,) * 8, (1.0,) * 8, "scores"),
    "scores, 20 × 15, all undecided": Cut((15,) * 20, (1.0,) * 20, "scores"),
    "scores, one undecided of 6 × 20": Cut((20,) * 6, (1.0, *(0.0,) * 5), "scores"),
}
FALLS: dict[str, tuple[Cut, float, float]] = {
    "hits, 20 of 80 fall from 0.9 to 0.3": (Cut((20,) * 4, (0.2,) * 4), 0.9, 0.3),
    "hits, 20 of 350 fall from 0.9 to 0.3": (Cut((20, 30, 100, 200), (0.5,) * 4), 0.9, 0.3),
    "hits, 12 of 96 fall from 1 to 0.2": (Cut((12,) * 8, (0.4,) * 8), 1.0, 0.2),
    "hits, 100 of 500 fall from 0.9 to 0.6": (Cut((100,) * 5, (0.4,) * 5), 0.9, 0.6),
}
"""The first slice falls; the others change by chance."""


def unasked(draws: int, cuts: Sequence[str] = tuple(CUTS)) -> Iterator[Rate]:
    """How often `compare` names a slice where nothing changed."""
    for name in cuts:
        found = _share_named(CUTS[name], None, draws)
        yield Rate(name, "names a slice", found, draws, highest=0.06)


def fallen_unasked(draws: int, falls: Sequence[str] = tuple(FALLS)) -> Iterator[Rate]:
    """How often `compare` names the slice that fell."""
    for name in falls:
        slices, before, now = FALLS[name]
        found = _share_named(slices, (before, now), draws)
        yield Rate(name, "names it", found, draws, lowest=0.8)


def _share_named(slices: Cut, fall: tuple[float, float] | None, draws: int) -> float:
    """The share of comparisons that name any slice, or the one that fell."""
    rng = np.random.default_rng([SEED, 77, len(slices.sizes), sum(slices.sizes)])
    parts = np.repeat(np.arange(len(slices.sizes)), slices.sizes)
    undecided = np.repeat(slices.undecided, slices.sizes)
    named = 0
    for _ in range(draws):
        runs = _by_chance(rng, undecided, slices.kind)
        if fall is not None:
            fallen = [(rng.random(len(parts)) < share) * 1.0 for share in fall]
            runs = [np.where(parts == 0, *each) for each in zip(fallen, runs, strict=True)]
        systems = {
            name: result(values, {"part": parts.tolist()})
            for name, values in zip(("old", "new"), runs, strict=True)
        }
        texts = calipers.compare(systems).moved_slices
        named += any(fall is None or "(part=0) fell" in text for text in texts)
    return named / draws


def _by_chance(rng: Generator, undecided: Floats, kind: str) -> list[Floats]:
    """Two systems that are as good; what is undecided is drawn anew for each."""
    n = len(undecided)
    first, *runs = (
        (rng.random(n) < 0.7) * (rng.beta(3.0, 2.0, n) if kind == "scores" else 1.0)
        for _ in range(3)
    )
    again = rng.random(n) < undecided
    return [np.where(again, values, first) for values in runs]
