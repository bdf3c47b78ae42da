"""Options for data that outgrows the memory: how much may be used, and which engine."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from calipers.cli.parts.options import apply

F = TypeVar("F", bound=Callable[..., Any])


def memory_options(function: F) -> F:
    """How much memory may be used, and where what does not fit goes."""
    return apply(
        click.option(
            "--memory", metavar="SIZE",
            help="The memory to use for results that are not in the order of their queries, such "
            "as 2GB; what does not fit goes to a temporary file. [default: half of what is free]",
        ),
        click.option("--temp", metavar="FOLDER", help="The folder of that temporary file."),
    )(function)  # fmt: skip


def engine_options(function: F) -> F:
    """Where the work is done."""
    return apply(
        click.option(
            "--engine", type=click.Choice(["local", "spark"]), default="local",
            help="Where the work is done: on this machine, or on Spark, which reads tables of one "
            "row per item (Parquet, CSV, JSON lines) and TREC runs. [default: local]",
        ),
        click.option(
            "--master", metavar="URL",
            help="The master of Spark, such as local[*], or the address of a Spark Connect server "
            "(sc://…). [default: as Spark is set]",
        ),
    )(function)  # fmt: skip
