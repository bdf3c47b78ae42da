"""Commands that decide: which system is better, may this be merged, how many queries it takes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

import calipers
from calipers.cli import GivenOnce
from calipers.cli.command import (
    CONFIG,
    EXPLAIN,
    FULL,
    JSON,
    PAGE,
    CommandInput,
    command,
    examples,
    forms,
    text,
)
from calipers.cli.output import Outputs, asking, console
from calipers.errors import CalipersError, InvalidInput
from calipers.operation import OUTPUT

EXAMPLES = 5


@command(
    text(
        "--queries-by",
        "METRIC",
        "List the largest wins and losses in this metric. [default: the primary one]",
    ),
    examples(
        "How many wins and losses to list. [default: none in the table, 5 with --explain and "
        "elsewhere]"
    ),
    text(
        "--per-query",
        "FILE",
        "Write every query's values and differences to a .parquet, .csv, .tsv, .json or .jsonl "
        "file.",
    ),
    PAGE,
    FULL,
    EXPLAIN,
    CONFIG,
    JSON,
    forms("csv", "markdown", "latex"),
    fill=False,
)
def compare(
    asked: CommandInput,
    queries_by: str | None,
    examples: int | None,
    per_query: str | None,
    html: str | None,
    full: bool,
    explain: bool,
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
    from calipers.questions.compare.export import FORMS
    from calipers.questions.compare.settings import compare as compare_systems
    from calipers.questions.compare.show import print_comparison
    from calipers.questions.reading import Reading
    from calipers.questions.systems import matched_to_report

    outputs = Outputs()
    outputs.check_table(per_query)
    outputs.check_page(html)
    outputs.begin()
    named, settings = _systems(asked)
    measuring = {name: settings.pop(name, None) for name in ("metrics", "k", "weights")}
    if html:
        # The page shows rankings too: each run is read and matched once for both.
        reading = {name: settings.pop(name) for name in Reading.__annotations__ if name in settings}
        named = matched_to_report(None, named, None, cast(Reading, reading))
    comparison = compare_systems(named, **measuring, **settings)
    if queries_by:
        comparison.by_query(comparison.baseline, queries_by)
    outputs.write(per_query, lambda: write_table(comparison.per_query, per_query or ""))
    if html:
        from calipers.cli.output import write_page

        made = {"systems": named, "comparison": comparison}
        outputs.write(
            html,
            lambda: write_page(calipers.report(**made, **measuring, **settings), html, full=full),
        )
    listed = EXAMPLES if examples is None else examples
    if asked.form in FORMS:
        click.echo(FORMS[asked.form](comparison, queries_by, listed), nl=False)
    elif not asked.is_printed(comparison, json=lambda one: one.to_dict(examples=listed)):
        print_comparison(
            comparison, console(), metric=queries_by, examples=examples, explain=explain
        )
    outputs.finish()


def _systems(asked: CommandInput) -> tuple[Any, dict[str, Any]]:
    """What is compared, with the answers of retrievers that are asked now; and how."""
    given = asked.settings
    files, live = files_and_retrievers(given, "systems")
    # A ground truth in the settings file is for retrievers; a run may bring its own.
    asked.fill(*([] if live else ["ground_truth"]))
    named: Any = named_systems(files)
    if live:
        from calipers.engines.scoring import choose_metrics
        from calipers.questions.systems import name_systems, with_retrievers

        how = {name: given.pop(name, None) for name in ("ask_for", "workers")}
        named = with_retrievers(
            name_systems(named),
            live,
            given.get("ground_truth"),
            choose_metrics(given.get("metrics"), given.get("k"), None, given.get("weights")),
            {**how, "watch": asking},
        )
    return named, given


@command(
    text("--junit", "FILE", "Write the checks as JUnit XML.", group=OUTPUT),
    text("--markdown", "FILE", "Write a summary as Markdown.", group=OUTPUT),
    CONFIG,
    EXPLAIN,
    JSON,
    fill=False,
)
def gate(asked: CommandInput, junit: str | None, markdown: str | None, explain: bool) -> None:
    """Check a result against conditions and against a baseline.

    The first line is the fact that matters most: ✓ passed, ✗ failed, ? cannot tell. What is not
    given is taken from [tool.calipers] in pyproject.toml, or from calipers.toml.
    Exit codes: 0 nothing failed, 1 something failed, 2 it could not be checked.

    \b
    Examples:
      calipers gate evals.jsonl --require "recall@10 >= 0.85" --baseline main.json
      calipers gate evals.jsonl --require "ndcg@10 >= 0.6 for type=multi-hop"
      calipers gate evals.jsonl --baseline main.json --by type --must priority=high
      calipers gate evals.jsonl --baseline main.json --accept "half the index, a tenth the price"
      calipers gate --junit junit.xml --markdown summary.md
    """
    from calipers.questions.gate.ci_files import (
        error_junit,
        error_markdown,
        verdict_junit,
        verdict_markdown,
    )
    from calipers.questions.gate.show import print_gate

    file = asked.fill(gate=True)
    junit, markdown = junit or file.gate.get("junit"), markdown or file.gate.get("markdown")
    outputs = Outputs()
    outputs.check_page(junit)
    outputs.check_page(markdown)
    outputs.begin()
    try:
        verdict = asked.answer()
    except CalipersError as error:
        # A report left over from an earlier run would pass for that of this one.
        said = str(error)
        outputs.write(junit, lambda: _write_file(junit, error_junit(said)))
        outputs.write(markdown, lambda: _write_file(markdown, error_markdown(said).encode()))
        raise
    outputs.write(junit, lambda: _write_file(junit, verdict_junit(verdict)))
    outputs.write(markdown, lambda: _write_file(markdown, verdict_markdown(verdict).encode()))
    if not asked.is_printed(verdict):
        print_gate(verdict, console(), explain=explain)
    outputs.finish()
    if verdict.stops:
        raise click.exceptions.Exit(1)


def _write_file(path: str | None, content: bytes) -> None:
    from calipers.io.files.write import whole_file

    with whole_file(path or "") as file:
        file.write(content)


@command(CONFIG, EXPLAIN, JSON, operation="save_baseline")
def _save(asked: CommandInput, explain: bool) -> None:
    """Measure, and write the result with its date to a file.

    The gate compares recall and ndcg of the file, and shows what else it holds. A retriever
    that does not always answer alike has lucky runs: save several of one commit with --add.

    \b
    Examples:
      calipers baseline save evals.jsonl -m recall@10,ndcg@10 -o main.json
      calipers baseline save again.jsonl -m recall@10,ndcg@10 -o main.json --add
    """
    _print_baseline(asked, f"Saved to {asked.settings['to']}.", explain=explain)


@command(EXPLAIN, JSON, operation="read_baseline")
def _show(asked: CommandInput, explain: bool) -> None:
    """Show what a baseline holds: its name, its date and its scores."""
    _print_baseline(asked, "", explain=explain)


baseline = GivenOnce(
    "baseline",
    [_save, _show],
    help="Keep a result, so that `calipers gate` can compare later ones with it.",
    short_help="Keep a result for `calipers gate` to compare with.",
)


def _print_baseline(asked: CommandInput, last: str, *, explain: bool) -> None:
    from calipers.present.escape import printable
    from calipers.present.scores import print_scores
    from calipers.questions.baseline import baseline_dict

    found = asked.answer()
    if asked.is_printed(found, json=baseline_dict):
        return
    when = f"saved on {found.saved:%Y-%m-%d at %H:%M} UTC" if found.saved else "without a date"
    out = console()
    runs = f", {len(found.runs)} runs, of which the first" if found.further else ""
    out.print(f"Baseline {printable(found.name, 60)}, {when}{runs}:", markup=False)
    if found.accepted is not None:
        out.print(f"Accepted: {printable(found.accepted)}", markup=False, soft_wrap=True)
    out.print()
    print_scores(found.scores, out, explain=explain)
    if last:
        out.print(printable(last), markup=False, soft_wrap=True)


@command(CONFIG, JSON, short_help="Say how many queries show a difference.")
def plan(asked: CommandInput) -> None:
    """Say how many queries show a difference, or how small a difference some queries show.

    Two SYSTEMs, as for `calipers compare`, are the pilot: how their differences vary from query
    to query is what the plan is made from.

    \b
    Examples:
      calipers plan old.jsonl new.jsonl --difference 0.05
      calipers plan old.json new.json --queries 500 --primary ndcg@10
    """
    from calipers.questions.plan.show import print_plan

    asked.settings["pilot"] = named_systems(asked.settings.get("pilot", ()))
    found = asked.answer()
    if not asked.is_printed(found):
        print_plan(found, console())


def named_systems(given: Sequence[str]) -> list[str] | dict[str, str]:
    """The systems by name, where any is written NAME=FILE; else the paths as they are."""
    if not any("=" in one and not Path(one).exists() for one in given):
        return list(given)
    from calipers.questions.systems import name_systems

    named: dict[str, str] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or Path(one).exists():
            name, path = next(iter(name_systems([one]).items()))
        if name in named:
            raise InvalidInput(f"Two systems are called {name!r}; give each a name of its own.")
        named[name] = path
    return named


def files_and_retrievers(
    given: dict[str, Any], keyword: str
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The systems among the settings, taken out: files, and retrievers to ask by their names.

    A file that stands alone beside retrievers holds the questions for them.
    """
    files, live = given.pop(keyword, ()), given.pop("retrievers", {})
    if live and files and "ground_truth" not in given:
        if len(files) > 1:
            raise InvalidInput(
                f"Retrievers are given together with {', '.join(files)}; say which file holds the "
                "questions with their ground truth: --ground-truth FILE."
            )
        given["ground_truth"], files = files[0], ()
    return files, live
