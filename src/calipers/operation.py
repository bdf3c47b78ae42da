"""Operations: functions whose settings are declared once, for Python, commands, files and docs.

The settings of an operation are one frozen dataclass (a subclass of ``Settings``). Each
of its fields is a keyword; a field that is itself a ``Settings`` is a group that several
operations share. It is built once, at the edge, from keywords, options or the settings
file. Below the edge everything is an attribute, so that a misspelt setting fails the type
checker.
"""

import re
import types
from collections import abc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, wraps
from inspect import Parameter, Signature, cleandoc, signature, unwrap
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from calipers.errors import (
    CalipersError,
    InvalidInput,
    UnknownArgument,
    as_sentence,
    check_number,
    is_command_line,
)
from calipers.frozen import dataclass
from calipers.words import did_you_mean

ASKING = "Asking"
READING = "Reading"
POLICIES = "Policy"
OUTPUT = "Output"
HISTORY = "History"
STATISTICS = "Statistics"
"""The option groups that only ``--help-all`` shows."""
PYTHON = "Python"
"""A keyword only for Python (``only=PYTHON``)."""


class Settings:
    """Base of the settings of an operation, and of groups that operations share.

    A subclass is a frozen dataclass whose fields are keyword-only: a keyword with its
    ``Setting`` (``k: Annotated[int, Setting("…")] = 10``), or a group (``reading: Reading
    = Reading()``).
    """


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Setting:
    """Metadata of a keyword beside its type: ``k: Annotated[int, Setting("…")] = 10``.

    Python keywords, options, the settings file, help, docs, the stub that editors read
    and the fingerprint of a result follow from it.
    """

    help: str
    flags: str = ""
    """The option's spelling, such as "-m" (in addition to --metrics) or "--against"
    (instead)."""
    metavar: str | None = None
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
    unchecked: bool = False
    """Whether the reader of the value checks it: inputs may be of many types."""
    file: str = ""
    """Its key in the settings file; "gate.allow" is in the table [gate]."""
    path: bool = False
    """Whether it is a path; in a settings file it is relative to that file."""
    group: str = ""
    """Its group in ``--help-all``; if empty, ``--help`` shows it too."""
    only: str = ""
    """The only commands with an option for it; others take the keyword in Python."""
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
        declared = self.flags.split()
        is_named = len(keyword) == 1 or any(name.startswith("--") for name in declared)
        return (
            declared
            if declared and is_named
            else [f"--{keyword.replace('_', '-')}", *declared]
        )


F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class Operation:
    """One operation of the library, with its command and its page in the docs."""

    function: Callable[..., object]
    command: str | None
    """The command that runs it, as typed after ``calipers``; None if only Python has
    it."""
    page: str
    """The page of docs/ with a section on it."""


OPERATIONS: dict[str, Operation] = {}
"""Every operation that is loaded, by its public name; ``calipers.operations`` loads them
all."""


def operation(*, page: str, command: str | None = None) -> Callable[[F], F]:
    """Declare a public operation; its arguments are then checked before it runs."""

    def declare(function: F) -> F:
        checked = takes_keywords(function)
        OPERATIONS[function.__name__] = Operation(checked, command, page)
        return checked

    return declare


