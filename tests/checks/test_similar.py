import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.checks import similar
from calipers.checks.similar import (
    LETTERS_IN_SHINGLE,
    WORDS_IN_SHINGLE,
    SimilarTexts,
    letter_shingles,
    plain_words,
    word_shingles,
)

TEXTS = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "Dd", "é", "中"]), max_size=12).map(" ".join),
    max_size=8,
)


def naive_shingles(units, size):
    """Every run of units; a text shorter than a run is one shingle; an empty one has none."""
    if len(units) < size:
        return {tuple(units)} if units else set()
    return {tuple(units[at : at + size]) for at in range(len(units) - size + 1)}


def naive_similarity(one, other):
    return len(one & other) / len(one | other) if one | other else 0.0


def words_of(text):
    return naive_shingles(re.findall(r"中|\w+", text.lower()), WORDS_IN_SHINGLE)


def letters_of(text):
    return naive_shingles(plain_words(pl.Series([text]))[0], LETTERS_IN_SHINGLE)


@pytest.mark.parametrize(
    ("shingled", "naive"), [(word_shingles, words_of), (letter_shingles, letters_of)]
)
@given(TEXTS, TEXTS, st.sampled_from([0.3, 0.5, 0.7, 0.8, 1.0]))
def test_exactly_the_similar_pairs_are_found(shingled, naive, index, stream, least):
    series = pl.Series(index, dtype=pl.String), pl.Series(stream, dtype=pl.String)
    known = SimilarTexts.of(shingled(series[0], np.arange(len(index))), least)
    found = known.find(shingled(series[1], np.arange(len(stream)))).rows()
    expected = [
        (other, owner, pytest.approx(naive_similarity(naive(new), naive(old))))
        for other, new in enumerate(stream)
        for owner, old in enumerate(index)
        if naive(new) and naive_similarity(naive(new), naive(old)) >= least - 1e-9
    ]
    assert found == expected


@given(
    TEXTS,
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    st.sampled_from([(768, 256, 1 << 17, 1 << 15), (64, 64, 3, 2), (0, 64, 1, 1)]),
)
def test_pairs_of_one_set_are_found_whatever_the_blocks_and_bits(texts, least, sizes):
    """Against all pairs; most shingles rare or common, blocks of one pair or of all."""
    names = ("_COMMON", "_HASHED", "_CANDIDATES_AT_ONCE", "_COUNTED_AT_ONCE")
    shingles = [letters_of(text) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        for name, size in zip(names, sizes, strict=True):
            patch.setattr(similar, name, size)
        series = pl.Series(texts, dtype=pl.String)
        index = SimilarTexts.of(letter_shingles(series, np.arange(len(texts))), least)
        found = index.find_pairs().rows()
    expected = [
        (other, owner, naive_similarity(shingles[other], shingles[owner]))
        for other in range(len(texts))
        for owner in range(other)
        if shingles[other] and naive_similarity(shingles[other], shingles[owner]) >= least - 1e-9
    ]
    assert found == expected


def test_case_and_punctuation_do_not_count_but_signs_of_names_do():
    assert plain_words(pl.Series(["What is  C++?", "what is c++", "What is C?"])).to_list() == [
        "what is c++",
        "what is c++",
        "what is c",
    ]
