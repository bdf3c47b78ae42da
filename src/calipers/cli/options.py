"""Options that commands share, helpers to make options, and help in two layers.

--help shows what most people need, and --help-all the rest in named groups.
"""

from collections.abc import Callable
from copy import copy
from types import NoneType
from typing import TYPE_CHECKING, Any

import click

from calipers.cli import GivenOnce
from calipers.cli.output import write_document, write_markdown
from calipers.operation import (
    OUTPUT,
    READING,
    Argument,
    Setting,
    choices_of,
    classes_of,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ALL = "calipers.help_all"
"""Set while --help-all is printed."""
_EXAMPLES = "Examples:\n"
_MOST_EXAMPLES = 2


class Option(click.Option):
    """An option with a group; if it has one, only --help-all shows it."""

    def __init__(self, *given: Any, group: str = "", **more: Any) -> None:
        super().__init__(*given, **more)
        self.group = group


class FileOption(Option):
    """An option for a file, which is checked before any work and written with the answer."""

    def __init__(
        self,
        name: str,
        help_text: str,
        kind: str,
        write: Callable[[Any, str], object],
        group: str = "",
    ) -> None:
        complete = {"shell_complete": complete_value}
        super().__init__(name.split(), metavar="FILE", help=help_text, group=group, **complete)
        self.kind, self.write = kind, write


class LayeredHelp(GivenOnce):
    """A command whose --help shows the common options, and --help-all every one."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, with the first examples or all of them."""
        whole = self.help or ""
        if not _shows_all(ctx):
            before, mark, listed = whole.partition(_EXAMPLES)
            self.help = before + mark + "\n".join(_first_examples(listed))
        try:
            super().format_help_text(ctx, formatter)
        finally:
            self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups if all are shown."""
        groups: dict[str, list[tuple[str, str]]] = {"": []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            if record is not None:
                groups.setdefault(_group(one), []).append(record)
        for name in sorted(groups) if _shows_all(ctx) else [""]:
            with formatter.section(f"{name} options" if name else "Options"):
                formatter.write_dl(groups[name])
        if inner := getattr(self, "commands", {}):
            with formatter.section("Commands"):
                formatter.write_dl([(n, one.get_short_help_str(62)) for n, one in inner.items()])


def _group(parameter: click.Parameter) -> str:
    return parameter.group if isinstance(parameter, Option) else ""


def _shows_all(ctx: click.Context) -> bool:
    return bool(ctx.meta.get(ALL))


def _first_examples(listed: str) -> list[str]:
    """The first commands of a list; one may span several lines."""
    found, commands = [], 0
    for line in listed.split("\n"):
        commands += line.lstrip().startswith("calipers ")
        if commands > _MOST_EXAMPLES:
            break
        found.append(line)
    return found


def complete_value(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Complete an argument with subcommands or files, and an option with files.

    Commands, options and fixed choices are offered by click itself.
    """
    from click.shell_completion import CompletionItem  # imported when the Tab key is pressed

    inner = getattr(context.command, "commands", {})
    behind = [CompletionItem(name) for name in inner if name.startswith(incomplete)]
    if behind and not any(map(context.params.get, ("data", "name"))):
        return behind
    word = (parameter.metavar or "").strip("[].")
    is_file = word in ("FILE", "FOLDER", "PATH") or isinstance(parameter, click.Argument)
    is_file &= word not in ("NAME", "POOL", "REFERENCE")
    return [CompletionItem(incomplete, type="file")] if is_file else []


def parameter_of(argument: Argument, setting: Setting) -> click.Parameter:
    """Make the option or argument of a command for one argument of an operation."""
    kind = argument.kind
    # In brackets: it may be left out, and a file or the command itself says what then.
    required = argument.needed and not setting.file and not setting.argument.startswith("[")
    if setting.argument:
        return click.Argument(
            [argument.name],
            nargs=-1 if setting.several or setting.only_one else 1,
            required=required,
            metavar=setting.argument,
            shell_complete=complete_value,
        )
    help_text = setting.help
    if argument.default not in (None, (), "") and kind is not bool and "[default" not in help_text:
        help_text = f"{help_text}  [default: {argument.default}]"
    return Option(
        [*setting.names(argument.name), argument.name],
        type=(given := _type(argument, setting)),
        is_flag=True if kind is bool else None,
        multiple=setting.several,
        required=required,
        metavar=setting.metavar,
        help=help_text,
        group=setting.group,
        shell_complete=None if isinstance(given, click.Choice) else complete_value,
    )


class _Words(click.Choice[str]):
    """Fixed words for completion; values are checked with all others, not here."""

    def convert(self, value: Any, *_: Any) -> Any:
        return value


def _type(argument: Argument, setting: Setting) -> Any:
    if choices := choices_of(argument):
        return _Words(choices)
    kinds = [one for one in classes_of(argument.kind) if one is not NoneType]
    # A value with a reader of its own is a text to click.
    if setting.read is not None or kinds not in ([int], [float]):
        return None
    named: click.ParamType[Any] = click.ParamType()
    named.name = "integer" if kinds == [int] else "float"
    return named


def flag(name: str, help_text: str, group: str = "") -> click.Option:
    """A switch; a short form may follow its name: "--quiet -q"."""
    return Option(name.split(), is_flag=True, help=help_text, group=group)


def text(name: str, metavar: str | None, help_text: str, **more: Any) -> click.Option:
    """An option with a value."""
    complete = complete_value if metavar == "FILE" else None
    return Option(name.split(), metavar=metavar, help=help_text, shell_complete=complete, **more)


def output(help_text: str, *, required: bool = False) -> click.Option:
    """--output."""
    return text("--output -o", "FILE", help_text, required=required)


def in_group(parameter: click.Parameter, group: str) -> click.Parameter:
    """A copy of another command's option, in a group of this one."""
    copied = copy(parameter)
    copied.required = False
    if isinstance(copied, Option):
        copied.group = copied.group or group
    return copied


EXPLAIN = flag("--explain", "Print everything that is known, with every note.")
JSON = Option(["--json", "as_json"], is_flag=True, help="Print the whole result as JSON.")
AS = Option(
    ["--as", "form"],
    type=click.Choice(["csv", "markdown"]),
    help="Print the rows as CSV, or Markdown.",
)
CONFIG = text(
    "--config",
    "FILE",
    "Take settings from this TOML file. [default: calipers.toml, or [tool.calipers] of "
    "pyproject.toml, here or in a folder above]",
    group=READING,
)
QUIET = flag("--quiet -q", "Print the first line of the answer and nothing else.")
PAGE = "Write a page with everything that is known."
HTML = FileOption(
    "--html", PAGE, "page", lambda found, path: write_document(found.document(), path)
)
MARKDOWN = FileOption(
    "--markdown",
    "Write the answer as Markdown, for a pull request.",
    "page",
    write_markdown,
    OUTPUT,
)
