"""Commands that make a ground truth: draft, judge, sample, import, export."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import JSON, FileOption, flag, output
from calipers.errors import InvalidInput


@command(
    FileOption(
        "--output -o",
        "Write the questions, with what came back, to a .jsonl.",
        "jsonl",
        lambda answer, path: answer.save(path),
    ),
    operation="labels_traces",
    answers=[JSON],
)
def _traces() -> None:
    """Take the questions that people asked from traces."""


@command(
    output("The file to label, .jsonl or .csv."),
    short_help="Make a file to label from what retrievers returned.",
    answers=[JSON],
    commands={"--from-traces=FILE": _traces},
)
def labels_draft(request: CommandInput, output: str | None) -> None:
    """Make a file to label from what one or several retrievers returned.

    The first k results of each RUN are put together, each pair of question and item once. Who
    judges sees neither rank nor score nor system, and the order is shuffled. With --from-traces
    the questions that people really asked are taken from exports of OpenInference or OTLP spans,
    of LangSmith runs, of Langfuse observations or of OpenSearch UBI; what is written is a RUN. With
    --changed only results are written in which an old and a new RUN differ; the filled-in file
    (--filled) says whether to switch.

    \b
    Examples:
      calipers labels draft bm25.jsonl dense.jsonl --questions questions.jsonl -o label.csv
      calipers labels draft old.jsonl new.jsonl --changed -k 5 -o label.csv
      calipers labels draft --from-traces spans.jsonl -n 200 -o questions.jsonl
    """
    from calipers.labels.draft import check_unfilled, document

    if output is not None:
        check_unfilled(output)
    elif "filled" not in request.given:
        raise InvalidInput(
            "It is not said where to write the file to label; give -o label.csv."
        )
    drafted = request.answer()
    if drafted.rows and output is not None:
        drafted.write(output)
    request.show(drafted, document=document(drafted, output), explain=True)


@command(output("The labelled file, .jsonl or .csv.", required=True), answers=[JSON])
def labels_judge(request: CommandInput, output: str) -> None:
    """Let a language model grade what `calipers labels draft` wrote.

    FILE is sent to the endpoint that you name, one prompt per row, at temperature 0. Every row
    comes back with the judge "machine:NAME". Compare it with people before you trust it. After
    Ctrl-C the same command goes on.

    \b
    Examples:
      calipers labels judge label.jsonl --endpoint http://127.0.0.1:8000/v1 --model small \\
          -o machine.jsonl
      calipers labels export anna.csv machine.jsonl
    """
    from calipers.labels.draft import check_unfilled
    from calipers.live.document import of_grades

    check_unfilled(output)
    request.values.setdefault("cache", ".calipers/answers")
    grades = request.answer()
    grades.write(output)
    request.show(grades, document=of_grades(grades, output), explain=True)


@command(
    flag("--drop", "Take unfit questions of `init FOLDER` out of their file."),
    short_help="Draw a random sample for people, and say when it is enough.",
)
def labels_sample(request: CommandInput, drop: bool) -> None:
    """Draw questions at random for people to judge, until the corrected metric is narrow enough.

    Of questions that `init FOLDER` made 30 are drawn, and asked about here with two keys each:
    would somebody ask it, and is the target right?

    RUNs are judged blind under a machine's ground truth. The same command again, or with --pool
    alone, says how wide the corrected interval is, and about how many questions are left.

    \b
    Examples:
      calipers labels sample questions.jsonl
      calipers labels sample run.jsonl -g machine.jsonl --until 0.05 --judges anna,ben
      calipers labels sample --pool run-sample
    """
    if not _check_made(request, drop):
        request.show(request.answer())


def _check_made(request: CommandInput, drop: bool) -> bool:
    """Check the questions of `init FOLDER`, where they are what is given; False where not."""
    import calipers
    from calipers.model.labels import FIT, NOBODY, WRONG
    from calipers.present.escape import printable
    from calipers.questions.begin.check import made_questions
    from calipers.words import COMPLETING

    runs: Sequence[str] = request.values.get("runs") or ()
    if len(runs) != 1 or not Path(runs[0]).is_file() or made_questions(runs[0]) is None:
        if drop:
            raise InvalidInput(
                "--drop goes with a file of questions that calipers init wrote."
            )
        return False
    if request.values.get("pool"):
        raise InvalidInput(
            "Leave out --pool: questions that calipers init made are checked here."
        )
    settings = {
        name: request.values[name] for name in ("most", "seed") if name in request.values
    }
    COMPLETING.set(lambda _: None)  # the commands are complete
    checked = calipers.labels_check(runs[0], drop=drop, **settings)
    is_asked = not drop and request.output_format != "json"
    for number, record in enumerate(checked.waiting if is_asked else ()):
        click.echo(
            f"\n{checked.left - number:,} left. {printable(str(record['query']), 300)}"
        )
        pressed = _pressed("Would somebody ask this?", FIT, NOBODY)
        if pressed == FIT:
            for target in record["ground_truth"]:
                click.echo(f"  {printable(str(target.get('quote')), 400)}")
            tags = record["tags"]
            click.echo(f"  in {printable(str(tags['file']), 100)}:{tags.get('line')}")
            pressed = _pressed("Does this answer it?", FIT, WRONG)
        if pressed is None:
            break
        calipers.labels_check(runs[0], answers={record["id"]: pressed}, **settings)
    request.show(calipers.labels_check(runs[0], **settings) if is_asked else checked)
    return True


def _pressed(question: str, yes: str, no: str) -> str | None:
    """What the next key says: y or n, or None for q."""
    click.echo(f"  {question} y/n, q to stop", nl=False)
    while True:
        key = _key()
        if key in ("y", "n", "q"):
            click.echo(f"  {key}")
            return {"y": yes, "n": no}.get(key)


def _key() -> str:
    """The next key that is pressed; q where there is nobody to press one."""
    import sys

    if sys.stdin is not None and sys.stdin.isatty():
        return click.getchar().lower()
    return (sys.stdin.read(1) if sys.stdin is not None else "").lower() or "q"


@command(
    flag("--list", "List the pools, and how much of each is judged."),
    flag("--close", "Close POOL: nothing is judged in it until it is opened again."),
    flag("--reopen", "Open POOL again."),
    flag("--delete", "Delete what POOL holds; the log of labels stays."),
    short_help="Write labels as a ground truth, and say how far judges agree.",
    answers=[JSON],
)
def labels_export(request: CommandInput, **change: bool) -> None:
    """Write what was judged as one ground truth, and say how far the judges agree.

    POOL is a pool, with what was known before. FILEs are those that `calipers labels draft` or
    `judge` wrote and somebody filled in. Without -o it prints the agreement only.

    \b
    Examples:
      calipers labels export my-pool -o gt.jsonl
      calipers labels export anna.csv ben.csv -o truth.jsonl
    """
    import calipers

    changes = [name for name, wanted in change.items() if wanted]
    if len(changes) > 1:
        raise InvalidInput(
            "--list, --close, --reopen and --delete do not go together; give one."
        )
    store = request.values.get("store")
    pools = request.values.get("pool", ())
    if changes:
        if changes != ["list"]:
            if len(pools) != 1:
                raise InvalidInput(f"--{changes[0]} is for one pool; name it.")
            calipers.labels_desk(pools[0], store=store).change(cast(Any, changes[0]))
        request.show(calipers.labels_list(store))
    else:
        request.values.setdefault("pool", ())
        request.show(request.answer())


@command(short_help="Take labels from files into a pool.", answers=[JSON])
def labels_import() -> None:
    """Take what judges filled in elsewhere into POOL.

    FILES are those of `labels draft` or `labels export`, or the JSON that Label Studio or
    Argilla gives back of the tasks of `labels export --to`.

    \b
    Examples:
      calipers labels import my-pool anna.csv ben.csv
    """


labels = click.Group(
    "labels",
    [labels_draft, labels_judge, labels_sample, labels_import, labels_export],
    help="Make a ground truth: what to label, what was judged, and one result of it.",
    short_help="Draft, judge and merge the labels of a ground truth.",
)
