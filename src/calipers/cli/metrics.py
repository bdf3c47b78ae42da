"""calipers metrics: every metric, from the one place where it is defined."""

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json


@click.command("metrics", short_help="List what can be measured, with formulas and parameters.")
@click.argument("name", required=False)
@options.json_option
def command(name: str | None, as_json: bool) -> None:
    """List every metric: its formula in words, its parameters, its other names.

    With NAME (any tool's spelling), only that one.
    """
    from calipers.api.measure import metrics

    listing = metrics(name)
    if as_json:
        print_json(listing)
    else:
        from calipers.present.terminal import print_metrics

        print_metrics(listing, console())
