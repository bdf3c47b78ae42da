"""Commands for a ground truth: audit, convert, seal and confirm."""

from typing import Any

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import JSON, FileOption, text
from calipers.cli.output import print_line
from calipers.errors import InvalidInput


def _write_to_add(answer: Any, path: str) -> None:
    from calipers.questions.audit.real_questions import write_to_add

    write_to_add(answer, path)


@command(
    text(
        "--fail-on",
        None,
        "Exit with 1 if there is a finding at least this grave.",
        type=click.Choice(["error", "warning", "info"]),
    ),
    FileOption(
        "--output -o",
        "With --traces: write the real questions to add to a .jsonl.",
        "jsonl",
        _write_to_add,
    ),
    short_help="Say which differences a ground truth can detect, and what is wrong with it.",
)
def audit(request: CommandInput, fail_on: str | None) -> None:
    """Say which differences a ground truth can detect, and what is wrong with it.

    Alone, against the corpus that is searched, or beside real questions. Each finding has a name,
    how grave it is, a count, examples, what it means and what to do. Without GROUND_TRUTH the one
    of the settings file is checked.

    \b
    Examples:
      calipers audit evals.jsonl
      calipers audit evals.jsonl --corpus chunks.jsonl --fail-on error
      calipers audit evals.jsonl --traces spans.jsonl -o to_add.jsonl
    """
    if "ground_truth" not in request.values:
        raise InvalidInput(
            "No ground truth is given to check; name its file, or set it in "
            "calipers.toml."
        )
    if request.files and request.values.get("traces") is None:
        raise InvalidInput(
            "-o writes real questions to add; say where they are: --traces FILE."
        )
    request.show(request.answer())
    if request.shown.fails(fail_on):
        raise click.exceptions.Exit(1)


PATHS = click.Argument(["paths"], nargs=-1, metavar="[IN] OUT")


@command(PATHS, leave_out=["ground_truth"])
def _resolve(request: CommandInput, paths: tuple[str, ...]) -> None:
    """Find where each quote stands in the documents."""
    from calipers.io.files.write import check_place, ending_or

    if len(paths) not in (1, 2):
        raise click.UsageError(
            f"{len(paths)} paths are given; with --resolve name the ground truth, and "
            "the output where it shall be written."
        )
    ground_truth = paths[0]
    written = paths[1] if len(paths) > 1 else None
    if written is not None:
        if ending_or(written, ".jsonl") != ".jsonl":
            raise InvalidInput(
                f"The output is {written!r}; with --resolve it is JSON lines, so end it "
                "in .jsonl."
            )
        check_place(written)
    answer = request.answer(ground_truth=ground_truth)
    if written is not None:
        answer.write(written)
    request.show(answer)
    if request.output_format is None:
        sentence = (
            f"Written to {written}."
            if written
            else "Nothing was written: name a second file."
        )
        print_line(sentence)


@command(
    PATHS,
    commands={"--resolve=DOCUMENTS": _resolve},
    fill=False,
    answers=[JSON],
)
def convert(request: CommandInput, paths: tuple[str, ...]) -> None:
    """Write a ground truth, a run or both in another format.

    IN is any file or folder that Calipers reads; or give --ground-truth, --run or both. What
    the format of OUT cannot hold is said, not dropped in silence. With --resolve the quotes of a
    ground truth get the document, start and end where they stand; everything else is kept, and
    what stands in several places or nowhere is reported.

    \b
    Examples:
      calipers convert ragas.jsonl ours.jsonl
      calipers convert evals.jsonl spans.jsonl --resolve docs/
      calipers convert evals.json evals.qrels
    """
    request.fill("ground_truth", "run")
    separate = "ground_truth" in request.values or "run" in request.values
    if len(paths) != (1 if separate else 2):
        raise click.UsageError(
            f"{len(paths)} paths are given; "
            + (
                "with --ground-truth or --run, name the output alone."
                if separate
                else "name the input and the output, such as `calipers convert in.jsonl out.json`."
            )
        )
    request.show(request.answer(data=None if separate else paths[0], output=paths[-1]))


@command(short_help="Set queries aside, to confirm by.", answers=[JSON])
def seal() -> None:
    """Set queries aside: an open part to tune on, a sealed part to confirm by, and its ledger.

    Every other command refuses the sealed part, also where it was copied to; `calipers retrieve`
    may ask its questions, and `calipers confirm` takes a look at a time.
    It is a ledger, and keeps nothing secret.

    \b
    Examples:
      calipers seal gt.jsonl
      calipers seal gt.jsonl --share 0.3 --cluster intent
    """


@command(short_help="Ask sealed queries whether a gain is real.", answers=[JSON])
def confirm() -> None:
    """Ask the sealed queries one thing: is NEW better than OLD?

    Both are runs with results for every sealed query. An answer spends one look of the budget in
    the ledger; the same runs and metric asked again get the same answer and spend nothing.
    Exit codes: 0 answered, 2 nothing was asked.

    \b
    Examples:
      calipers confirm old.jsonl new.jsonl --sealed gt.sealed.jsonl
    """
