import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.analyse.draws import IndexStream
from calipers.errors import InvalidInput


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


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, None])
def test_unusable_seed_is_refused(seed):
    with pytest.raises(InvalidInput, match="seed is not usable"):
        IndexStream(10, seed)


def test_what_cannot_be_drawn_from_is_refused():
    with pytest.raises(InvalidInput, match="number of values to draw from"):
        IndexStream(2**32, 0)
