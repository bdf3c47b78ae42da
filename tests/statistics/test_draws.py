import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.draws import WORDS, words


@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 2**64))
def test_each_raw_word_gives_four_the_low_bits_first(rows, columns, seed):
    source = np.random.PCG64(seed)
    naive: list[int] = []
    while len(naive) < rows * columns:
        word = int(source.random_raw())
        naive += [word >> bits & WORDS - 1 for bits in (0, 16, 32, 48)]
    assert words(rows, columns, seed).ravel().tolist() == naive[: rows * columns]


def test_the_words_are_uniform():
    counts = np.bincount(words(100, 1600, 0).ravel() // 4096, minlength=16)
    # Each count has a standard deviation of 97.
    assert np.abs(counts - 10_000).max() < 400


def test_the_raw_stream_never_changes():
    # Written down once: a change here would change every plan.
    assert words(2, 3, 7).tolist() == [[19083, 61925, 16809], [40966, 27285, 44838]]


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, None])
def test_unusable_seed_is_refused(seed):
    with pytest.raises(InvalidInput, match="seed is not usable"):
        words(1, 1, seed)
