"""calipers questions: a language model as the writer of questions."""

from functools import partial
from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.asking import ask_model, model_options


@click.command("questions", short_help="Let a language model write questions with quotes.")
@click.argument("corpus", metavar="CORPUS")
@click.option(
    "-n", type=int, default=50, show_default=True, help="How many chunks to write a question from."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed that draws the chunks."
)
@click.option("--output", "-o", required=True, metavar="FILE", help="The questions, as JSON lines.")
@model_options
@options.json_option
def command(corpus: str, output: str, **settings: Any) -> None:
    """Let a language model write questions, with the quotes that answer them.

    CORPUS is a file of chunks or a folder of documents. Each drawn chunk is sent to the endpoint
    that you name. A question whose quote does not stand in its chunk is rejected and counted;
    the others are tagged "source": "machine:NAME". Read them before you use them.

    \b
    Examples:
      calipers questions chunks.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -n 50 -o questions.jsonl
    """
    from calipers.io.files.write import check_place
    from calipers.labels.settings import write_questions
    from calipers.live.show import question_lines

    check_place(output)
    ask_model(partial(write_questions, corpus), question_lines, output, **settings)
