"""calipers store: care of the history."""

import sys
from typing import Any

import click

from calipers.cli import GivenOnce
from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.errors import InvalidInput


@click.group("store", cls=GivenOnce, short_help="Look after the history.")
def command() -> None:
    """Look after the history: what it holds, whether it is whole, moving and shrinking it."""


@command.command("info")
@options.store_option
@options.json_option
def info(store: str | None, as_json: bool) -> None:
    """Say where the history is, how much it holds and how large it is."""
    from calipers.questions.history.settings import store_info

    found = store_info(store)
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.store.show import info_lines

    _print(info_lines(found))


@command.command(
    "check", short_help="Read the whole history and see whether it is as it was saved."
)
@options.store_option
@options.json_option
def check(store: str | None, as_json: bool) -> None:
    """Read everything in the history and see whether it is as it was written.

    Exit codes: 0 everything is whole, 2 something is damaged.
    """
    from calipers.questions.history.settings import store_check

    found = store_check(store)
    if as_json:
        print_json(found.to_dict())
    else:
        from calipers.store.show import check_lines

        _print(check_lines(found))
    if found.problems:
        raise click.exceptions.Exit(2)


@command.command("vacuum")
@options.store_option
@options.json_option
def vacuum(store: str | None, as_json: bool) -> None:
    """Give unused space back to the disk."""
    from calipers.questions.history.settings import store_vacuum

    found = store_vacuum(store)
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.store.show import vacuum_line

    _print([vacuum_line(found)])


@command.command("export", short_help="Copy every evaluation to another history.")
@click.argument("target")
@options.store_option
@options.json_option
def export(target: str, store: str | None, as_json: bool) -> None:
    """Copy every evaluation to TARGET, an SQLite file or a PostgreSQL address.

    What TARGET has already stays as it is. Everything is compared after it was written.
    """
    from calipers.questions.history.settings import store_export

    _copied(store_export(target, store=store), as_json)


@command.command("import", short_help="Copy every evaluation from another history.")
@click.argument("source")
@options.store_option
@options.json_option
def import_(source: str, store: str | None, as_json: bool) -> None:
    """Copy every evaluation from SOURCE, an SQLite file or a PostgreSQL address.

    What is here already stays as it is. Everything is compared after it was written.
    """
    from calipers.questions.history.settings import store_import

    _copied(store_import(source, store=store), as_json)


@command.command("prune")
@click.argument("name", required=False)
@click.option("--keep", type=int, metavar="N", help="Keep the latest N of each name.")
@click.option("--older-than", metavar="AGE", help="Remove only what is older, such as 90d.")
@click.option("--tagged", is_flag=True, help="Remove also what is tagged.")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.store_option
@options.json_option
def prune(yes: bool, dry_run: bool, as_json: bool, **settings: Any) -> None:
    """Remove old evaluations, of NAME or of all names.

    The latest of each name stays, and so does what is tagged. Asks before anything is removed.

    \b
    Examples:
      calipers store prune --keep 30 --dry-run
      calipers store prune nightly --older-than 90d
    """
    from datetime import UTC, datetime

    from calipers.questions.history.settings import store_prune
    from calipers.store.show import prune_lines

    now = datetime.now(UTC)
    found = store_prune(dry_run=True, now=now, **settings)
    if not dry_run and found.evaluations:
        if not yes:
            _ask(prune_lines(found))
        agreed = [one.id for one in found.evaluations]
        found = store_prune(now=now, among=agreed, **settings)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(prune_lines(found))


def _ask(lines: list[str]) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "Nobody can be asked whether these evaluations may go; give --yes, or look first with "
            "--dry-run."
        )
    for line in lines:
        click.echo(line, err=True)
    if not click.confirm("Remove them?", err=True):
        raise click.Abort


def _copied(found: Any, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.store.show import copied_line

    _print([copied_line(found)])


def _print(lines: list[str]) -> None:
    from rich.text import Text

    out = console()
    for line in lines:
        out.print(Text(line), soft_wrap=True)
