"""Options that no operation knows: how an answer is printed, where it is written."""

from typing import Any

import click

from calipers.errors import InvalidInput


def _one_form(context: click.Context, option: click.Parameter, given: Any) -> Any:
    if given:
        here = option.opts[0]
        before = context.meta.setdefault("calipers.form", here)
        if before != here:
            raise InvalidInput(
                f"Both {before} and {here} are given; a result is printed in one form, so leave "
                "one out."
            )
    return given


def flag(name: str, said: str) -> click.Option:
    """A switch; a short form may stand behind its name: "--quiet -q"."""
    return click.Option(name.split(), is_flag=True, help=said)


def text(name: str, metavar: str | None, said: str, **more: Any) -> click.Option:
    """An option with a value."""
    return click.Option(name.split(), metavar=metavar, help=said, **more)


def csv(said: str) -> click.Option:
    """--csv."""
    return click.Option(["--csv", "as_csv"], is_flag=True, callback=_one_form, help=said)


def forms(*names: str) -> click.Option:
    """--as FORM."""
    said = "Print the result in this form."
    return click.Option(["--as", "form"], type=click.Choice(names), callback=_one_form, help=said)


def examples(said: str, default: int | None = None) -> click.Option:
    """--examples."""
    return click.Option(
        ["--examples"],
        type=click.IntRange(min=0),
        default=default,
        show_default=default is not None,
        help=said,
    )


def output(said: str, *, required: bool = False) -> click.Option:
    """--output."""
    return text("--output -o", "FILE", said, required=required)


JSON = click.Option(
    ["--json", "as_json"],
    is_flag=True,
    callback=_one_form,
    help="Print the whole result as JSON.",
)
CONFIG = text(
    "--config",
    "FILE",
    "Take settings from this TOML file. [default: calipers.toml, or [tool.calipers] of "
    "pyproject.toml, here or in a folder above]",
)
EXPLAIN = flag("--explain", "Print everything that is known, with every note.")
QUIET = flag("--quiet -q", "Print the table without the notes.")
FULL = flag("--full", "Put every ranking with its whole texts on the page, however large it gets.")
PAGE = text("--html", "FILE", "Write a page with everything that is known.")
PER_QUERY = text(
    "--per-query",
    "FILE",
    "Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
)
TAG = click.Option(
    ["--tag", "tags"],
    multiple=True,
    metavar="NAME=VALUE",
    help="Tag what is kept, such as model=e5; may be given several times.",
)
NO_RESULTS = click.Option(
    ["--no-results"],
    is_flag=True,
    help="Keep the scores without what was retrieved; takes less room.",
)
