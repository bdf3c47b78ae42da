from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.live.adapters.layout import NoMatch, parse

ANSWER = {"a": {"b": [{"c": 1}, {"c": 2}]}, "odd name": [[3], [4, 5]], "none": None}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$", [ANSWER]),
        ("$.a.b[0].c", [1]),
        ("$.a.b[-1].c", [2]),
        ("$.a.b[*].c", [1, 2]),
        ("$['odd name'][*][*]", [3, 4, 5]),
        ('$["odd name"][1][0]', [4]),
        ("$.none", [None]),
    ],
)
def test_leads_to_the_values(path: str, expected: list[Any]) -> None:
    assert parse(path).all(ANSWER) == expected


@pytest.mark.parametrize("path", ["", "hits", "$hits", "$..id", "$.a[?(@.b)]", "$.a[1:2]", "$.[0]"])
def test_what_is_not_understood_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be read at"):
        parse(path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("$.x", "has no 'x'; it has 'a', 'odd name', 'none'"),
        ("$.a.b[7]", r"\$.a.b has 2 elements"),
        ("$.a[*]", r"\$.a is an object, not a list"),
        ("$.none.x", r"\$.none is null"),
        ("$.a.b[0].c[0]", r"\$.a.b\[0\].c is a number"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_got(path: str, words: str) -> None:
    with pytest.raises(NoMatch, match=words):
        parse(path).all(ANSWER)


def test_a_path_follows_attributes_of_objects() -> None:
    class Document:
        metadata = {"id": 7}  # noqa: RUF012 - an example, never changed

    assert parse("$.metadata.id").one(Document()) == 7


def walk(value: Any, steps: list[str | int]) -> Any:
    for step in steps:
        value = value[step]
    return value


trees = st.recursive(
    st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=12,
)


@given(trees, st.data())
def test_every_place_of_a_tree_can_be_reached(tree: Any, data: st.DataObject) -> None:
    steps: list[str | int] = []
    here = tree
    while isinstance(here, list | dict) and here and data.draw(st.booleans()):
        step = data.draw(
            st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here)))
        )
        steps.append(step)
        here = here[step]
    text = "$" + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)
    assert parse(text).one(tree) == walk(tree, steps)
