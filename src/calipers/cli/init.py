"""calipers init: from an empty folder to the first measurement."""

import shlex

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import print_json

DEFAULT_K = 3


@click.command("init", short_help="Write the files that a project starts with.")
@click.option(
    "--retriever",
    metavar="RETRIEVER",
    help="Your retriever: package.module:function, an address or cmd:command. [default: a "
    "search.py to fill in]",
)
@click.option("-k", type=int, help=f"How many results a reader gets. [default: {DEFAULT_K}]")
@click.option("--yes", "-y", is_flag=True, help="Ask nothing, and take the defaults.")
@options.json_option
def command(retriever: str | None, k: int | None, yes: bool, as_json: bool) -> None:
    """Write four questions, a search function to fill in, settings and a check for CI.

    Two questions are asked, unless --yes or both options are given. What exists is never
    touched. All of it works at once: the next command is printed.

    \b
    Examples:
      calipers init
      calipers init --retriever mypackage.search:search -k 10
    """
    from pathlib import Path

    from calipers.cli.parts.starter import QUESTIONS, start_project
    from calipers.live.adapters.recognise import check_target
    from calipers.present.escape import printable

    if retriever is None and not yes:
        retriever = click.prompt(
            "Where is your retriever (package.module:function, an address, cmd:command; nothing: "
            "write a search.py to fill in)?",
            default="",
            show_default=False,
            prompt_suffix=" ",
            err=as_json,
        )
    if retriever:
        check_target(retriever)
    if k is None:
        k = DEFAULT_K
        if not yes:
            k = click.prompt(
                "How many results does a reader get?",
                default=DEFAULT_K,
                type=int,
                prompt_suffix=" ",
                err=as_json,
            )
    started = start_project(Path.cwd(), retriever=retriever or None, k=k)
    after = (
        ("calipers", "eval")
        if started.is_example
        else ("calipers", "retrieve", started.retriever, QUESTIONS, "-o", "run.jsonl")
    )
    if as_json:
        print_json(
            {
                "written": list(started.written),
                "left": list(started.left),
                "retriever": started.retriever,
                "next": list(after),
            }
        )
        return
    for name in started.written:
        click.echo(f"Written: {name}")
    for name in started.left:
        click.echo(f"Left as it is: {name}")
    if started.is_example:
        file = f"{started.retriever.partition(':')[0]}.py"
        click.echo(f"Measure the example, then put your own into {QUESTIONS} and {file}:")
    else:
        click.echo(f"See what it returns, then put your own questions into {QUESTIONS}:")
    click.echo(f"  {printable(shlex.join(after))}")
