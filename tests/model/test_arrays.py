"""A value is made at the first look, and only then."""

from dataclasses import dataclass, replace

import pytest

from calipers.model.arrays import WhenAsked


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
