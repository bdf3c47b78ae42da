"""Read as a whole or one by one: the same rows, and the same refusals."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.io.records.documents import BadDocument, Row
from calipers.live.adapters.layout import Layout
from calipers.live.at_once import rows_at_once
from calipers.live.shapes import row_of

words = st.sampled_from(["a", "b", "", "7", "é"])
odd = st.sampled_from(
    [
        None,
        True,
        0,
        7,
        -1,
        2**70,
        0.5,
        3.0,
        math.nan,
        math.inf,
        1e308,
        np.float32(0.25),
        np.float64(2.0),
        np.int64(3),
        np.bool_(True),
        np.str_("n"),
        Decimal("1.5"),
        Fraction(1, 3),
        UUID(int=5),
        b"x",
        [],
        ["a"],
        ("a", 1),
        {},
        {"id": "inner", "text": "t"},
        {"score": 9},
    ]
)
values = st.one_of(words, st.floats(0, 1), st.integers(0, 9), odd)


def one_by_one(listed: list[Any]) -> list[Row] | None:
    try:
        return [row_of(one, Layout()) for one in listed]
    except (BadDocument, OverflowError):
        return None


@st.composite
def alike(draw: st.DrawFn) -> list[Any]:
    """Results of one shape, where each column is mostly of one kind."""
    n = draw(st.integers(1, 4))

    def column() -> list[Any]:
        pure = draw(st.sampled_from([words, st.floats(0, 1), st.integers(0, 9), values]))
        return draw(st.lists(pure, min_size=n, max_size=n))

    shape = draw(st.sampled_from(["values", "tuples", "lists"]))
    if shape == "values":
        return column()
    pairs = zip(*(column() for _ in range(draw(st.integers(1, 3)))), strict=True)
    return [tuple(one) if shape == "tuples" else list(one) for one in pairs]


@given(alike())
def test_as_a_whole_and_one_by_one_are_the_same(listed: list[Any]) -> None:
    try:
        whole = rows_at_once(listed)
    except OverflowError:
        assert one_by_one(listed) is None
        return
    if whole is not None:
        assert whole == one_by_one(listed)
        assert all(type(row.id) in (str, type(None)) for row in whole)


@given(st.lists(values, max_size=4))
def test_mixed_results_too(listed: list[Any]) -> None:
    try:
        whole = rows_at_once(listed)
    except OverflowError:
        whole = None
    assert whole is None or whole == one_by_one(listed)


@pytest.mark.parametrize(
    "listed",
    [
        ["a", "b"],
        [7, 8],
        [("a", 0.5), ("b", 1)],
        [["a", np.float32(0.5)]],
        [(7, 0.5)],
    ],
)
def test_the_usual_shapes_are_read_as_a_whole(listed: list[Any]) -> None:
    assert rows_at_once(listed) == one_by_one(listed) is not None


@pytest.mark.parametrize(
    "listed",
    [
        [],
        [True, False],
        [0.5],
        [None],
        ["a", 7],
        [("a", math.nan)],
        [("a", math.inf), ("b", -math.inf)],
        [(0.5, "a")],
        [("a", "b")],
        [("a",)],
        [{"id": "a"}, {"id": "b"}],
    ],
)
def test_anything_else_is_looked_at_one_by_one(listed: list[Any]) -> None:
    assert rows_at_once(listed) is None
