"""Write a report: the page, and the short form for a pull request."""

from os import PathLike
from pathlib import Path

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.write import check_place, ending_or, is_stream, whole_file
from calipers.model.document import Document, Lines, Note
from calipers.present.escape import for_markdown, printable
from calipers.present.markdown import as_markdown
from calipers.present.scores import verdict
from calipers.questions.report.page.page import Page, render
from calipers.questions.report.parts import parts, summary
from calipers.questions.report.result import Report, SystemReport

ENDINGS = (".html", ".htm", ".md", ".markdown")


def save_report(report: Report, path: str | PathLike[str], *, full: bool = False) -> list[Path]:
    """Write a page (.html) or the short form (.md) by file ending; return the files."""
    check_report_place(path)
    short = Path(path).suffix.lower() in (".md", ".markdown")
    return save_markdown(report, path) if short else save_html(report, path, full=full)


def save_html(report: Report, path: str | PathLike[str], *, full: bool = False) -> list[Path]:
    """Write the page, and the rankings that do not fit in a second file; return the files."""
    target = Path(path)
    beside = target.with_name(f"{target.stem}.rankings.jsonl")
    page = render(report, beside.name, full=full)
    # A pipe or a device has no folder for a second file.
    also = bool(page.left_out) and not is_stream(target)
    if also:
        _write_rankings(page, beside)
    return [_written(target, page.text), *([beside] if also else [])]


def save_markdown(report: Report, path: str | PathLike[str]) -> list[Path]:
    """Write the short form; return the file."""
    return [_written(Path(path), report_markdown(report))]


def check_report_place(path: str | PathLike[str]) -> None:
    """Raise before any work if no report can be written there."""
    check_place(path)
    ending = ending_or(Path(path), ".html")
    if ending not in ENDINGS:
        raise InvalidInput(
            f"The report {path} has the ending {ending or 'nothing'!r}; a report can be written "
            f"to {', '.join(ENDINGS)}."
        )


def _write_rankings(page: Page, path: Path) -> None:
    encode = msgspec.json.Encoder().encode
    with whole_file(path) as file:
        for query in page.left_out:
            systems = {name: source.whole(query) for name, source in page.sources.items()}
            file.write(encode({"query": query, "systems": systems}) + b"\n")


def _written(target: Path, text: str) -> Path:
    with whole_file(target) as file:
        # A lone surrogate cannot be encoded; write a replacement character.
        file.write(text.encode("utf-8", "replace"))
    return target


def report_markdown(report: Report) -> str:
    """The answers about one retriever, or the comparison of several."""
    if report.comparison is None:
        first, *_ = report.systems
        made = [as_markdown(summary(first.browse))]
        made += (as_markdown(one.document, level=3) for one in parts(first, examples=True))
        return "\n".join(made)
    found = "\n".join(f"- {for_markdown(_said(one))}" for one in report.systems)
    return f"{as_markdown(report.comparison.document())}\n{found}\n"


def document(report: Report) -> Document:
    """The main sentence of each system, and how to write the page."""
    first, *others = map(_said, report.systems)
    how = Note("next", "save() writes the page (.html) or the short form (.md).")
    return Document(first, blocks=[Lines(others)] if others else [], notes=[how])


def _said(system: SystemReport) -> str:
    return f"{printable(system.name, 40)}: {verdict(system.scores)}"
