"""Commands for decisions: gate and plan."""

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import EXPLAIN, JSON, text
from calipers.cli.output import Outputs, console
from calipers.errors import CalipersError
from calipers.operation import OUTPUT


@command(EXPLAIN, JSON)
def gate_save(asked: CommandInput, explain: bool) -> None:
    """Measure, and write the result with its date to a file.

    The gate compares recall and ndcg of the file, or the metrics that are named with -m.

    \b
    Examples:
      calipers gate save evals.jsonl -m recall@10,ndcg@10 -o main.json
    """
    _print_baseline(asked, f"Saved to {asked.settings['to']}.", explain=explain)


@command(EXPLAIN, JSON)
def gate_show(asked: CommandInput, explain: bool) -> None:
    """Show what a baseline holds: its name, its date and its scores."""
    _print_baseline(asked, "", explain=explain)


@command(
    text("--junit", "FILE", "Write the checks as JUnit XML.", group=OUTPUT),
    text("--markdown", "FILE", "Write a summary as Markdown.", group=OUTPUT),
    EXPLAIN,
    JSON,
    fill=False,
    commands=[gate_save, gate_show],
)
def gate(asked: CommandInput, junit: str | None, markdown: str | None, explain: bool) -> None:
    """Check a result against conditions and against a baseline.

    The first line is the answer: ✓ passed, ✗ failed, ~ no clear difference.
    Exit codes: 0 nothing failed, 1 something failed, 2 it could not be checked.

    \b
    Examples:
      calipers gate evals.jsonl --require "recall@10 >= 0.85" --baseline main.json
      calipers gate evals.jsonl --require "ndcg@10 >= 0.6 for type=multi-hop"
      calipers gate evals.jsonl --baseline main.json --by type --must priority=high
      calipers gate evals.jsonl --baseline main.json --accept "half the index, a tenth the price"
      calipers gate --junit junit.xml --markdown summary.md
    """
    from calipers.present.markdown import as_markdown
    from calipers.questions.gate.document import as_junit, error_junit, error_markdown

    file = asked.fill(gate=True)
    junit, markdown = junit or file.gate.get("junit"), markdown or file.gate.get("markdown")
    outputs = Outputs()
    outputs.check(page=junit, markdown=markdown)
    outputs.begin()
    try:
        verdict = asked.answer()
    except CalipersError as error:
        # A report left over from an earlier run could be mistaken for this one's.
        said = str(error)
        outputs.write(junit, lambda: _write_file(junit, error_junit(said)))
        outputs.write(markdown, lambda: _write_file(markdown, error_markdown(said).encode()))
        raise
    outputs.write(junit, lambda: _write_file(junit, as_junit(verdict)))
    outputs.write(markdown, lambda: _write_file(markdown, as_markdown(verdict.document()).encode()))
    asked.show(verdict, explain=explain)
    outputs.finish()
    if verdict.stops:
        raise click.exceptions.Exit(1)


def _write_file(path: str | None, content: bytes) -> None:
    from calipers.io.files.write import whole_file

    with whole_file(path or "") as file:
        file.write(content)


def _print_baseline(asked: CommandInput, last: str, *, explain: bool) -> None:
    from calipers.present.escape import printable
    from calipers.questions.baseline import baseline_dict

    asked.show(asked.answer(), {"json": baseline_dict}, explain=explain)
    if last and asked.form is None:
        console().print(printable(last), markup=False, soft_wrap=True)


@command(JSON, short_help="Say how many queries show a difference.", fill=False)
def plan(asked: CommandInput) -> None:
    """Say how many queries show a difference, or how small a difference some queries show.

    Two SYSTEMs, as for `calipers compare`, are the pilot: how their differences vary from query
    to query is what the plan is made from.

    \b
    Examples:
      calipers plan old.jsonl new.jsonl --difference 0.05
      calipers plan old.json new.json --queries 500 --primary ndcg@10
    """
    from calipers.cli.compare import named_systems, with_truth

    asked.settings["pilot"] = named_systems(asked.settings.get("pilot", ()))
    asked.show(with_truth(asked, asked.fill_but_truth(), asked.answer))
