"""calipers labels: what was judged, in and out."""

from typing import Any

import click

from calipers.cli import GivenOnce
from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json


@click.group("labels", cls=GivenOnce, short_help="List, export and import what was judged.")
def command() -> None:
    """List what was judged in the browser, write it as a ground truth, or take labels in."""


@command.command("list")
@options.store_option
@options.json_option
def list_(store: str | None, as_json: bool) -> None:
    """List the pools, and how much of each is judged."""
    from calipers.labels.settings import labels_list
    from calipers.labels.show import pool_lines

    found = labels_list(store)
    _print(found, as_json, lambda: pool_lines(found))


@command.command("export", short_help="Write a pool's labels as a ground truth.")
@click.argument("pool")
@click.option("--output", "-o", required=True, metavar="FILE", help="The file to write.")
@click.option("--to", metavar="FORM", help="The form to write. [default: by the file's ending]")
@click.option(
    "--as",
    "targets_as",
    type=click.Choice(["id", "quote", "span"]),
    help="How a judged result is recognised. [default: as in the pool's ground truth]",
)
@click.option("--machines", is_flag=True, help="Count labels of language models too.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@options.store_option
@options.json_option
def export(pool: str, output: str, as_json: bool, **settings: Any) -> None:
    """Write what was known and what was judged in POOL as one ground truth.

    \b
    Examples:
      calipers labels export my-pool -o gt.jsonl
      calipers labels export my-pool -o gt.qrels
      calipers labels export my-pool -o quotes.jsonl --as quote
    """
    from calipers.labels.settings import labels_export
    from calipers.labels.show import exported_lines

    found = labels_export(pool, output, **settings)
    _print(found, as_json, lambda: exported_lines(found))


@command.command("import", short_help="Take labels from files into a pool.")
@click.argument("pool")
@click.argument("files", nargs=-1, required=True)
@options.store_option
@options.json_option
def import_(pool: str, files: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Take what judges filled in elsewhere into POOL: files that `calipers draft` wrote."""
    from calipers.labels.settings import labels_import
    from calipers.labels.show import imported_line

    found = labels_import(pool, files, store=store)
    _print(found, as_json, lambda: [imported_line(found)])


def _print(found: Any, as_json: bool, lines: Any) -> None:
    if as_json:
        print_json(found.to_dict())
        return
    from rich.text import Text

    out = console()
    for line in lines():
        out.print(Text(line), soft_wrap=True)
