"""What makes a function an operation: declared once, known to every face."""

import ast
import builtins
import os
import types
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, getsource, signature
from itertools import chain, repeat
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from calipers.errors import CalipersError, InvalidInput, UnknownArgument, as_sentence
from calipers.suggest import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Operation:
    """One operation of the library, and where a reader finds it elsewhere."""

    function: Callable[..., Any]
    command: str | None
    """The command that runs it, as typed after ``calipers``; None: only Python has it."""
    page: str
    """The page of docs/ with a section on it."""


OPERATIONS: dict[str, Operation] = {}
"""Every operation by its public name. ``calipers`` itself, the list in the docs and the test that
walks all of them are made from this table, so a new one is entered nowhere else."""


def operation(*, page: str, command: str | None = None) -> Callable[[F], F]:
    """Declare a public operation; its arguments are then checked before it runs."""

    def declare(function: F) -> F:
        checked = refuses_unknown(function)
        OPERATIONS[function.__name__] = Operation(checked, command, page)
        return checked

    return declare


def refuses_unknown(function: F) -> F:
    """The same function; what it is given is checked before it runs.

    A mistyped argument gets a sentence with the nearest one, a value of another type one that
    says what is allowed, and what the machine refuses is one of our errors.
    """

    @cache
    def known() -> dict[str, Any]:  # When called: of all operations, a program calls one or two.
        return dict(arguments(function))

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        kinds = known()
        if not kinds.keys() >= given.keys():
            raise _unknown(function.__name__, sorted(given.keys() - kinds), sorted(kinds))
        placed = [
            (name, _plain(one, kinds[name]))
            for name, one in zip(_in_place(function), args, strict=False)
        ]
        named = {name: _plain(one, kinds[name]) for name, one in given.items()}
        for name, value in chain(placed, named.items()):
            check(function.__name__, name, value, kinds[name])
        # What is too many is left for Python to say.
        args = (*(one for _, one in placed), *args[len(placed) :])
        try:
            return function(*args, **named)
        except CalipersError:
            raise
        except Exception as error:
            sentence = as_sentence(error)
            if sentence is None:
                raise
            raise sentence from error

    return checked  # type: ignore[return-value]


def _in_place(function: Callable[..., Any]) -> Iterator[str]:
    """The names of arguments that are given by their place; that of ``*metrics`` has no end."""
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            yield from repeat(name)
        elif parameter.kind is Parameter.POSITIONAL_OR_KEYWORD:
            yield name


def _unknown(name: str, given: list[str], known: list[str]) -> UnknownArgument:
    which = " and ".join(map(repr, given))
    return UnknownArgument(
        f"{name} takes no argument {which}; it takes {', '.join(known)}."
        f"{did_you_mean(given[0], known)}"
    )


MOST = 1 << 63
"""Whole numbers are below: what is beyond fits no table, and is never meant."""
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "True or False"}
_WHOLE_KINDS = (Sequence, Set, Mapping)
"""Collections that may be looked through without using them up."""


@dataclass(frozen=True)
class Named:
    """A class or an alias by its name, as a quoted annotation has it."""

    name: str
    module: str
    """The module of the operation, whose imports for type checkers say where the name is from."""

    def __or__(self, other: Any) -> "Either":
        return Either((self, other))

    def __ror__(self, other: Any) -> "Either":
        return Either((other, self))


@dataclass(frozen=True)
class Either:
    """A union with a name in it."""

    parts: tuple[Any, ...]

    def __or__(self, other: Any) -> "Either":
        return Either((*self.parts, other))

    def __ror__(self, other: Any) -> "Either":
        return Either((other, *self.parts))


class _Names(dict[str, Any]):
    """What a quoted annotation may speak of: what the module has loaded, else a bare name."""

    def __init__(self, module: str, loaded: Mapping[str, Any]) -> None:
        super().__init__(loaded)
        self._module = module

    def __missing__(self, name: str) -> Any:
        for common in (builtins, abc):
            if hasattr(common, name):
                return getattr(common, name)
        return Named(name, self._module)


def arguments(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The arguments of an operation with what each takes, those of a TypedDict included."""
    names = _Names(function.__module__, function.__globals__)
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            # Unpack[Keywords], as PEP 692 writes it.
            keywords = parameter.annotation.__args__[0]
            yield from keywords.__annotations__.items()
        else:
            yield name, _evaluated(parameter.annotation, names)


def _evaluated(annotation: Any, names: _Names) -> Any:
    if isinstance(annotation, str):
        return eval(annotation, {"__builtins__": {}}, names)  # noqa: S307 - our own source
    return annotation


def check(function: str, name: str, value: Any, kind: Any) -> None:
    """Refuse a value that is not of the kind that the annotation names.

    >>> check("evaluate", "resamples", "many", int)
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The argument resamples of evaluate has the wrong type: found \
'many', a str; a whole number is allowed.
    """
    if fits(value, kind):
        return
    allowed = " or ".join(dict.fromkeys(_words(kind)))
    raise InvalidInput(
        f"The argument {name} of {function} has the wrong type: found {_short(value)}, a "
        f"{type(value).__name__}; {allowed} is allowed."
    )


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind.

    >>> fits(3, int | None), fits(True, int), fits(["a"], Sequence[str]), fits("a", Sequence[int])
    (True, False, True, False)
    """
    if kind is Any or isinstance(kind, TypeVar):
        return True
    if kind is None or kind is types.NoneType:
        return value is None
    if isinstance(kind, Either):
        return any(fits(value, part) for part in kind.parts)
    if isinstance(kind, Named):
        return _is_named(value, kind)
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in inner)
    if origin is Literal:
        # Another text gets the sentence of the operation, which knows the nearest word.
        return isinstance(value, str) or (isinstance(value, int) and value in inner)
    return _fits_class(value, origin or kind, inner)


