"""Commands to begin with: init, metrics and config."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import flag, text
from calipers.errors import InvalidInput
from calipers.shell import join_words

if TYPE_CHECKING:
    from calipers.cli.starter import Started

DEFAULT_K = 3


@command(
    text(
        "--retriever",
        "RETRIEVER",
        "Your retriever: package.module:function, an address or cmd:command. [default: a "
        "search.py to replace, with word matching over the folder]",
    ),
    text(
        "--output -o", "FOLDER", "Where to write the files. [default: the current folder]"
    ),
    text("--price", "PRICE", "What a million tokens of the model cost.", type=float),
    flag("--yes -y", "Ask a model without asking first what it may cost."),
    operation="first_questions",
    short_help="Make first questions from a folder, or write the files to start with.",
)
def init(
    request: CommandInput,
    retriever: str | None,
    output: str | None,
    price: float | None,
    yes: bool,
) -> None:
    """Make questions from a folder of documents, and measure what word matching finds.

    No model, no account and no label is needed. It writes questions.jsonl, search.py and
    calipers.toml to the current folder, never into the documents. Without FOLDER it writes an
    example to fill in: four questions, a search function, settings and a check for CI; what exists
    is never touched.

    \b
    Examples:
      calipers init ./docs
      calipers init
      calipers init ./docs --endpoint http://127.0.0.1:8000/v1 --model small --price 0.5
    """
    from calipers.live.adapters.recognise import check_target

    if retriever:
        check_target(retriever)
    if "folder" in request.values:
        _begin(request, Path(output or "."), None if yes else price or 0.0, retriever)
        return
    if request.output_format:
        raise InvalidInput(
            "--json is for questions of a folder; name it: calipers init FOLDER."
        )
    from calipers.cli.starter import start_project

    k = request.values.get("k", DEFAULT_K)
    _show_started(start_project(Path.cwd(), retriever=retriever, k=k))


def _show_started(started: "Started") -> None:
    """Print what was written, what stays, and what to call next."""
    from calipers.cli.starter import QUESTIONS, WORKFLOW
    from calipers.present.escape import printable

    for name in started.written:
        click.echo(f"Written: {name}")
    for name in started.left:
        click.echo(f"Left as it is: {printable(name)}")
    if WORKFLOW in started.written:
        click.echo(printable(started.origin))
    if started.missing is not None:
        named = printable(started.missing)
        click.echo(f"Write your questions into {named}, which calipers.toml names, then:")
    elif QUESTIONS not in (*started.written, *started.left):
        click.echo("Measure what calipers.toml names:")
    elif started.is_example:
        click.echo(
            f"Measure the example, then put your own into {QUESTIONS} and {started.file}:"
        )
    else:
        click.echo(f"See what it returns, then put your own questions into {QUESTIONS}:")
    click.echo(f"  {printable(join_words(started.command))}")


def _begin(
    request: CommandInput, into: Path, price: float | None, retriever: str | None
) -> None:
    """Make questions from a folder, write them and show what word matching finds.

    Before a model is asked, the user must agree, unless ``price`` is None.
    """
    from dataclasses import replace

    def agree(prompts: int, tokens: int) -> None:
        if price is None:
            return
        cost = f", about {price * tokens / 1_000_000:,.2f}" if price else ""
        model = request.values["model"]
        click.confirm(
            f"Ask {model} {prompts:,} prompts, about {tokens:,} tokens{cost}?",
            abort=True,
            err=True,
        )

    from calipers.questions.begin.files import check_output
    from calipers.words import COMPLETING

    check_output(into, Path(request.values["folder"]))
    if "endpoint" in request.values:
        request.values = {"cache": ".calipers/answers", **request.values, "agree": agree}
    beginning = request.answer()
    COMPLETING.set(lambda _: None)  # the commands are complete
    request.show(replace(beginning, files=beginning.write_files(into, retriever)))


@command(short_help="List what can be measured, with formulas and parameters.")
def metrics(request: CommandInput) -> None:
    """List the usual metrics with their formulas in words; with --all every one.

    With NAME (in any tool's spelling) or --explain also parameters, bounds and other names.

    \b
    Examples:
      calipers metrics --all
      calipers metrics nDCG@10
    """
    request.show(request.answer(), lambda answer: {"metrics": answer})
