"""calipers grid: which embedding model, which chunk size, which index?"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from calipers.cli.parts import deciding, options
from calipers.cli.parts.output import console, is_terminal, print_json
from calipers.cli.parts.progress import asking


@click.command("grid", short_help="Run every combination of retrievers and parameters.")
@click.argument("config", required=False, metavar="[FILE]")
@click.option("--dry-run", is_flag=True, help="List the combinations and what is left to ask.")
@deciding.against_option("combination", "as in the file, or the first")
@click.option(
    "--metrics", "-m", metavar="LIST", help="Metrics to compare by. [default: as in the file]"
)
@click.option("--retry-errors", is_flag=True, help="Ask the failed questions again.")
@click.option("--restart", is_flag=True, help="Begin again, replacing the runs.")
@deciding.anyway_option
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    help="How many wins and losses to list. [default: none in the table, 5 elsewhere]",
)
@options.explain_option
@options.json_option
def command(
    config: str | None,
    dry_run: bool,
    examples: int | None,
    explain: bool,
    as_json: bool,
    **settings: Any,
) -> None:
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
    from calipers.questions.grid.settings import grid, plan_grid

    if dry_run:
        planned = plan_grid(config)
        if as_json:
            print_json(planned.to_dict())
            return
        from calipers.questions.grid.show import print_plan

        print_plan(planned, console())
        return
    try:
        found = grid(config, watch=_watched, **settings)
    except KeyboardInterrupt:
        click.echo("Every question that was finished is kept; the same command goes on.", err=True)
        raise
    if as_json:
        print_json(found.to_dict(examples=5 if examples is None else examples))
    else:
        from calipers.questions.grid.show import print_grid

        print_grid(found, console(), examples=examples, explain=explain)
    if found.failures:
        click.get_current_context().exit(2)


@contextmanager
def _watched(combination: Any) -> Iterator[tuple[Any, Any]]:
    if is_terminal():
        from calipers.present.escape import printable

        click.echo(printable(combination.name), err=True)
    with asking() as callbacks:
        yield callbacks
