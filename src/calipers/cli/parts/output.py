"""Where results go: the terminal, standard output as data, or a file."""

import re
import sys
from typing import Any

import click

_TRAILING_BLANKS = re.compile(r"[ \t]+$", re.MULTILINE)


def console() -> Any:
    """A rich console on standard output; colour only on a terminal."""
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
    return PipedConsole(highlight=False, soft_wrap=False, emoji=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output, in UTF-8 whatever the terminal speaks."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


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
