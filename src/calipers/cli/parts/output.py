"""Where results go: the terminal, standard output as data, or a file."""

import re
import sys
from typing import Any

import click

from calipers.errors import InvalidInput

_STEERING = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""What could steer a terminal or turn its reading direction; JSON has another spelling for it."""
_TRAILING_BLANKS = re.compile(r"[ \t]+$", re.MULTILINE)


OUTPUTS = ("output", "html", "markdown", "per_query", "junit", "paths")
"""The parameters that name files to write."""


def console() -> Any:
    """A rich console on standard output; colour only on a terminal.

    Where an output goes to standard output, what is said about it goes to standard error.
    """
    from rich.console import Console

    class PipedConsole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            if self.is_terminal:
                super().print(*objects, **options)
                return
            # rich fills the lines of a table with blanks, which show in files and differences.
            with self.capture() as printed:
                super().print(*objects, **options)
            self.file.write(_TRAILING_BLANKS.sub("", printed.get()))
            self.file.flush()

        def on_broken_pipe(self) -> None:
            # rich would leave with 1, which here means that a gate failed.
            raise BrokenPipeError

    # Without emoji: a name such as "machine:m:" is a name, not a picture.
    return PipedConsole(highlight=False, soft_wrap=False, emoji=False, stderr=_is_taken())


def _is_taken() -> bool:
    """Whether an output of the command goes to standard output."""
    from calipers.io.write import is_standard_output

    context = click.get_current_context(silent=True)
    given = [] if context is None else [context.params.get(name) for name in OUTPUTS]
    named = [value[-1] if isinstance(value, tuple) and value else value for value in given]
    return any(isinstance(value, str) and is_standard_output(value) for value in named)


def print_json(value: Any) -> None:
    """One JSON document on standard output, in UTF-8 whatever the terminal speaks."""
    import msgspec

    if _is_taken():
        raise InvalidInput(
            "Both --json and an output go to standard output; write one of them to a file."
        )
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    click.echo(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode())


def write_page(report: Any, path: str, *, full: bool) -> None:
    """The page; which files, on standard error."""
    from calipers.cli.parts.progress import working
    from calipers.present.report import save_html

    with working("drawing the page"):
        written = save_html(report, path, full=full)
    for one in written:
        click.echo(f"Written to {one}", err=True)


def write_short_form(report: Any, path: str) -> None:
    """The report as Markdown; which file, on standard error."""
    from calipers.present.report import save_markdown

    for one in save_markdown(report, path):
        click.echo(f"Written to {one}", err=True)


def is_terminal() -> bool:
    """Whether somebody is looking at standard error."""
    return sys.stderr.isatty()
