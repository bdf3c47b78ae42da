"""calipers alarm: is the latest evaluation worse than before?"""

from typing import Any

import click

from calipers.cli.parts import deciding, options, renamed
from calipers.cli.parts.output import console, print_json
from calipers.questions.reading import tag_pairs


@click.command("alarm", short_help="Say whether the latest saved evaluation is worse than before.")
@click.argument("name")
@click.option("--metrics", "-m", metavar="LIST", help="Metrics to watch. [default: the primary]")
@deciding.primary_option
@click.option(
    "--by",
    multiple=True,
    metavar="TAG",
    help="Check each value of a tag too; may be given several times.",
)
@renamed.renamed_option(
    "--reference",
    former="--window",
    type=int,
    default=7,
    show_default=True,
    metavar="N",
    help="The first N evaluations are the period that later ones are compared with.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="Begin the reference at this time, such as after a deliberate change: a date, or an age "
    "such as 30d.",
)
@options.among_options
@click.option(
    "--false-alarms",
    type=float,
    default=1.0,
    show_default=True,
    metavar="N",
    help="How many false alarms a year are acceptable, with one evaluation a day.",
)
@renamed.retired_option("--alpha", "--false-alarms says how many a year are acceptable.")
@renamed.retired_option("--seed", "Nothing random is left in the test.")
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
    """Say whether evaluations called NAME have become worse than the first ones, and since when.

    Losses add up from one evaluation to the next, so that a slow decline shows too. Only queries
    with the same question and the same ground truth are compared, so that a drop is the
    retriever's. Exit codes: 0 no drop was shown, 1 worse, 2 it could not be checked.

    \b
    Examples:
      calipers alarm nightly
      calipers alarm nightly -m recall@10,mrr --by type --as markdown
    """
    from calipers.questions.alarm.settings import alarm

    settings["primary"] = deciding.configured_primary(settings["primary"])
    found = alarm(name, tags=tag_pairs(tags), **settings)
    if as_json:
        print_json(found.to_dict())
    else:
        from calipers.questions.alarm.show import alarm_markdown, print_alarm

        if form == "markdown":
            click.echo(alarm_markdown(found), nl=False)
        else:
            print_alarm(found, console(), explain=explain)
    if found.raised:
        raise click.exceptions.Exit(1)
