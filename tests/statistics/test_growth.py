"""Growth against a plain reference: loops over targets, rates and numbers of documents."""

import math
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.model.arrays import Floats
from calipers.statistics.growth import (
    STEPS,
    Standing,
    compound,
    fit_rates,
    needed_k,
    open_share,
    poisson,
    project,
    rate_grid,
)

Target = tuple[int, int, int, int]
"""Rank (0: not found), competitors above, others above, length of the list."""


def standing(queries: list[list[Target]], sizes: list[float] | None = None) -> Standing:
    rows = [(at, *target) for at, targets in enumerate(queries) for target in targets]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    query, rank, above, beside, listed = columns
    shares = np.array(sizes or [1.0])
    return Standing(query, rank, above, beside, listed, len(queries), shares)


def chance(rate: float, number: int) -> float:
    return (
        math.exp(number * math.log(rate) - rate - math.lgamma(number + 1)) if rate else 0.0**number
    )


def seen(target: Target, rate: float) -> float:
    rank, above, _, _ = target
    if rank:
        return chance(rate, above)
    return max(0.0, 1.0 - math.fsum(chance(rate, fewer) for fewer in range(above)))


def reference(queries: list[list[Target]], m: float, k: int, kind: str) -> float:
    """The projection with loops only; every competing document has one result."""
    rates = rate_grid(max(target[3] for targets in queries for target in targets)).tolist()
    targets = [(target, 1.0 / len(several)) for several in queries for target in several]
    mixing = [1.0 / len(rates)] * len(rates)
    for _ in range(STEPS):
        grown = [0.0] * len(rates)
        for target, worth in targets:
            weighed = [w * seen(target, rate) for w, rate in zip(mixing, rates, strict=True)]
            for at, each in enumerate(weighed):
                grown[at] += worth * each / sum(weighed)
        mixing = [each / sum(grown) for each in grown]
    total = 0.0
    for target, worth in targets:
        rank = target[0]
        weighed = [w * seen(target, rate) for w, rate in zip(mixing, rates, strict=True)]
        for weight, rate in zip(weighed, rates, strict=True):
            for added in range(k - rank + 1 if rank else 0):
                point = 1.0 if kind == "found" else 1.0 / (rank + added)
                total += worth * weight / sum(weighed) * point * chance(rate * (m - 1), added)
    return total / len(queries)


@st.composite
def lists(draw: st.DrawFn) -> list[list[Target]]:
    """Queries with one to three targets, some of them not found."""
    queries = []
    for _ in range(draw(st.integers(2, 6))):
        length = draw(st.integers(3, 12))
        found = sorted(draw(st.sets(st.integers(1, length), max_size=3)))
        targets = [(rank, rank - 1 - i, i, length) for i, rank in enumerate(found)]
        missing = draw(st.integers(0 if found else 1, 2))
        targets += [(0, length - len(found), len(found), length)] * missing
        queries.append(targets)
    return queries


@given(lists(), st.sampled_from([1.0, 1.5, 2.0, 10.0]), st.integers(1, 14))
@settings(max_examples=15)
def test_means_are_those_of_the_reference(queries: list[list[Target]], m: float, k: int) -> None:
    for kind in ("found", "reciprocal"):
        mean = project(standing(queries), [m], [k], kind=kind)[m, k].mean
        assert mean == pytest.approx(reference(queries, m, k, kind), abs=1e-9)


@given(lists(), st.integers(1, 14))
def test_today_is_what_was_counted(queries: list[list[Target]], k: int) -> None:
    shares = [np.mean([0 < rank <= k for rank, *_ in targets]) for targets in queries]
    assert project(standing(queries), [1], [k])[1, k].mean == pytest.approx(np.mean(shares))


@given(lists(), st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_nothing(queries: list[list[Target]], random: Any) -> None:
    other = list(queries)
    random.shuffle(other)
    assert project(standing(queries), [0.5, 4], [3, 5]) == project(
        standing(other), [0.5, 4], [3, 5]
    )


@given(lists())
def test_more_documents_find_less_and_a_larger_k_more(queries: list[list[Target]]) -> None:
    times, ks = [0.3, 1, 2, 5, 20], [1, 2, 5, 9]
    # Targets that were found, alone: others are read from the fit where the corpus shrinks.
    alone = [[one for one in targets if one[0]] for targets in queries]
    table = project(
        standing([targets for targets in alone if targets] or [[(1, 0, 0, 3)]]), times, ks
    )
    for k in ks:
        means = [table[m, k].mean for m in times]
        assert all(a >= b - 1e-12 for a, b in pairwise(means))
    for m in times:
        means = [table[m, k].mean for k in ks]
        assert all(a <= b + 1e-12 for a, b in pairwise(means))


@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 3), max_size=5), st.integers(0, 2)),
        min_size=2,
        max_size=5,
    ),
    st.sampled_from([0.25, 0.5, 0.9]),
    st.integers(1, 8),
)
def test_a_part_of_the_corpus_is_exact(
    above: list[tuple[list[int], int]], share: float, k: int
) -> None:
    """Every subset of the documents above each target, with its chance."""
    targets = [[(sum(sizes) + beside + 1, len(sizes), beside, 40)] for sizes, beside in above]
    pieces = np.array([size for sizes, _ in above for size in sizes], dtype=np.int64)
    given_sizes = standing(targets, [0.4, 0.4, 0.2])
    with_pieces = replace(given_sizes, pieces=pieces)
    expected: dict[Any, float] = {"found": 0.0, "reciprocal": 0.0}
    for sizes, beside in above:
        for kept in product([False, True], repeat=len(sizes)):
            often = math.prod(share if one else 1 - share for one in kept)
            rank = 1 + beside + sum(size for size, one in zip(sizes, kept, strict=True) if one)
            expected["found"] += often * (rank <= k) / len(above)
            expected["reciprocal"] += often * (rank <= k) / rank / len(above)
    for kind, mean in expected.items():
        got = project(with_pieces, [share], [k], kind=kind)[share, k].mean
        assert got == pytest.approx(mean, abs=1e-12)


