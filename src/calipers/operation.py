"""What makes a function an operation: its settings are declared once, and every face reads them."""

import builtins
import re
import sys
import types
from collections import abc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, cleandoc, signature, unwrap
from itertools import repeat
from numbers import Integral, Real
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Literal,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from calipers.errors import (
    CalipersError,
    InvalidInput,
    UnknownArgument,
    as_sentence,
    check_number,
)
from calipers.words import did_you_mean

ASKING, READING, POLICIES = "Asking", "Reading", "Policy"
OUTPUT, HISTORY, STATISTICS = "Output", "History", "Statistics"
"""The groups of options that ``--help-all`` shows, and ``--help`` does not."""
PYTHON = "Python"
"""The face that alone offers a keyword (``only=PYTHON``)."""
FILE = "a file"
"""No command has an option for it; the settings file may hold it (``only=FILE``)."""


@dataclass(frozen=True)
class Setting:
    """What the faces need to know beside the type: ``k: Annotated[int, Setting("…", default=10)]``.

    A TypedDict declares each keyword of an operation once. Python keywords, options, the settings
    file, help, docs and the fingerprint of a result follow from it.
    """

    help: str
    flags: str = ""
    """How the option is written, such as "-m" (beside --metrics) or "--against" (in its place)."""
    metavar: str | None = None
    default: Any = None
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
    least: int | None = None
    """The smallest number that it can be."""
    most: int | None = None
    read: Callable[[Any], Any] | None = None
    """Makes the value of the text (or the texts) that was given."""
    file: str = ""
    """Its key in the settings file; "gate.allow" stands in the table [gate]."""
    path: bool = False
    """A path, in the settings file meant from the folder of the file."""
    group: str = ""
    """The part of ``--help-all`` that it stands in; empty: ``--help`` shows it too."""
    only: str = ""
    """The one command that offers it, where others take the keyword in Python alone."""
    of_data: tuple[str, ...] = ()
    """What it needs of the data, where the same can be asked of several kinds of it."""
    excludes: tuple[str, ...] = ()
    """Other keywords that cannot be given beside it."""
    needs: tuple[str, ...] = ()
    """Other keywords, of which one must be given beside it."""
    changes_nothing: bool = False
    """Two results that differ in it alone are the same: outputs, memory, progress, workers."""
    recorded: bool = False
    """A result holds what came of it already, so that the keyword itself is not added to it."""

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
    writes: tuple[str, ...] = ()
    """Files that its command writes; its table of the settings file may name them."""


OPERATIONS: dict[str, Operation] = {}
"""Every operation that is loaded, by its public name; ``calipers.operations`` loads them all."""


