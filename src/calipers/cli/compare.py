"""calipers compare: which of these retrievers is better, and is that real?"""

from typing import Any, cast

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json

COMPARING = ("baseline", "anyway", "confidence", "primary", "cluster")
"""The options that say how to compare, not how to read."""


@click.command("compare")
@click.argument("systems", nargs=-1, metavar="SYSTEM SYSTEM...")
@click.option("--ground-truth", "-g", metavar="FILE", help="What should be found.")
@options.renamed_option(
    "--against", "baseline", former=("--baseline", "-b"), metavar="NAME",
    help="The system that the others are compared with. [default: the first]",
)  # fmt: skip
@click.option(
    "--anyway", is_flag=True,
    help="Compare although ground truth, queries or policies differ; the result says so.",
)  # fmt: skip
@options.measure_options
@click.option(
    "--score", metavar="WEIGHTS",
    help="Combine metrics into one score, such as recall@10=0.7,precision@5=0.3.",
)  # fmt: skip
@options.primary_option
@options.interval_options
@click.option(
    "--queries-by", metavar="METRIC",
    help="List the largest wins and losses in this metric. [default: the primary one]",
)  # fmt: skip
@click.option(
    "--examples", type=click.IntRange(min=0), default=5, show_default=True,
    help="How many wins and losses to list.",
)  # fmt: skip
@click.option(
    "--per-query", metavar="FILE",
    help="Write every query's values and differences to a .parquet, .csv, .tsv, .json or "
    ".jsonl file.",
)  # fmt: skip
@click.option("--html", metavar="FILE", help="Write a page with everything that is known.")
@options.json_option
@options.as_option("csv", "markdown", "latex")
def command(
    systems: tuple[str, ...],
    metrics: str | None,
    cutoffs: str | None,
    score: str | None,
    queries_by: str | None,
    examples: int,
    per_query: str | None,
    html: str | None,
    as_json: bool,
    form: str | None,
    **settings: Any,
) -> None:
    """Compare two or more retrievers on the same queries.

    A SYSTEM is a run, a file that holds results and ground truth, or what `calipers eval --json`
    wrote. It is named for its file; NAME=FILE gives it another name.

    \b
    Examples:
      calipers compare bm25.jsonl dense.jsonl hybrid.jsonl --ground-truth gt.jsonl
      calipers compare old=main.json new=branch.json --as markdown
      calipers compare bm25.run dense.run -g qrels.txt -m recall@10,mrr --against dense
    """
    from calipers.api.decide import compare, report
    from calipers.api.inputs import matched_to_report
    from calipers.api.keywords import Reading
    from calipers.io.write import check_place, check_writable, write_table

    if per_query:
        check_writable(per_query)
    if html:
        check_place(html)
    measuring: dict[str, Any] = {
        "metrics": metrics, "k": options.cutoff_list(cutoffs), "weights": options.weights(score),
    }  # fmt: skip
    named: Any = options.named_systems(systems)
    settings["primary"] = options.configured_primary(settings["primary"])
    if html:
        # The page shows rankings too: each run is read and matched once for both.
        comparing = {name: settings.pop(name) for name in COMPARING}
        named = matched_to_report(None, named, None, cast(Reading, settings))
        settings = comparing
    comparison = compare(named, **measuring, **settings)
    if queries_by:
        comparison.by_query(comparison.baseline, queries_by)
    if per_query:
        write_table(comparison.per_query, per_query)
    if html:
        from calipers.cli.parts.output import write_report

        write_report(
            report(systems=named, comparison=comparison, **measuring, **settings), html, None
        )
    if as_json:
        print_json(comparison.to_dict(examples=examples))
    elif form:
        from calipers.present.comparison_text import FORMS

        click.echo(FORMS[form](comparison, queries_by, examples), nl=False)
    else:
        from calipers.present.comparison import print_comparison

        print_comparison(comparison, console(), metric=queries_by, examples=examples)
