"""calipers judge: a language model as a first judge."""

from functools import partial
from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.asking import ask_model, model_options


@click.command("judge")
@click.argument("file", metavar="FILE")
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="The labelled file, .jsonl or .csv."
)
@model_options
@options.json_option
def command(file: str, output: str, **settings: Any) -> None:
    """Let a language model grade what `calipers draft` wrote.

    FILE is sent to the endpoint that you name, one prompt per row, at temperature 0. Every row
    comes back with the judge "machine:NAME". Compare it with people before you trust it.

    \b
    Examples:
      calipers judge label.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -o machine.jsonl
      calipers agreement anna.csv machine.jsonl
    """
    from calipers.io.records.label_files import check_label_file
    from calipers.labels.settings import judge
    from calipers.live.show import judged_lines

    check_label_file(output)
    ask_model(partial(judge, file), judged_lines, output, **settings)
