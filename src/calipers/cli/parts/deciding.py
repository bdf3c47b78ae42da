"""Options that say what decides, and how sure the answer must be."""

from collections.abc import Callable
from typing import Any

import click

from calipers.cli.parts.renamed import F, apply, renamed_option, retired_option


def score_option(function: F) -> F:
    """Several metrics as one."""
    return click.option(
        "--score",
        metavar="WEIGHTS",
        help="Combine metrics into one score, such as recall@10=0.7,precision@5=0.3.",
    )(function)


def interval_options(function: F) -> F:
    """--confidence of the intervals, and --cluster."""
    return apply(
        click.option(
            "--confidence",
            type=float,
            default=0.95,
            show_default=True,
            help="The confidence level of the intervals.",
        ),
        cluster_option,
        retired_option("--resamples", "Intervals have a closed form now, without resampling."),
        retired_option("--seed", "Nothing random is left in the intervals."),
    )(function)


def cluster_option(function: F) -> F:
    """--cluster."""
    return click.option(
        "--cluster",
        metavar="TAG",
        help="Take queries with the same value of this tag, such as paraphrases of one intent, as "
        "one unit in every interval and test.",
    )(function)


def primary_option(function: F) -> F:
    """--primary."""
    return click.option(
        "--primary",
        metavar="METRIC",
        help="The metric that decides; others are shown beside it. [default: as the configuration "
        "says, the score, or recall at the largest cut-off]",
    )(function)


def against_option(what: str, usually: str) -> Callable[[F], F]:
    """--against; --baseline, what it was before, works and warns."""
    return renamed_option(
        "--against",
        "baseline",
        former=("--baseline", "-b"),
        metavar="NAME",
        help=f"The {what} that the others are compared with. [default: {usually}]",
    )


def anyway_option(function: F) -> F:
    """--anyway."""
    return click.option(
        "--anyway",
        is_flag=True,
        help="Compare although ground truth, queries or policies differ; the result says so.",
    )(function)


def confidence_option(function: F) -> F:
    """--confidence of a decision; --alpha, what it was before, works and warns."""

    def from_alpha(context: click.Context, _: click.Parameter, given: float | None) -> None:
        if given is not None:
            context.params["confidence"] = round(1.0 - given, 12)
            click.echo(
                f"Warning: --alpha {given:g} is written --confidence {1.0 - given:g} now; the "
                "next release will not know --alpha.",
                err=True,
            )

    return apply(
        click.option(
            "--confidence",
            type=float,
            metavar="LEVEL",
            callback=_unless_set,
            help="How sure the answer must be. [default: 0.95]",
        ),
        click.option(
            "--alpha",
            type=float,
            hidden=True,
            expose_value=False,
            is_eager=True,
            help="1 - confidence, as it was written before.",
            callback=from_alpha,
        ),
    )(function)


def _unless_set(context: click.Context, option: click.Parameter, given: Any) -> Any:
    return context.params.get(option.name or "") if given is None else given


def configured_primary(given: str | None) -> str | None:
    """The primary metric as given, or else as the configuration has it."""
    if given is not None:
        return given
    from calipers.config import find_config

    return find_config().shared.get("primary")
