"""Asking something live: the options of it, and what `calipers judge` and `questions` share."""

from collections.abc import Callable
from typing import Any

import click

from calipers.cli.parts import renamed
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking


def model_options(function: renamed.F) -> renamed.F:
    """Which language model, where, and how patiently it is asked."""
    return renamed.apply(
        click.option(
            "--endpoint",
            required=True,
            metavar="ADDRESS",
            help="An OpenAI-compatible address, such as http://127.0.0.1:8000/v1.",
        ),
        click.option("--model", required=True, metavar="NAME", help="The name of the model."),
        click.option(
            "--key-env",
            metavar="VARIABLE",
            help="The environment variable that holds the key; it is never written anywhere.",
        ),
        renamed.renamed_option(
            "--cache-folder",
            "cache",
            former="--cache",
            default=".calipers/answers",
            show_default=True,
            metavar="FOLDER",
            help="Keep answers in this folder, and ask no prompt twice.",
        ),
        click.option("--no-cache", is_flag=True, help="Keep no answers."),
        click.option(
            "--workers",
            type=int,
            default=4,
            show_default=True,
            metavar="N",
            help="Prompts asked at a time.",
        ),
        pace_options("prompt", timeout=60.0),
    )(function)


def pace_options(asked: str, *, timeout: float) -> Callable[[renamed.F], renamed.F]:
    """How patiently something is asked, one after the other or several at a time."""
    return renamed.apply(
        click.option(
            "--timeout",
            type=float,
            default=timeout,
            show_default=True,
            metavar="SECONDS",
            help=f"Give up on a {asked} after so long.",
        ),
        click.option(
            "--retries",
            type=int,
            default=2,
            show_default=True,
            metavar="N",
            help="Ask again after a lost connection, a timeout, 429 or 5xx; with a growing pause.",
        ),
        click.option(
            "--rate",
            type=float,
            metavar="N",
            help=f"{asked.capitalize()}s per second at most.",
        ),
        click.option("--max-errors", type=int, metavar="N", help="Stop when more than N fail."),
    )


def ask_model(
    ask: Callable[..., Any],
    lines: Callable[[Any, str], list[str]],
    output: str,
    *,
    cache: str | None,
    no_cache: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Ask with a bar, write what came, and say it as JSON or in these lines."""
    kept = None if no_cache else cache
    with asking() as (total, progress):
        try:
            found = ask(cache=kept, total=total, progress=progress, **settings)
        except KeyboardInterrupt:
            if kept:
                click.echo(f"Every answer is kept in {kept}; the same command goes on.", err=True)
            raise
    found.write(output)
    if as_json:
        print_json(found.to_dict())
        return
    from rich.text import Text

    screen = console()
    for line in lines(found, output):
        screen.print(Text(line))
