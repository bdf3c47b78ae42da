"""A report written down: the page, and the short form for a pull request."""

from os import PathLike
from pathlib import Path

import msgspec

from calipers.errors import InvalidInput
from calipers.io.write import check_place, whole_file
from calipers.model.report import Report
from calipers.present.html.details import Details
from calipers.present.html.page import render
from calipers.present.report_markdown import report_markdown as report_markdown

ENDINGS = (".html", ".htm", ".md", ".markdown")


def report_html(report: Report) -> str:
    """The page as one text that needs no other file."""
    return render(report).text


def save_report(report: Report, path: str | PathLike[str]) -> list[Path]:
    """Write a page (.html) or the short form (.md), as the ending says; says which files."""
    check_report_place(path)
    short = Path(path).suffix.lower() in (".md", ".markdown")
    return save_markdown(report, path) if short else save_html(report, path)


def save_html(report: Report, path: str | PathLike[str]) -> list[Path]:
    """Write the page, and beside it the rankings it has no room for; says which files."""
    target = Path(path)
    beside = target.with_name(f"{target.stem}.rankings.jsonl")
    page = render(report, beside.name)
    if page.left_out:
        _write_rankings(report, page.left_out, beside)
    return [_written(target, page.text), *([beside] if page.left_out else [])]


def save_markdown(report: Report, path: str | PathLike[str]) -> list[Path]:
    """Write the short form; says which file."""
    return [_written(Path(path), report_markdown(report))]


def check_report_place(path: str | PathLike[str]) -> None:
    """Complain before any work about a place where no report can be written."""
    check_place(Path(path))
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
