"""calipers resolve: from quotes to documents and spans."""

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import reading


@click.command("resolve", short_help="Find where quotes stand in their documents.")
@click.argument("ground_truth", metavar="GROUND_TRUTH")
@click.option(
    "--corpus",
    "-c",
    required=True,
    metavar="PATH",
    help="The documents: a folder of .txt and .md files, or a JSON lines, CSV or Parquet file.",
)
@click.option("--output", "-o", metavar="FILE", help="Write the records there, as JSON lines.")
@click.option(
    "--first", is_flag=True, help="Take the first place of a quote that stands in several."
)
@click.option("--strict", is_flag=True, help="Exit with 1 if a quote has no span in the end.")
@options.column_option
@options.explain_option
@options.json_option
@click.pass_context
def command(
    context: click.Context,
    ground_truth: str,
    corpus: str,
    output: str | None,
    first: bool,
    strict: bool,
    columns: list[str] | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Find the document, start and end of every quote in a ground truth.

    Start and end count characters of the document as it is. A quote that is found in several
    places, or nowhere, is left as it is and reported. Everything else in the records is kept.

    \b
    Examples:
      calipers resolve evals.jsonl --corpus docs/ -o spans.jsonl
      calipers resolve evals.jsonl --corpus corpus.parquet --strict
    """
    from calipers.io.files.write import check_place
    from calipers.questions.resolve.settings import resolve

    if output:
        check_place(output)
    with reading() as progress:
        resolution = resolve(ground_truth, corpus, first=first, columns=columns, progress=progress)
    if output:
        resolution.write(output)
    if as_json:
        print_json(resolution.to_dict())
    else:
        from calipers.questions.resolve.show import print_resolution

        print_resolution(resolution, console(), written=output, explain=explain)
    if strict and resolution.resolved < len(resolution.quotes):
        context.exit(1)
