"""Write a report: the page, and the short form for a pull request."""

from os import PathLike
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.io.files.write import check_place, ending_or, whole_file
from calipers.model.document import Document, Lines, Note
from calipers.present.escape import for_markdown, printable
from calipers.present.markdown import as_markdown
from calipers.present.scores import verdict
from calipers.questions.report.page.page import render
from calipers.questions.report.result import Report, SystemReport
from calipers.questions.report.rule import parts, summary

ENDINGS = (".html", ".htm", ".md", ".markdown")


def save_report(report: Report, path: str | PathLike[str]) -> None:
    """Write a page (.html) or the short form (.md) by file ending."""
    check_place(path)
    ending = ending_or(Path(path), ".html")
    if ending not in ENDINGS:
        raise InvalidInput(
            f"The report {path} has the ending {ending or 'nothing'!r}; a report can be written "
            f"to {', '.join(ENDINGS)}."
        )
    (save_markdown if ending in (".md", ".markdown") else save_html)(report, path)


def save_html(report: Report, path: str | PathLike[str]) -> None:
    """Write the page."""
    _write(Path(path), render(report))


def save_markdown(report: Report, path: str | PathLike[str]) -> None:
    """Write the short form."""
    _write(Path(path), report_markdown(report))


def _write(target: Path, text: str) -> None:
    with whole_file(target) as file:
        # A lone surrogate cannot be encoded; write a replacement character.
        file.write(text.encode("utf-8", "replace"))


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
