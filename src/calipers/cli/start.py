"""Commands to begin with: init, metrics and config."""

from pathlib import Path
from typing import Any

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import flag, text
from calipers.errors import InvalidInput
from calipers.shell import join_words

DEFAULT_K = 3


@command(
    text(
        "--retriever",
        "RETRIEVER",
        "Your retriever: package.module:function, an address or cmd:command. [default: word "
        "matching over the folder; without one a search.py to fill in]",
    ),
    text("-k", None, f"How many results a reader gets. [default: {DEFAULT_K}]", type=int),
    text("--output -o", "FOLDER", "Where to write the files. [default: the current folder]"),
    text("--price", "PRICE", "What a million tokens of the model cost.", type=float),
    flag("--yes -y", "Ask a model without asking first what it may cost."),
    operation="first_questions",
    short_help="Make first questions from a folder, or write the files to start with.",
)
def init(
    asked: CommandInput,
    retriever: str | None,
    k: int | None,
    output: str | None,
    price: float | None,
    yes: bool,
) -> None:
    """Make questions from a folder of documents, and measure what word matching finds.

    No model, no account and no label is needed. It writes questions.jsonl and calipers.toml to
    the current folder, never into the documents. Without FOLDER it writes an example to fill in:
    four questions, a search function, settings and a check for CI; what exists is never touched.

    \b
    Examples:
      calipers init ./docs
      calipers init
      calipers init ./docs --endpoint http://127.0.0.1:8000/v1 --model small --price 0.5
    """
    from calipers.live.adapters.recognise import check_target

    if retriever:
        check_target(retriever)
    if "folder" in asked.settings:
        named = {"retriever": retriever, **({} if k is None else {"k": k})}
        _begin(asked, Path(output or "."), None if yes else price or 0.0, named)
        return
    if asked.form:
        raise InvalidInput("--json is for questions of a folder; name it: calipers init FOLDER.")
    from calipers.cli.starter import QUESTIONS, WORKFLOW, start_project
    from calipers.present.escape import printable

    started = start_project(Path.cwd(), retriever=retriever, k=DEFAULT_K if k is None else k)
    after = (
        ("calipers", "eval")
        if started.is_example
        else ("calipers", "retrieve", started.retriever, QUESTIONS, "-o", "run.jsonl")
    )
    for name in started.written:
        click.echo(f"Written: {name}")
    for name in started.left:
        click.echo(f"Left as it is: {name}")
    if WORKFLOW in started.written:
        click.echo(printable(started.origin))
    if started.is_example:
        file = f"{started.retriever.partition(':')[0]}.py"
        click.echo(f"Measure the example, then put your own into {QUESTIONS} and {file}:")
    else:
        click.echo(f"See what it returns, then put your own questions into {QUESTIONS}:")
    click.echo(f"  {printable(join_words(after))}")


def _begin(asked: CommandInput, into: Path, price: float | None, named: dict[str, Any]) -> None:
    """Make questions from a folder, write them and show what word matching finds.

    Before a model is asked, the user must agree, unless ``price`` is None.
    """
    from dataclasses import replace

    def agree(prompts: int, tokens: int) -> None:
        if price is None:
            return
        cost = f", about {price * tokens / 1_000_000:,.2f}" if price else ""
        model = asked.settings["model"]
        click.confirm(
            f"Ask {model} {prompts:,} prompts, about {tokens:,} tokens{cost}?", abort=True, err=True
        )

    from calipers.questions.begin.result import check_output

    check_output(into, Path(asked.settings["folder"]))
    if "endpoint" in asked.settings:
        asked.settings = {"cache": ".calipers/answers", **asked.settings, "agree": agree}
    found = asked.answer()
    written = tuple(str(one) for one in found.write(into, **named))
    asked.show(replace(found, written=written))


@command(short_help="List what can be measured, with formulas and parameters.")
def metrics(asked: CommandInput) -> None:
    """List the usual metrics with their formulas in words; with --all every one.

    With NAME (in any tool's spelling) or --explain also parameters, bounds and other names.

    \b
    Examples:
      calipers metrics --all
      calipers metrics nDCG@10
    """
    asked.show(asked.answer(), lambda one: {"metrics": one})
