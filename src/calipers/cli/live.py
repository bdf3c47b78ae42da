"""Commands that call live retrievers: one, or every combination of a grid."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import JSON, flag, output
from calipers.errors import InvalidInput
from calipers.operation import build
from calipers.shell import join_words
from calipers.words import COMPLETING

if TYPE_CHECKING:
    from calipers.live.result import UnderstoodAnswer


@command(
    output(
        "The run, a .jsonl file. A finished one is asked again, and kept as .bak.",
    ),
    flag(
        "--check",
        "Ask one question, say in a line what is understood, and write nothing.",
    ),
    short_help="Ask a live retriever every question and keep what it returns.",
    answers=[JSON],
)
def retrieve(request: CommandInput, output: str | None, check: bool) -> None:
    """Ask a live retriever every question and write what it returns to a run.

    RETRIEVER is a Python function (package.module:function or file.py:function), an address
    (http://host/search?q={query}&k={k}), a command (cmd:./search, which reads and writes JSON
    lines) or a tool of an MCP server (mcp:./server#search). QUESTIONS is a file with a "query" per
    record, a table with a column of questions, or the ground truth.

    Every finished question is in the output at once: after a crash or Ctrl-C the same command
    goes on where it stopped. A finished run is asked again, so that an edited function is
    measured as it is now.

    \b
    Examples:
      calipers retrieve mypackage.search:search questions.jsonl -k 20 -o run.jsonl
      calipers retrieve 'http://127.0.0.1:8000/search?q={query}&k={k}' questions.jsonl \\
          --results '$.hits[*]' -o run.jsonl
    """
    if check:
        from calipers.live.document import understood_lines

        answer = _understood(request.values)
        if request.output_format == "json":
            request.show(answer)
        else:
            click.echo("\n".join(understood_lines(answer)))
        return
    if output is None:
        raise InvalidInput(
            "No output is named; give -o run.jsonl, or --check to try one question."
        )
    from calipers.live.document import of_run

    try:
        retrieved = request.answer(output=output)
    except KeyboardInterrupt:
        click.echo(
            f"Every question that was finished is in {output}; the same command goes on.",
            err=True,
        )
        raise
    if request.output_format == "json":
        request.show(retrieved.report)  # the run stays in its file
        return
    values = request.values
    what, next_command = _what_next(values["questions"], output, values.get("columns"))
    then = f"{what}: `{join_words(next_command)}`"
    COMPLETING.set(lambda _: None)  # the command is complete
    request.show(retrieved, document=of_run(retrieved, then), explain=True)


def _understood(values: Mapping[str, Any]) -> "UnderstoodAnswer":
    """Ask the first question only, and return how its answer is read."""
    from calipers.live.keywords import Retrieving
    from calipers.live.retrieve import K, what_is_understood

    if not {"search", "questions"} <= values.keys():
        raise InvalidInput("Name both: calipers retrieve RETRIEVER QUESTIONS --check.")
    asking = build(Retrieving, values)
    return what_is_understood(
        values["search"],
        values["questions"],
        values.get("k", K),
        asking.timeout,
        asking.columns,
        asking.options,
    )


def _what_next(
    questions: str, output: str, columns: object
) -> tuple[str, tuple[str, ...]]:
    """The next command to suggest; the questions may have no ground truth."""
    from calipers.errors import CalipersError, SealedQueries
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns

    names = Columns.of(columns)
    try:
        has_truth = load(questions, "ground_truth", names).ground_truth is not None
    except SealedQueries:
        return "Confirm by it", (
            "calipers",
            "confirm",
            "OLD",
            output,
            "--sealed",
            questions,
        )
    except CalipersError:
        has_truth = False
    if has_truth:
        named = [
            word for pair in names.named.items() for word in ("--column", "=".join(pair))
        ]
        named += [] if names.sheet is None else ["--sheet", names.sheet]
        return "Measure it", (
            "calipers",
            "eval",
            "-g",
            questions,
            "--run",
            output,
            *named,
        )
    what = f"{questions} holds no ground truth; draft one from what was found"
    return what, ("calipers", "labels", "draft", output, "-o", "label.csv")


@command(
    short_help="Run every combination of retrievers and parameters.",
    exits=lambda answer: 2 if getattr(answer, "failures", ()) else 0,
)
def grid(request: CommandInput) -> None:
    """Run every combination of retrievers and parameters in a file, and compare them all.

    FILE is a calipers.toml with a table [grid]; without it the nearest one is taken. Each
    combination is written to a run of its own: after a crash or Ctrl-C the same command goes on
    where it stopped, and what is finished is not run again.

    \b
    Examples:
      calipers grid calipers.toml
    """
    if "config" not in request.values:
        from calipers.config import find_config

        file = find_config()
        if file.grid:
            click.echo(
                f"Running the retrievers that [grid] of {file.path} names.", err=True
            )
    request.show(request.answer())
