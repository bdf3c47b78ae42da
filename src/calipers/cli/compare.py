"""calipers compare: which system is better; without a ground truth, what changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

import calipers
from calipers.cli.command import Command, CommandInput, command
from calipers.cli.options import AS, HTML, PAGE, FileOption, flag, text
from calipers.cli.output import (
    check_output,
    print_line,
    progress,
    write_document,
    write_page,
)
from calipers.errors import InvalidInput, NoGroundTruth
from calipers.operation import OUTPUT
from calipers.present.escape import printable

PAIR = 2
ON_PAGE = 1_000
"""The most queries on a page: more would be slow to open, and nobody reads them."""


def _write_changes(found: Any, path: str) -> None:
    from calipers.questions.compare.unlabelled import document

    write_document(document(found, ON_PAGE), path)


@command(
    click.Argument(["systems"], nargs=-1),
    FileOption("--html", PAGE, "page", _write_changes),
    operation="diff",
    leave_out=["old", "new"],
)
def _changes(asked: CommandInput, systems: tuple[str, ...]) -> None:
    """Show what changed between two runs of the same questions, before anybody labels anything."""
    if len(systems) != PAIR:
        raise InvalidInput(
            f"What changed is shown between two runs, and {len(systems)} are given; name two."
        )
    named = named_systems(systems)
    old, new = named.values() if isinstance(named, dict) else named
    asked.show(asked.answer(old=old, new=new))


def _write_queries(comparison: Any, path: str) -> None:
    from calipers.io.files.write import write_table

    write_table(comparison.per_query, path)


@command(
    FileOption(
        "--per-query",
        "Write every query's values and differences to a .parquet, .csv, .tsv, .json or .jsonl "
        "file.",
        "table",
        _write_queries,
        OUTPUT,
    ),
    flag("--changes", "Show what changed between two runs, and score nothing."),
    text("--html", "FILE", PAGE),
    AS,
    fill=False,
    instead=("changes", _changes),
)
def compare(asked: CommandInput, html: str | None) -> None:
    """Compare two or more retrievers on the same queries.

    A SYSTEM is a run, a file that holds results and ground truth, or what `calipers eval --json`
    wrote. It is named for its file; NAME=FILE gives it another name. With --retriever one file
    may stand alone: the questions with their ground truth. Two runs without any ground truth
    are compared result by result: what is new, what is lost, what moved.

    \b
    Examples:
      calipers compare bm25.jsonl dense.jsonl hybrid.jsonl --ground-truth gt.jsonl
      calipers compare old.jsonl new.jsonl
      calipers compare old=main.json new=branch.json --as markdown
      calipers compare bm25.run dense.run -g qrels.txt -m recall@10,mrr --against dense
      calipers compare old.jsonl new.jsonl -g questions.csv --changes
      calipers compare --retriever old=search_v1:search --retriever new=search:search gt.csv
    """
    systems = asked.settings.get("systems", ())
    if html:
        check_output(html)
    named, fallback = _systems(asked)
    try:
        asked.with_truth(fallback, lambda: _score(asked, named, html))
    except NoGroundTruth as error:
        _show_changes(asked, systems, error)


def _show_changes(asked: CommandInput, systems: Sequence[str], error: NoGroundTruth) -> None:
    """Show what changed between two runs without a ground truth; refuse other options."""
    from calipers.questions.systems import is_result_file

    command = cast(Command, click.get_current_context().command)
    if len(systems) != PAIR or any(map(is_result_file, systems)) or command.not_asked_instead():
        raise error
    command.ask_instead()
    if asked.form is None:
        print_line(printable(f"Nothing is scored: {error}"))


def _score(asked: CommandInput, named: Any, html: str | None) -> None:
    from calipers.questions.compare.settings import compare as compare_systems
    from calipers.questions.reading import Reading
    from calipers.questions.systems import matched_to_report

    settings = {**asked.settings}
    measuring = {name: settings.pop(name, None) for name in ("metrics", "k")}
    if html:
        # The page shows rankings too, so each run is read and matched once for both.
        reading = {name: settings.pop(name) for name in Reading.__annotations__ if name in settings}
        named = matched_to_report(None, named, None, cast(Reading, reading))
    comparison = compare_systems(named, **measuring, **settings)
    made = {"systems": named, "comparison": comparison, **measuring, **settings}
    asked.outputs.write(html, lambda: write_page(calipers.report(**made), html or ""))
    asked.show(comparison)


def _systems(asked: CommandInput) -> tuple[Any, str | None]:
    """The systems to compare, with the results of live retrievers.

    Also the ground truth of the settings file, for runs that have none.
    """
    given = asked.settings
    files, live = given.pop("systems", ()), given.pop("retrievers", {})
    if live and files and "ground_truth" not in given:
        if len(files) > 1:
            raise InvalidInput(
                f"Retrievers are given together with {', '.join(files)}; say which file holds the "
                "questions with their ground truth: --ground-truth FILE."
            )
        # A single file beside retrievers contains their questions.
        given["ground_truth"], files = files[0], ()
    fallback = None
    if live:
        asked.fill()
    else:
        fallback = asked.fill_but_truth()
    named: Any = named_systems(files)
    if live:
        from calipers.engines.scoring import choose_metrics
        from calipers.questions.systems import name_systems, with_retrievers

        how = {name: given.pop(name, None) for name in ("ask_for", "workers")}
        metrics = choose_metrics(given.get("metrics"), given.get("k"))
        truth = given.get("ground_truth")
        with progress() as told:
            how["watch"] = told.get("watch")
            named = with_retrievers(name_systems(named), live, truth, metrics, how)
    return named, fallback


def named_systems(given: Sequence[str]) -> list[str] | dict[str, str]:
    """The systems by name if any is written NAME=FILE; else the paths."""
    if not any("=" in one and not Path(one).exists() for one in given):
        return list(given)
    from calipers.questions.systems import name_systems

    named: dict[str, str] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or Path(one).exists():
            name, path = next(iter(name_systems([one]).items()))
        if not name.strip():
            raise InvalidInput(f"{one!r} has no name before the =; write NAME=FILE.")
        if name in named:
            raise InvalidInput(f"Two systems are called {name!r}; give each a name of its own.")
        named[name] = path
    return named


@command(
    FileOption(
        "--output -o",
        "Write the fused run to a file, for every other question.",
        "run",
        lambda found, path: calipers.convert(run=found.run, output=path, to="ours"),
    ),
    HTML,
    AS,
    short_help="Find what a hybrid is worth: fusion, weights, depth, reranker.",
)
def fuse(asked: CommandInput) -> None:
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
    asked.show(asked.answer(lanes=named_systems(asked.settings.get("lanes", ()))))
