"""A value is made at the first look, and only then."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.arrays import WhenAsked, order_by


@dataclass(frozen=True)
class Page:
    text: WhenAsked[str] = WhenAsked()
    notes: WhenAsked[dict[str, str]] = WhenAsked(dict)


def test_a_function_is_called_once():
    made: list[str] = []

    def make() -> str:
        made.append("x")
        return "hello"

    page = Page(make)
    assert made == []
    assert (page.text, page.text, made) == ("hello", "hello", ["x"])
    assert replace(page, notes={"a": "b"}) == Page("hello", {"a": "b"})


def test_an_error_in_making_comes_at_every_look():
    nothing: dict[str, str] = {}
    page = Page(lambda: nothing["gone"])
    for _ in range(2):
        with pytest.raises(KeyError, match="gone"):
            page.text  # noqa: B018


@given(st.lists(st.tuples(*[st.integers(0, 3) | st.integers(0, 1 << 40)] * 3), max_size=9))
def test_large_numbers_are_ordered_as_small_ones(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    order = order_by(*columns)
    assert [rows[at] for at in order.tolist()] == sorted(rows)
