"""What makes a function an operation: declared once, known to every face."""

import builtins
import os
import types
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, signature, unwrap
from itertools import chain, repeat
from numbers import Integral, Real
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from calipers.errors import CalipersError, InvalidInput, UnknownArgument, as_sentence
from calipers.words import did_you_mean

ASKING, READING, POLICIES = "Asking", "Reading", "Policy"
OUTPUT, HISTORY, STATISTICS = "Output", "History", "Statistics"
"""The groups of options that ``--help-all`` shows, and ``--help`` does not."""


@dataclass(frozen=True)
class Setting:
    """What the faces need to know beside the type: ``k: Annotated[int, Setting("…", "-k")]``.

    An operation declares each keyword once. Its name, type and default serve Python; with this
    beside them, commands take it as an option, the settings file may hold it, and help and docs
    explain it. A keyword without one is for Python alone.
    """

    help: str
    flags: str = ""
    """How the option is written, such as "-m" (beside --metrics) or "--against" (in its place)."""
    metavar: str | None = None
    argument: str = ""
    """The word that stands for it where it is given by its place: FILE, or [FILE] or FILE..."""
    several: bool = False
    """Whether it may be given several times."""
    only_one: str = ""
    """What to do where several were given by their places, and one is meant."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Names with an option of their own, and its help: --sheet NAME stands for sheet=NAME."""
    choices: tuple[str, ...] = ()
    """What it can be, where the type alone does not say."""
    read: Callable[[Any], Any] | None = None
    """Makes the value of the text (or the texts) that was given."""
    file: str = ""
    """The key of the settings file that holds where it is not given."""
    group: str = ""
    """The part of ``--help-all`` that it stands in; empty: ``--help`` shows it too."""
    only: str = ""
    """The one command that offers it, where others take the keyword in Python alone."""

    needs: tuple[str, ...] = ()
    """What it needs of the data, where the same can be asked of several kinds of it."""

    def names(self, keyword: str) -> list[str]:
        """How the option of a keyword is written: long, then short.

        >>> Setting("").names("max_age"), Setting("", "-m").names("metrics")
        (['--max-age'], ['--metrics', '-m'])
        >>> Setting("", "--against").names("baseline"), Setting("", "-k").names("k")
        (['--against'], ['-k'])
        """
        given = self.flags.split()
        is_named = len(keyword) == 1 or any(one.startswith("--") for one in given)
        return given if given and is_named else [f"--{keyword.replace('_', '-')}", *given]


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
"""Every operation that is loaded, by its public name; ``calipers.operations`` loads them all."""


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
    name = function.__name__

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        known = arguments(function)
        if not known.keys() >= given.keys():
            raise _unknown(name, sorted(given.keys() - known), sorted(known))
        placed = [
            (one, _plain(value, known[one].kind))
            for one, value in zip(_in_place(function), args, strict=False)
        ]
        named = {one: _plain(value, known[one].kind) for one, value in given.items()}
        for one, value in chain(placed, named.items()):
            check(name, one, value, known[one].kind)
        # What is too many is left for Python to say.
        args = (*(value for _, value in placed), *args[len(placed) :])
        try:
            return function(*args, **named)
        except CalipersError:
            raise
        except BaseException as error:
            sentence = as_sentence(error)  # also of a panic of the table library
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
    from calipers.gone import gone

    which = " and ".join(map(repr, given))
    return UnknownArgument(
        gone(f"{name} --{given[0].replace('_', '-')}")
        or f"{name} takes no argument {which}; it takes {', '.join(known)}."
        f"{did_you_mean(given[0], known)}"
    )


@dataclass(frozen=True)
class Argument:
    """One argument of an operation, as its signature or the TypedDict of its keywords has it."""

    name: str
    kind: Any
    """The type, without what ``Annotated`` adds to it."""
    setting: Setting | None = None
    default: Any = None
    needed: bool = False


@cache
def arguments(function: Callable[..., Any]) -> dict[str, Argument]:
    """The arguments of an operation by name, those of a TypedDict included."""
    names = _Names(unwrap(function).__globals__)
    found: dict[str, Argument] = {}
    for name, one in signature(function).parameters.items():
        if one.kind is Parameter.VAR_KEYWORD:
            # Unpack[Keywords], as PEP 692 writes it.
            keywords = one.annotation.__args__[0].__annotations__
            found |= {key: Argument(key, *_typed(kind, names)) for key, kind in keywords.items()}
            continue
        needed = one.default is Parameter.empty
        default = None if needed else one.default
        found[name] = Argument(name, *_typed(one.annotation, names), default, needed)
    return found


