"""calipers retrieve: ask a live retriever every question and keep what it returns."""

import shlex
from typing import Any

import click

from calipers.cli.parts import options, renamed
from calipers.cli.parts.asking import pace_options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking
from calipers.errors import InvalidInput


def _driver_options(function: renamed.F) -> renamed.F:
    return renamed.apply(
        click.option("-k", type=int, default=20, show_default=True, help="Results to ask for."),
        click.option(
            "--output",
            "-o",
            required=True,
            metavar="FILE",
            help="The run, a .jsonl file. An interrupted run is continued; a finished one is "
            "asked again, and the old file kept with the ending .bak.",
        ),
        click.option(
            "--workers",
            type=int,
            metavar="N",
            help="Questions asked at a time. [default: 8; 1 for a command]",
        ),
        pace_options("question", timeout=30.0),
        click.option(
            "--warm-up",
            type=int,
            metavar="N",
            help="First questions to keep out of the latencies. [default: one per worker, at "
            "most a tenth of all]",
        ),
        click.option("--retry-errors", is_flag=True, help="Ask the failed questions again."),
        click.option("--restart", is_flag=True, help="Begin again, replacing the output."),
        click.option(
            "--resume",
            is_flag=True,
            help="Go on with the output as it is, also where it is finished or code has changed.",
        ),
        click.option(
            "--keep",
            is_flag=True,
            help="Leave a finished output as it is where neither settings nor code have changed.",
        ),
        renamed.renamed_option(
            "--cache-file",
            "cache",
            former="--cache",
            metavar="FILE",
            help="Keep answers in this file, and ask no question twice with the same settings.",
        ),
        click.option("--label", metavar="TEXT", help="A name for this version of the retriever."),
    )(function)


def _retriever_options(function: renamed.F) -> renamed.F:
    return renamed.apply(
        click.option(
            "--batch",
            type=int,
            metavar="N",
            help="For a function that takes a list: give it N questions at once.",
        ),
        click.option(
            "--param",
            "params",
            multiple=True,
            metavar="NAME=VALUE",
            help="For a function: a further argument; may be given several times.",
        ),
        click.option(
            "--request",
            metavar="JSON",
            help='For an address: what to send, such as \'{"q": "{query}", "top": "{k}"}\'.',
        ),
        click.option(
            "--method",
            metavar="GET|POST|PUT",
            help="For an address: how to ask it. [default: POST with --request, else GET]",
        ),
        click.option(
            "--header",
            "headers",
            multiple=True,
            metavar="'NAME: VALUE'",
            help="For an address: a header to send. $NAME in it is an environment variable, whose "
            "value is never written anywhere.",
        ),
        click.option(
            "--results", metavar="PATH", help="Where the results are, such as '$.hits[*]'."
        ),
        *(
            click.option(f"--{name}", metavar="PATH", help=f"Where in a result its {what} is.")
            for name, what in (
                ("id", "id"),
                ("score", "score"),
                ("text", "text"),
                ("document", "document"),
                ("start", "start in the document"),
                ("end", "end in the document"),
            )
        ),
        click.option(
            "--stage",
            "stages",
            multiple=True,
            metavar="NAME=PATH",
            help="Where an earlier stage's results are, such as 'candidates=$.candidates[*]'.",
        ),
    )(function)


@click.command(
    "retrieve", short_help="Ask a live retriever every question and keep what it returns."
)
@click.argument("retriever")
@click.argument("questions")
@_driver_options
@_retriever_options
@options.column_option
@options.config_option
@options.json_option
def command(
    retriever: str,
    questions: str,
    params: tuple[str, ...],
    headers: tuple[str, ...],
    stages: tuple[str, ...],
    columns: list[str] | None,
    config: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Ask a live retriever every question and write what it returns to a run.

    RETRIEVER is a Python function (package.module:function or file.py:function), an address
    (http://host/search?q={query}&k={k}) or a command (cmd:./search, which reads and writes JSON
    lines). QUESTIONS is a file with a "query" per record, a table with a column of questions, or
    the ground truth.

    Every finished question is in the output at once: after a crash or Ctrl-C the same command
    goes on where it stopped. A finished run is asked again, so that an edited function is
    measured as it is now.

    \b
    Examples:
      calipers retrieve mypackage.search:search questions.jsonl -k 20 -o run.jsonl
      calipers retrieve 'http://127.0.0.1:8000/search?q={query}&k={k}' questions.jsonl \\
          --results '$.hits[*]' -o run.jsonl
      calipers eval -g questions.jsonl --run run.jsonl
    """
    from calipers.live.settings import retrieve

    if stages:
        settings["stages"] = _pairs(stages, "=", "--stage", "candidates=$.candidates[*]")
    if headers:
        settings["headers"] = _pairs(headers, ":", "--header", "Authorization: Bearer $TOKEN")
    if params:
        pairs = _pairs(params, "=", "--param", "index=small")
        settings["params"] = {name: _value(text) for name, text in pairs.items()}
    said = options.filled(config, columns=columns)
    output = settings["output"]
    with asking() as (total, progress):
        try:
            # The run stays in its file; here only the report is needed.
            report = retrieve(
                retriever, questions, total=total, progress=progress, **said, **settings
            ).report
        except KeyboardInterrupt:
            click.echo(
                f"Every question that was finished is in {output}; the same command goes on.",
                err=True,
            )
            raise
    if as_json:
        print_json(report.to_dict())
        return
    from calipers.live.show import report_lines

    screen = console()
    for line in report_lines(report):
        screen.print(line, markup=False)
    what, next_command = _what_next(questions, output, said.get("columns"))
    screen.print(f"Written to {output}. {what}:", markup=False, soft_wrap=True)
    # Never broken over two lines: it is there to be copied.
    screen.print(f"  {shlex.join(next_command)}", markup=False, soft_wrap=True)
    if report.failed:
        screen.print("Ask the failed ones again: the same command with --retry-errors.")


def _what_next(questions: str, output: str, columns: Any) -> tuple[str, tuple[str, ...]]:
    """A command that works on what is there: questions may come without a ground truth."""
    from calipers.errors import CalipersError
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns

    said = Columns.of(columns)
    try:
        has_truth = load(questions, "ground_truth", None, said).ground_truth is not None
    except CalipersError:
        has_truth = False
    if has_truth:
        named = [word for one in said.named.items() for word in ("--column", "=".join(one))]
        return "Measure it", ("calipers", "eval", "-g", questions, "--run", output, *named)
    what = f"{questions} holds no ground truth; draft one from what was found"
    return what, ("calipers", "draft", output, "-o", "label.csv")


def _pairs(given: tuple[str, ...], divider: str, option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, divided, value = text.partition(divider)
        if not divided or not name.strip():
            # The value may be a secret, so it is not repeated here.
            raise InvalidInput(
                f"A value of {option} cannot be read: there is no {divider!r} in it; write it as "
                f"{option} '{example}'."
            )
        found[name.strip()] = value.strip()
    return found


def _value(text: str) -> Any:
    """A parameter as the number or the truth value it spells, else the text."""
    import msgspec

    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
