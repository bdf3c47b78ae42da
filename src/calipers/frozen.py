"""Frozen dataclasses that are made quickly.

The standard decorator compiles six functions for each class; the hundred classes of a small
evaluation took a tenth of its time. Here only ``__init__`` is compiled, and the other
methods are shared. Fields, ``replace``, ``asdict``, equality, hashes and errors are those
of the standard one; a class with an order or slots, or that changes, takes that one.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as _standard
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any


def frozen_dataclass(
    *,
    frozen: bool,
    eq: bool = True,
    repr: bool = True,  # noqa: A002 - as the standard one calls it
    kw_only: bool = False,
) -> Callable[[type], type]:
    """What makes a class a frozen dataclass.

    >>> @frozen_dataclass(frozen=True)
    ... class Target:
    ...     '''What should be found.'''
    ...     id: str
    ...     grade: float = 1.0
    >>> Target("d1"), Target("d1") == Target("d1", 1.0), Target("d1") == Target("d2")
    (Target(id='d1', grade=1.0), True, False)
    >>> Target("d1").grade = 2.0
    Traceback (most recent call last):
    ...
    dataclasses.FrozenInstanceError: cannot assign to field 'grade'
    """
    if not frozen:
        raise TypeError("a class that changes takes dataclasses.dataclass")
    with_fields = _standard(init=False, repr=False, eq=False, kw_only=kw_only)
    return lambda cls: _with_methods(with_fields(cls), eq=eq, represented=repr)


if TYPE_CHECKING:
    # For a type checker it is the standard one, which it knows by name.
    from dataclasses import dataclass as dataclass
else:
    dataclass = frozen_dataclass


def _with_methods(cls: type, *, eq: bool, represented: bool) -> type:
    """The class with the methods that it does not define itself."""
    own = vars(cls)
    members = fields(cls)
    methods: dict[str, object] = {"__setattr__": _assign, "__delattr__": _delete}
    if "__init__" not in own:
        methods["__init__"] = _initialiser(cls, members)
    if represented and "__repr__" not in own:
        methods["__repr__"] = _represent
    if eq:
        methods["_compared"] = staticmethod(_values_of(members))
        if "__eq__" not in own:
            methods["__eq__"] = _is_equal
        # A class that defines __eq__ alone has None here.
        if own.get("__hash__") is None:
            methods["__hash__"] = _hash
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


def _values_of(members: tuple[Field[Any], ...]) -> Callable[[object], tuple[Any, ...]]:
    """What takes the values that are compared from an object, as a tuple."""
    names = [member.name for member in members if member.compare]
    if not names:
        return lambda _: ()
    if len(names) == 1:
        # Of one name it would return the bare value, which may be no truth (an array).
        names *= 2
    return attrgetter(*names)


_NOT_GIVEN = object()


def _initialiser(cls: type, members: tuple[Field[Any], ...]) -> Callable[..., None]:
    """``__init__`` of a class: parameters as fields, and each value in its place."""
    # Their underscore keeps these names apart from those of fields.
    known: dict[str, Any] = {"__name__": cls.__module__, "_NOT_GIVEN": _NOT_GIVEN}
    positional = ["self"]
    keywords: list[str] = []
    lines = ["_values = self.__dict__"]
    for member in members:
        name = member.name
        parameter = name
        value = name
        if member.default_factory is not MISSING:
            known[f"_make_{name}"] = member.default_factory
            value = f"_make_{name}()"
            if member.init:
                parameter = f"{name}=_NOT_GIVEN"
                value = f"{value} if {name} is _NOT_GIVEN else {name}"
        elif member.default is not MISSING:
            known[f"_default_{name}"] = member.default
            parameter = f"{name}=_default_{name}"
        if member.init:
            (keywords if member.kw_only else positional).append(parameter)
        if member.init or member.default_factory is not MISSING:
            lines.append(f"_values[{name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*positional, *(["*"] if keywords else []), *keywords])
    body = "\n    ".join(lines)
    exec(f"def __init__({parameters}):\n    {body}", known)  # noqa: S102 - our own names
    initialise: Callable[..., None] = known["__init__"]
    initialise.__qualname__ = f"{cls.__qualname__}.__init__"
    annotations = {member.name: member.type for member in members if member.init}
    initialise.__annotations__ = {**annotations, "return": None}
    return initialise


def _assign(self: Any, name: str, value: object) -> None:
    """Refuse to change a field; a subclass that is no dataclass may have its own attributes."""
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    """Refuse to take a field away."""
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


@recursive_repr()
def _represent(self: Any) -> str:
    """The fields and their values, as they would be typed."""
    shown = [
        f"{member.name}={getattr(self, member.name)!r}"
        for member in fields(self)
        if member.repr
    ]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _is_equal(self: Any, other: Any) -> Any:
    """Whether another object of this class has the same values."""
    if type(other) is not type(self):
        return NotImplemented
    values = type(self)._compared
    return values(self) == values(other)


def _hash(self: Any) -> int:
    """A number that equal objects share."""
    return hash(type(self)._compared(self))
