"""A report written down: the page, and the short form for a pull request."""

from os import PathLike
from pathlib import Path

import msgspec

from calipers.errors import InvalidInput
from calipers.io.write import check_place, whole_file
from calipers.model.report import Report
from calipers.present.html.details import Details
from calipers.present.html.page import render
from calipers.present.html.queries import query_data
from calipers.present.report_markdown import report_markdown as report_markdown

ENDINGS = (".html", ".htm", ".md", ".markdown")


def report_html(report: Report) -> str:
    """The page as one text that needs no other file."""
    return render(report)


def save_report(report: Report, path: str | PathLike[str]) -> list[Path]:
    """Write a page (.html) or the short form (.md); says which files were written.

    Where the page has no room for all rankings, the others are written beside it.
    """
    target = Path(path)
    check_report_place(target)
    if target.suffix.lower() in (".md", ".markdown"):
        return [_written(target, report_markdown(report))]
    left_out = query_data(report).left_out
    beside = target.with_name(f"{target.stem}.rankings.jsonl")
    files = [_written(target, render(report, beside.name if left_out else None))]
    if left_out:
        _write_rankings(report, left_out, beside)
        files.append(beside)
    return files


def check_report_place(path: str | PathLike[str]) -> None:
    """Complain before any work about a place where no report can be written."""
    check_place(path)
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(
            f"The report {path} has the ending {ending or 'nothing'!r}; a report can be written "
            f"to {', '.join(ENDINGS)}."
        )


def _write_rankings(report: Report, queries: tuple[str, ...], path: Path) -> None:
    sources = {one.name: Details(one) for one in report.systems}
    encode = msgspec.json.Encoder().encode
    with whole_file(path) as file:
        for query in queries:
            systems = {name: source.whole(query) for name, source in sources.items()}
            file.write(encode({"query": query, "systems": systems}) + b"\n")


def _written(target: Path, text: str) -> Path:
    with whole_file(target) as file:
        # Half a surrogate pair cannot be written; it is shown as what it is, a broken character.
        file.write(text.encode("utf-8", "replace"))
    return target
