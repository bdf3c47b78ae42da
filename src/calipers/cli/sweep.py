"""calipers sweep: every metric over k, and which k to take."""

from typing import Any

import click

from calipers.cli.parts import deciding, options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking, reading


@click.command("sweep")
@options.input_options
@options.measured_by(
    "Metrics without a cut-off, such as recall,ndcg,mrr (`calipers metrics` lists them).",
    "Which k to look at, such as 1,5,10. [default: every one up to 100, then some]",
)
@click.option("--tokens", type=int, metavar="N", help="The tokens that one query may use.")
@options.price_option
@click.option(
    "--tokenizer",
    metavar="PACKAGE:FUNCTION",
    help="Counts the tokens of a text. [default: 'tokens' of the data, else characters / 4]",
)
@click.option(
    "--margin",
    type=float,
    default=0.05,
    show_default=True,
    metavar="LOSS",
    help="How much recall the advised k may lose against the largest.",
)
@deciding.interval_options
@options.explain_option
@options.config_option
@options.json_option
@options.printed_as("csv", "Print every k as CSV.")
def command(
    metrics: str | None,
    cutoffs: str | None,
    explain: bool,
    config: str | None,
    as_json: bool,
    as_csv: bool,
    **settings: Any,
) -> None:
    """Measure at every k, and find the k to use.

    DATA is a file that holds results and ground truth; or give --ground-truth and --run; or
    questions and --retriever. Metrics are named without a cut-off, as they are measured at
    every k; those of the settings file, and its k, are for other commands.

    \b
    Examples:
      calipers sweep evals.jsonl
      calipers sweep evals.jsonl --tokens 4000 --price 2.50
      calipers sweep -g qrels.txt -r run.txt -k 1,5,10,20,50,100 -m recall,ndcg --csv
    """
    from calipers.questions.sweep.settings import sweep

    settings = options.filled(config, **settings)
    with reading() as progress:
        found = sweep(
            metrics=metrics,
            k=options.cutoff_list(cutoffs),
            progress=progress,
            watch=asking,
            **settings,
        )
    if as_json:
        print_json(found.to_dict())
    elif as_csv:
        from calipers.questions.sweep.show import sweep_csv

        click.echo(sweep_csv(found), nl=False)
    else:
        from calipers.questions.sweep.show import print_sweep

        print_sweep(found, console(), explain=explain)
