"""The options of every operation are checked before any work, against their annotations."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import polars as pl
import pytest

import calipers
from calipers.errors import CalipersError, InvalidInput
from calipers.operation import arguments, fits
from calipers.operations import OPERATIONS

GOOD = [
    (3, int),
    (np.int64(3), int),
    (0.5, float),
    (3, float),
    (np.float32(1), float),
    (True, bool),
    ("a", str),
    (None, int | None),
    ("a", int | str),
    ([1, 2], Sequence[int]),
    ((1,), Sequence[int]),
    (np.array([1, 3]), Sequence[int]),
    (range(3), Sequence[int]),
    ({"a": 0.5}, Mapping[str, float]),
    ({"a", "b"}, Iterable[str]),
    ((one for one in "ab"), Iterable[str]),
    (len, Callable[..., Any]),
    (Path("x"), str | os.PathLike[str]),
    ("zero", Literal["zero"]),
    (object(), Any),
]
BAD = [
    (True, int),
    (1.5, int),
    ("3", int),
    (10**30, int),
    ("0.5", float),
    (10**400, float),
    (False, float),
    (1, bool),
    (None, bool),
    (b"a", str),
    (3, str),
    ("ab", Sequence[int]),
    ([1, "a"], Sequence[int]),
    ({1: 2}, Mapping[str, float]),
    ({"a": "b"}, Mapping[str, float]),
    ([1], Iterable[str]),
    (b"ab", Iterable[int]),
    (3, Callable[..., Any]),
    (b"x", os.PathLike[str]),
    ([], Literal["zero"]),
]


@pytest.mark.parametrize(("value", "kind"), GOOD)
def test_a_value_of_the_kind_passes(value: Any, kind: Any) -> None:
    assert fits(value, kind)


@pytest.mark.parametrize(("value", "kind"), BAD)
def test_a_value_of_another_kind_does_not(value: Any, kind: Any) -> None:
    assert not fits(value, kind)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_typed_option_of_every_operation_refuses_what_it_cannot_be(name: str) -> None:
    operation = OPERATIONS[name].function
    odd = object()
    for argument in arguments(operation).values():
        if fits(odd, argument.kind):
            continue
        said = f"The argument {argument.name} of {name} has the wrong"
        with pytest.raises(InvalidInput, match=said):
            operation(**{argument.name: odd})


def test_the_sentence_says_what_is_allowed() -> None:
    with pytest.raises(InvalidInput, match=r"found 'many', a str; a number is allowed\.$"):
        calipers.evaluate("x", confidence="many")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="a whole number or a list of whole numbers or None is"):
        calipers.evaluate("x", k="5")  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["x" * 300, "a\0b", "/proc/1/mem", "."])
def test_what_the_machine_refuses_is_one_of_our_errors(path: str) -> None:
    with pytest.raises(CalipersError):
        calipers.evaluate(path)


def test_a_set_is_no_ranking() -> None:
    record = {"query": "q", "retrieved": {"a", "b"}, "ground_truth": ["a"]}
    with pytest.raises(InvalidInput, match="is a set at data"):
        calipers.evaluate([record])
    stages = {**record, "retrieved": ["a"], "stages": {"first": {"a", "b"}}}
    with pytest.raises(InvalidInput, match=r"'stages\.first' is a set"):
        calipers.evaluate([stages])
    # What should be found has no order anyway.
    truth = {"query": "q", "retrieved": ["a"], "ground_truth": {"a", "b"}}
    assert calipers.evaluate([truth], metrics="recall@1")["recall@1"].mean == 0.5


RECORDS = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a"], "tags": {"type": "x"}}]


def test_numbers_of_other_libraries_are_plain_ones_inside() -> None:
    plain = calipers.evaluate(RECORDS, metrics="recall", k=3, rel=1.0)
    given: dict[str, Any] = {"k": np.int64(3), "rel": np.float32(1)}
    other = calipers.evaluate(RECORDS, metrics="recall", **given)
    assert other.to_dict() == plain.to_dict()


def test_an_iterator_is_looked_through_like_a_list() -> None:
    named = calipers.evaluate(RECORDS, metrics=iter(["recall@1", "mrr"]))
    assert [one.name for one in named.metrics] == ["recall@1", "mrr"]
    with pytest.raises(InvalidInput, match="has the wrong type"):
        calipers.evaluate(RECORDS, metrics=iter([cast(Any, 1)]))


@pytest.mark.parametrize("names", [range(3), {1: 2}, pl.DataFrame({"query": ["q"]})])
def test_what_holds_no_names_is_no_list_of_names(names: Any) -> None:
    with pytest.raises(InvalidInput, match="has the wrong type"):
        calipers.slices(calipers.evaluate(RECORDS), names)


def test_too_many_arguments_are_pythons_own_error() -> None:
    given: list[Any] = [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(TypeError):
        calipers.evaluate(RECORDS, *given)
