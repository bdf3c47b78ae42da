"""Commands for decisions: gate and plan."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from calipers.cli.command import CommandInput, command
from calipers.cli.options import JSON, text
from calipers.cli.output import check_output, print_line, write_bytes, write_file
from calipers.errors import CalipersError
from calipers.operation import OUTPUT

if TYPE_CHECKING:
    from calipers.questions.gate.result import Verdict


@command()
def gate_save(request: CommandInput) -> None:
    """Measure, and write the result with its date to a file.

    The gate compares recall and ndcg of the file, or the metrics that are named with -m.

    \b
    Examples:
      calipers gate save evals.jsonl -m recall@10,ndcg@10 -o main.json
    """
    from calipers.present.escape import printable
    from calipers.questions.baseline import baseline_dict

    request.show(request.answer(), baseline_dict)
    if request.output_format is None:
        print_line(printable(f"Saved to {request.values['to']}."))


@command(
    text("--markdown", "FILE", "Write a summary as Markdown.", group=OUTPUT),
    text(
        "--junit", "FILE", "Write the checks as JUnit XML, for CI servers.", group=OUTPUT
    ),
    commands={"save": gate_save},
    exits=lambda verdict: 1 if verdict.stops else 0,
)
def gate(request: CommandInput, markdown: str | None, junit: str | None) -> None:
    """Check a result against conditions and against a baseline.

    The first line is the answer: ✓ passed, ✗ failed, ~ no clear difference.
    Exit codes: 0 nothing failed, 1 something failed, 2 it could not be checked.

    \b
    Examples:
      calipers gate evals.jsonl --require "recall@10 >= 0.85" --baseline main.json
      calipers gate evals.jsonl --baseline main.json --by type --must priority=high
    """
    for path in filter(None, (markdown, junit)):
        check_output(path)
    try:
        verdict = request.answer()
    except CalipersError as error:
        # A report left over from an earlier run could be mistaken for this one's.
        _write_error(str(error), markdown, junit)
        raise
    request.show(verdict)
    _write_verdict(verdict, markdown, junit)


def _write_verdict(verdict: "Verdict", markdown: str | None, junit: str | None) -> None:
    """Write a verdict to the files that are named."""
    if markdown:
        from calipers.present.markdown import as_markdown

        _write(markdown, lambda: as_markdown(verdict.document()).encode())
    if junit:
        from calipers.questions.gate.junit import as_junit

        _write(junit, lambda: as_junit(verdict))


def _write_error(sentence: str, markdown: str | None, junit: str | None) -> None:
    """Write to the same files why nothing could be checked."""
    if markdown:
        from calipers.questions.gate.document import error_markdown

        _write(markdown, lambda: error_markdown(sentence).encode())
    if junit:
        from calipers.questions.gate.junit import error_as_junit

        _write(junit, lambda: error_as_junit(sentence))


def _write(path: str, content: Callable[[], bytes]) -> None:
    write_file(path, lambda: write_bytes(path, content()))


@command(short_help="Say how many queries show a difference.", fill=False, answers=[JSON])
def plan(request: CommandInput) -> None:
    """Say how many queries show a difference.

    Two SYSTEMs, as for `calipers compare`, are the pilot: how their differences vary from query
    to query is what the plan is made from.

    \b
    Examples:
      calipers plan old.jsonl new.jsonl --difference 0.05
      calipers plan old.json new.json --difference 0.05 --primary ndcg@10
    """
    from calipers.cli.compare import named_systems

    request.values["pilot"] = named_systems(request.values.get("pilot", ()))
    request.show(request.with_truth(request.fill_but_truth(), request.answer))
