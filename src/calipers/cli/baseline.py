"""calipers baseline: keep a result to compare later ones with."""

from typing import Any

import click

from calipers.cli import GivenOnce
from calipers.cli.parts import deciding, options, renamed
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking, reading


@click.group(
    "baseline", cls=GivenOnce, short_help="Keep a result for `calipers gate` to compare with."
)
def command() -> None:
    """Keep a result, so that `calipers gate` can compare later ones with it."""


@command.command("save")
@options.input_options
@click.option("--output", "-o", required=True, metavar="FILE", help="The .json file to write.")
@click.option("--name", metavar="NAME", help="What to call it. [default: the file's name]")
@options.measure_options
@deciding.score_option
@click.option(
    "--add",
    is_flag=True,
    help="Add this run to those that the file holds: the gate compares with their mean.",
)
@deciding.cluster_option
@renamed.retired_option("--seed", "Nothing random is left in the intervals.")
@options.config_option
@options.explain_option
@options.json_option
def save(
    output: str,
    name: str | None,
    add: bool,
    metrics: str | None,
    cutoffs: str | None,
    score: str | None,
    config: str | None,
    explain: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Measure, and write the result with its date to a file.

    The gate compares the primary metric, and shows the others that the file holds. A retriever
    that does not always answer alike has lucky runs: save several of one commit with --add.

    \b
    Examples:
      calipers baseline save evals.jsonl -m recall@10,ndcg@10 -o main.json
      calipers baseline save again.jsonl -m recall@10,ndcg@10 -o main.json --add
    """
    from calipers.questions.baseline import baseline_dict
    from calipers.questions.gate.settings import save_baseline

    given = options.filled(
        config,
        metrics=metrics,
        k=options.cutoff_list(cutoffs),
        weights=options.weights(score),
        **settings,
    )
    with reading() as progress:
        baseline = save_baseline(
            to=output, name=name, add=add, progress=progress, watch=asking, **given
        )
    if as_json:
        print_json(baseline_dict(baseline))
    else:
        _print(baseline, f"Saved to {output}.", explain=explain)


@command.command("show")
@click.argument("file")
@options.explain_option
@options.json_option
def show(file: str, explain: bool, as_json: bool) -> None:
    """Show what a baseline holds: its name, its date and its scores."""
    from calipers.questions.baseline import baseline_dict
    from calipers.questions.gate.settings import read_baseline

    baseline = read_baseline(file)
    if as_json:
        print_json(baseline_dict(baseline))
    else:
        _print(baseline, "", explain=explain)


def _print(baseline: Any, last: str, *, explain: bool) -> None:
    from calipers.present.escape import printable
    from calipers.questions.evaluate.show import print_scores

    when = (
        f"saved on {baseline.saved:%Y-%m-%d at %H:%M} UTC" if baseline.saved else "without a date"
    )
    out = console()
    runs = f", {len(baseline.runs)} runs, of which the first" if baseline.further else ""
    out.print(f"Baseline {printable(baseline.name, 60)}, {when}{runs}:", markup=False)
    out.print()
    print_scores(baseline.scores, out, explain=explain)
    if last:
        out.print(printable(last), markup=False, soft_wrap=True)
