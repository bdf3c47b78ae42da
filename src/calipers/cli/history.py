"""Commands for the history: what was measured when, how it moved, and care of what is kept."""

import sys
from typing import Any

import click

from calipers.cli import GivenOnce
from calipers.cli.command import (
    EXPLAIN,
    JSON,
    QUIET,
    CommandInput,
    command,
    csv,
    flag,
    forms,
    output,
    text,
)
from calipers.cli.output import console, print_lines
from calipers.errors import InvalidInput


@command(EXPLAIN, JSON, csv("Print the list as CSV."))
def history(asked: CommandInput, explain: bool) -> None:
    """List saved evaluations, newest first.

    With NAME only those of that name. A sparkline shows each metric from oldest to newest; marks
    show where the ground truth or the corpus changed.

    \b
    Examples:
      calipers history
      calipers history nightly --since 30d -m recall@10,mrr
      calipers history --branch main --with-tag model=e5 --csv
    """
    from calipers.questions.history.show import history_csv, print_history

    found = _answer_over_time(asked)
    if not asked.is_printed(found, csv=history_csv):
        print_history(found, console(), explain=explain)


@command(
    text(
        "--per-query",
        "FILE",
        "Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
    ),
    EXPLAIN,
    JSON,
    csv("Print the summary as CSV."),
    QUIET,
)
def show(asked: CommandInput, per_query: str | None, quiet: bool, explain: bool) -> None:
    """Show a saved evaluation exactly as it was measured.

    REFERENCE is @name (the latest), @name~2 (two before it), @id, @branch:main or
    @commit:abc123.

    \b
    Examples:
      calipers show @nightly
      calipers show @nightly~1 --json
    """
    from calipers.io.files.write import check_writable
    from calipers.io.tables.scores import write_scores
    from calipers.questions.evaluate.show import summary_csv
    from calipers.questions.history.show import print_shown

    if per_query:
        check_writable(per_query)
    found = asked.answer()
    if per_query:
        write_scores(found.scores, per_query)
    if not asked.is_printed(found, csv=lambda one: summary_csv(one.scores)):
        print_shown(found, console(), notes=not quiet, explain=explain)


@command(
    output("Draw to a .svg, .png, .html or .json (Vega-Lite) file."),
    EXPLAIN,
    JSON,
    csv("Print the points as CSV."),
    short_help="Draw how the saved evaluations of one name moved.",
)
def trend(asked: CommandInput, output: str | None, explain: bool) -> None:
    """Draw the metrics of the evaluations called NAME, with their intervals.

    Vertical marks show where the ground truth or the corpus changed: numbers before and after
    are not comparable, and no line crosses them.

    \b
    Examples:
      calipers trend nightly -m recall@10,precision@5
      calipers trend nightly -m recall@10 --by type -o trend.svg
    """
    from calipers.questions.trend.charts import check_chart, write_trend
    from calipers.questions.trend.show import print_trend, trend_csv

    if output:
        check_chart(output)
    found = _answer_over_time(asked)
    if output:
        write_trend(found, output)
    if asked.is_printed(found, csv=trend_csv):
        return
    if output:
        click.echo(f"Drawn to {output}.")
    else:
        print_trend(found, console(), explain=explain)


def _answer_over_time(asked: CommandInput) -> Any:
    if asked.settings.get("last") == 0:
        asked.settings["last"] = None
    return asked.answer()


@command(
    EXPLAIN,
    JSON,
    forms("markdown"),
    short_help="Say whether the latest saved evaluation is worse than before.",
)
def alarm(asked: CommandInput, explain: bool) -> None:
    """Say whether evaluations called NAME have become worse than the first ones.

    The latest and the mean of the last seven are compared with the reference, on queries with the
    same question and the same ground truth, so that a loss is the retriever's. Answers from the
    second evaluation on. Exit codes: 0 it does not ring, 1 it rings (a loss of more than --allow
    is shown), 2 it could not be checked.

    \b
    Examples:
      calipers alarm nightly
      calipers alarm nightly -m recall@10,mrr --by type --as markdown
    """
    from calipers.questions.alarm.show import alarm_markdown, print_alarm

    asked.fill("store")
    found = asked.answer()
    if not asked.is_printed(found, markdown=alarm_markdown):
        print_alarm(found, console(), explain=explain)
    if found.raised:
        raise click.exceptions.Exit(1)


@command(JSON, operation="store_info")
def _info(asked: CommandInput) -> None:
    """Say where the history is, how much it holds and how large it is."""
    from calipers.store.show import info_lines

    found = asked.answer()
    if not asked.is_printed(found):
        print_lines(info_lines(found))


@command(
    JSON,
    short_help="Read the whole history and see whether it is as it was saved.",
    operation="store_check",
)
def _check(asked: CommandInput) -> None:
    """Read everything in the history and see whether it is as it was written.

    Exit codes: 0 everything is whole, 2 something is damaged.
    """
    from calipers.store.show import check_lines

    found = asked.answer()
    if not asked.is_printed(found):
        print_lines(check_lines(found))
    if found.problems:
        raise click.exceptions.Exit(2)


@command(JSON, operation="store_vacuum")
def _vacuum(asked: CommandInput) -> None:
    """Give unused space back to the disk."""
    from calipers.store.show import vacuum_line

    found = asked.answer()
    if not asked.is_printed(found):
        print_lines([vacuum_line(found)])


@command(JSON, short_help="Copy every evaluation to another history.", operation="store_export")
def _export(asked: CommandInput) -> None:
    """Copy every evaluation to TARGET, an SQLite file or a PostgreSQL address.

    What TARGET has already stays as it is. Everything is compared after it was written.
    """
    _copy(asked)


@command(JSON, short_help="Copy every evaluation from another history.", operation="store_import")
def _import(asked: CommandInput) -> None:
    """Copy every evaluation from SOURCE, an SQLite file or a PostgreSQL address.

    What is here already stays as it is. Everything is compared after it was written.
    """
    _copy(asked)


def _copy(asked: CommandInput) -> None:
    from calipers.store.show import copied_line

    found = asked.answer()
    if not asked.is_printed(found):
        print_lines([copied_line(found)])


@command(flag("--yes", "Do not ask."), JSON, operation="store_prune")
def _prune(asked: CommandInput, yes: bool) -> None:
    """Remove old evaluations, of NAME or of all names.

    The latest of each name stays, and so does what is tagged. Asks before anything is removed.

    \b
    Examples:
      calipers store prune --keep 30 --dry-run
      calipers store prune nightly --older-than 90d
    """
    from datetime import UTC, datetime

    from calipers.store.show import prune_lines

    now, is_real = datetime.now(UTC), not asked.settings.pop("dry_run", False)
    found = asked.answer(dry_run=True, now=now)
    if is_real and found.evaluations:
        if not yes:
            _confirm(prune_lines(found))
        found = asked.answer(now=now, among=[one.id for one in found.evaluations])
    if not asked.is_printed(found):
        print_lines(prune_lines(found))


def _confirm(lines: list[str]) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "Nobody can be asked whether these evaluations may go; give --yes, or look first with "
            "--dry-run."
        )
    for line in lines:
        click.echo(line, err=True)
    if not click.confirm("Remove them?", err=True):
        raise click.Abort


store = GivenOnce(
    "store",
    [_info, _check, _vacuum, _export, _import, _prune],
    help="Look after the history: what it holds, whether it is whole, moving and shrinking it.",
    short_help="Look after the history.",
)
