"""Help in two layers: what most people need, and with --help-all the rest in named groups."""

from typing import Any

import click

ALL = "calipers.help_all"
"""Set while everything is shown."""
_EXAMPLES = "Examples:\n"
_MOST_EXAMPLES = 2


class Option(click.Option):
    """An option that may stand in a group of --help-all, and not in --help."""

    def __init__(self, *given: Any, group: str = "", **more: Any) -> None:
        super().__init__(*given, **more)
        self.group = group


class LayeredHelp(click.Command):
    """A command that shows few of its options unless all are asked for."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the command does, with its first examples or all of them."""
        whole = self.help or ""
        if not _shows_all(ctx):
            before, mark, listed = whole.partition(_EXAMPLES)
            self.help = before + mark + "\n".join(_first_examples(listed))
        try:
            super().format_help_text(ctx, formatter)
        finally:
            self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, in groups where all are shown."""
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
    """The first commands of a list; one may go on over several lines."""
    found, commands = [], 0
    for line in listed.split("\n"):
        commands += line.lstrip().startswith("calipers ")
        if commands > _MOST_EXAMPLES:
            break
        found.append(line)
    return found
