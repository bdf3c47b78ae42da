"""calipers show: a saved evaluation again, whole."""

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json


@click.command("show")
@click.argument("reference")
@click.option(
    "--per-query",
    metavar="FILE",
    help="Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
)
@options.store_option
@options.explain_option
@options.json_option
@options.printed_as("csv", "Print the summary as CSV.")
@click.option("--quiet", "-q", is_flag=True, help="Print the table without the notes.")
def command(
    reference: str,
    per_query: str | None,
    store: str | None,
    as_json: bool,
    as_csv: bool,
    quiet: bool,
    explain: bool,
) -> None:
    """Show a saved evaluation exactly as it was measured.

    REFERENCE is @name (the latest), @name~2 (two before it), @id, @branch:main or
    @commit:abc123.

    \b
    Examples:
      calipers show @nightly
      calipers show @nightly~1 --json
    """
    from calipers.io.files.write import check_writable
    from calipers.io.tables.scores import write_scores
    from calipers.questions.history.settings import show

    if per_query:
        check_writable(per_query)
    shown = show(reference, store=store)
    if per_query:
        write_scores(shown.scores, per_query)
    if as_json:
        print_json(shown.to_dict())
    elif as_csv:
        from calipers.questions.evaluate.show import summary_csv

        click.echo(summary_csv(shown.scores), nl=False)
    else:
        from calipers.questions.history.show import print_shown

        print_shown(shown, console(), notes=not quiet, explain=explain)
