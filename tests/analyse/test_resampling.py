from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.analyse import resampling
from calipers.analyse.resampling import (
    IndexStream,
    bootstrap_means,
    exact_bits,
    sign_blocks,
    to_grid,
)
from calipers.errors import InvalidInput

SAMPLE = np.random.Generator(np.random.PCG64(5)).random((37, 3))


def naive_indices(n, seed, count):
    """One raw word at a time, low half first, the biased remainders passed over."""
    source = np.random.PCG64(seed)
    indices: list[int] = []
    while len(indices) < count:
        word = int(source.random_raw())
        for half in (word % 2**32, word // 2**32):
            if half * n % 2**32 >= 2**32 % n:
                indices.append(half * n // 2**32)
    return indices[:count]


@given(st.integers(1, 2**32 - 1), st.integers(0, 2**64), st.lists(st.integers(0, 9), max_size=6))
def test_indices_are_those_of_the_naive_loop_however_cut(n, seed, pieces):
    stream = IndexStream(n, seed)
    taken = [index for piece in pieces for index in stream.take(piece).tolist()]
    assert taken == naive_indices(n, seed, sum(pieces))


def test_a_bound_that_rejects_half_the_words_still_gives_every_draw():
    n = 2**31 + 1
    assert IndexStream(n, 3).take(200).tolist() == naive_indices(n, 3, 200)


def test_indices_are_uniform():
    counts = np.bincount(IndexStream(7, 0).take(70_000), minlength=7)
    # Each count has a standard deviation of 93.
    assert np.abs(counts - 10_000).max() < 400


def test_the_raw_stream_never_changes():
    # Written down once: a change here would change every published interval.
    assert IndexStream(1000, 0).take(8).tolist() == naive_indices(1000, 0, 8)
    assert IndexStream(1000, 0).take(8).tolist() == [850, 636, 511, 269, 307, 40, 75, 16]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(0, 100),
)
def test_means_are_the_naive_means_on_the_grid(values, resamples, seed):
    n = len(values)
    grid, exponents = to_grid(np.array(values)[:, np.newaxis], exact_bits(n))
    indices = naive_indices(n, seed, n * resamples)
    step = Fraction(2) ** int(exponents[0])
    expected = []
    for row in range(resamples):
        drawn = indices[row * n : (row + 1) * n]
        expected.append(float(sum(Fraction(int(grid[i, 0])) for i in drawn) * step / n))
    actual = bootstrap_means(np.array(values)[:, np.newaxis], resamples, seed)[:, 0]
    assert actual.tolist() == expected


@given(st.lists(st.floats(-1e200, 1e200), min_size=1, max_size=50))
def test_the_grid_is_whole_bounded_and_close(values):
    column = np.array(values)[:, np.newaxis]
    bits = exact_bits(len(values))
    grid, exponents = to_grid(column, bits)
    assert (grid == np.rint(grid)).all()
    assert np.abs(grid).max() <= 2**bits
    assert 2 * len(values) * 2**bits <= 2**53
    error = np.abs(np.ldexp(grid, exponents) - column).max()
    assert error <= np.abs(column).max() * len(values) / 2**51


@pytest.mark.parametrize("cells", [1, 10, 37, 38, 100, 1 << 20])
def test_block_size_does_not_change_a_bit(monkeypatch, cells):
    means = bootstrap_means(SAMPLE, 50, seed=9)
    signs = np.concatenate(list(sign_blocks(130, 50, seed=9)))
    monkeypatch.setattr(resampling, "CELLS_PER_BLOCK", cells)
    assert bootstrap_means(SAMPLE, 50, seed=9).tobytes() == means.tobytes()
    assert np.concatenate(list(sign_blocks(130, 50, seed=9))).tobytes() == signs.tobytes()


def test_order_of_summation_does_not_change_a_bit():
    grid, _ = to_grid(SAMPLE, exact_bits(len(SAMPLE)))
    shuffled = np.random.Generator(np.random.PCG64(1)).permutation(grid)
    assert shuffled.sum(axis=0).tolist() == grid[::-1].cumsum(axis=0)[-1].tolist()


def test_a_column_alone_equals_the_column_in_company():
    together = bootstrap_means(SAMPLE * [1.0, 1e6, 1e-9], 40, seed=2)
    for column, scale in enumerate([1.0, 1e6, 1e-9]):
        alone = bootstrap_means(SAMPLE[:, [column]] * scale, 40, seed=2)
        assert together[:, column].tolist() == alone[:, 0].tolist()


def test_seed_decides():
    assert bootstrap_means(SAMPLE, 20, 1).tolist() == bootstrap_means(SAMPLE, 20, 1).tolist()
    assert bootstrap_means(SAMPLE, 20, 1).tolist() != bootstrap_means(SAMPLE, 20, 2).tolist()


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_signs_are_the_bits_of_the_raw_words(n):
    source = np.random.PCG64(4)
    expected = []
    for _ in range(6):
        words = [int(source.random_raw()) for _ in range(-(-n // 64))]
        expected.append([float(words[i // 64] >> (i % 64) & 1) for i in range(n)])
    assert np.concatenate(list(sign_blocks(n, 6, seed=4))).tolist() == expected


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, None])
def test_unusable_seed_is_refused(seed):
    with pytest.raises(InvalidInput, match="seed is not usable"):
        bootstrap_means(SAMPLE, 10, seed)


def test_what_cannot_be_resampled_is_refused():
    with pytest.raises(InvalidInput, match="row 1, column 0: found nan"):
        bootstrap_means([[0.0], [np.nan]])
    with pytest.raises(InvalidInput, match="row 0, column 1: found inf"):
        bootstrap_means([[0.0, np.inf]])
    with pytest.raises(InvalidInput, match="found 1 dimensions"):
        bootstrap_means([0.0])
    with pytest.raises(InvalidInput, match="found 0 rows"):
        bootstrap_means(np.empty((0, 2)))
    with pytest.raises(InvalidInput, match="number of resamples"):
        bootstrap_means(SAMPLE, 0)
    with pytest.raises(InvalidInput, match="number of values to draw from"):
        IndexStream(2**32, 0)


def test_many_columns_take_larger_blocks_and_give_the_same_means():
    table = np.random.Generator(np.random.PCG64(1)).random((700, 40))
    assert resampling.rows_at_once(700, 40) > resampling.rows_at_once(700, 1)
    together = bootstrap_means(table, resamples=300, seed=2)
    alone = bootstrap_means(table[:, 7:8], resamples=300, seed=2)
    assert np.array_equal(together[:, 7], alone[:, 0])
