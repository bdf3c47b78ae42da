"""Commands that make a ground truth: from traces and drafts to labels, and one of many judges."""

from collections.abc import Callable
from typing import Any

import click

from calipers.cli import GivenOnce
from calipers.cli.command import CommandInput, command
from calipers.cli.options import EXPLAIN, JSON, flag, output, text
from calipers.errors import InvalidInput

NO_CACHE = flag("--no-cache", "Keep no answers.")


@command(
    output("Write the questions, with what came back, to a .jsonl."),
    JSON,
    short_help="Take questions from traces, to make a ground truth.",
)
def labels_traces(asked: CommandInput, output: str | None) -> None:
    """Take the questions that people really asked from traces, each once.

    FILEs are exports of OpenInference or OTLP spans, of LangSmith runs or of Langfuse
    observations. The questions written are a run that `calipers labels draft` takes.

    \b
    Examples:
      calipers labels traces spans.jsonl --mask email --mask phone -n 200 -o questions.jsonl
      calipers labels traces old.jsonl new.jsonl --by customer -n 100 -o questions.jsonl
      calipers labels draft questions.jsonl -o label.csv
    """
    from calipers.io.files.write import check_place

    if output is not None:
        if not output.endswith(".jsonl"):
            raise InvalidInput(f"The output is {output!r}; it is JSON lines, so end it in .jsonl.")
        check_place(output)
    found = asked.answer()
    if output is not None:
        found.save(output)
    asked.show(found)


@command(
    output("The file to label, .jsonl or .csv.", required=True),
    JSON,
    short_help="Make a file to label from what retrievers returned.",
)
def labels_draft(asked: CommandInput, output: str) -> None:
    """Make a file to label from what one or several retrievers returned.

    The first k results of each RUN are put together, each pair of question and item once. Who
    judges sees neither rank nor score nor system, and the order is shuffled.

    \b
    Examples:
      calipers labels draft bm25.jsonl dense.jsonl --questions questions.jsonl -o label.csv
      calipers labels draft new.jsonl -g truth.jsonl -k 20 -o more.jsonl
    """
    from calipers.labels.document import of_draft
    from calipers.labels.draft import check_unfilled

    check_unfilled(output)
    found = asked.answer()
    if found.rows:
        found.write(output)
    asked.show(found, document=of_draft(found, output), explain=True)


@command(
    output("Write the merged ground truth there, as JSON lines."),
    EXPLAIN,
    JSON,
    short_help="Say how far judges agree, and merge their labels.",
)
def labels_agreement(asked: CommandInput, output: str | None, explain: bool) -> None:
    """Say how far judges agree, and make one ground truth of what they said.

    A FILE is one that `calipers labels draft` wrote and somebody filled in, or that `calipers
    labels judge` wrote. A row without a judge belongs to the judge that its file is named for.

    \b
    Examples:
      calipers labels agreement anna.csv bo.csv
      calipers labels agreement anna.csv bo.csv machine.jsonl --scale nominal
      calipers labels agreement anna.csv machine.jsonl --machine machine
      calipers labels agreement anna.csv bo.csv cem.csv -o truth.jsonl
    """
    from calipers.io.files.write import check_place
    from calipers.labels.document import of_agreement

    if output:
        check_place(output)
    elif "add_to" in asked.settings:
        raise InvalidInput("There is something to add to and nowhere to write it; give -o FILE.")
    elif unused := asked.given & {"merge", "when_tied", "targets_as"}:
        name = min(unused).replace("_", "-")
        raise InvalidInput(f"--{name} is for a merged ground truth; say where with -o FILE.")
    merge = asked.settings.pop("merge", "majority")
    found = asked.answer(merge=merge if output else None)
    if output:
        found.write(output)
    asked.show(found, document=of_agreement(found, output), explain=explain)


