"""The k that is advised, marks on slices, and machine labels corrected by people."""

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.analyse.corrected import AgainstPeople, corrected_mean, corrected_share
from calipers.analyse.enough_k import enough_k
from calipers.analyse.holm import holm
from calipers.analyse.largest_share import largest_mean
from calipers.analyse.unequal import unequal_p
from simulations.rates import Rate
from simulations.shapes import Draw, Floats, choice

MARGIN = 0.05
# Losses of recall whose true mean is just above the margin: to advise that k is an error.
LOSSES: dict[str, Draw] = {
    "whole targets": choice([1, 0], [0.051, 0.949]),
    "halves": choice([0.5, 0], [0.102, 0.898]),
    "thirds": choice([1 / 3, 0], [0.153, 0.847]),
    "quarters to wholes": choice([0.25, 0.5, 1, 0], [0.068, 0.034, 0.017, 0.881]),
    "the same everywhere": choice([0.051], [1.0]),
    "many small (beta)": lambda rng, size: rng.beta(0.102, 1.898, size),
    "even where any": lambda rng, size: np.where(
        rng.random(size) < 0.102, rng.random(size), 0.0),
    "few large, many small": choice([1, 0.0217], [0.03, 0.97]),
}  # fmt: skip


def too_small_k(draws: int, numbers: Sequence[int], seed: int = 7) -> Iterator[Rate]:
    """How often a k is advised that loses more than the margin."""
    for name, draw in LOSSES.items():
        for n in numbers:
            some = max(100, min(draws, 300_000 // n))
            rng = np.random.default_rng([seed, n])
            # What `enough_k` asks of each smaller k; the tests hold it to that.
            wrong = sum(largest_mean(draw(rng, (n,))) <= MARGIN for _ in range(some))
            yield Rate(name, n, wrong / some, some, highest=0.05)


def advised(draws: int, seed: int = 8) -> Iterator[Rate]:
    """The k that is advised on average, for a retriever whose target stands at a random rank.

    A share of 0.02 of the targets is found at no rank; k = 12 is the smallest within the margin.
    """
    ks = list(range(1, 21))
    for n in (30, 60, 100, 300, 1000, 6000):
        rng = np.random.default_rng([seed, n])
        found = []
        for _ in range(draws):
            rank = np.where(rng.random(n) < 0.02, 99, rng.geometric(0.22, n))
            recall = (rank[:, np.newaxis] <= np.array(ks)) * 1.0
            found.append(enough_k(ks, recall, MARGIN).k)
        yield Rate("advised k, mean", n, float(np.mean(found)), draws)
        yield Rate("smallest k within the margin", n, float(_true_k(ks)), draws)


def _true_k(ks: Sequence[int]) -> int:
    recall = {k: 0.98 * (1.0 - 0.78**k) for k in ks}
    return min(k for k in ks if recall[ks[-1]] - recall[k] <= MARGIN)


# Six shapes of scores with a mean of 0.7.
SCORES: list[Draw] = [
    choice([1, 0], [0.7, 0.3]),
    choice([1, 0.25], [0.6, 0.4]),
    choice([0.875, 0], [0.8, 0.2]),
    choice([1 / 3, 2 / 3, 1], [0.25, 0.4, 0.35]),
    lambda rng, size: rng.beta(1.4, 0.6, size),
    lambda rng, size: rng.beta(70, 30, size),
]
SIZES = {
    "5 to 120": (5, 8, 10, 15, 20, 30, 40, 50, 80, 120),
    "3 to 300": (3, 3, 4, 4, 5, 5, 6, 6, 300, 300),
    "30 each": (30,) * 10,
    "100 each": (100,) * 10,
}


def false_marks(draws: int, seed: int = 9) -> Iterator[Rate]:
    """Tables of ten slices with equal means and unequal spreads that carry any mark."""
    for name, sizes in SIZES.items():
        rng = np.random.default_rng([seed, sum(sizes)])
        marked = 0
        for _ in range(draws):
            parts = [SCORES[rng.integers(len(SCORES))](rng, (n,)) for n in sizes]
            marked += any(p <= 0.05 for p in holm(_each_against_rest(parts)))
        yield Rate(name, "10 slices", marked / draws, draws, highest=0.06)


def _each_against_rest(parts: list[Floats]) -> list[float | None]:
    return [
        unequal_p(part, np.concatenate(parts[:at] + parts[at + 1 :]))
        for at, part in enumerate(parts)
    ]


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
    """Coverage of the corrected mean."""
    for kind in ("close to people", "recall near 1", "right or wrong", "of no use"):
        for sampled, n in ((10, 200), (20, 200), (50, 500), (100, 1000)):
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
