"""Commands for the history: what was measured when, how it moved, and care of what is kept."""

import sys
from typing import Any

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import CHART, EXPLAIN, JSON, csv, flag, forms, text
from calipers.cli.output import check_chart_place, write_chart
from calipers.errors import InvalidInput


@command(
    text(
        "--per-query",
        "FILE",
        "Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
    ),
    EXPLAIN,
    JSON,
    csv("Print the summary as CSV."),
)
def history_show(asked: CommandInput, per_query: str | None, explain: bool) -> None:
    """Show a saved evaluation exactly as it was measured.

    REFERENCE is @name (the latest), @name~2 (two before it), @id, @branch:main or
    @commit:abc123.

    \b
    Examples:
      calipers history show @nightly
      calipers history show @nightly~1 --json
    """
    from calipers.io.files.write import check_writable
    from calipers.io.records.results import write_scores

    if per_query:
        check_writable(per_query)
    found = asked.answer()
    if per_query:
        write_scores(found.scores, per_query)
    asked.show(found, explain=explain)


@command(
    CHART,
    EXPLAIN,
    JSON,
    csv("Print the points as CSV."),
    short_help="Draw how the saved evaluations of one name moved.",
)
def history_trend(asked: CommandInput, chart: str | None, explain: bool) -> None:
    """Draw the metrics of the evaluations called NAME, with their intervals.

    Vertical marks show where the ground truth or the corpus changed: numbers before and after
    are not comparable, and no line crosses them.

    \b
    Examples:
      calipers history trend nightly -m recall@10,precision@5
      calipers history trend nightly -m recall@10 --by type --chart trend.svg
    """
    check_chart_place(chart)
    found = _answer_over_time(asked)
    write_chart(found, chart)
    asked.show(found, explain=explain)


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
def history_alarm(asked: CommandInput, explain: bool) -> None:
    """Say whether evaluations called NAME have become worse than the first ones.

    The latest and the mean of the last seven are compared with the reference, on queries with the
    same question and the same ground truth, so that a loss is the retriever's. Answers from the
    second evaluation on. Exit codes: 0 it does not ring, 1 it rings (a significant loss of more
    than --allow), 2 it could not be checked.

    \b
    Examples:
      calipers history alarm nightly
      calipers history alarm nightly -m recall@10,mrr --by type --as markdown
    """
    found = asked.answer()
    asked.show(found, explain=explain)
    if found.raised:
        raise click.exceptions.Exit(1)


@command(JSON, short_help="Say what the history holds, and whether all of it is whole.")
def history_check(asked: CommandInput) -> None:
    """Say where the history is and how much it holds, and read all of it.

    Every row and content is compared with its checksum.
    Exit codes: 0 everything is whole, 2 something is damaged.
    """
    found = asked.answer()
    asked.show(found)
    if found.problems:
        raise click.exceptions.Exit(2)


@command(JSON, short_help="Copy every evaluation to another history.")
def history_copy(asked: CommandInput) -> None:
    """Copy every evaluation to TARGET, an SQLite file or a PostgreSQL address.

    What TARGET has already stays as it is; what is damaged is refused. The other
    way round: name the other history with --store, and this one as TARGET.

    \b
    Examples:
      calipers history copy postgresql://user@host/evaluations
      calipers history copy .calipers/history.db --store theirs.db
    """
    asked.show(asked.answer())


@command(flag("--yes", "Do not ask."), JSON)
def history_prune(asked: CommandInput, yes: bool) -> None:
    """Remove old evaluations, of NAME or of all names.

    The latest of each name stays, and so does what is tagged. Asks before anything is removed.

    \b
    Examples:
      calipers history prune --keep 30 --dry-run
      calipers history prune nightly --older-than 90d
    """
    from datetime import UTC, datetime

    now, is_real = datetime.now(UTC), not asked.settings.pop("dry_run", False)
    found = asked.answer(dry_run=True, now=now)
    if is_real and found.evaluations:
        if not yes:
            _confirm(str(found))
        found = asked.answer(now=now, among=[one.id for one in found.evaluations])
    asked.show(found)


def _confirm(said: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "Nobody can be asked whether these evaluations may go; give --yes, or look first with "
            "--dry-run."
        )
    click.echo(said, err=True)
    if not click.confirm("Remove them?", err=True):
        raise click.Abort


@command(
    EXPLAIN,
    JSON,
    csv("Print the list as CSV."),
    commands=[
        history_show,
        history_trend,
        history_alarm,
        history_check,
        history_copy,
        history_prune,
    ],
)
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
    asked.show(_answer_over_time(asked), explain=explain)


history.commands = {"list": history, **history.commands}