def takes_keywords(function: F) -> F:
    """Wrap a function so that it takes the fields of its settings as keywords.

    The keywords are checked and converted, and the settings built from them, before it
    runs. A mistyped one gets an error with the nearest name, a value of another type one
    that says what is allowed, and system errors become errors of ours. Code of ours may
    hand over ``settings`` instead, built already.
    """
    name = function.__name__

    @wraps(function)
    def checked(*args: object, **keywords: object) -> object:
        if isinstance(keywords.get("settings"), Settings):
            return function(*args, **keywords)
        known = arguments(function)
        if not known.keys() >= keywords.keys():
            raise _unknown(name, sorted(keywords.keys() - known), sorted(known))
        if len(args) > len(_in_place(function)) and not _takes_more(function):
            raise _too_many(name, len(args), _in_place(function), known)

        def converted(keyword: str, value: object) -> object:
            return convert(known[keyword], value, f"The argument {keyword} of {name}")

        placed = [
            (keyword, converted(keyword, value))
            for keyword, value in zip(_in_place(function), args, strict=False)
        ]
        named = {word: converted(word, value) for word, value in keywords.items()}
        check_together(known, {**dict(placed), **named}, lambda keyword: f"{keyword}=")
        kind = settings_of(function)
        if kind is not None:
            for argument in arguments_of(kind).values():
                if argument.needed and argument.name not in named:
                    needed = argument.name
                    raise UnknownArgument(
                        f"{name} needs the argument {needed}; give {needed}=…."
                    )
            members = arguments_of(kind).keys()
            values = {keyword: named.pop(keyword) for keyword in members & named.keys()}
            named["settings"] = build(kind, values)
        # What follows is of an operation that takes any number, such as metrics.
        in_order = (*(value for _, value in placed), *args[len(placed) :])
        try:
            return function(*in_order, **named)
        except CalipersError as error:
            if not is_command_line() and len(error.args) == 1:
                from calipers.keywords import in_python

                # What to do is said with keywords, whoever wrote the sentence.
                error.args = (in_python(str(error), "="),)
            raise
        except BaseException as error:
            sentence = as_sentence(error)  # also of a panic of the table library
            if sentence is None:
                raise
            raise sentence from error

    checked.__signature__ = _plain_signature(function)  # type: ignore[attr-defined]
    checked.__doc__ = _with_keywords(function)
    return checked  # type: ignore[return-value]


def _too_many(
    name: str, count: int, in_place: Sequence[str], known: Collection[str]
) -> UnknownArgument:
    """The error for more values without a name than have a place."""
    places = f"only {', '.join(in_place)}" if in_place else "no argument"
    such = ", such as run=… and ground_truth=…" if "ground_truth" in known else ""
    text = f"{name} takes {places} without a name, and {count} were given"
    return UnknownArgument(f"{text}; name the others{such}.")


@cache
def _in_place(function: Callable[..., object]) -> tuple[str, ...]:
    """The names of the arguments that may be given without one, in their order."""
    placed = signature(function).parameters.values()
    return tuple(
        parameter.name
        for parameter in placed
        if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
    )


@cache
def _takes_more(function: Callable[..., object]) -> bool:
    """Whether any number of arguments may be given without a name, as metrics of a scorer."""
    kinds = {parameter.kind for parameter in signature(function).parameters.values()}
    return Parameter.VAR_POSITIONAL in kinds


def _unknown(name: str, keywords: list[str], known: list[str]) -> UnknownArgument:
    """The error for keywords that an operation does not take."""
    which = " and ".join(map(repr, keywords))
    return UnknownArgument(
        f"{name} takes no argument {which}; it takes {', '.join(known)}."
        f"{did_you_mean(keywords[0], known)}"
    )


@dataclass(frozen=True)
class Argument:
    """One argument of an operation, from its signature or from its settings."""

    name: str
    kind: Any
    """The type without ``Annotated``."""
    setting: Setting | None = None
    default: object = None
    needed: bool = False
    is_member: bool = False
    """Whether it is a field of the settings."""


@cache
def settings_of(function: Callable[..., object]) -> type[Settings] | None:
    """The settings that a function takes as its argument ``settings``, if any."""
    declared = signature(unwrap(function), follow_wrapped=False).parameters.get(
        "settings"
    )
    kind = None if declared is None else declared.annotation
    return kind if isinstance(kind, type) and issubclass(kind, Settings) else None


@cache
def arguments(function: Callable[..., object]) -> dict[str, Argument]:
    """The arguments of an operation by name, including the fields of its settings."""
    function = unwrap(function)
    declared: dict[str, Argument] = {}
    for name, parameter in signature(function).parameters.items():
        kind = settings_of(function)
        if name == "settings" and kind is not None:
            declared |= arguments_of(kind)
            continue
        if parameter.kind is Parameter.VAR_POSITIONAL:
            continue
        needed = parameter.default is Parameter.empty
        default = None if needed else parameter.default
        declared[name] = Argument(name, *_typed(parameter.annotation), default, needed)
    return declared


def arguments_of(kind: type) -> dict[str, Argument]:
    """The keywords that settings declare, by name; those of its groups stand in their place."""
    return _declared(kind)


