"""calipers questions: a language model as the writer of questions."""

from typing import Any

import click

from calipers.cli import options
from calipers.cli.output import console, print_json
from calipers.cli.progress import asking


@click.command("questions", short_help="Let a language model write questions with quotes.")
@click.argument("corpus", metavar="CORPUS")
@click.option(
    "-n", type=int, default=50, show_default=True, help="How many chunks to write a question from."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of the chunks.")
@click.option("--output", "-o", required=True, metavar="FILE", help="The questions, as JSON lines.")
@options.model_options
@options.json_option
def command(
    corpus: str, output: str, cache: str | None, no_cache: bool, as_json: bool, **settings: Any
) -> None:
    """Let a language model write questions, with the quotes that answer them.

    CORPUS is a file of chunks or a folder of documents. Each drawn chunk is sent to the endpoint
    that you name. A question whose quote does not stand in its chunk is rejected and counted;
    the others are tagged "source": "machine:NAME". Read them before you use them.

    \b
    Examples:
      calipers questions chunks.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -n 50 -o questions.jsonl
    """
    from calipers import api
    from calipers.io.write import check_place

    check_place(output)
    kept = None if no_cache else cache
    with asking() as (total, progress):
        try:
            found = api.write_questions(
                corpus, cache=kept, total=total, progress=progress, **settings
            )
        except KeyboardInterrupt:
            if kept:
                click.echo(f"Every answer is kept in {kept}; the same command goes on.", err=True)
            raise
    found.write(output)
    if as_json:
        print_json(found.to_dict())
        return
    from rich.text import Text

    from calipers.present.machine import question_lines

    screen = console()
    for line in question_lines(found, output):
        screen.print(Text(line))
