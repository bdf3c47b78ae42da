"""Operations: functions whose settings are declared once, for Python, commands, files and docs."""

import builtins
import re
import sys
import types
from collections import abc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, cleandoc, signature, unwrap
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
"""The option groups that only ``--help-all`` shows."""
PYTHON = "Python"
"""A keyword only for Python (``only=PYTHON``)."""


@dataclass(frozen=True)
class Setting:
    """Metadata of a keyword beside its type: ``k: Annotated[int, Setting("…", default=10)]``.

    A TypedDict declares each keyword of an operation once. Python keywords, options, the settings
    file, help, docs and the fingerprint of a result follow from it.
    """

    help: str
    flags: str = ""
    """The option's spelling, such as "-m" (in addition to --metrics) or "--against" (instead)."""
    metavar: str | None = None
    default: Any = None
    argument: str = ""
    """Its name as a positional argument: FILE, [FILE] or FILE..."""
    several: bool = False
    """Whether it may be given several times."""
    only_one: str = ""
    """The advice if several positional values are given and only one is allowed."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Names with their own option, and its help: --sheet NAME means sheet=NAME."""
    choices: tuple[str, ...] = ()
    """The allowed values, if the type does not list them."""
    least: int | None = None
    """The smallest allowed number."""
    most: int | None = None
    read: Callable[[Any], Any] | None = None
    """Converts the given text (or texts) to the value."""
    file: str = ""
    """Its key in the settings file; "gate.allow" is in the table [gate]."""
    path: bool = False
    """Whether it is a path; in a settings file it is relative to that file."""
    group: str = ""
    """Its group in ``--help-all``; if empty, ``--help`` shows it too."""
    only: str = ""
    """The only command with an option for it; others take the keyword in Python."""
    excludes: tuple[str, ...] = ()
    """Keywords that cannot be combined with it."""
    needs: tuple[str, ...] = ()
    """Keywords of which at least one must be given with it."""
    changes_nothing: bool = False
    """Whether it leaves the result unchanged: outputs, memory, progress, workers."""
    recorded: bool = False
    """Whether the result already records its effect, so that the keyword is not added."""

    def names(self, keyword: str) -> list[str]:
        """The option names of a keyword: long, then short.

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
    """One operation of the library, with its command and its page in the docs."""

    function: Callable[..., Any]
    command: str | None
    """The command that runs it, as typed after ``calipers``; None if only Python has it."""
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
    """Wrap a function so that its arguments are checked and its defaults are filled in.

    A mistyped argument gets an error with the nearest name, a value of another type one that
    says what is allowed, and system errors become errors of ours.
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
        # Python itself reports too many arguments.
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


@cache
def _in_place(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that may be given without one, in their order."""
    placed = signature(function).parameters.values()
    return tuple(one.name for one in placed if one.kind is Parameter.POSITIONAL_OR_KEYWORD)


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
    """One argument of an operation, from its signature or the TypedDict of its keywords."""

    name: str
    kind: Any
    """The type without ``Annotated``."""
    setting: Setting | None = None
    default: Any = None
    needed: bool = False
    is_member: bool = False
    """Whether it is declared in the TypedDict of the settings."""


@cache
def arguments(function: Callable[..., Any]) -> dict[str, Argument]:
    """The arguments of an operation by name, including those of its TypedDict."""
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
    """Split an annotation into its type and its Setting."""
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
    """Stands for a class that is not imported: isinstance compares class names."""

    def __instancecheck__(cls, value: Any) -> bool:
        return any(base.__name__ == cls.__name__ for base in type(value).__mro__)


class _Names(dict[str, Any]):
    """Names for quoted annotations: the module's own, else a class known by name only."""

    def __missing__(self, name: str) -> Any:
        for common in (builtins, abc):
            if hasattr(common, name):
                return getattr(common, name)
        return _KnownByName(name, (), {})


def _plain_signature(function: Callable[..., Any]) -> Signature:
    """The signature with every argument of the TypedDict spelled out."""
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
"""The limit of whole numbers: larger ones fit no table, and are never meant."""
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
"""Plain names of types, for error messages."""


def convert(argument: Argument, value: Any, where: str, *, strict: bool = True) -> Any:
    """Convert a value to the type of an argument; ``where`` begins the error message.

    Unless ``strict``, texts may spell numbers, as on a command line.

    >>> convert(Argument("n", int | None), "many", "The option -n")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The option -n is 'many'; it must be a whole number.
    """
    if argument.kind is Any:
        return value
    import msgspec  # imported only if something is given

    plain, inside = _plain(value), ""
    if not strict and isinstance(plain, str):
        plain = re.sub(r"^([+-]?)(?=\.\d+$)", r"\g<1>0", plain)  # .5 is a number, too
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
    except UnicodeEncodeError as error:
        raise as_sentence(error) or error from None
    except (TypeError, AttributeError):
        # A union of classes that msgspec does not know, or an object that is half a mapping.
        if isinstance(plain, classes) and not _is_other(plain, classes):
            return plain
        expected = " ".join(one.__name__ for one in classes)
    if choices:
        from calipers.gone import gone

        old = value if isinstance(value, str) else ""
        if (instead := gone(f"--{argument.name} {old}")) is not None:
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
    """The allowed words of an argument, if it has a fixed set."""
    if argument.setting is not None and argument.setting.choices:
        return argument.setting.choices
    parts = (argument.kind, *get_args(argument.kind))
    return next((get_args(one) for one in parts if get_origin(one) is Literal), ())


def _is_other(value: Any, classes: tuple[Any, ...]) -> bool:
    """Whether a value only looks like a list: bytes, a table, or a text where none is allowed."""
    if isinstance(value, str):
        return str not in classes
    if isinstance(value, abc.Mapping):
        return Mapping not in classes
    return isinstance(value, bytes | bytearray) or hasattr(value, "columns")


def _is_within(value: Any) -> bool:
    numbers = value if isinstance(value, list) else [value]
    return all(not isinstance(one, int) or abs(one) < MOST for one in numbers)


def _plain(value: Any) -> Any:
    """Convert other libraries' numbers to Python's, and columns, ranges and iterators to lists."""
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
    """Whether a value was given: not its default, None, False or empty."""
    if value is None or value is False:
        return False
    is_default = type(value) is type(argument.default) and value == argument.default
    return not is_default and not (isinstance(value, str | list | tuple | dict) and not value)


def check_together(
    known: Mapping[str, Argument], values: Mapping[str, Any], called: Callable[[str], str]
) -> None:
    """Refuse keywords that exclude each other, or that need one that is not given.

    ``called`` formats a keyword as the caller writes it: argument, option or key of a file.
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
    """The settings that a result must record, so that it is not mistaken for another.

    These are all that differ from their default, except those declared as ``changes_nothing`` or
    ``recorded``.
    """
    return {
        name: settings[name]
        for name, one in arguments_of(keywords).items()
        if one.setting and not one.setting.changes_nothing and not one.setting.recorded
        if name in settings and is_given(one, settings[name])
    }


def apart_from(keywords: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a TypedDict does not declare, such as those not about reading input."""
    return {name: one for name, one in settings.items() if name not in keywords.__annotations__}


def keys_of(function: Callable[..., Any]) -> dict[str, str]:
    """The keywords of an operation that a settings file may set, with their keys."""
    takes = arguments(function).values()
    return {one.name: one.setting.file for one in takes if one.setting and one.setting.file}