def _typed(annotation: Any, names: "_Names") -> tuple[Any, Setting | None]:
    """The type that an annotation names, and the setting beside it."""
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        annotation = eval(annotation, {"__builtins__": {}}, names)  # noqa: S307 - our own source
    if get_origin(annotation) is not Annotated:
        return annotation, None
    kind, *further = get_args(annotation)
    setting = next((one for one in further if isinstance(one, Setting)), None)
    return _typed(kind, names)[0], setting


class _KnownByName(type):
    """A class that need not be loaded: its values are those whose class has the name."""

    def __instancecheck__(cls, value: Any) -> bool:
        return any(base.__name__ == cls.__name__ for base in type(value).__mro__)


class _Names(dict[str, Any]):
    """What a quoted annotation may speak of: what the module has loaded, else a class's name."""

    def __missing__(self, name: str) -> Any:
        for common in (builtins, abc):
            if hasattr(common, name):
                return getattr(common, name)
        return _KnownByName(name, (), {})


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


def _plain(value: Any, kind: Any) -> Any:
    """A number of another library as Python's own; an iterator as a list, which can be checked."""
    if kind is Any:
        return value
    if isinstance(value, Iterator):
        return list(value)
    if not isinstance(value, Real) or type(value).__module__ == "builtins":
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind.

    >>> fits(3, int | None), fits(True, int), fits(["a"], Sequence[str]), fits("a", Sequence[int])
    (True, False, True, False)
    """
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in inner)
    if origin is Literal:
        # Another text gets the sentence of the operation, which knows the nearest word.
        return isinstance(value, str) or (isinstance(value, int) and value in inner)
    return _fits_class(value, origin or kind, inner)


def _fits_class(value: Any, kind: Any, inner: tuple[Any, ...]) -> bool:
    if kind is Callable:
        return callable(value)
    if kind is os.PathLike:
        return isinstance(value, os.PathLike) and isinstance(os.fspath(value), str)
    if kind is Mapping:
        return isinstance(value, Mapping) and all(
            fits(key, inner[0]) and fits(one, inner[1]) for key, one in value.items()
        )
    if kind not in (Iterable, Sequence):
        return isinstance(value, kind)
    if _is_column(value):
        is_of_numbers = inner[0] in (int, float)
        return is_of_numbers if kind is Sequence else fits(list(value), kind[inner])
    # A text is no list of names, and nor is a whole table.
    if isinstance(value, str | bytes | bytearray) or hasattr(value, "columns"):
        return False
    # What cannot be looked through without using it up is looked at where it is used.
    is_whole = isinstance(value, Sequence | Set | Mapping)
    return isinstance(value, kind) and (not is_whole or all(fits(one, inner[0]) for one in value))


def _is_column(value: Any) -> bool:
    """Arrays and columns of tables are sequences of numbers to us, if not to Python."""
    return hasattr(value, "__array__") and len(getattr(value, "shape", ())) == 1


MOST = 1 << 63
"""Whole numbers are below: what is beyond fits no table, and is never meant."""


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
    Any: lambda _: True,
    None: lambda value: value is None,
    types.NoneType: lambda value: value is None,
    str: lambda value: isinstance(value, str),
    int: _is_whole,
    float: _is_number,
    bool: lambda value: isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"),
}
_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    types.NoneType: "None",
    os.PathLike: "a path",
    Callable: "a function",
}

_EACH = ("text", "whole number", "number")


def _words(kind: Any) -> Iterator[str]:
    """What a kind is called."""
    origin, inner = get_origin(kind), get_args(kind)
    if (known := _WORDS.get(origin or kind)) is not None:
        yield known
    elif origin in (Union, types.UnionType):
        for part in inner:
            yield from _words(part)
    elif origin is Literal:
        yield " or ".join(map(repr, inner))
    elif origin is Mapping:
        key, of = (next(_words(one)).removeprefix("a ") for one in inner)
        yield f"a mapping of {key} to {of}"
    elif origin in (Iterable, Sequence):
        each = [word.removeprefix("a ") for word in _words(inner[0])]
        yield f"a list of {' or '.join(f'{one}s' if one in _EACH else one for one in each)}"
    else:
        # A class, also one of another library or of a room that is not loaded.
        yield kind.__name__ if isinstance(kind, _KnownByName) else f"a {(origin or kind).__name__}"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - another's class may raise anything
        return "a value that cannot be shown"
    return text if len(text) <= 60 else text[:57] + "…"