def operation(
    *, page: str, command: str | None = None, writes: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Declare a public operation; its arguments are then checked before it runs."""

    def declare(function: F) -> F:
        checked = refuses_unknown(function)
        OPERATIONS[function.__name__] = Operation(checked, command, page, writes)
        return checked

    return declare


def refuses_unknown(function: F) -> F:
    """The same function; what it is given is checked, and its keywords come with their defaults.

    A mistyped argument gets a sentence with the nearest one, a value of another type one that
    says what is allowed, and what the machine refuses is one of our errors.
    """
    name = function.__name__

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        known = arguments(function)
        if not known.keys() >= given.keys():
            raise _unknown(name, sorted(given.keys() - known), sorted(known))

        def converted(one: str, value: Any) -> Any:
            return convert(known[one], value, f"The argument {one} of {name}")

        placed = [
            (one, converted(one, value))
            for one, value in zip(_in_place(function), args, strict=False)
        ]
        named = {one: converted(one, value) for one, value in given.items()}
        check_together(known, {**dict(placed), **named}, lambda one: f"{one}=")
        named = {**_defaults(function), **named}
        for one in known.values():
            if one.needed and one.is_member and one.name not in named:
                raise UnknownArgument(f"{name} needs the argument {one.name}; give {one.name}=….")
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

    checked.__signature__ = _plain_signature(function)  # type: ignore[attr-defined]
    checked.__doc__ = _with_keywords(function)
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
    is_member: bool = False
    """Whether a TypedDict declares it, and the operation has it among its settings."""


@cache
def arguments(function: Callable[..., Any]) -> dict[str, Argument]:
    """The arguments of an operation by name, those of its TypedDict included."""
    function = unwrap(function)
    names = _Names(function.__globals__)
    found: dict[str, Argument] = {}
    for name, one in signature(function).parameters.items():
        if one.kind is Parameter.VAR_KEYWORD:
            # Unpack[Keywords], as PEP 692 writes it.
            found |= arguments_of(get_args(one.annotation)[0])
            continue
        needed = one.default is Parameter.empty
        default = None if needed else one.default
        found[name] = Argument(name, *_typed(one.annotation, names), default, needed)
    return found


@cache
def arguments_of(keywords: Any) -> dict[str, Argument]:
    """The keywords that a TypedDict declares, by name."""
    names = _Names(vars(sys.modules[keywords.__module__]))
    found = {}
    for name, annotation in keywords.__annotations__.items():
        kind, setting = _typed(annotation, names)
        default = None if setting is None else setting.default
        needed = name in keywords.__required_keys__
        found[name] = Argument(name, kind, setting, default, needed, is_member=True)
    return found


@cache
def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    members = (one for one in arguments(function).values() if one.is_member and not one.needed)
    return {one.name: one.default for one in members}


def _typed(annotation: Any, names: "_Names") -> tuple[Any, Setting | None]:
    """The type that an annotation names, and the setting beside it."""
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        annotation = eval(annotation, {"__builtins__": {}}, names)  # noqa: S307 - our own source
    if get_origin(annotation) is Required:
        return _typed(get_args(annotation)[0], names)
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


def _plain_signature(function: Callable[..., Any]) -> Signature:
    """Every argument with its type and default, those of the TypedDict among them."""
    raw = signature(function)
    placed = [one for one in raw.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    known = arguments(function)
    plain = [one.replace(annotation=known[one.name].kind) for one in placed]
    plain += (
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            annotation=one.kind,
            default=Parameter.empty if one.needed else one.default,
        )
        for one in known.values()
        if one.is_member
    )
    return raw.replace(parameters=plain)


def _with_keywords(function: Callable[..., Any]) -> str:
    """The docstring, with a line for each keyword of the TypedDict."""
    lines = [
        f"    {one.name}: {one.setting.help}"
        for one in arguments(function).values()
        if one.is_member and one.setting is not None
    ]
    text = cleandoc(function.__doc__ or "")
    return "\n".join([text, "", "Keywords:", *lines]) if lines else text


MOST = 1 << 63
"""Whole numbers are below: what is beyond fits no table, and is never meant."""
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
    "Callable": "a function",
    "PathLike": "a path",
    "Mapping": "a mapping",
    **dict.fromkeys(("Sequence", "Collection", "Iterable"), "a list"),
    **dict.fromkeys(("null", "NoneType"), ""),
}
"""What the types are called that the library for JSON names, and those beside which it cannot."""


def convert(argument: Argument, value: Any, where: str, *, strict: bool = True) -> Any:
    """A value as an argument takes it; ``where`` begins the sentence that refuses another.

    Where it is not ``strict``, texts may spell numbers, as on a command line.

    >>> convert(Argument("n", int | None), "many", "The option -n")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The option -n is 'many'; it must be a whole number.
    """
    if argument.kind is Any:
        return value
    import msgspec  # loaded where something is given

    plain, inside = _plain(value), ""
    classes, choices = classes_of(argument.kind), choices_of(argument)
    try:
        found = msgspec.convert(plain, argument.kind, strict=strict)
        if _is_within(found) and (found is None or not choices or found in choices):
            setting = argument.setting
            if isinstance(found, int) and setting and {setting.least, setting.most} != {None}:
                check_number(where, found, whole=True, least=setting.least, most=setting.most)
            return found
        expected = "int"
    except msgspec.ValidationError as error:
        said = re.match(r"Expected `(.*?)`.*?(?:at `\$(.*)`)?$", str(error))
        expected, inside = (said[1], said[2] or "") if said else ("float", "")
    except TypeError:
        # A union of classes that the library does not know.
        if isinstance(plain, classes) and not _is_other(plain, classes):
            return plain
        expected = " ".join(one.__name__ for one in classes)
    if choices:
        from calipers.gone import gone

        if (instead := gone(f"--{argument.name} {value}")) is not None:
            raise InvalidInput(instead)
        allowed = f"one of {', '.join(choices)}"
    else:
        words = (_WORDS.get(one, f"a {one}") for one in re.findall(r"\w+", expected))
        allowed = " or ".join(filter(None, dict.fromkeys(words)))
    if inside:
        number = re.match(r"\[(\d+)\]", inside)
        allowed += f" in item {int(number[1]) + 1}" if number else " in every value"
    meant = did_you_mean(value, choices) if choices and isinstance(value, str) else ""
    raise InvalidInput(f"{where} is {_short(value)}; it must be {allowed}.{meant}")


def classes_of(kind: Any) -> tuple[Any, ...]:
    """The classes of a union, or the one class."""
    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return tuple(get_origin(one) or one for one in parts)


def choices_of(argument: Argument) -> tuple[str, ...]:
    """The words that a value can be, where there are such."""
    if argument.setting is not None and argument.setting.choices:
        return argument.setting.choices
    parts = (argument.kind, *get_args(argument.kind))
    return next((get_args(one) for one in parts if get_origin(one) is Literal), ())


def _is_other(value: Any, classes: tuple[Any, ...]) -> bool:
    """Whether a value is a list for Python alone: bytes, a table, a text where none is allowed."""
    if isinstance(value, str):
        return str not in classes
    if isinstance(value, abc.Mapping):
        return Mapping not in classes
    return isinstance(value, bytes | bytearray) or hasattr(value, "columns")


def _is_within(value: Any) -> bool:
    numbers = value if isinstance(value, list) else [value]
    return all(not isinstance(one, int) or abs(one) < MOST for one in numbers)


def _plain(value: Any) -> Any:
    """A number of another library as Python's own; columns, ranges and iterators as lists."""
    if isinstance(value, Iterator | range):
        return list(value)
    if hasattr(value, "__array__") and len(getattr(value, "shape", ())) <= 1:
        return value.to_list() if hasattr(value, "to_list") else getattr(value, "tolist")()  # noqa: B009
    if not isinstance(value, Real) or type(value).__module__ == "builtins":
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - another's class may raise anything
        return "a value that cannot be shown"
    return text if len(text) <= 60 else text[:57] + "…"


def is_given(argument: Argument, value: Any) -> bool:
    """Whether a value asks for something; its default, None and nothing at all do not."""
    if value is None or value is False:
        return False
    is_default = type(value) is type(argument.default) and value == argument.default
    return not is_default and not (isinstance(value, str | list | tuple | dict) and not value)


def check_together(
    known: Mapping[str, Argument], values: Mapping[str, Any], called: Callable[[str], str]
) -> None:
    """Refuse keywords that exclude each other, or that need one that is not given.

    ``called`` is how the caller writes a keyword: an argument, an option, a key of a file.
    """
    given = {name for name, value in values.items() if is_given(known[name], value)}
    for name in given:
        setting = known[name].setting
        if setting is None:
            continue
        for other in setting.excludes:
            if other in given:
                raise InvalidInput(
                    f"{called(name)} and {called(other)} exclude each other; leave one of them out."
                )
        if setting.needs and not given & {*setting.needs}:
            needed = " or ".join(called(one) for one in setting.needs if one in known)
            raise InvalidInput(
                f"{called(name)} is given without {needed}; add it, or leave {called(name)} out."
            )


def to_record(settings: Mapping[str, Any], keywords: type) -> dict[str, Any]:
    """The settings of a TypedDict that a result must hold, so that it is taken for no other.

    These are all that are not at their default, but for those declared to change nothing, and
    those of which a result holds what came of them.
    """
    return {
        name: settings[name]
        for name, one in arguments_of(keywords).items()
        if one.setting and not one.setting.changes_nothing and not one.setting.recorded
        if name in settings and is_given(one, settings[name])
    }


def apart_from(keywords: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a TypedDict does not declare: those of a question beside its reading."""
    return {name: one for name, one in settings.items() if name not in keywords.__annotations__}


def keys_of(function: Callable[..., Any]) -> dict[str, str]:
    """The keywords of an operation that a settings file may hold, with their keys there."""
    takes = arguments(function).values()
    return {one.name: one.setting.file for one in takes if one.setting and one.setting.file}
