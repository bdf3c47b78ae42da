"""calipers agreement: read labelled files back, and merge them."""

from typing import Any

import click

from calipers.cli.parts import options, renamed
from calipers.cli.parts.output import console, print_json


@click.command("agreement", short_help="Say how far judges agree, and merge their labels.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--scale",
    default="ordinal",
    show_default=True,
    type=click.Choice(["nominal", "ordinal", "interval"]),
    help="What a difference between grades means, for Krippendorff's alpha.",
)
@click.option(
    "--weights",
    default="none",
    show_default=True,
    type=click.Choice(["none", "linear", "quadratic"]),
    help="How Cohen's kappa counts the distance between grades.",
)
@click.option(
    "--output", "-o", metavar="FILE", help="Write the merged ground truth there, as JSON lines."
)
@click.option(
    "--merge",
    default="majority",
    show_default=True,
    type=click.Choice(["majority", "mean", "max", "min"]),
    help="How several grades become one.",
)
@renamed.renamed_option(
    "--when-tied",
    former="--ties",
    default="leave",
    show_default=True,
    type=click.Choice(["leave", "max", "min", "mean"]),
    help="When two grades have equally many votes: leave the pair out, or take this one.",
)
@renamed.renamed_option(
    "--targets-as",
    former="--by",
    default="id",
    show_default=True,
    type=click.Choice(["id", "quote", "span"]),
    help="What a target of the ground truth is: the item's id, its text, or its place.",
)
@click.option(
    "--add-to", metavar="FILE", help="A ground truth to which the new judgements are added."
)
@click.option(
    "--machine",
    metavar="JUDGE",
    help="The judge that is a language model: compare its labels with those of the people.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="The confidence level of the intervals.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How many disagreements to list.",
)
@options.column_option
@options.explain_option
@options.json_option
def command(
    files: tuple[str, ...],
    output: str | None,
    examples: int,
    explain: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Say how far judges agree, and make one ground truth of what they said.

    A FILE is one that `calipers draft` wrote and somebody filled in, or that `calipers judge`
    wrote. A row without a judge belongs to the judge that its file is named for.

    \b
    Examples:
      calipers agreement anna.csv bo.csv
      calipers agreement anna.csv bo.csv machine.jsonl --scale nominal
      calipers agreement anna.csv machine.jsonl --machine machine
      calipers agreement anna.csv bo.csv cem.csv -o truth.jsonl
    """
    from calipers.errors import InvalidInput
    from calipers.io.files.write import check_place
    from calipers.labels.settings import agreement

    if output:
        check_place(output)
    elif settings["add_to"]:
        raise InvalidInput("There is something to add to and nowhere to write it; give -o FILE.")
    else:
        settings["merge"] = None
    found = agreement(list(files), **settings)
    if output:
        found.write(output)
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.labels.show import print_agreement

    print_agreement(found, console(), written=output, examples=examples, explain=explain)
