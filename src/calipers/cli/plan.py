"""calipers plan: how many queries do I need?"""

from typing import Any

import click

from calipers.cli.parts import deciding, options
from calipers.cli.parts.output import console, print_json
from calipers.cli.systems import named_systems


@click.command("plan", short_help="Say how many queries show a difference.")
@click.argument("pilot", nargs=-1, metavar="SYSTEM SYSTEM")
@click.option("--ground-truth", "-g", metavar="FILE", help="What should be found.")
@click.option(
    "--difference", type=float, metavar="D", help="The difference that must not be missed."
)
@click.option(
    "--queries",
    type=int,
    metavar="N",
    help="How many queries there will be: say how small a difference they show.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="The chance to see the difference where it is there.",
)
@deciding.primary_option
@click.option("-k", "cutoffs", metavar="LIST", help="Cut-offs of the usual metrics.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="The confidence level of the comparison that is planned.",
)
@deciding.cluster_option
@options.matching_options
@options.config_option
@options.json_option
def command(
    pilot: tuple[str, ...],
    cutoffs: str | None,
    ground_truth: str | None,
    config: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Say how many queries show a difference, or how small a difference some queries show.

    Two SYSTEMs, as for `calipers compare`, are the pilot: how their differences vary from query
    to query is what the plan is made from.

    \b
    Examples:
      calipers plan old.jsonl new.jsonl --difference 0.05
      calipers plan old.json new.json --queries 500 --primary ndcg@10
    """
    from calipers.questions.plan.settings import plan

    # As in compare, a ground truth in the settings file is not for runs, which may bring one.
    given = options.filled(
        config, metrics=None, k=options.cutoff_list(cutoffs), weights=None, **settings
    )
    found = plan(named_systems(pilot), ground_truth, **given)
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.questions.plan.show import plan_lines

    for line in plan_lines(found):
        console().print(line, markup=False, soft_wrap=True)
