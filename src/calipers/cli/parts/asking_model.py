"""Asking a language model: what `calipers judge` and `calipers questions` share."""

from collections.abc import Callable
from typing import Any

import click

from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking


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
