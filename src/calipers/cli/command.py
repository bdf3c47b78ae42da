"""A command made from an operation: what may be asked becomes options, with help and defaults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from inspect import cleandoc
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import click

import calipers
from calipers.cli.help import ALL, LayeredHelp, Option
from calipers.cli.output import asking, check_one_output, print_json, reading
from calipers.errors import InvalidInput
from calipers.operation import HISTORY, OUTPUT, READING, Argument, Setting, arguments

if TYPE_CHECKING:
    from calipers.config import Config


@dataclass
class CommandInput:
    """What was asked on the command line: the settings of the operation, and the form to print."""

    operation: Callable[..., Any]
    settings: dict[str, Any]
    """What was given, or else stands in the settings file; the operation knows its defaults."""
    form: str | None
    """json, csv or another form to print the answer in; None: as tables."""
    config: str | None
    """The settings file that was named."""
    given: frozenset[str]
    """The names of the settings that stand on the command line."""

    def fill(self, *but: str, gate: bool = False) -> "Config":
        """Take what is not given from the settings file, but for these."""
        from calipers.config import find_config, read_config

        file = find_config() if self.config is None else read_config(self.config)
        takes = arguments(self.operation).values()
        keys = {one.name: one.setting.file for one in takes if one.setting and one.setting.file}
        found = file.filled(self.settings, keys, gate=gate)
        for name in found.keys() & {*but}:
            del found[name]
        if "k" in self.settings and "metrics" in found:
            found["metrics"] = _without_cutoffs(found["metrics"], self.settings["k"])
        for one in takes:
            if isinstance(found.get(one.name), list) and one.kind in (int, int | None):
                # A command that looks at one k, where the file has several.
                found[one.name] = max(found[one.name])
        self.settings |= found
        return file

    def answer(self, **more: Any) -> Any:
        """The answer of the operation, with a bar where it takes long."""
        takes, call = arguments(self.operation), partial(self.operation, **self.settings, **more)
        if "total" in takes:
            with asking() as (total, progress):
                return call(total=total, progress=progress)
        if "watch" in takes and "watch" not in more:
            call = partial(call, watch=asking)
        with reading() as progress:
            return call(progress=progress) if "progress" in takes else call()

    def is_printed(self, found: Any, **forms: Callable[[Any], Any]) -> bool:
        """Print the answer as JSON or in one of these forms, where that was asked for."""
        if self.form == "json":
            print_json(forms.get("json", _plain)(found))
        elif self.form is not None:
            click.echo(forms[self.form](found), nl=False)
        return self.form is not None


def _plain(found: Any) -> Any:
    return found.to_dict() if hasattr(found, "to_dict") else found


class Command(LayeredHelp):
    """A command whose options are the settings of an operation, loaded when they are asked for.

    A list of commands needs their names and help alone.
    """

    def __init__(
        self,
        body: Callable[..., None],
        face: Sequence[click.Parameter],
        operation: Callable[..., Any] | str | None,
        leave_out: Sequence[str],
        fill: bool,
        short_help: str | None,
    ) -> None:
        name = body.__name__.strip("_")
        super().__init__(
            name, callback=self._run, help=cleandoc(body.__doc__ or ""), short_help=short_help
        )
        self._body, self._face, self._leave_out = body, face, leave_out
        self._operation = operation or name
        self._is_configured = CONFIG in face
        self._fill = fill and self._is_configured

    @cached_property
    def operation(self) -> Callable[..., Any]:
        """The operation that the command asks."""
        if not isinstance(self._operation, str):
            return self._operation
        module, _, name = self._operation.rpartition(":")
        home = import_module(f"calipers.{module}") if module else calipers
        found: Callable[..., Any] = getattr(home, name)
        return found

    @cached_property
    def _offered(self) -> dict[Argument, Setting]:
        """The arguments that the command takes, beginning with what is measured."""
        # Loaded with the operation, and not for a list of commands.
        from calipers.questions.reading import Inputs

        found = [
            (one, one.setting)
            for one in arguments(self.operation).values()
            if one.setting is not None and one.setting.only in ("", self.name)
            if one.name not in self._leave_out
        ]
        return dict(sorted(found, key=lambda pair: pair[0].name not in Inputs.__annotations__))

    @cached_property
    def _made(self) -> list[click.Parameter]:
        made: list[click.Parameter] = []
        for one, setting in self._offered.items():
            made.append(_parameter(one, setting))
            made += (
                text(f"--{name}", "NAME", said, group=setting.group) for name, said in setting.pairs
            )
        every = [*made, *self._face]
        return [*every, HELP_ALL] if any(getattr(one, "group", "") for one in every) else every

    @property
    def params(self) -> list[click.Parameter]:
        """The arguments and options."""
        return self._made

    @params.setter
    def params(self, _: list[click.Parameter]) -> None:
        """Click sets them when a command is made; these are made later."""

    def _run(self, **given: Any) -> None:
        check_one_output(given)
        for one, setting in self._offered.items():
            for name, _ in setting.pairs:
                if (said := given.pop(name)) is not None:
                    given[one.name] = (*given[one.name], f"{name}={said}")
        settings = _read({one.name: given.pop(one.name) for one in self._offered}, self._offered)
        config = given.pop("config") if self._is_configured else None
        asked = CommandInput(self.operation, settings, _form(given), config, frozenset(settings))
        if self._fill:
            asked.fill()
        self._body(asked, **given)


def command(
    *face: click.Parameter,
    operation: Callable[..., Any] | str | None = None,
    short_help: str | None = None,
    leave_out: Sequence[str] = (),
    fill: bool = True,
) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function that takes what was asked, and the options of the face.

    It is called as the function is, has its help, and asks the operation of the same name unless
    another is named (by its public name, or as module:function). With --config among the
    options, what is not given is taken from the settings file; without ``fill`` the function
    does that itself.
    """
    return lambda body: Command(body, face, operation, leave_out, fill, short_help)