@command(output("The labelled file, .jsonl or .csv.", required=True), NO_CACHE, JSON)
def labels_judge(asked: CommandInput, output: str, no_cache: bool) -> None:
    """Let a language model grade what `calipers labels draft` wrote.

    FILE is sent to the endpoint that you name, one prompt per row, at temperature 0. Every row
    comes back with the judge "machine:NAME". Compare it with people before you trust it.

    \b
    Examples:
      calipers labels judge label.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -o machine.jsonl
      calipers labels agreement anna.csv machine.jsonl
    """
    from calipers.labels.draft import check_unfilled
    from calipers.live.document import of_grades

    check_unfilled(output)
    _ask_model(asked, of_grades, output, no_cache=no_cache)


@command(
    output("The questions, as JSON lines.", required=True),
    NO_CACHE,
    JSON,
    short_help="Let a language model write questions with quotes.",
)
def labels_questions(asked: CommandInput, output: str, no_cache: bool) -> None:
    """Let a language model write questions, with the quotes that answer them.

    CORPUS is a file of chunks or a folder of documents. Each drawn chunk is sent to the endpoint
    that you name. A question whose quote does not stand in its chunk is rejected and counted;
    the others are tagged "source": "machine:NAME". Read them before you use them.

    \b
    Examples:
      calipers labels questions chunks.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -n 50 -o questions.jsonl
    """
    from calipers.io.files.write import check_place
    from calipers.live.document import of_questions

    check_place(output)
    _ask_model(asked, of_questions, output, no_cache=no_cache)


def _ask_model(
    asked: CommandInput, document: Callable[[Any, str], Any], output: str, *, no_cache: bool
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
    asked.show(found, document=document(found, output), explain=True)


@command(
    text("--guidelines", "FILE", "A text that judges see beside every item."),
    EXPLAIN,
    JSON,
    short_help="Draw a random sample for people, and say when it is enough.",
)
def labels_sample(asked: CommandInput, guidelines: str | None, explain: bool) -> None:
    """Draw questions at random for people to judge, until the corrected metric is narrow enough.

    RUNs are judged blind under a machine's ground truth. The same command again, or with --pool
    alone, says how wide the corrected interval is, and about how many questions are left.

    \b
    Examples:
      calipers labels sample run.jsonl -g machine.jsonl --until 0.05 --judges anna,ben
      calipers serve --pool run-sample --judges anna,ben
      calipers labels sample --pool run-sample
      calipers labels export run-sample -o people.jsonl
      calipers eval -g machine.jsonl -r run.jsonl --corrected-by people.jsonl
    """
    from calipers.labels.make import read_guidelines

    asked.show(asked.answer(guidelines=read_guidelines(guidelines)), explain=explain)


@command(JSON)
def labels_list(asked: CommandInput) -> None:
    """List the pools, and how much of each is judged."""
    asked.show(asked.answer())


@command(JSON, short_help="Write a pool's labels as a ground truth.")
def labels_export(asked: CommandInput) -> None:
    """Write what was known and what was judged in POOL as one ground truth.

    \b
    Examples:
      calipers labels export my-pool -o gt.jsonl
      calipers labels export my-pool -o gt.qrels
      calipers labels export my-pool -o quotes.jsonl --as quote
      calipers labels export my-pool -o labels.csv --every-label
    """
    asked.show(asked.answer())


@command(JSON, short_help="Take labels from files into a pool.")
def labels_import(asked: CommandInput) -> None:
    """Take what judges filled in elsewhere into POOL: what `labels draft` or `export` wrote."""
    asked.show(asked.answer())


@command(JSON, short_help="Close a pool, open it again or delete it.")
def labels_close(asked: CommandInput) -> None:
    """Close POOL: nothing is judged in it until it is opened again; what was judged is kept.

    \b
    Examples:
      calipers labels close my-pool --why "the budget is spent"
      calipers labels close my-pool --reopen
      calipers labels close my-pool --delete
    """
    asked.show(asked.answer())


labels = GivenOnce(
    "labels",
    [
        labels_draft,
        labels_judge,
        labels_questions,
        labels_traces,
        labels_agreement,
        labels_sample,
        labels_list,
        labels_export,
        labels_import,
        labels_close,
    ],
    help="Make a ground truth: what to label, what was judged, and one result of it.",
    short_help="Draft, judge and merge the labels of a ground truth.",
)
