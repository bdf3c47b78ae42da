"""calipers traces: the questions people really asked."""

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json


@click.command("traces", short_help="Take questions from traces, to make a ground truth.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--n", "-n", type=int, metavar="N", help="How many questions. [default: all]")
@click.option("--by", metavar="TAG", help="Draw in turns from the values of this tag.")
@click.option(
    "--disagreement",
    type=float,
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="The share to choose because their results differ between askings.",
)
@click.option(
    "--mask",
    multiple=True,
    metavar="PATTERN",
    help="Mask this first: a regular expression, or email, phone, iban, ip, url. Repeatable.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed that draws the questions."
)
@click.option(
    "--output", "-o", metavar="FILE", help="Write the questions, with what came back, to a .jsonl."
)
@options.json_option
def command(
    files: tuple[str, ...],
    n: int | None,
    by: str | None,
    disagreement: float,
    mask: tuple[str, ...],
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Take the questions that people really asked from traces, each once.

    FILEs are exports of OpenInference or OTLP spans, of LangSmith runs or of Langfuse
    observations. The questions written are a run that `calipers draft` takes.

    \b
    Examples:
      calipers traces spans.jsonl --mask email --mask phone -n 200 -o questions.jsonl
      calipers traces old.jsonl new.jsonl --by customer -n 100 -o questions.jsonl
      calipers draft questions.jsonl -o label.csv
    """
    from calipers.errors import InvalidInput
    from calipers.io.files.write import check_place
    from calipers.questions.traces.settings import traces
    from calipers.questions.traces.show import print_traces

    if output is not None:
        if not output.endswith(".jsonl"):
            raise InvalidInput(f"The output is {output!r}; it is JSON lines, so end it in .jsonl.")
        check_place(output)
    found = traces(list(files), n=n, by=by, disagreement=disagreement, mask=list(mask), seed=seed)
    if output is not None:
        found.save(output)
    if as_json:
        print_json(found.to_dict())
    else:
        print_traces(found, console())
