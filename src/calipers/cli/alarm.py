"""calipers alarm: is the latest evaluation worse than before?"""

from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.saving import tag_pairs


@click.command("alarm", short_help="Say whether the latest saved evaluation is worse than before.")
@click.argument("name")
@click.option(
    "--metrics", "-m", metavar="LIST", help="Metrics to watch. [default: a few that matter most]"
)
@click.option(
    "--by", multiple=True, metavar="TAG",
    help="Check each value of a tag too; may be given several times.",
)  # fmt: skip
@click.option(
    "--window", type=int, default=7, show_default=True,
    help="Compare also with the mean of this many evaluations before the latest.",
)  # fmt: skip
@options.among_options
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="The rate of false alarms."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed that the test draws with."
)
@options.store_option
@options.explain_option
@options.json_option
@options.as_option("markdown")
def command(
    name: str,
    tags: tuple[str, ...],
    explain: bool,
    as_json: bool,
    form: str | None,
    **settings: Any,
) -> None:
    """Compare the latest evaluation called NAME with the previous one and those before.

    Only queries with the same question and the same ground truth are compared, so that a drop is
    the retriever's. Exit codes: 0 no significant drop, 1 significantly worse, 2 it could not be
    checked.

    \b
    Examples:
      calipers alarm nightly
      calipers alarm nightly -m recall@10,mrr --by type --as markdown
    """
    from calipers.api.history import alarm

    found = alarm(name, tags=tag_pairs(tags), **settings)
    if as_json:
        print_json(found.to_dict())
    else:
        from calipers.present.alarm import alarm_markdown, print_alarm

        if form == "markdown":
            click.echo(alarm_markdown(found), nl=False)
        else:
            print_alarm(found, console(), explain=explain)
    if found.raised:
        raise click.exceptions.Exit(1)
