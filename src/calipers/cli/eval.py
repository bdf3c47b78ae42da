"""calipers eval: score a run against a ground truth."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import AS, MARKDOWN
from calipers.cli.output import check_output, write_file, write_page
from calipers.errors import NoCommonIds

if TYPE_CHECKING:
    from calipers.questions.evaluate.rule import EvaluationAnswer

FILES = {"per_query": "table", "html": "page"}
"""The files to write, and their kinds."""


@command(AS)
def _calls() -> None:
    """For an agent: show what each further call adds."""


@command(
    MARKDOWN,
    AS,
    operation="questions.evaluate.settings:ask",
    commands={"--calls": _calls},
)
def eval(asked: CommandInput) -> None:  # noqa: A001 - as the command is called
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
    settings = asked.settings
    saved = settings.get("save")
    if saved is not None:
        from calipers.store.record import check_name

        saved = check_name(saved)  # before any work is done
    per_query, html = (settings.get(name, "") for name in FILES)
    for name, kind in FILES.items():
        if name in settings:
            check_output(settings[name], kind)
    ask = partial(
        asked.answer,
        # A table shows no fingerprints, so they are not computed for it.
        fingerprints=bool(asked.form == "json" or html or saved or per_query),
    )
    found: EvaluationAnswer = _also_collapsed(ask, settings) if saved else ask()
    try:
        asked.show(found, _to_dict)
    finally:
        # Also if the reader of the table closed the pipe (`| head`).
        if saved:
            _save(found, saved, settings)
        _write_files(found, settings)


def _write_files(found: "EvaluationAnswer", settings: Mapping[str, Any]) -> None:
    per_query, html = (settings.get(name, "") for name in FILES)
    if per_query:
        from calipers.io.files.write import write_table

        write_file(per_query, lambda: write_table(found.result.per_query, per_query))
    if html:
        from calipers.questions.evaluate.rule import report_of

        write_file(html, lambda: write_page(report_of(found, settings), html))


def _to_dict(found: "EvaluationAnswer") -> dict[str, Any]:
    from calipers.questions.evaluate.rule import evaluation_rows

    if (rows := evaluation_rows(found)) is None:
        return found.to_dict()
    return {**found.to_dict(per_query=False), "per_query": rows}


def _also_collapsed(
    ask: "Callable[..., EvaluationAnswer]", settings: Mapping[str, Any]
) -> "EvaluationAnswer":
    """Run ``ask``; if ids that matched in the history match no more, score it as 0.

    Else such a collapse would leave no trace, and the alarm would never ring.
    """
    try:
        return ask()
    except NoCommonIds as error:
        from calipers.store.save import knows

        found, name = ask(nothing_in_common="zero"), settings["save"]
        truth = None if found.pair is None else found.pair.ground_truth
        if truth is None or not knows(truth, name, settings.get("store")):
            raise
        click.echo(
            f"Nothing that came back is relevant, and {name} knows these ids: the "
            f"collapse is saved with scores of 0. {error}",
            err=True,
        )
        policy = replace(found.result.policy, nothing_in_common="error")
        return replace(found, scores=replace(found.result, policy=policy))


def _save(found: "EvaluationAnswer", name: str, settings: Mapping[str, Any]) -> None:
    from calipers.questions.history.settings import save
    from calipers.store.place import locate

    store, pair = settings.get("store"), found.pair
    kept = save(
        found.result,
        name,
        store=store,
        corpus=settings.get("corpus"),
        ground_truth=pair and pair.ground_truth,
        run=pair and pair.run,
    )
    where = locate(store, create=True).shown
    click.echo(f"Saved as {kept.name} (@{kept.short}) in {where}.", err=True)