@cache
def _declared(kind: type) -> dict[str, Argument]:
    """The keywords of settings, read from their fields once."""
    declared: dict[str, Argument] = {}
    for member in fields(kind):
        group = _group(member.type)
        if group is not None:
            declared |= arguments_of(group)
            continue
        needed = member.default is MISSING
        default = None if needed else member.default
        declared[member.name] = Argument(
            member.name, *_typed(member.type), default, needed, is_member=True
        )
    return declared


def _group(annotation: object) -> type[Settings] | None:
    """The settings that a field holds, if it is a group."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation
    return None


def build(kind: type[S], values: Mapping[str, object]) -> S:
    """Settings from keywords that are checked already; groups are built from the same keywords."""
    return kind(**_members(kind, values))


def _members(kind: type[Settings], values: Mapping[str, object]) -> dict[str, object]:
    members: dict[str, object] = {}
    for member in fields(kind):  # type: ignore[arg-type]
        group = _group(member.type)
        if group is not None:
            inner = _members(group, values)
            if inner or member.default is MISSING:
                members[member.name] = group(**inner)
        elif member.name in values:
            members[member.name] = values[member.name]
    return members


def with_values(settings: S, values: Mapping[str, object]) -> S:
    """The settings with some keywords changed, in whichever group they are."""
    return build(type(settings), {**flat(settings), **values})


def flat(settings: Settings) -> dict[str, Any]:
    """Every keyword with its value, those of groups included."""
    values: dict[str, Any] = {}
    for member in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, member.name)
        if isinstance(value, Settings):
            values |= flat(value)
        else:
            values[member.name] = value
    return values


def _typed(annotation: Any) -> tuple[Any, Setting | None]:
    """Split an annotation into its type and its Setting."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    kind, *further = get_args(annotation)
    return kind, next((note for note in further if isinstance(note, Setting)), None)


def _plain_signature(function: Callable[..., object]) -> Signature:
    """The signature with every field of the settings spelled out."""
    raw = signature(function)
    known = arguments(function)
    plain = [
        parameter.replace(annotation=known[parameter.name].kind)
        if parameter.name in known
        else parameter
        for parameter in raw.parameters.values()
        if parameter.name != "settings"
    ]
    plain += (
        Parameter(
            argument.name,
            Parameter.KEYWORD_ONLY,
            annotation=argument.kind,
            default=Parameter.empty if argument.needed else argument.default,
        )
        for argument in known.values()
        if argument.is_member
    )
    return raw.replace(parameters=plain)


