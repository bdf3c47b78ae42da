"""calipers eval: score a run against a ground truth."""

from typing import TYPE_CHECKING, Any

import click

from calipers.cli.parts import deciding, options
from calipers.cli.parts.options import engine_options, memory_options
from calipers.cli.parts.output import (
    Outputs,
    console,
    print_json,
    print_long_json,
    write_page,
    write_short_form,
)
from calipers.cli.parts.progress import asking, reading, working
from calipers.cli.parts.saving import Saving, save_options

if TYPE_CHECKING:
    from calipers.questions.evaluate.result import Evaluation


@click.command("eval")
@options.input_options
@options.measure_options
@deciding.score_option
@click.option("--corpus-size", type=int, metavar="N", help="Items in the corpus, for tn@k.")
@deciding.interval_options
@click.option(
    "--per-query",
    metavar="FILE",
    help="Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="TAG",
    help="Also print the metrics by slices of the queries: a tag, length or targets; may be given "
    "several times.",
)
@deciding.primary_option
@click.option(
    "--bounds",
    is_flag=True,
    help="Also print the lowest and highest value that judging the unjudged results could give.",
)
@click.option(
    "--corrected-by",
    metavar="FILE",
    help="What people judged for a sample of the queries: also print each metric as they would "
    "have found it over all of them, where a model judged everything.",
)
@click.option("--html", metavar="FILE", help="Write a page with everything that is known.")
@options.full_option
@click.option("--markdown", metavar="FILE", help="Write the short form, for a pull request.")
@click.option(
    "--corpus",
    metavar="FILE",
    help="The chunks that are searched: page and short form then tell more of the misses, and "
    "the history knows when it changed.",
)
@save_options
@options.json_option
@options.printed_as(
    "csv", "Print the summary (with --by the slices, with --bounds the bounds) as CSV."
)
@click.option("--quiet", "-q", is_flag=True, help="Print the table without the notes.")
@options.explain_option
@memory_options
@engine_options
@options.config_option
def command(
    cutoffs: str | None,
    score: str | None,
    config: str | None,
    full: bool,
    as_json: bool,
    as_csv: bool,
    quiet: bool,
    explain: bool,
    **settings: Any,
) -> None:
    """Score what a retriever returned against what should be found.

    DATA is a file that holds both; or give --ground-truth and --run; or questions and
    --retriever. Files are recognised by their content: JSON, JSON lines, CSV, TSV, Parquet,
    Arrow, TREC; also compressed with gzip. What is not given is taken from calipers.toml or
    [tool.calipers] in pyproject.toml.

    \b
    Examples:
      calipers eval evals.json
      calipers eval -g qrels.txt -r run.txt -k 1,5,10 -m precision,recall,ndcg
      calipers eval evals.jsonl --per-query scores.parquet --json
      calipers eval scores.parquet --by type
      calipers eval evals.jsonl --html report.html
      calipers eval evals.jsonl --save nightly --tag model=e5
      calipers eval evals.jsonl --match "quote(min=0.8)" --level all
      calipers eval questions.jsonl --retriever mypackage.search:search -k 1,5,10
    """
    from calipers.questions.evaluate.rule import answer, report_of

    given = _given()
    saving, outputs = Saving(settings), Outputs()
    asked = options.filled(
        config, k=options.cutoff_list(cutoffs), weights=options.weights(score), **settings
    )
    saving.store = asked.get("store")
    files = (asked.get(name, "") for name in ("per_query", "html", "markdown"))
    per_query, html, markdown = files
    if asked["engine"] == "local":
        outputs.check_table(per_query)
    outputs.check_page(html)
    outputs.check_page(markdown)
    outputs.begin(others=saving.wanted)
    asked |= {"csv": as_csv, "save": saving.name, "mlflow": saving.mlflow}
    # A table shows no fingerprints, so they are not made for it.
    asked["fingerprints"] = bool(as_json or html or markdown or saving.wanted or per_query)
    with reading() as progress:
        found = answer({**asked, "progress": progress, "watch": asking}, given)
    report = None
    if html or markdown or saving.mlflow:
        with working("gathering the report"):
            report = outputs.attempt(lambda: report_of(found, asked))
    if per_query and not found.is_written:
        from calipers.io.tables.scores import write_scores

        outputs.write(per_query, lambda: write_scores(found.result, per_query))
    if report is not None:
        outputs.write(html, lambda: write_page(report, html, full=full))
        outputs.write(markdown, lambda: write_short_form(report, markdown))
    try:
        _show(found, as_json=as_json, as_csv=as_csv, notes=not quiet, explain=explain)
    finally:
        # What was asked for is kept, also where the reader of the table has left (`| head`).
        if saving.wanted:
            outputs.attempt(lambda: saving.keep(found, asked.get("corpus"), report))
    outputs.finish()


def _show(found: "Evaluation", *, as_json: bool, as_csv: bool, notes: bool, explain: bool) -> None:
    from calipers.questions.evaluate.show import evaluation_csv, evaluation_rows, print_evaluation

    if as_json and (rows := evaluation_rows(found)) is not None:
        print_long_json(found.to_dict(per_query=False), "per_query", rows)
    elif as_json:
        print_json(found.to_dict())
    elif as_csv:
        click.echo(evaluation_csv(found), nl=False)
    else:
        print_evaluation(found, console(), notes=notes, explain=explain)


def _given() -> list[str]:
    """The settings that stand on the command line."""
    context = click.get_current_context()
    written = click.core.ParameterSource.COMMANDLINE
    named = {"cutoffs": "k", "score": "weights"}
    return [
        named.get(name, name)
        for name in context.params
        if context.get_parameter_source(name) is written
    ]