def test_competing_documents_bring_all_their_results() -> None:
    sizes = [0.5, 0.3, 0.2]
    chances = compound(np.array([0.7, 3.0]), np.array(sizes), 12)
    for row, rate in zip(chances, (0.7, 3.0), strict=True):
        sums = {0: 1.0}
        expected = np.zeros(13)
        for documents in range(40):
            for total, often in sums.items():
                if total <= 12:
                    expected[total] += often * chance(rate, documents)
            longer: dict[int, float] = {}
            for total, often in sums.items():
                for size, share in enumerate(sizes, 1):
                    longer[total + size] = longer.get(total + size, 0.0) + often * share
            sums = longer
        assert row == pytest.approx(expected, abs=1e-9)


def test_many_competitors_are_a_normal_number() -> None:
    rates, sizes = np.array([600.0, 600.001]), np.array([0.5, 0.5])
    below, beyond = np.cumsum(compound(rates, sizes, 900), axis=1)[:, -1]
    assert below == pytest.approx(beyond, abs=0.02)


def drawn_queries(
    n: int, depth: int, m: float, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Competitors in the small corpus and in one m times as large, one target per query."""
    rates = random.gamma(0.4, 12.0, n)
    small = random.poisson(rates)
    large = small + random.poisson(rates * (m - 1))
    return small.astype(np.float64), large.astype(np.float64)


@pytest.mark.parametrize("m", [2, 4, 10])
def test_a_larger_corpus_is_foreseen(m: int) -> None:
    small, large = drawn_queries(600, 50, m, np.random.default_rng(5))
    targets = [[(int(d) + 1, int(d), 0, 50) if d < 50 else (0, 50, 0, 50)] for d in small]
    for k in (5, 10, 20):
        got = project(standing(targets), [m], [k])[m, k]
        assert abs(got.mean - np.mean(large < k)) < 0.04
        assert got.low <= np.mean(large < k) <= got.high
        assert abs(np.mean(small < k) - np.mean(large < k)) > 0.04


def test_lists_that_are_too_short_for_a_part_of_the_corpus() -> None:
    random = np.random.default_rng(6)
    whole = random.poisson(random.gamma(0.4, 12.0, 4_000))
    part = random.binomial(whole, 0.3)
    true = float(np.mean(part < 8))
    for length, most in ((10, 0.2), (60, 0.001)):
        targets: list[list[Target]] = [
            [(int(d) + 1, int(d), 0, length) if d < length else (0, length, 0, length)]
            for d in whole
        ]
        mean = project(standing(targets), [0.3], [8])[0.3, 8].mean
        left = open_share(standing(targets), 0.3, 8)
        assert 0 < left < most
        assert mean - 0.01 < true < mean + left + 0.01


def test_the_k_that_finds_as_much() -> None:
    random = np.random.default_rng(7)
    rates = random.gamma(0.4, 12.0, 4_000)
    small = random.poisson(rates)
    large = small + random.poisson(rates * 3)
    targets = [[(int(d) + 1, int(d), 0, 30) if d < 30 else (0, 30, 0, 30)] for d in small]
    ks = list(range(1, 200))
    today = float(np.mean(small < 10))
    expected = int(np.quantile(large, today)) + 1
    got = needed_k(standing(targets), 4.0, today, ks)
    assert got is not None
    assert abs(got - expected) <= 0.15 * expected
    assert needed_k(standing(targets), 4.0, 1.0, ks[:20]) is None


def test_weights_and_clusters() -> None:
    targets: list[list[Target]] = [[(1, 0, 0, 10)]] * 10 + [[(0, 10, 0, 10)]] * 10
    half = project(standing(targets), [1], [5])[1, 5]
    assert half.mean == 0.5
    weights = np.array([1.0] * 10 + [0.0] * 10)
    assert project(standing(targets), [1], [5], weights=weights)[1, 5].mean == pytest.approx(1.0)
    # In twos the queries tell less.
    units = np.repeat(np.arange(10), 2)
    wider = project(standing(targets), [1], [5], units=units)[1, 5]
    assert wider.high - wider.low > half.high - half.low


def test_a_fit_finds_the_only_rate() -> None:
    rates = rate_grid(20)
    many = poisson(rates, 60)
    at = 25
    mixing = fit_rates(many.T, many[at][None, :])
    assert mixing.sum() == pytest.approx(1.0)
    assert float(mixing[0] @ rates) == pytest.approx(float(rates[at]), rel=0.05)


def test_where_all_are_found_the_interval_is_that_of_hits() -> None:
    found = project(standing([[(1, 0, 0, 30)]] * 120), [2.0, 10.0], [10])
    for low, high in ((one.low, one.high) for one in found.values()):
        # 1 - 0.025 ** (1 / 120), down to whole queries.
        assert low == pytest.approx(116 / 120)
        assert high == pytest.approx(1.0)
