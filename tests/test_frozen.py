"""Frozen dataclasses behave as the standard ones."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass as standard
from dataclasses import field
from typing import Any

import pytest

from calipers.frozen import dataclass as ours

Decorator = Callable[..., Any]


def make(decorator: Decorator, **options: bool) -> Any:
    """A class with every kind of field that is used."""

    @decorator(frozen=True, **options)
    class Made:
        """A class."""

        values: int
        name: str = "x"
        many: list[int] = field(default_factory=list)
        hidden: int = field(default=0, repr=False)
        aside: int = field(default=0, compare=False)
        last: tuple[int, ...] = field(default=(), kw_only=True)

        def __post_init__(self) -> None:
            if self.values < 0:
                raise ValueError(self.values)

    return Made


def outcome(call: Callable[[], object]) -> object:
    """What a call returns, or how it fails."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - the two must fail alike
        return type(error), str(error)


OPTIONS: list[dict[str, bool]] = [
    {},
    {"eq": False},
    {"repr": False},
    {"eq": False, "repr": False},
    {"kw_only": True},
]
BEHAVIOUR: dict[str, Callable[[Any], object]] = {
    "shown": lambda cls: repr(cls(values=1, many=[2], last=(3,))).partition(" object at")[0],
    "equal": lambda cls: cls(values=1, aside=1) == cls(values=1, aside=2),
    "other": lambda cls: cls(values=1) == cls(values=2),
    "another class": lambda cls: cls(values=1) == (1, "x"),
    # Both are alive, or one without a value of its own may take the place of the other.
    "hash": lambda cls: len({cls(values=1, many=()), cls(values=1, many=(), aside=3)}),
    "hash of what has none": lambda cls: len(str(hash(cls(values=1)))) > 0,
    "order of parameters": lambda cls: vars(cls(1, "y", [1], 2, 3, last=(4,))),
    "keyword only": lambda cls: cls(1, "y", [1], 2, 3, (4,)),
    "missing": lambda cls: cls(),
    "unknown": lambda cls: cls(values=1, other=2),
    "checked": lambda cls: cls(values=-1),
    "own list": lambda cls: (lambda a, b: a.many is b.many)(cls(values=1), cls(values=1)),
    "replaced": lambda cls: vars(dataclasses.replace(cls(values=1), name="z")),
    "as dict": lambda cls: dataclasses.asdict(cls(values=1)),
    "names": lambda cls: [member.name for member in dataclasses.fields(cls)],
    "matched": lambda cls: cls.__match_args__,
    "assigned": lambda cls: setattr(cls(values=1), "name", "y"),
    "assigned anew": lambda cls: setattr(cls(values=1), "new", "y"),
    "deleted": lambda cls: delattr(cls(values=1), "name"),
    "copied": lambda cls: vars(copy.deepcopy(cls(values=1, many=[2]))),
    "parameters": lambda cls: [
        (one.name, one.kind, one.annotation) for one in inspect.signature(cls).parameters.values()
    ],
    "subclass": lambda cls: vars(type("Sub", (cls,), {})(values=1)),
    "subclass assigns": lambda cls: setattr(type("Sub", (cls,), {})(values=1), "new", 1),
    "subclass keeps": lambda cls: setattr(type("Sub", (cls,), {})(values=1), "name", 1),
}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_frozen_dataclass_behaves_as_the_standard_one(options: dict[str, bool]) -> None:
    for name, behaviour in BEHAVIOUR.items():
        expected = outcome(lambda: behaviour(make(standard, **options)))  # noqa: B023
        assert outcome(lambda: behaviour(make(ours, **options))) == expected, name  # noqa: B023


@ours(frozen=True)
class Single:
    """One field, whose value may be no truth."""

    value: object

    @property
    def twice(self) -> tuple[object, object]:
        return (self.value, self.value)


@ours(frozen=True)
class Further(Single):
    """A field more than its base."""

    more: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Further) and self.more == other.more


def test_a_value_is_pickled_and_compared_by_identity_first() -> None:
    nan = float("nan")
    assert pickle.loads(pickle.dumps(Single((1, 2)))) == Single((1, 2))
    assert Single(nan) == Single(nan)
    assert Single(1) != Further(1)


def test_a_class_keeps_the_methods_that_it_defines() -> None:
    assert Further(1, 2) == Further(3, 2)
    assert repr(Further(1)) == "Further(value=1, more=0)"
    assert isinstance(hash(Further(1)), int)


def test_a_value_that_holds_itself_can_be_shown() -> None:
    many: list[object] = []
    many.append(Single(many))
    assert repr(many[0]) == "Single(value=[...])"


def test_a_class_that_changes_is_refused() -> None:
    with pytest.raises(TypeError, match="takes dataclasses"):
        ours(frozen=False)
