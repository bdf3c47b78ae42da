"""calipers baseline: keep a result to compare later ones with."""

from typing import Any

import click

from calipers.cli.parts import options, typed
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking, reading


@click.group("baseline", short_help="Keep a result for `calipers gate` to compare with.")
def command() -> None:
    """Keep a result, so that `calipers gate` can compare later ones with it."""


@command.command("save")
@options.input_options
@click.option("--output", "-o", required=True, metavar="FILE", help="The .json file to write.")
@click.option("--name", metavar="NAME", help="What to call it. [default: the file's name]")
@options.measure_options
@click.option(
    "--score", metavar="WEIGHTS",
    help="Combine metrics into one score, such as recall@10=0.7,precision@5=0.3.",
)  # fmt: skip
@click.option("--seed", type=int, help="The seed of the intervals. [default: 0]")
@options.config_option
@options.json_option
def save(
    output: str,
    name: str | None,
    metrics: str | None,
    cutoffs: str | None,
    score: str | None,
    config: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Measure, and write the result with its date to a file.

    The gate compares every metric that the file holds, so name those that matter: with fewer
    metrics smaller drops become visible.

    \b
    Example:
      calipers baseline save evals.jsonl -m recall@10,ndcg@10 -o main.json
    """
    from calipers.api.decide import save_baseline
    from calipers.io.baselines import baseline_dict

    given = options.filled(
        config, metrics=metrics, k=typed.cutoff_list(cutoffs),
        weights=typed.weights(score), **settings,
    )  # fmt: skip
    with reading() as progress:
        baseline = save_baseline(to=output, name=name, progress=progress, watch=asking, **given)
    if as_json:
        print_json(baseline_dict(baseline))
    else:
        _print(baseline, f"Saved to {output}.")


@command.command("show")
@click.argument("file")
@options.json_option
def show(file: str, as_json: bool) -> None:
    """Show what a baseline holds: its name, its date and its scores."""
    from calipers.api.decide import read_baseline
    from calipers.io.baselines import baseline_dict

    baseline = read_baseline(file)
    if as_json:
        print_json(baseline_dict(baseline))
    else:
        _print(baseline, "")


def _print(baseline: Any, last: str) -> None:
    from calipers.present.plain import printable
    from calipers.present.terminal import print_scores

    when = (
        f"saved on {baseline.saved:%Y-%m-%d at %H:%M} UTC" if baseline.saved else "without a date"
    )
    out = console()
    out.print(f"Baseline {printable(baseline.name, 60)}, {when}:", markup=False)
    out.print()
    print_scores(baseline.scores, out)
    if last:
        out.print(printable(last), markup=False, soft_wrap=True)
