"""Write a report as a page."""

from os import PathLike
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.io.files.write import check_place, ending_or, whole_file
from calipers.model.document import Document, Lines, Note
from calipers.present.escape import printable
from calipers.present.scores import verdict
from calipers.questions.report.page.page import render
from calipers.questions.report.result import Report, SystemReport


def save_report(report: Report, path: str | PathLike[str]) -> None:
    """Write the page to a file whose ending says what it is."""
    check_place(path)
    ending = ending_or(Path(path), ".html")
    if ending not in (".html", ".htm"):
        raise InvalidInput(
            f"The report {path} has the ending {ending or 'nothing'!r}; a report is a page, so "
            "end it in .html."
        )
    save_html(report, path)


def save_html(report: Report, path: str | PathLike[str]) -> None:
    """Write the page."""
    with whole_file(Path(path)) as file:
        # A lone surrogate cannot be encoded; write a replacement character.
        file.write(render(report).encode("utf-8", "replace"))


def document(report: Report) -> Document:
    """The main sentence of each system, and how to write the page."""
    first, *others = map(_said, report.systems)
    how = Note("next", "save() writes the page (.html).")
    return Document(first, blocks=[Lines(others)] if others else [], notes=[how])


def _said(system: SystemReport) -> str:
    return f"{printable(system.name, 40)}: {verdict(system.scores)}"
