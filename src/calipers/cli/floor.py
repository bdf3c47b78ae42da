"""calipers floor: below which score is it better to return nothing?"""

from typing import Any

import click

from calipers.cli.parts import deciding, options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking, reading


@click.command("floor", short_help="Find the score below which to return nothing.")
@options.input_options
@click.option("-k", "k", type=int, help="How many results count. [default: 10]")
@click.option(
    "--keep",
    type=float,
    metavar="SHARE",
    help="Keep this share of what is found without a floor. [default: 0.95]",
)
@click.option("--recall", type=float, metavar="R", help="Keep this recall instead of a share.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="How sure it must be that so much is kept on other queries of the same kind.",
)
@click.option(
    "--folds",
    type=int,
    default=5,
    show_default=True,
    help="How many parts the queries are split into, to try the floor on unseen ones.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed that draws the folds."
)
@deciding.cluster_option
@options.matching_options
@options.config_option
@options.explain_option
@options.json_option
@options.printed_as("csv", "Print every floor as CSV.")
def command(
    k: int | None,
    config: str | None,
    explain: bool,
    as_json: bool,
    as_csv: bool,
    **settings: Any,
) -> None:
    """Find the score below which results are better not returned.

    Shows what each floor under the scores does: precision, recall, questions without an answer
    that are answered, questions with an answer that are refused. Every result needs a score;
    a query with an empty ground truth is one without an answer.

    \b
    Examples:
      calipers floor evals.jsonl
      calipers floor evals.jsonl -k 5 --recall 0.8
      calipers floor -g qrels.txt -r run.txt --keep 0.98 --csv
    """
    from calipers.questions.floor.settings import floor
    from calipers.questions.floor.show import floor_csv, print_floor

    given = options.largest_k(options.filled(config, k=k, **settings))
    with reading() as progress:
        found = floor(progress=progress, watch=asking, **given)
    if as_json:
        print_json(found.to_dict())
    elif as_csv:
        click.echo(floor_csv(found), nl=False)
    else:
        print_floor(found, console(), explain=explain)
