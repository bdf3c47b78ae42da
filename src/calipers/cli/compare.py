"""calipers compare: which system is better; without a ground truth, what changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import calipers
from calipers.cli.command import TYPED, CommandInput, command
from calipers.cli.options import AS, HTML, PAGE, FileOption, text
from calipers.cli.output import (
    check_output,
    print_line,
    write_document,
    write_file,
    write_page,
)
from calipers.errors import InvalidInput, NoGroundTruth
from calipers.operation import OUTPUT
from calipers.present.escape import printable

PAIR = 2
ON_PAGE = 1_000
"""The most queries on a page: more would be slow to open, and nobody reads them."""


def _write_changes(answer: Any, path: str) -> None:
    from calipers.questions.compare.unlabelled import document

    write_document(document(answer, ON_PAGE), path)


@command(
    click.Argument(["systems"], nargs=-1),
    FileOption("--html", PAGE, "page", _write_changes),
    operation="diff",
    leave_out=["old", "new"],
)
def _changes(request: CommandInput, systems: tuple[str, ...]) -> None:
    """Show what changed between two runs, and score nothing."""
    if len(systems) != PAIR:
        raise InvalidInput(
            f"What changed is shown between two runs, and {len(systems)} are given; name "
            "two."
        )
    named = named_systems(systems)
    old, new = named.values() if isinstance(named, dict) else named
    request.show(request.answer(old=old, new=new))


def _write_queries(comparison: Any, path: str) -> None:
    from calipers.io.files.write import write_table

    write_table(comparison.per_query, path)


@command(
    FileOption(
        "--per-query",
        "Write every query's values and differences to a .parquet, .csv, .tsv, .json or "
        ".jsonl file.",
        "table",
        _write_queries,
        OUTPUT,
    ),
    text("--html", "FILE", PAGE),
    AS,
    fill=False,
    commands={"--changes": _changes},
)
def compare(asked: CommandInput, html: str | None) -> None:
    """Compare two or more retrievers on the same queries.

    A SYSTEM is a run, a file that holds results and ground truth, or what `calipers eval --json`
    wrote. It is named for its file; NAME=FILE gives it another name. Two runs without any ground
    truth are compared result by result: what is new, what is lost, what moved.

    \b
    Examples:
      calipers compare bm25.jsonl dense.jsonl hybrid.jsonl --ground-truth gt.jsonl
      calipers compare old=main.json new=branch.json -m recall@10,mrr --as markdown
    """
    systems = asked.values.get("systems", ())
    if html:
        check_output(html)
    named = named_systems(asked.values.pop("systems", ()))
    fallback = asked.fill_but_truth()
    try:
        asked.with_truth(fallback, lambda: _score(asked, named, html))
    except NoGroundTruth as error:
        _show_changes(asked, systems, error)


def _show_changes(
    request: CommandInput, systems: Sequence[str], error: NoGroundTruth
) -> None:
    """Show what changed between two runs without a ground truth, if nothing else is asked."""
    from calipers.questions.systems import is_result_file

    if len(systems) != PAIR or any(map(is_result_file, systems)):
        raise error
    here = click.get_current_context()
    try:
        other = _changes.make_context(here.info_name, here.meta[TYPED], here.parent)
    except click.UsageError:
        raise error from None
    with other:
        _changes.invoke(other)
    if request.output_format is None:
        print_line(printable(f"Nothing is scored: {error}"))


def _score(request: CommandInput, named: Any, html: str | None) -> None:
    if not html:
        request.show(calipers.compare(named, **request.values))
        return
    from calipers.questions.compare.settings import CompareSettings
    from calipers.questions.report.rule import compare_runs

    report = compare_runs(
        named, request.values.get("ground_truth"), request.built(CompareSettings)
    )
    request.show(report.comparison)
    write_file(html, lambda: write_page(report, html))


def named_systems(systems: Sequence[str]) -> list[str] | dict[str, str]:
    """The systems by name if any is written NAME=FILE; else the paths."""
    if not any("=" in system and not Path(system).exists() for system in systems):
        return list(systems)
    from calipers.questions.systems import name_systems

    named: dict[str, str] = {}
    for written in systems:
        name, equals, path = written.partition("=")
        if not equals or Path(written).exists():
            name, path = next(iter(name_systems([written]).items()))
        if not name.strip():
            raise InvalidInput(f"{written!r} has no name before the =; write NAME=FILE.")
        if name in named:
            raise InvalidInput(
                f"Two systems are called {name!r}; give each a name of its own."
            )
        named[name] = path
    return named


@command(
    FileOption(
        "--output -o",
        "Write the fused run to a file, for every other question.",
        "run",
        lambda answer, path: calipers.convert(run=answer.run, output=path, to="ours"),
    ),
    HTML,
    AS,
    short_help="Find what a hybrid is worth: fusion, weights, depth, reranker.",
)
def fuse(request: CommandInput) -> None:
    """Find the best fusion of recorded lanes, and the gain to expect on new queries.

    A LANE is the recorded run of one retriever, such as BM25 or dense vectors; NAME=FILE gives it
    a name. One run is enough if it holds the candidates that its reranker was given. Nothing is
    asked again: every setting is computed from the recorded lists.

    \b
    Examples:
      calipers fuse bm25.jsonl dense.jsonl -g questions.csv
      calipers fuse bm25.jsonl dense.jsonl -g questions.csv -o fused.jsonl --html hybrid.html
      calipers fuse words=bm25.jsonl vectors=dense.jsonl -g questions.csv -m ndcg@5
      calipers fuse reranked.jsonl -g questions.csv
    """
    request.show(request.answer(lanes=named_systems(request.values.get("lanes", ()))))
