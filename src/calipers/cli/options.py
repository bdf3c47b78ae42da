"""Options that commands share, helpers to make options, and help in two layers.

--help shows what most people need, and --help-all the rest in named groups.
"""

from collections.abc import Callable
from types import NoneType
from typing import Any

import click

from calipers.cli.output import write_document, write_markdown
from calipers.operation import (
    OUTPUT,
    READING,
    Argument,
    Setting,
    choices_of,
    classes_of,
)

ALL = "calipers.help_all"
"""Set while --help-all is printed."""


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
        super().__init__(name.split(), metavar="FILE", help=help_text, group=group)
        self.kind = kind
        self.write = write


_SHARED = frozenset({"--explain", "--json", "--help-all", "-h, --help"})


class LayeredHelp(click.Command):
    """A command whose --help shows the common options, and --help-all every one."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups if all are shown."""
        groups: dict[str, list[tuple[str, str]]] = {"": []}
        for parameter in self.get_params(ctx):
            record = (
                parameter.get_help_record(ctx)
                if isinstance(parameter, click.Option)
                else None
            )
            if record is not None:
                groups.setdefault(_group(parameter), []).append(record)
        inner: dict[str, click.Command] = getattr(self, "commands", {})
        # An option that asks another question stands among the options, as it is typed.
        others = [
            (word.replace("=", " "), command.get_short_help_str(62))
            for word, command in inner.items()
            if word.startswith("--")
        ]
        # Before the options that every command has.
        shared = [at for at, (name, _) in enumerate(groups[""]) if name in _SHARED]
        place = min(shared, default=len(groups[""]))
        groups[""][place:place] = others
        for name in sorted(groups) if _shows_all(ctx) else [""]:
            with formatter.section(f"{name} options" if name else "Options"):
                formatter.write_dl(groups[name])
        named = [
            (word, command.get_short_help_str(62))
            for word, command in inner.items()
            if not word.startswith("--")
        ]
        if named:
            with formatter.section("Commands"):
                formatter.write_dl(named)


def _group(parameter: click.Parameter) -> str:
    return parameter.group if isinstance(parameter, Option) else ""


def _shows_all(ctx: click.Context) -> bool:
    return bool(ctx.meta.get(ALL))


def parameter_of(argument: Argument, setting: Setting) -> click.Parameter:
    """Make the option or argument of a command for one argument of an operation."""
    kind = argument.kind
    # In brackets: it may be left out, and a file or the command itself says what then.
    required = (
        argument.needed and not setting.file and not setting.argument.startswith("[")
    )
    if setting.argument:
        return click.Argument(
            [argument.name],
            nargs=-1 if setting.several or setting.only_one else 1,
            required=required,
            metavar=setting.argument,
        )
    help_text = setting.help
    if (
        argument.default not in (None, (), "")
        and kind is not bool
        and "[default" not in help_text
    ):
        help_text = f"{help_text}  [default: {argument.default}]"
    return Option(
        [*setting.names(argument.name), argument.name],
        is_flag=True if kind is bool else None,
        multiple=setting.several,
        required=required,
        metavar=None if kind is bool else _metavar(argument, setting),
        help=help_text,
        group=setting.group,
    )


def _metavar(argument: Argument, setting: Setting) -> str | None:
    """What stands for the value in help: the setting's own word, the choices, or a type."""
    if setting.metavar is not None:
        return setting.metavar
    if choices := choices_of(argument):
        return f"[{'|'.join(choices)}]"
    kinds = [kind for kind in classes_of(argument.kind) if kind is not NoneType]
    # A value with a reader of its own is a text.
    return None if setting.read else {int: "INTEGER", float: "FLOAT"}.get(kinds[0])


def flag(name: str, help_text: str, group: str = "") -> click.Option:
    """A switch; a short form may follow its name: "--quiet -q"."""
    return Option(name.split(), is_flag=True, help=help_text, group=group)


def text(name: str, metavar: str | None, help_text: str, **more: Any) -> click.Option:
    """An option with a value."""
    return Option(name.split(), metavar=metavar, help=help_text, **more)


def output(help_text: str, *, required: bool = False) -> click.Option:
    """--output."""
    return text("--output -o", "FILE", help_text, required=required)


EXPLAIN = flag("--explain", "Print everything that is known, with every note.")
JSON = Option(["--json", "as_json"], is_flag=True, help="Print the whole result as JSON.")
AS = Option(
    ["--as", "output_format"],
    type=click.Choice(["csv", "markdown"]),
    help="Print the rows as CSV, or Markdown.",
)
CONFIG = text(
    "--config",
    "FILE",
    "Take settings from this TOML file. [default: calipers.toml, here or in a folder "
    "above]",
    group=READING,
)
QUIET = flag("--quiet -q", "Print the first line of the answer and nothing else.", OUTPUT)
PAGE = "Write a page with everything that is known."
HTML = FileOption(
    "--html", PAGE, "page", lambda answer, path: write_document(answer.document(), path)
)
MARKDOWN = FileOption(
    "--markdown",
    "Write the answer as Markdown, for a pull request.",
    "page",
    write_markdown,
    OUTPUT,
)
