"""Output to the terminal, to standard output as data, or to a file."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calipers.errors import InvalidInput
from calipers.model.fact import text_of
from calipers.model.result import SCHEMA
from calipers.present.escape import printable

if TYPE_CHECKING:
    from rich.console import Console

    from calipers.live.run_file import AnswerCounts
    from calipers.model.document import Document
    from calipers.questions.report.result import Report

_STEERING = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)
"""Control characters and direction marks in UTF-8, which JSON can escape."""
OUTPUTS = ("output", "html", "markdown", "junit", "per_query", "paths")
"""The parameters that name files to write."""


def console() -> "Console":
    """A rich console; on standard error if an output goes to standard output."""
    from rich.console import Console

    class PipedConsole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            with self.capture() as printed:
                super().print(*objects, **options)
            # A wrapped line keeps the blank at its end, which shows in files and diffs.
            self.file.write(re.sub(r"[ \t]+$", "", printed.get(), flags=re.MULTILINE))

        def on_broken_pipe(self) -> None:
            # rich would exit with 1, which here means a failed gate.
            raise BrokenPipeError

    # Without emoji: a name such as "machine:m:" must stay as it is.
    return PipedConsole(highlight=False, emoji=False, stderr=_is_taken())


def _is_taken() -> bool:
    """Whether an output of this command goes to standard output."""
    context = click.get_current_context(silent=True)
    return context is not None and any(_to_standard_output(context.params))


def is_quiet() -> bool:
    """Whether --quiet is given."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.params.get("quiet"))


def print_line(line: str, *, quiet: bool = False) -> None:
    """Print a line that needs no table; with --quiet only if it is the first."""
    if quiet or not is_quiet():
        click.echo(line, err=_is_taken())


def _to_standard_output(params: Mapping[str, object]) -> Iterator[str]:
    """The outputs of the command that go to standard output."""
    from calipers.io.files.write import is_standard_output

    for name in OUTPUTS:
        value = params.get(name)
        last = value[-1] if isinstance(value, tuple) and value else value
        if isinstance(last, str) and is_standard_output(last):
            yield name


def check_outputs(params: Mapping[str, object]) -> None:
    """Refuse, before any work, two formats, two outputs on standard output, an input as output."""
    from calipers.io.files.write import is_standard_output

    formats = {"as_json": "--json", "output_format": "--as", "quiet": "--quiet"}
    printed = [
        formats[name] for name, value in params.items() if value and name in formats
    ]
    taken = [f"--{name.replace('_', '-')}" for name in _to_standard_output(params)]
    if len(printed) > 1 or (taken and len(printed + taken) > 1):
        first, second, *_ = (*printed, *taken)
        raise InvalidInput(
            f"Both {first} and {second} are given, and standard output takes one; leave one out, "
            "or write it to a file.".replace("--paths", "the output")
        )
    # An output that is an input too would be lost.
    written = (*OUTPUTS, "to")
    read = [
        path
        for name, value in params.items()
        if name not in (*written, "add_to", "store")
        for text in (value if isinstance(value, tuple) else (value,))
        for path in ((text, text.partition("=")[2]) if isinstance(text, str) else ())
        if os.path.isfile(path)  # noqa: PTH113 - any text may stand here
    ]
    for target in (params.get(name) for name in written if name != "paths"):
        if not isinstance(target, str) or is_standard_output(target):
            continue
        if not os.path.isfile(target):  # noqa: PTH113 - any text may stand here
            continue
        if any(Path(target).samefile(other) for other in read):
            raise InvalidInput(
                f"The output {target} is read too, and would be lost; name another file."
            )


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON document, in UTF-8 whatever the terminal's encoding.

    A long list may be an iterator of pieces, of which one is in memory at a time: some
    members each, encoded and indented as in the document.
    """
    from uuid import uuid4

    import msgspec

    # A placeholder to find in the encoded text, so no data may contain it.
    here = uuid4().hex
    pieces: Iterator[bytes] = iter(())
    for name, member in value.items():
        if isinstance(member, Iterator):
            value = {**value, name: [here]}
            pieces = member
    # As bytes: in a str, one rare letter would make all of it four times as large.
    content = msgspec.json.encode({"schema": SCHEMA, **value}, enc_hook=text_of)
    before, mark, after = msgspec.json.format(content, indent=2).partition(
        f'\n    "{here}"\n  '.encode()
    )
    if not mark:
        click.echo(harmless(before))
        return
    between = b"\n"
    click.echo(harmless(before), nl=False)
    for piece in pieces:
        click.echo(between + harmless(piece), nl=False)
        between = b",\n"
    click.echo((b"" if between == b"\n" else b"\n  ") + harmless(after))


def harmless(document: bytes) -> bytes:
    """JSON with control characters and direction marks escaped.

    >>> harmless('"a\u202eb"'.encode())
    b'"a\\\\u202eb"'
    """
    if document.isascii() and b"\x7f" not in document:
        return document  # much faster than the search
    return _STEERING.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), document)


def write_page(report: "Report", path: str) -> None:
    """Write the HTML page of a report."""
    from calipers.questions.report.show import save_html

    save_html(report, path)


def write_document(document: "Document", path: str) -> None:
    """Write a document as an HTML page."""
    from calipers.questions.report.page.page import document_page

    write_bytes(path, document_page(document).encode("utf-8", "replace"))


def write_markdown(answer: Any, path: str) -> None:
    """Write an answer as Markdown."""
    from calipers.present.markdown import as_markdown

    write_bytes(path, as_markdown(answer.document()).encode("utf-8", "replace"))


def write_bytes(path: str, content: bytes) -> None:
    """Write a whole file."""
    from calipers.io.files.write import whole_file

    with whole_file(path) as file:
        file.write(content)


def check_output(path: str, kind: str = "page") -> None:
    """Check the path of a page, table, run or file of JSON lines before any work."""
    from calipers.io.files.write import check_place, check_writable, is_stream

    if kind == "table":
        check_writable(path)
    elif kind in ("run", "jsonl") and not path.endswith(".jsonl"):
        if kind == "jsonl" or not is_stream(path):
            raise InvalidInput(
                f"The output is {path!r}; it is JSON lines, so end it in .jsonl."
            )
    else:
        check_place(path)


def write_file(path: str | None, make: Callable[[], object]) -> None:
    """Write a file, if it is asked for, and name it on standard error."""
    from calipers.io.files.write import is_standard_output

    if path:
        with progress():
            make()
        if not is_standard_output(path):
            click.echo(f"Written to {path}", err=True)


PATIENCE_SECONDS = 2.0


@contextmanager
def progress() -> Iterator[dict[str, Callable[..., None]]]:
    """Callbacks of an operation that draw a progress bar on a terminal once the work takes long."""
    if not sys.stderr.isatty():
        yield {}
        return
    from threading import Timer

    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        Remaining(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    started = time.monotonic()
    task = bar.add_task("working", total=None)
    # What cannot say how far it is shows that it goes on.
    waited = Timer(PATIENCE_SECONDS, bar.start)
    waited.daemon = True
    waited.start()

    def move(doing: str, done: int, total: int) -> None:
        if time.monotonic() - started > PATIENCE_SECONDS:
            bar.start()
            bar.update(task, description=escape(doing), completed=done, total=total)

    def watch(counts: "AnswerCounts", questions: int) -> None:
        name = printable(counts.retriever, 40)
        failed = counts.errors.total()
        move(f"asking {name}, {failed:,} failed", counts.done, questions)

    try:
        yield {
            "watch": watch,
            "progress": lambda done, total: move("reading", done, total),
        }
    finally:
        waited.cancel()
        waited.join()
        bar.stop()
