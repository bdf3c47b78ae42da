"""Commands that make a ground truth, and check it: from traces and drafts to labels and merging."""

from collections.abc import Callable
from typing import Any

import click

from calipers.cli.command import (
    CONFIG,
    EXPLAIN,
    JSON,
    CommandInput,
    command,
    examples,
    flag,
    output,
    text,
)
from calipers.cli.output import console, print_lines
from calipers.errors import InvalidInput

NO_CACHE = flag("--no-cache", "Keep no answers.")


@command(
    output("Write the questions, with what came back, to a .jsonl."),
    JSON,
    short_help="Take questions from traces, to make a ground truth.",
)
def traces(asked: CommandInput, output: str | None) -> None:
    """Take the questions that people really asked from traces, each once.

    FILEs are exports of OpenInference or OTLP spans, of LangSmith runs or of Langfuse
    observations. The questions written are a run that `calipers draft` takes.

    \b
    Examples:
      calipers traces spans.jsonl --mask email --mask phone -n 200 -o questions.jsonl
      calipers traces old.jsonl new.jsonl --by customer -n 100 -o questions.jsonl
      calipers draft questions.jsonl -o label.csv
    """
    from calipers.io.files.write import check_place
    from calipers.questions.traces.show import print_traces

    if output is not None:
        if not output.endswith(".jsonl"):
            raise InvalidInput(f"The output is {output!r}; it is JSON lines, so end it in .jsonl.")
        check_place(output)
    found = asked.answer()
    if output is not None:
        found.save(output)
    if not asked.is_printed(found):
        print_traces(found, console())


@command(
    output("The file to label, .jsonl or .csv.", required=True),
    CONFIG,
    JSON,
    short_help="Make a file to label from what retrievers returned.",
)
def draft(asked: CommandInput, output: str) -> None:
    """Make a file to label from what one or several retrievers returned.

    The first k results of each RUN are put together, each pair of question and item once. Who
    judges sees neither rank nor score nor system, and the order is shuffled.

    \b
    Examples:
      calipers draft bm25.jsonl dense.jsonl --questions questions.jsonl -o label.csv
      calipers draft new.jsonl -g truth.jsonl -k 20 -o more.jsonl
    """
    from calipers.io.records.label_files import check_label_file
    from calipers.labels.show import draft_lines

    check_label_file(output)
    found = asked.answer()
    if found.rows:
        found.write(output)
    if not asked.is_printed(found):
        print_lines(draft_lines(found, output), soft_wrap=False)


@command(
    output("Write the merged ground truth there, as JSON lines."),
    examples("How many disagreements to list.", 3),
    EXPLAIN,
    JSON,
    short_help="Say how far judges agree, and merge their labels.",
)
def agreement(asked: CommandInput, output: str | None, examples: int, explain: bool) -> None:
    """Say how far judges agree, and make one ground truth of what they said.

    A FILE is one that `calipers draft` wrote and somebody filled in, or that `calipers judge`
    wrote. A row without a judge belongs to the judge that its file is named for.

    \b
    Examples:
      calipers agreement anna.csv bo.csv
      calipers agreement anna.csv bo.csv machine.jsonl --scale nominal
      calipers agreement anna.csv machine.jsonl --machine machine
      calipers agreement anna.csv bo.csv cem.csv -o truth.jsonl
    """
    from calipers.io.files.write import check_place
    from calipers.labels.show import print_agreement

    merge = asked.settings.pop("merge", "majority")
    if output:
        check_place(output)
    elif "add_to" in asked.settings:
        raise InvalidInput("There is something to add to and nowhere to write it; give -o FILE.")
    found = asked.answer(merge=merge if output else None)
    if output:
        found.write(output)
    if not asked.is_printed(found):
        print_agreement(found, console(), written=output, examples=examples, explain=explain)


@command(
    output("The labelled file, .jsonl or .csv.", required=True),
    NO_CACHE,
    JSON,
)
def judge(asked: CommandInput, output: str, no_cache: bool) -> None:
    """Let a language model grade what `calipers draft` wrote.

    FILE is sent to the endpoint that you name, one prompt per row, at temperature 0. Every row
    comes back with the judge "machine:NAME". Compare it with people before you trust it.

    \b
    Examples:
      calipers judge label.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -o machine.jsonl
      calipers agreement anna.csv machine.jsonl
    """
    from calipers.io.records.label_files import check_label_file
    from calipers.live.show import judged_lines

    check_label_file(output)
    _ask_model(asked, judged_lines, output, no_cache=no_cache)


