"""calipers judge: a language model as a first judge."""

from typing import Any

import click

from calipers.cli import options
from calipers.cli.output import console, print_json
from calipers.cli.progress import asking


@click.command("judge")
@click.argument("file", metavar="FILE")
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="The labelled file, .jsonl or .csv."
)
@options.model_options
@options.json_option
def command(
    file: str, output: str, cache: str | None, no_cache: bool, as_json: bool, **settings: Any
) -> None:
    """Let a language model grade what `calipers draft` wrote.

    FILE is sent to the endpoint that you name, one prompt per row, at temperature 0. Every row
    comes back with the judge "machine:NAME". Hold it against people before you trust it.

    \b
    Examples:
      calipers judge label.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -o machine.jsonl
      calipers agreement anna.csv machine.jsonl
    """
    from calipers import api
    from calipers.io.labels import check_label_file

    check_label_file(output)
    kept = None if no_cache else cache
    with asking() as (total, progress):
        try:
            found = api.judge(file, cache=kept, total=total, progress=progress, **settings)
        except KeyboardInterrupt:
            if kept:
                click.echo(f"Every answer is kept in {kept}; the same command goes on.", err=True)
            raise
    found.write(output)
    if as_json:
        print_json(found.to_dict())
        return
    from rich.text import Text

    from calipers.present.machine import judged_lines

    screen = console()
    for line in judged_lines(found, output):
        screen.print(Text(line))
