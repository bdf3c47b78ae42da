"""calipers audit: is this ground truth fit to judge anything?"""

from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import reading
from calipers.errors import InvalidInput


@click.command("audit", short_help="Check the health of a ground truth.")
@click.argument("ground_truth", metavar="[GROUND_TRUTH]", required=False)
@click.option(
    "--corpus",
    "-c",
    metavar="PATH",
    help="What is searched: a folder of .txt and .md files, or a JSON lines, CSV or Parquet file.",
)
@click.option("--run", "-r", metavar="FILE", help="Results, to measure how wide the interval is.")
@click.option(
    "--match",
    metavar="HOW",
    help="How targets are recognised: id, quote or span. [default: as the data says]",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info"]),
    help="Exit with 1 if there is a finding at least this grave.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print one line per finding.")
@options.explain_option
@options.column_option
@options.config_option
@options.json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    config: str | None,
    fail_on: str | None,
    quiet: bool,
    explain: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Check the health of a ground truth, alone or against the corpus that is searched.

    Each finding has a name, how grave it is, a count, examples, what it means and what to do.
    Without GROUND_TRUTH the one of the settings file is checked.

    \b
    Examples:
      calipers audit evals.jsonl
      calipers audit evals.jsonl --corpus chunks.jsonl --fail-on error
      calipers audit qrels.txt --corpus docs/ --json
    """
    from calipers.questions.audit.settings import audit

    settings = options.filled(config, **settings)
    if "ground_truth" not in settings:
        raise InvalidInput(
            "No ground truth is given to check; name its file, or set it in calipers.toml."
        )
    with reading() as progress:
        health = audit(progress=progress, **settings)
    if as_json:
        print_json(health.to_dict())
    else:
        from calipers.questions.audit.show import print_health

        print_health(health, console(), quiet=quiet, explain=explain)
    if health.fails(fail_on):
        context.exit(1)
