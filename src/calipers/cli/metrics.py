"""calipers metrics: every metric, from the one place where it is defined."""

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json


@click.command("metrics", short_help="List what can be measured, with formulas and parameters.")
@click.argument("name", required=False)
@options.explain_option
@options.json_option
def command(name: str | None, explain: bool, as_json: bool) -> None:
    """List every metric with its formula in words.

    With NAME (in any tool's spelling) or --explain also parameters, bounds and other names.

    \b
    Examples:
      calipers metrics
      calipers metrics nDCG@10
    """
    from calipers.questions.metrics import metrics

    listing = metrics(name)
    if as_json:
        print_json(listing)
    else:
        from calipers.questions.metrics import print_metrics

        print_metrics(listing, console(), explain=explain)
