"""Commands that ask retrievers: one, or every combination of a grid."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

import calipers
from calipers.cli.command import Asked, command
from calipers.cli.face import EXPLAIN, JSON, examples, flag
from calipers.cli.parts.output import console, is_terminal
from calipers.cli.parts.progress import asking


@command(
    calipers.grid,
    flag("--dry-run", "List the combinations and what is left to ask."),
    examples("How many wins and losses to list. [default: none in the table, 5 elsewhere]"),
    EXPLAIN,
    JSON,
    short_help="Run every combination of retrievers and parameters.",
)
def grid(asked: Asked, dry_run: bool, examples: int | None, explain: bool) -> None:
    """Run every combination of retrievers and parameters in a file, and compare them all.

    FILE is a calipers.toml with a table [grid]; without it the nearest one is taken. Each
    combination is written to a run of its own: after a crash or Ctrl-C the same command goes on
    where it stopped, and what is finished is not run again.

    \b
    Examples:
      calipers grid calipers.toml --dry-run
      calipers grid calipers.toml
      calipers grid calipers.toml --against bm25 -m recall@10,mrr
    """
    from calipers.questions.grid.show import print_grid, print_plan

    if dry_run:
        planned = calipers.plan_grid(asked.settings.get("config"))
        if not asked.is_printed(planned):
            print_plan(planned, console())
        return
    try:
        found = asked.answer(watch=_watched)
    except KeyboardInterrupt:
        click.echo("Every question that was finished is kept; the same command goes on.", err=True)
        raise
    listed = 5 if examples is None else examples
    if not asked.is_printed(found, json=lambda one: one.to_dict(examples=listed)):
        print_grid(found, console(), examples=examples, explain=explain)
    if found.failures:
        raise click.exceptions.Exit(2)


@contextmanager
def _watched(combination: Any) -> Iterator[tuple[Any, Any]]:
    if is_terminal():
        from calipers.present.escape import printable

        click.echo(printable(combination.name), err=True)
    with asking() as callbacks:
        yield callbacks