def _with_keywords(function: Callable[..., object]) -> str:
    """The docstring, with a line for each field of the settings."""
    lines = [
        f"    {argument.name}: {argument.setting.help}"
        for argument in arguments(function).values()
        if argument.is_member and argument.setting is not None
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


def convert(argument: Argument, value: object, where: str, *, strict: bool = True) -> Any:
    """Convert a value to the type of an argument; ``where`` begins the error message.

    Unless ``strict``, texts may spell numbers, as on a command line.

    >>> convert(Argument("n", int | None), "many", "The option -n")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The option -n is 'many'; it must be a whole number.
    """
    if argument.kind is Any or (
        argument.setting is not None and argument.setting.unchecked
    ):
        return value
    import msgspec  # imported only if something is given

    plain = _plain(value)
    inside = ""
    if not strict and isinstance(plain, str):
        plain = re.sub(r"^([+-]?)(?=\.\d+$)", r"\g<1>0", plain)  # .5 is a number, too
    classes = classes_of(argument.kind)
    choices = choices_of(argument)
    try:
        converted = msgspec.convert(plain, argument.kind, strict=strict)
        if _is_within(converted) and (
            converted is None or not choices or converted in choices
        ):
            setting = argument.setting
            if (
                isinstance(converted, int)
                and setting
                and {setting.least, setting.most} != {None}
            ):
                check_number(
                    where, converted, whole=True, least=setting.least, most=setting.most
                )
            return converted
        expected = "int"
    except msgspec.ValidationError as error:
        explained = re.match(r"Expected `(.*?)`.*?(?:at `\$(.*)`)?$", str(error))
        expected, inside = (
            (explained[1], explained[2] or "") if explained else ("float", "")
        )
    except UnicodeEncodeError as error:
        raise as_sentence(error) or error from None
    except (TypeError, AttributeError):
        # A union of classes that msgspec does not know, or an object that is half a
        # mapping.
        if isinstance(plain, classes) and not _is_other(plain, classes):
            return plain
        expected = " ".join(kind.__name__ for kind in classes)
    if choices:
        allowed = f"one of {', '.join(choices)}"
    else:
        words = (_WORDS.get(word, f"a {word}") for word in re.findall(r"\w+", expected))
        allowed = " or ".join(filter(None, dict.fromkeys(words)))
    if inside:
        number = re.match(r"\[(\d+)\]", inside)
        allowed += f" in item {int(number[1]) + 1}" if number else " in every value"
    meant = did_you_mean(value, choices) if choices and isinstance(value, str) else ""
    raise InvalidInput(f"{where} is {_short(value)}; it must be {allowed}.{meant}")


def classes_of(kind: Any) -> tuple[Any, ...]:
    """The classes of a union, or the one class."""
    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return tuple(get_origin(part) or part for part in parts)


def choices_of(argument: Argument) -> tuple[str, ...]:
    """The allowed words of an argument, if it has a fixed set."""
    if argument.setting is not None and argument.setting.choices:
        return argument.setting.choices
    parts = (argument.kind, *get_args(argument.kind))
    return next((get_args(part) for part in parts if get_origin(part) is Literal), ())


def _is_other(value: object, classes: tuple[Any, ...]) -> bool:
    """Whether a value only looks like a list: bytes, a table, or a text where none is allowed."""
    if isinstance(value, str):
        return str not in classes
    if isinstance(value, abc.Mapping):
        return Mapping not in classes
    return isinstance(value, bytes | bytearray) or hasattr(value, "columns")


def _is_within(value: object) -> bool:
    numbers = value if isinstance(value, list) else [value]
    return all(not isinstance(number, int) or abs(number) < MOST for number in numbers)


def _plain(value: object) -> object:
    """Convert other libraries' numbers to Python's, and columns, ranges and iterators to lists."""
    if isinstance(value, Iterator | range):
        return list(value)
    if hasattr(value, "__array__") and len(getattr(value, "shape", ())) <= 1:
        if hasattr(value, "to_list"):
            return value.to_list()
        return getattr(value, "tolist")()  # noqa: B009
    if not isinstance(value, Real) or type(value).__module__ == "builtins":
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - another's class may raise anything
        return "a value that cannot be shown"
    return text if len(text) <= 60 else text[:57] + "…"


def is_given(argument: Argument, value: object) -> bool:
    """Whether a value was given: not its default, None, False or empty."""
    if value is None or value is False:
        return False
    is_default = type(value) is type(argument.default) and value == argument.default
    return not is_default and not (
        isinstance(value, str | list | tuple | dict) and not value
    )


def check_together(
    known: Mapping[str, Argument],
    values: Mapping[str, object],
    called: Callable[[str], str],
) -> None:
    """Refuse keywords that exclude each other, or that need one that is not given.

    ``called`` formats a keyword as the caller writes it: argument, option or key of a
    file.
    """
    named = {name for name, value in values.items() if is_given(known[name], value)}
    for name in named:
        setting = known[name].setting
        if setting is None:
            continue
        for other in setting.excludes:
            if other in named:
                raise InvalidInput(
                    f"{called(name)} and {called(other)} exclude each other; leave one "
                    "of them out."
                )
        if setting.needs and not named & {*setting.needs}:
            needed = " or ".join(called(need) for need in setting.needs if need in known)
            raise InvalidInput(
                f"{called(name)} is given without {needed}; add it, or leave "
                f"{called(name)} out."
            )


def to_record(settings: Settings) -> dict[str, object]:
    """The settings that a result must record, so that it is not mistaken for another.

    These are all that differ from their default, except those declared as
    ``changes_nothing`` or ``recorded``.
    """
    values = flat(settings)
    return {
        name: values[name]
        for name, argument in arguments_of(type(settings)).items()
        if argument.setting
        and not argument.setting.changes_nothing
        and not argument.setting.recorded
        if is_given(argument, values[name])
    }


def keys_of(function: Callable[..., object]) -> dict[str, str]:
    """The keywords of an operation that a settings file may set, with their keys."""
    takes = arguments(function).values()
    return {
        take.name: take.setting.file
        for take in takes
        if take.setting and take.setting.file
    }
