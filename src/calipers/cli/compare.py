"""calipers compare: which of these retrievers is better, and is that real?"""

from typing import Any, cast

import click

from calipers.cli.parts import deciding, options
from calipers.cli.parts.output import Outputs, console, print_json
from calipers.cli.parts.progress import asking
from calipers.cli.systems import named_systems, questions_beside
from calipers.questions.reading import named_retrievers

COMPARING = ("baseline", "anyway", "confidence", "primary", "cluster")
"""The options that say how to compare, not how to read."""
EXAMPLES = 5


@click.command("compare")
@click.argument("systems", nargs=-1, metavar="SYSTEM SYSTEM...")
@click.option("--ground-truth", "-g", metavar="FILE", help="What should be found.")
@click.option(
    "--retriever",
    "retrievers",
    multiple=True,
    metavar="NAME=RETRIEVER",
    help="Also compare this live retriever, asked the questions of the ground truth: "
    "package.module:function, an address or cmd:command; may be given several times.",
)
@options.asking_options
@deciding.against_option("system", "the first")
@deciding.anyway_option
@options.measure_options
@deciding.score_option
@deciding.primary_option
@deciding.interval_options
@click.option(
    "--queries-by",
    metavar="METRIC",
    help="List the largest wins and losses in this metric. [default: the primary one]",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    help="How many wins and losses to list. [default: none in the table, 5 with --explain and "
    "elsewhere]",
)
@click.option(
    "--per-query",
    metavar="FILE",
    help="Write every query's values and differences to a .parquet, .csv, .tsv, .json or "
    ".jsonl file.",
)
@click.option("--html", metavar="FILE", help="Write a page with everything that is known.")
@options.full_option
@options.explain_option
@options.config_option
@options.json_option
@options.as_option("csv", "markdown", "latex")
def command(
    systems: tuple[str, ...],
    retrievers: tuple[str, ...],
    config: str | None,
    metrics: str | None,
    cutoffs: str | None,
    score: str | None,
    queries_by: str | None,
    examples: int | None,
    per_query: str | None,
    html: str | None,
    full: bool,
    explain: bool,
    as_json: bool,
    form: str | None,
    **settings: Any,
) -> None:
    """Compare two or more retrievers on the same queries.

    A SYSTEM is a run, a file that holds results and ground truth, or what `calipers eval --json`
    wrote. It is named for its file; NAME=FILE gives it another name. With --retriever one file
    may stand alone: the questions with their ground truth.

    \b
    Examples:
      calipers compare bm25.jsonl dense.jsonl hybrid.jsonl --ground-truth gt.jsonl
      calipers compare old=main.json new=branch.json --as markdown
      calipers compare bm25.run dense.run -g qrels.txt -m recall@10,mrr --against dense
      calipers compare --retriever old=search_v1:search --retriever new=search:search gt.csv
    """
    from calipers.io.files.write import write_table
    from calipers.questions.compare.settings import compare
    from calipers.questions.reading import Reading
    from calipers.questions.report.settings import report
    from calipers.questions.systems import matched_to_report

    outputs = Outputs()
    outputs.check_table(per_query)
    outputs.check_page(html)
    outputs.begin()
    live = named_retrievers(retrievers)
    systems, settings["ground_truth"] = questions_beside(systems, settings["ground_truth"], live)
    # A ground truth in the file is for retrievers; a run may bring its own.
    own = {"ground_truth": settings.pop("ground_truth")} if not live else {}
    settings = {
        **own,
        **options.filled(
            config,
            metrics=metrics,
            k=options.cutoff_list(cutoffs),
            weights=options.weights(score),
            **settings,
        ),
    }
    measuring = {name: settings.pop(name, None) for name in ("metrics", "k", "weights")}
    named: Any = named_systems(systems)
    if live:
        from calipers.engines.scoring import choose_metrics
        from calipers.questions.systems import name_systems, with_retrievers

        how = {name: settings.pop(name, None) for name in ("ask_for", "workers")}
        named = with_retrievers(
            name_systems(named),
            live,
            settings.get("ground_truth"),
            choose_metrics(measuring["metrics"], measuring["k"], None, measuring["weights"]),
            {**how, "watch": asking},
        )
    if html:
        # The page shows rankings too: each run is read and matched once for both.
        comparing = {name: settings.pop(name) for name in COMPARING if name in settings}
        named = matched_to_report(None, named, None, cast(Reading, settings))
        settings = comparing
    comparison = compare(named, **measuring, **settings)
    if queries_by:
        comparison.by_query(comparison.baseline, queries_by)
    outputs.write(per_query, lambda: write_table(comparison.per_query, per_query or ""))
    if html:
        from calipers.cli.parts.output import write_page

        outputs.write(
            html,
            lambda: write_page(
                report(systems=named, comparison=comparison, **measuring, **settings),
                html,
                full=full,
            ),
        )
    if as_json:
        print_json(comparison.to_dict(examples=_listed(examples)))
    elif form:
        from calipers.questions.compare.export import FORMS

        click.echo(FORMS[form](comparison, queries_by, _listed(examples)), nl=False)
    else:
        from calipers.questions.compare.show import print_comparison

        print_comparison(
            comparison, console(), metric=queries_by, examples=examples, explain=explain
        )
    outputs.finish()


def _listed(examples: int | None) -> int:
    """How many wins and losses stand in what is no table on a terminal."""
    return EXAMPLES if examples is None else examples