def _plain(value: Any, kind: Any) -> Any:
    """A number of another library as Python's own; an iterator as a list, which can be checked."""
    if kind is Any:
        return value
    if isinstance(value, Iterator):
        return list(value)
    if not isinstance(value, Real) or type(value).__module__ == "builtins":
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _fits_class(value: Any, kind: Any, inner: tuple[Any, ...]) -> bool:
    if not isinstance(kind, type):
        return True  # a form of annotation that no operation has yet
    if kind is os.PathLike:
        return isinstance(value, os.PathLike) and isinstance(os.fspath(value), str)
    if issubclass(kind, Mapping):
        return isinstance(value, Mapping) and (
            not inner or all(fits(a, inner[0]) and fits(b, inner[1]) for a, b in value.items())
        )
    if kind is tuple:
        return isinstance(value, tuple) and (
            not inner or inner[-1] is ... or len(inner) == len(value)
        )
    if kind in (Iterable, Sequence, list, Set):
        if kind is Sequence and inner and inner[0] in (int, float) and _is_column(value):
            return True
        if _is_column(value):
            return kind is Iterable and fits(list(value), kind[inner]) if inner else True
        return _is_collection(value, kind) and (
            not isinstance(value, _WHOLE_KINDS) or all(fits(one, inner[0]) for one in value)
        )
    return callable(value) if kind is Callable else isinstance(value, kind)


def _is_collection(value: Any, kind: type) -> bool:
    # Nor is a whole table a list of names.
    if isinstance(value, str | bytes | bytearray) or hasattr(value, "columns"):
        return False
    return isinstance(value, kind)


def _is_column(value: Any) -> bool:
    """Arrays and columns of tables are sequences of numbers to us, if not to Python."""
    return hasattr(value, "__array__") and len(getattr(value, "shape", ())) == 1


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and abs(int(value)) < MOST


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


_PLAIN: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    int: _is_whole,
    float: _is_number,
    bool: lambda value: isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"),
}


def _is_named(value: Any, kind: Named) -> bool:
    if any(base.__name__ == kind.name for base in type(value).__mro__):
        return True
    found = _found(kind)
    if isinstance(found, type):
        return isinstance(value, found)
    # An alias of another library, such as ArrayLike, is checked where it is used.
    return found is None or fits(value, found)


@cache
def _found(kind: Named) -> Any:
    """What a name stands for; None where it is not ours."""
    tree = ast.parse(getsource(import_module(kind.module)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("calipers"):
            continue
        if any((one.asname or one.name) == kind.name for one in node.names):
            return getattr(import_module(node.module or ""), kind.name, None)
    return None


def _words(kind: Any) -> Iterator[str]:
    """What a kind is called."""
    if kind in _WORDS:
        yield _WORDS[kind]
    elif kind is None or kind is types.NoneType:
        yield "None"
    elif isinstance(kind, Either):
        for part in kind.parts:
            yield from _words(part)
    elif isinstance(kind, Named):
        found = _found(kind)
        yield from [f"{kind.name}"] if isinstance(found, type) or found is None else _words(found)
    elif get_origin(kind) in (Union, types.UnionType):
        for part in get_args(kind):
            yield from _words(part)
    elif get_origin(kind) is Literal:
        yield " or ".join(map(repr, get_args(kind)))
    else:
        yield from _collections(get_origin(kind) or kind, get_args(kind))


def _collections(kind: Any, inner: tuple[Any, ...]) -> Iterator[str]:
    if kind is os.PathLike:
        yield "a path"
    elif kind is Callable:
        yield "a function"
    elif isinstance(kind, type) and issubclass(kind, Mapping):
        of = [next(_words(one)).removeprefix("a ") for one in inner]
        yield f"a mapping of {of[0]} to {of[1]}" if of else "a mapping"
    elif inner and kind in (Iterable, Sequence, list, tuple):
        each = [word.removeprefix("a ") for word in _words(inner[0])]
        yield f"a list of {' or '.join(f'{word}s' if word in _EACH else word for word in each)}"
    else:
        yield f"a {getattr(kind, '__name__', kind)}"


_EACH = ("text", "whole number", "number")


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - another's class may raise anything
        return "a value that cannot be shown"
    return text if len(text) <= 60 else text[:57] + "…"
