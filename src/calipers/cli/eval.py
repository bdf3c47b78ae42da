"""calipers eval: score a run against a ground truth."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import AS, MARKDOWN
from calipers.cli.output import check_output, write_file, write_page
from calipers.errors import InvalidInput, NoCommonIds

if TYPE_CHECKING:
    from calipers.questions.evaluate.levels import Levels
    from calipers.questions.evaluate.rule import EvaluationAnswer
    from calipers.questions.evaluate.settings import EvaluateSettings


@command(AS)
def _calls() -> None:
    """For an agent: show what each further call adds."""


@command(
    MARKDOWN,
    AS,
    operation="questions.evaluate.settings:ask",
    commands={"--calls": _calls},
)
def eval(request: CommandInput) -> None:  # noqa: A001 - as the command is called
    """Score what a retriever returned against what should be found.

    DATA is a file that holds both; or give --ground-truth and --run; or questions and
    --retriever. Files are recognised by their content: JSON, JSON lines, CSV, TSV, Parquet,
    Arrow, TREC; also compressed with gzip. What is not given is taken from calipers.toml.

    \b
    Examples:
      calipers eval evals.json
      calipers eval -g qrels.txt -r run.txt -k 1,5,10 -m precision,recall,ndcg
      calipers eval questions.jsonl --retriever mypackage.search:search --html report.html
    """
    from calipers.questions.evaluate.settings import EvaluateSettings

    settings = request.built(EvaluateSettings)
    level = settings.evaluating.reading.matching.level
    if level is not None and (level == "all" or "," in level):
        request.show(_levels(request, settings, level))
        return
    if settings.save is not None:
        from calipers.store.record import check_name

        check_name(settings.save)  # before any work is done
    for path, kind in ((settings.per_query, "table"), (settings.html, "page")):
        if path is not None:
            check_output(path, kind)
    # A table shows no fingerprints, so they are not computed for it.
    is_kept = settings.html or settings.save or settings.per_query
    ask = partial(
        request.answer, fingerprints=bool(request.output_format == "json" or is_kept)
    )
    answer: EvaluationAnswer = (
        ask() if settings.save is None else _also_collapsed(ask, settings)
    )
    try:
        request.show(answer, _to_dict)
    finally:
        # Also if the reader of the table closed the pipe (`| head`).
        if settings.save is not None:
            _save(answer, settings.save, settings)
        _write_files(answer, settings)


def _levels(request: CommandInput, settings: "EvaluateSettings", level: str) -> "Levels":
    """The scores at several levels, which is a question of its own."""
    needs_one = {
        "--per-query": settings.per_query,
        "--by": settings.by,
        "--corrected-by": settings.corrected_by,
        "--html": settings.html,
        "--save": settings.save,
    }
    for option, value in needs_one.items():
        if value:
            raise InvalidInput(
                f"{option} needs one result and --level {level} makes several; give one "
                "level, or leave the option out."
            )
    from calipers.questions.evaluate.settings import LevelsSettings, levels

    evaluating = settings.evaluating
    reading = evaluating.reading
    matching = replace(reading.matching, level=None)
    return levels(
        request.values.get("data"),
        settings=LevelsSettings(
            at=level,
            measures=evaluating.measures,
            reading=replace(reading, matching=matching),
        ),
    )


def _write_files(answer: "EvaluationAnswer", settings: "EvaluateSettings") -> None:
    """Write the files that are asked for beside the answer."""
    if per_query := settings.per_query:
        from calipers.io.files.write import write_table

        write_file(per_query, lambda: write_table(answer.scores.per_query, per_query))
    if html := settings.html:
        from calipers.questions.evaluate.rule import report_of

        write_file(html, lambda: write_page(report_of(answer, settings), html))


def _to_dict(answer: "EvaluationAnswer") -> dict[str, Any]:
    """The answer as plain values, with a line of JSON for each query."""
    from calipers.questions.evaluate.rule import score_rows

    return {**answer.to_dict(per_query=False), "per_query": score_rows(answer.scores)}


def _also_collapsed(
    ask: "Callable[..., EvaluationAnswer]", settings: "EvaluateSettings"
) -> "EvaluationAnswer":
    """Run ``ask``; if ids that matched in the history match no more, score it as 0.

    Else such a collapse would leave no trace, and the alarm would never ring.
    """
    try:
        return ask()
    except NoCommonIds as error:
        from calipers.store.save import knows

        collapsed = ask(nothing_in_common="zero")
        name = settings.save or ""
        store = settings.evaluating.reading.matching.store
        truth = None if collapsed.pair is None else collapsed.pair.ground_truth
        if truth is None or not knows(truth, name, store):
            raise
        click.echo(
            f"Nothing that came back is relevant, and {name} knows these ids: the "
            f"collapse is saved with scores of 0. {error}",
            err=True,
        )
        policy = replace(collapsed.scores.policy, nothing_in_common="error")
        return replace(collapsed, scores=replace(collapsed.scores, policy=policy))


def _save(answer: "EvaluationAnswer", name: str, settings: "EvaluateSettings") -> None:
    """Keep the evaluation in the history, and say where."""
    from calipers.store.place import locate
    from calipers.store.save import save

    store = settings.evaluating.reading.matching.store
    pair = answer.pair
    kept = save(
        answer.scores,
        name,
        store=store,
        corpus=settings.corpus,
        ground_truth=pair and pair.ground_truth,
        run=pair and pair.run,
    )
    where = locate(store, create=True).shown
    click.echo(f"Saved as {kept.name} (@{kept.short}) in {where}.", err=True)
