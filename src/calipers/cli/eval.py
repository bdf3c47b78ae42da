"""calipers eval: score a run against a ground truth."""

from pathlib import Path
from typing import Any

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
from calipers.errors import InvalidInput


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
    metrics: Any,
    cutoffs: str | None,
    score: str | None,
    per_query: str | None,
    by: tuple[str, ...],
    primary: str | None,
    bounds: bool,
    corrected_by: str | None,
    html: str | None,
    markdown: str | None,
    full: bool,
    config: str | None,
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
    from calipers.engines.scoring import choose_metrics, deepest
    from calipers.questions.bounds.settings import bounds as bound
    from calipers.questions.corrected.settings import corrected as correct
    from calipers.questions.evaluate.settings import evaluate, read
    from calipers.questions.levels.settings import levels
    from calipers.questions.slices.settings import slices as slice_by

    saving, outputs = Saving(settings), Outputs()
    engine, master = settings.pop("engine"), settings.pop("master")
    settings = options.filled(
        config,
        metrics=metrics,
        k=options.cutoff_list(cutoffs),
        weights=options.weights(score),
        primary=primary,
        **settings,
    )
    primary = settings.pop("primary", None)
    saving.store = settings.get("store")
    if engine == "local":
        outputs.check_table(per_query)
    outputs.check_page(html)
    outputs.check_page(markdown)
    outputs.begin(others=saving.wanted)
    intervals: dict[str, Any] = {
        name: settings.pop(name) for name in ("confidence", "cluster") if name in settings
    }
    metrics, k = settings.pop("metrics", None), settings.pop("k", None)
    weights, corpus = settings.pop("weights", None), settings.pop("corpus", None)
    # A name that is no metric is said before a large file is read.
    chosen = choose_metrics(metrics, k, None, weights, settings.get("like"))
    asked: dict[str, Any] = {"metrics": chosen, **intervals}
    shown = {"as_json": as_json, "as_csv": as_csv, "notes": not quiet, "explain": explain}
    if engine == "spark":
        from calipers.cli.parts.on_spark import on_spark

        refused = {
            "--bounds": bounds,
            "--html": html,
            "--markdown": markdown,
            "--save": saving.wanted,
            "--corpus": corpus,
            "--corrected-by": corrected_by,
        }
        found, cuts = on_spark(
            refused,
            master,
            settings,
            per_query=per_query,
            by=by,
            named=bool(metrics),
            primary=primary,
            weights=weights,
            **asked,
        )
        _show(found, {"slices": cuts}, **shown)
        return
    if master is not None:
        raise InvalidInput("--master is given without --engine spark; add it, or leave this out.")
    if _is_measured(settings.get("data")):
        from calipers.cli.parts.on_scores import on_scores

        refused = {
            "--bounds": bounds,
            "--corrected-by": corrected_by,
            "--html": html,
            "--score": weights,
            "--markdown": markdown,
            "--save": saving.wanted,
            "--per-query": per_query,
            "--retriever": settings.get("retriever"),
            "--level": settings.get("level"),
        }
        found, cuts = on_scores(
            settings["data"],
            refused,
            names=[str(one) for one in chosen] if metrics else None,
            by=by,
            primary=primary,
        )
        _show(found, {"slices": cuts}, **shown)
        return
    settings["watch"] = asking
    if _several(settings.get("level")):
        one_result = {
            "--score": weights,
            "--per-query": per_query,
            "--by": by,
            "--bounds": bounds,
            "--corrected-by": corrected_by,
            "--csv": as_csv,
            "--html": html,
            "--markdown": markdown,
            "--save": saving.name,
            "--mlflow": saving.mlflow,
        }
        at = _refuse_beside_levels(settings.pop("level"), one_result)
        with reading() as progress:
            found = levels(at=at, progress=progress, **asked, **settings)
        _show_levels(found, as_json=as_json, explain=explain)
        return
    depth = deepest(chosen)
    paged = bool(html or markdown or saving.mlflow)
    keep = paged or bounds or bool(corrected_by) or saving.wanted
    settings = {"ask_for": depth if "retriever" in settings else None, **settings}
    scores: Any = None
    with reading() as progress:
        settings["progress"] = progress
        if per_query and not keep and intervals.get("cluster") is None:
            from calipers.cli.parts.in_blocks import pair_or_scores

            pair, scores = pair_or_scores(
                per_query,
                chosen,
                settings,
                by=by,
                named=bool(metrics),
                primary=primary,
                weights=weights,
                confidence=intervals["confidence"],
            )
        else:
            # A table shows no fingerprints, so they are not made for it; and a run that no other
            # question looks into need not stay in memory.
            wanted = bool(as_json or paged or saving.wanted or per_query)
            pair = read(keep=keep, fingerprints=wanted, **settings)
    is_written = scores is not None
    if not is_written:
        scores = evaluate(pair, weights=weights, **asked)
    names = [facts.name for facts in scores.metrics]
    slices = None
    if by:
        slices = slice_by(scores, by, metrics=names if metrics else None, primary=primary)
    bounded = bound(pair, metrics=names) if bounds else None
    people = None
    if corrected_by:
        people = correct(pair, people=corrected_by, metrics=names, **intervals)
    report = None
    if paged:
        from calipers.questions.report.settings import report as gather_report

        with working("gathering the report"):
            report = outputs.attempt(
                lambda: gather_report(
                    pair, scores=scores, weights=weights, corpus=corpus, by=by or None, **asked
                )
            )
    if per_query and not is_written:
        from calipers.io.tables.scores import write_scores

        outputs.write(per_query, lambda: write_scores(scores, per_query or ""))
    if report is not None:
        outputs.write(html, lambda: write_page(report, html or "", full=full))
        outputs.write(markdown, lambda: write_short_form(report, markdown or ""))
    further = {"slices": slices, "bounds": bounded, "corrected": people}
    try:
        _show(scores, further, **shown)
    finally:
        # What was asked for is kept, also where the reader of the table has left (`| head`).
        if saving.wanted:
            outputs.attempt(lambda: saving.keep(pair, scores, corpus, report))
    outputs.finish()