@command(
    output("The questions, as JSON lines.", required=True),
    NO_CACHE,
    JSON,
    short_help="Let a language model write questions with quotes.",
    operation="write_questions",
)
def questions(asked: CommandInput, output: str, no_cache: bool) -> None:
    """Let a language model write questions, with the quotes that answer them.

    CORPUS is a file of chunks or a folder of documents. Each drawn chunk is sent to the endpoint
    that you name. A question whose quote does not stand in its chunk is rejected and counted;
    the others are tagged "source": "machine:NAME". Read them before you use them.

    \b
    Examples:
      calipers questions chunks.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -n 50 -o questions.jsonl
    """
    from calipers.io.files.write import check_place
    from calipers.live.show import question_lines

    check_place(output)
    _ask_model(asked, question_lines, output, no_cache=no_cache)


def _ask_model(
    asked: CommandInput, lines: Callable[[Any, str], list[str]], output: str, *, no_cache: bool
) -> None:
    """Ask with a bar, write what came, and say it."""
    kept = asked.settings.pop("cache", ".calipers/answers")
    asked.settings["cache"] = None if no_cache else kept
    try:
        found = asked.answer()
    except KeyboardInterrupt:
        if not no_cache:
            click.echo(f"Every answer is kept in {kept}; the same command goes on.", err=True)
        raise
    found.write(output)
    if not asked.is_printed(found):
        print_lines(lines(found, output), soft_wrap=False)


@command(
    text(
        "--fail-on",
        None,
        "Exit with 1 if there is a finding at least this grave.",
        type=click.Choice(["error", "warning", "info"]),
    ),
    flag("--quiet -q", "Print one line per finding."),
    EXPLAIN,
    CONFIG,
    JSON,
    short_help="Check the health of a ground truth.",
)
def audit(asked: CommandInput, fail_on: str | None, quiet: bool, explain: bool) -> None:
    """Check the health of a ground truth, alone or against the corpus that is searched.

    Each finding has a name, how grave it is, a count, examples, what it means and what to do.
    Without GROUND_TRUTH the one of the settings file is checked.

    \b
    Examples:
      calipers audit evals.jsonl
      calipers audit evals.jsonl --corpus chunks.jsonl --fail-on error
      calipers audit qrels.txt --corpus docs/ --json
    """
    from calipers.questions.audit.show import print_health

    if "ground_truth" not in asked.settings:
        raise InvalidInput(
            "No ground truth is given to check; name its file, or set it in calipers.toml."
        )
    found = asked.answer()
    if not asked.is_printed(found):
        print_health(found, console(), quiet=quiet, explain=explain)
    if found.fails(fail_on):
        raise click.exceptions.Exit(1)


@command(
    output("Write the records there, as JSON lines."),
    flag("--strict", "Exit with 1 if a quote has no span in the end."),
    EXPLAIN,
    JSON,
    short_help="Find where quotes stand in their documents.",
)
def resolve(asked: CommandInput, output: str | None, strict: bool, explain: bool) -> None:
    """Find the document, start and end of every quote in a ground truth.

    Start and end count characters of the document as it is. A quote that is found in several
    places, or nowhere, is left as it is and reported. Everything else in the records is kept.

    \b
    Examples:
      calipers resolve evals.jsonl --corpus docs/ -o spans.jsonl
      calipers resolve evals.jsonl --corpus corpus.parquet --strict
    """
    from calipers.io.files.write import check_place
    from calipers.questions.resolve.show import print_resolution

    if output:
        check_place(output)
    found = asked.answer()
    if output:
        found.write(output)
    if not asked.is_printed(found):
        print_resolution(found, console(), written=output, explain=explain)
    if strict and found.resolved < len(found.quotes):
        raise click.exceptions.Exit(1)


@command(click.Argument(["paths"], nargs=-1, metavar="[IN] OUT"), JSON)
def convert(asked: CommandInput, paths: tuple[str, ...]) -> None:
    """Write a ground truth, a run or both in another form.

    IN is any file or folder that Calipers reads; or give --ground-truth, --run or both. What
    the form of OUT cannot hold is said, not dropped in silence.

    \b
    Examples:
      calipers convert ragas.jsonl ours.jsonl
      calipers convert evals.json evals.trec
      calipers convert -g qrels.txt -r run.txt evals.parquet
      calipers convert evals.jsonl questions.json --to llama_index
    """
    from calipers.questions.convert.show import print_conversion

    separate = "ground_truth" in asked.settings or "run" in asked.settings
    if len(paths) != (1 if separate else 2):
        raise click.UsageError(
            f"{len(paths)} paths are given; "
            + (
                "with --ground-truth or --run, name the output alone."
                if separate
                else "name the input and the output, such as `calipers convert in.jsonl out.json`."
            )
        )
    found = asked.answer(data=None if separate else paths[0], output=paths[-1])
    if not asked.is_printed(found):
        print_conversion(found, console())
