"""calipers history: what was measured when, on which commit, how good."""

from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.questions.reading import tag_pairs


@click.command("history")
@click.argument("name", required=False)
@options.filter_options
@click.option(
    "--last", "-n", type=int, default=20, show_default=True, help="How many to list; 0: all."
)
@click.option(
    "--metrics", "-m", metavar="LIST", help="Metrics to show. [default: a few that matter most]"
)
@options.store_option
@options.explain_option
@options.json_option
@options.printed_as("csv", "Print the list as CSV.")
def command(
    name: str | None,
    tags: tuple[str, ...],
    last: int,
    explain: bool,
    as_json: bool,
    as_csv: bool,
    **settings: Any,
) -> None:
    """List saved evaluations, newest first.

    With NAME only those of that name. A sparkline shows each metric from oldest to newest; marks
    show where the ground truth or the corpus changed.

    \b
    Examples:
      calipers history
      calipers history nightly --since 30d -m recall@10,mrr
      calipers history --branch main --with-tag model=e5 --csv
    """
    from calipers.questions.history.settings import history

    found = history(name, tags=tag_pairs(tags), last=last or None, **settings)
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.questions.history.show import history_csv, print_history

    if as_csv:
        click.echo(history_csv(found), nl=False)
    else:
        print_history(found, console(), explain=explain)
