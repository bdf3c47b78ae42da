"""The options of every operation are checked before any work, against their annotations."""

import os
import pydoc
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import polars as pl
import pytest

import calipers
from calipers.errors import CalipersError, InvalidInput
from calipers.operation import Argument, arguments, arguments_of, convert
from calipers.operations import OPERATIONS
from calipers.questions.reading import Evaluating

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
    ({"a", "b"}, Collection[str]),
    ((one for one in "ab"), Collection[str]),
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
    ([1], Collection[str]),
    (b"ab", Collection[int]),
    (3, Callable[..., Any]),
    (b"x", os.PathLike[str]),
    ([], Literal["zero"]),
]


@pytest.mark.parametrize(("value", "kind"), GOOD)
def test_a_value_of_the_kind_passes(value: Any, kind: Any) -> None:
    found = convert(Argument("one", kind), value, "The argument one")
    assert found is value or list(np.atleast_1d(found)) == list(np.atleast_1d(value)) or [*found]


@pytest.mark.parametrize(("value", "kind"), BAD)
def test_a_value_of_another_kind_does_not(value: Any, kind: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^The argument one is .*; it must be "):
        convert(Argument("one", kind), value, "The argument one")


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_typed_option_of_every_operation_refuses_what_it_cannot_be(name: str) -> None:
    operation = OPERATIONS[name].function
    for argument in arguments(operation).values():
        setting = argument.setting
        # The reader of an input says what is wrong with it.
        if argument.kind is not Any and not (setting and setting.unchecked):
            with pytest.raises(InvalidInput, match=f"The argument {argument.name} of {name} is"):
                operation(**{argument.name: object()})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"confidence": "many"}, "confidence of evaluate is 'many'; it must be a number."),
        ({"k": "5"}, "k of evaluate is '5'; it must be a whole number or a list."),
        ({"k": [1, "a"]}, "k of evaluate is [1, 'a']; it must be a whole number in item 2."),
        ({"ties": "trek"}, "must be one of trec, input, error. Did you mean trec?"),
        ({"store": 3}, "store of evaluate is 3; it must be a text or a path."),
        ({"retriever": "a:b", "run": "c"}, "retriever= and run= exclude each other; leave one"),
        ({"workers": 3}, "workers= is given without retriever=; add it, or leave workers= out."),
    ],
)
def test_the_sentence_says_what_is_allowed(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        calipers.evaluate("x", **cast(Any, given))


def test_whole_numbers_out_of_range_get_a_sentence_before_any_work() -> None:
    found = 0
    for name, one in OPERATIONS.items():
        for argument in arguments(one.function).values():
            setting = argument.setting
            if setting is None or (setting.least is None and argument.name != "seed"):
                continue
            beyond = [-1, *([] if setting.most is None else [setting.most + 1, 99_999_999_999])]
            for value in beyond:
                with pytest.raises(
                    InvalidInput, match=rf"{argument.name} of {name} is {value}; it"
                ):
                    one.function(**{argument.name: value})
                found += 1
    assert found > 40
    said = "The argument k of retrieve is 99999999999; it must be a whole number of at least 1 and"
    with pytest.raises(InvalidInput, match=f"{said} at most 100000"):
        calipers.retrieve(print, {"q": "who"}, k=99_999_999_999)


def test_help_shows_every_keyword_with_its_type_and_a_line() -> None:
    shown = pydoc.render_doc(calipers.evaluate, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert "Annotated" not in shown
    assert ": Any" not in shown
    assert "calipers.operation." not in shown
    assert "calipers.measures.spec.Metric" in shown
    for name in arguments_of(Evaluating):
        assert re.search(rf"^        {name}: \S", shown, re.M), name


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
    with pytest.raises(InvalidInput, match="it must be"):
        calipers.slices(named, cast(Any, iter([1])))


@pytest.mark.parametrize("names", [range(3), {1: 2}, pl.DataFrame({"query": ["q"]})])
def test_what_holds_no_names_is_no_list_of_names(names: Any) -> None:
    with pytest.raises(InvalidInput, match="it must be"):
        calipers.slices(calipers.evaluate(RECORDS), names)


def test_half_a_character_and_half_a_mapping_are_refused() -> None:
    values: list[Any] = ["\ud800", calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": ["a"]})]
    for value in values:
        with pytest.raises(InvalidInput):
            calipers.labels_export("pool", machines=value)
        with pytest.raises(InvalidInput):
            calipers.retrieve(lambda query, k: ["a"], ["Who?"], stages=value)


def test_what_is_no_path_is_refused_as_a_file_of_labels() -> None:
    odd: list[Any] = [[b"a"], [1, None], [None]]
    for paths in odd:
        with pytest.raises(InvalidInput, match="give its path as a text"):
            calipers.labels_export(paths)
        with pytest.raises(InvalidInput, match="give its path as a text"):
            calipers.labels_traces(paths)


def test_a_second_value_without_a_name_is_told_what_to_name():
    with pytest.raises(TypeError, match=r"only data without a name, and 2 were given; .* run=…"):
        calipers.evaluate({"q": ["a"]}, {"q": ["a"]})  # type: ignore[call-arg]
