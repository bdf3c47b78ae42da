"""Where results go: the terminal, standard output as data, or a file."""

import sys
from typing import Any

import click


def console(*, quiet: bool = False) -> Any:
    """A rich console on standard output; colour only on a terminal."""
    from rich.console import Console

    return Console(quiet=quiet, highlight=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(value), indent=2)
    click.echo(text.decode())


def is_terminal() -> bool:
    """Whether somebody is looking at standard error."""
    return sys.stderr.isatty()
