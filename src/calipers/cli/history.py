"""Commands for the history: show, trend and alarm."""

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import AS, HTML, text
from calipers.present.escape import printable


@command(AS)
def history_show() -> None:
    """Show a saved evaluation exactly as it was measured.

    REFERENCE is @name (the latest), @name~2 (two before it) or @id.

    \b
    Example:
      calipers history show @nightly
    """


@command(HTML, AS, short_help="Draw how the saved evaluations of one name moved.")
def history_trend() -> None:
    """Draw the metrics of the evaluations called NAME over time, beside their reference.

    The same answer as `calipers history alarm`, with exit code 0 whatever it says. Vertical marks
    show where the ground truth or the corpus changed: numbers before and after are not comparable,
    and no line crosses them.

    \b
    Examples:
      calipers history trend nightly -m recall@10,precision@5
      calipers history trend nightly -m recall@10 --html trend.html
    """


@command(
    HTML,
    AS,
    short_help="Say whether the latest saved evaluation is worse than before.",
    exits=lambda alarm: alarm.exit_code,
)
def history_alarm() -> None:
    """Say whether the evaluations called NAME got worse, and draw them over time.

    The latest is compared with seven earlier ones, on queries with the same question and the same
    ground truth, so that a loss is the retriever's. The reference moves up by itself, and down only
    with --since.

    \b
    Exit codes:
      0  it does not ring
      1  it rings: the latest got worse by more than --allow
      2  an evaluation is missing (--every), or could not be checked

    \b
    Examples:
      calipers history alarm nightly
      calipers history alarm nightly -m recall@10,mrr --as markdown
    """


@command(
    text(
        "--html",
        "FOLDER",
        "Write a site to share: lines over time, every report, a badge.",
    ),
    AS,
    commands={
        "show": history_show,
        "trend": history_trend,
        "alarm": history_alarm,
    },
)
def history(request: CommandInput, html: str | None) -> None:
    """List saved evaluations, newest first.

    With NAME only those of that name. Marks show where the ground truth or the corpus changed;
    `calipers history alarm NAME` draws each metric over time.

    \b
    Examples:
      calipers history
      calipers history nightly --since 30d -m recall@10,mrr
      calipers history --as csv
      calipers history nightly --html site
    """
    answer = request.answer()
    if html:
        from calipers.questions.history.settings import HistorySettings
        from calipers.questions.history.site import write_site

        settings = request.built(HistorySettings)
        click.echo(printable(write_site(answer, html, settings)), err=True)
    request.show(answer)