def _form(given: dict[str, Any]) -> str | None:
    flags = [form for form in ("json", "csv") if given.pop(f"as_{form}", False)]
    return next(iter(flags), given.pop("form", None))


def _parameter(argument: Argument, setting: Setting) -> click.Parameter:
    """The option, or the argument, of a command for one argument of an operation."""
    kind = argument.kind
    required = argument.needed and not setting.file
    if setting.argument:
        return click.Argument(
            [argument.name],
            nargs=-1 if setting.several or setting.only_one else 1,
            required=required,
            metavar=setting.argument,
            shell_complete=_complete,
        )
    said = setting.help
    if argument.default not in (None, (), "") and kind is not bool and "[default" not in said:
        said = f"{said}  [default: {argument.default}]"
    return Option(
        [*setting.names(argument.name), argument.name],
        type=(given := _type(kind, setting)),
        is_flag=True if kind is bool else None,
        multiple=setting.several,
        required=required,
        metavar=setting.metavar,
        help=said,
        group=setting.group,
        shell_complete=None if isinstance(given, click.Choice) else _complete,
    )


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> Any:
    from calipers.cli.completion import complete  # loaded when the Tab key is pressed

    return complete(context, parameter, incomplete)


def _type(kind: Any, setting: Setting) -> Any:
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kinds = [one for one in parts if one is not NoneType]
    choices = setting.choices or (get_args(kinds[0]) if get_origin(kinds[0]) is Literal else ())
    if choices:
        return click.Choice(choices)
    # What is read by a function of ours gets its sentence for a text that is no number.
    if setting.read is None and kinds in ([int], [float]):
        return click.INT if kinds == [int] else click.FLOAT
    return None


def _read(given: Mapping[str, Any], offered: Mapping[Argument, Setting]) -> dict[str, Any]:
    """What was given, as the operation takes it; what was not is left out."""
    return {
        one.name: _value(value, setting)
        for one, setting in offered.items()
        if (value := given[one.name]) is not None and value is not False and value != ()
    }


def _value(given: Any, setting: Setting) -> Any:
    if setting.only_one:
        if len(given) > 1:
            raise InvalidInput(f"Several files are given: {', '.join(given)}; {setting.only_one}")
        return given[0]
    return given if setting.read is None else setting.read(given)


def _without_cutoffs(metrics: Any, k: list[int]) -> list[str]:
    """The metrics of the settings file, to be measured at the k of the command line instead."""
    from calipers.measures.spec import parse

    found = parse(metrics, k)
    return list(dict.fromkeys(str(one) if one.k is None else one.stem for one in found))


def _one_form(context: click.Context, option: click.Parameter, given: Any) -> Any:
    if given:
        here = option.opts[0]
        before = context.meta.setdefault("calipers.form", here)
        if before != here:
            raise InvalidInput(
                f"Both {before} and {here} are given; a result is printed in one form, so leave "
                "one out."
            )
    return given


def flag(name: str, said: str, group: str = "") -> click.Option:
    """A switch; a short form may stand behind its name: "--quiet -q"."""
    return Option(name.split(), is_flag=True, help=said, group=group)


def text(name: str, metavar: str | None, said: str, **more: Any) -> click.Option:
    """An option with a value."""
    complete = _complete if metavar == "FILE" else None
    return Option(name.split(), metavar=metavar, help=said, shell_complete=complete, **more)


def csv(said: str) -> click.Option:
    """--csv."""
    return Option(["--csv", "as_csv"], is_flag=True, callback=_one_form, help=said)


def forms(*names: str) -> click.Option:
    """--as FORM."""
    said = "Print the result in this form."
    return Option(["--as", "form"], type=click.Choice(names), callback=_one_form, help=said)


def examples(said: str, default: int | None = None) -> click.Option:
    """--examples."""
    return Option(
        ["--examples"],
        type=click.IntRange(min=0),
        default=default,
        show_default=default is not None,
        help=said,
    )


def output(said: str, *, required: bool = False) -> click.Option:
    """--output."""
    return text("--output -o", "FILE", said, required=required)


JSON = Option(
    ["--json", "as_json"],
    is_flag=True,
    callback=_one_form,
    help="Print the whole result as JSON.",
)
CONFIG = text(
    "--config",
    "FILE",
    "Take settings from this TOML file. [default: calipers.toml, or [tool.calipers] of "
    "pyproject.toml, here or in a folder above]",
    group=READING,
)
EXPLAIN = flag("--explain", "Print everything that is known, with every note.")
QUIET = flag("--quiet -q", "Print the table without the notes.")
FULL = flag(
    "--full", "Put every ranking with its whole texts on the page, however large it gets.", OUTPUT
)
PAGE = text("--html", "FILE", "Write a page with everything that is known.")
TAG = text(
    "--tag tags",
    "NAME=VALUE",
    "Tag what is kept, such as model=e5; may be given several times.",
    multiple=True,
    group=HISTORY,
)
NO_RESULTS = flag(
    "--no-results", "Keep the scores without what was retrieved; takes less room.", HISTORY
)


def _show_all(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show every option and more examples.",
)
