"""calipers trend: how a named evaluation moved over time."""

from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.questions.reading import tag_pairs


@click.command("trend", short_help="Draw how the saved evaluations of one name moved.")
@click.argument("name")
@click.option(
    "--metrics", "-m", metavar="LIST", help="Metrics to draw. [default: a few that matter most]"
)
@click.option(
    "--by", metavar="TAG", help="One line for each value of a tag, or by length or targets."
)
@click.option(
    "--output", "-o", metavar="FILE", help="Draw to a .svg, .png, .html or .json (Vega-Lite) file."
)
@options.filter_options
@click.option(
    "--last", "-n", type=int, default=50, show_default=True, help="How many evaluations; 0: all."
)
@options.store_option
@options.explain_option
@options.json_option
@options.printed_as("csv", "Print the points as CSV.")
def command(
    name: str,
    tags: tuple[str, ...],
    last: int,
    explain: bool,
    output: str | None,
    as_json: bool,
    as_csv: bool,
    **settings: Any,
) -> None:
    """Draw the metrics of the evaluations called NAME, with their intervals.

    Vertical marks show where the ground truth or the corpus changed: numbers before and after
    are not comparable, and no line crosses them.

    \b
    Examples:
      calipers trend nightly -m recall@10,precision@5
      calipers trend nightly -m recall@10 --by type -o trend.svg
    """
    from calipers.questions.trend.settings import trend

    if output:
        from calipers.questions.trend.charts import check_chart

        check_chart(output)
    found = trend(name, tags=tag_pairs(tags), last=last or None, **settings)
    if output:
        from calipers.questions.trend.charts import write_trend

        write_trend(found, output)
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.questions.trend.show import print_trend, trend_csv

    if as_csv:
        click.echo(trend_csv(found), nl=False)
    elif output:
        click.echo(f"Drawn to {output}.")
    else:
        print_trend(found, console(), explain=explain)