def _is_measured(data: Any) -> bool:
    """Whether a file, or a folder of Spark's, holds the scores of queries."""
    if not isinstance(data, str) or not (data.endswith(".parquet") or Path(data).is_dir()):
        return False
    from calipers.io.tables.scores import is_score_table

    return is_score_table(data)


def _show(
    scores: Any, further: dict[str, Any], *, as_json: bool, as_csv: bool, notes: bool, explain: bool
) -> None:
    slices, bounded = further.get("slices"), further.get("bounds")
    if as_json:
        from calipers.questions.evaluate.show import score_rows

        parts = {name: part.to_dict() for name, part in further.items() if part is not None}
        # The order of the keys is that of ``to_dict``, whatever else was asked for.
        whole = {**scores.to_dict(per_query=False), "per_query": [], **parts}
        print_long_json(whole, "per_query", score_rows(scores))
    elif as_csv:
        _print_csv(scores, slices, bounded)
    else:
        people = further.get("corrected")
        _print_tables(scores, slices, bounded, people, notes=notes, explain=explain)


def _print_csv(scores: Any, slices: Any, bounded: Any) -> None:
    """The innermost of what was asked for: a CSV is one table."""
    if bounded:
        from calipers.questions.bounds.show import bounds_csv

        click.echo(bounds_csv(bounded), nl=False)
    elif slices:
        from calipers.questions.slices.show import slices_csv

        click.echo(slices_csv(slices), nl=False)
    else:
        from calipers.questions.evaluate.show import summary_csv

        click.echo(summary_csv(scores), nl=False)


def _print_tables(
    scores: Any, slices: Any, bounded: Any, people: Any, *, notes: bool, explain: bool
) -> None:
    from calipers.present.answer import print_notes, print_verdict
    from calipers.questions.evaluate.notes import notes as notes_of
    from calipers.questions.evaluate.notes import remarked
    from calipers.questions.evaluate.show import print_score_table, verdict

    out = console()
    print_verdict(verdict(scores), out)
    print_score_table(scores, out)
    said: list[str] = []
    if slices:
        from calipers.questions.slices.show import print_slice_tables, slices_note

        out.print()
        print_slice_tables(slices, out)
        said.append(slices_note(slices))
    if bounded:
        from calipers.questions.bounds.show import bounds_notes, print_bound_table

        out.print()
        print_bound_table(bounded, out)
        said += bounds_notes(bounded)
    if people:
        from calipers.questions.corrected.show import print_corrected

        out.print()
        print_corrected(people, out)
    if notes:
        first = remarked(scores)
        print_notes([*first, *said, *notes_of(scores)[len(first) :]], out, explain=explain)


def _several(level: str | None) -> bool:
    """Whether more than one level is asked for."""
    return level is not None and (level == "all" or "," in level)


def _refuse_beside_levels(level: str, one_result: dict[str, Any]) -> str:
    """The levels; options that need one result are refused."""
    for option, given in one_result.items():
        if given:
            raise InvalidInput(
                f"{option} needs one result and --level {level} makes several; "
                "give one level, or leave the option out."
            )
    return level


def _show_levels(found: Any, *, as_json: bool, explain: bool) -> None:
    """One table with a column per level, or all of it as JSON."""
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.questions.levels.show import print_levels

    print_levels(found, console(), explain=explain)
