"""A report written down: the page, and the short form for a pull request."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.write import check_place, ending_or, is_stream, whole_file
from calipers.model.document import Document, Lines, Note, note_texts
from calipers.present.escape import for_markdown, printable, query_name
from calipers.present.markdown import as_markdown, claims_markdown, table_markdown
from calipers.present.scores import notes_of, score_table
from calipers.questions.misses.result import REASONS
from calipers.questions.report.page.page import Page, render
from calipers.questions.report.page.view import headline, stem_of
from calipers.questions.report.result import Report, SystemReport
from calipers.questions.sweep.document import advice, leading_claim
from calipers.words import number

ENDINGS = (".html", ".htm", ".md", ".markdown")


def save_report(report: Report, path: str | PathLike[str], *, full: bool = False) -> list[Path]:
    """Write a page (.html) or the short form (.md), as the ending says; says which files."""
    check_report_place(path)
    short = Path(path).suffix.lower() in (".md", ".markdown")
    return save_markdown(report, path) if short else save_html(report, path, full=full)


def save_html(report: Report, path: str | PathLike[str], *, full: bool = False) -> list[Path]:
    """Write the page, and beside it the rankings it has no room for; says which files."""
    target = Path(path)
    beside = target.with_name(f"{target.stem}.rankings.jsonl")
    page = render(report, beside.name, full=full)
    # Beside a pipe or a device there is no place for a second file.
    also = bool(page.left_out) and not is_stream(target)
    if also:
        _write_rankings(page, beside)
    return [_written(target, page.text), *([beside] if also else [])]


def save_markdown(report: Report, path: str | PathLike[str]) -> list[Path]:
    """Write the short form; says which file."""
    return [_written(Path(path), report_markdown(report))]


def check_report_place(path: str | PathLike[str]) -> None:
    """Complain before any work about a place where no report can be written."""
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
        # Half a surrogate pair cannot be written; it is shown as what it is, a broken character.
        file.write(text.encode("utf-8", "replace"))
    return target


WORST = 5


def report_markdown(report: Report) -> str:
    """The sentence, numbers, findings and worst queries; of several, the comparison."""
    if report.comparison is None:
        lines = list(_system(report.systems[0]))
    else:
        lines = [as_markdown(report.comparison.document()).rstrip()]
        for one in report.systems:
            name = for_markdown(headline(one, printable(one.name, 40)))
            lines += ["", f"**{for_markdown(one.name, 40)}**: {name}"]
    return "\n".join(lines) + "\n"


def _system(system: SystemReport) -> Iterator[str]:
    yield f"## {for_markdown(headline(system, printable(system.name, 40)))}"
    yield ""
    yield from table_markdown(score_table(system.scores))
    if system.sweep:
        yield ""
        yield from claims_markdown([leading_claim(system.sweep)]).splitlines()
        yield from (f"- {for_markdown(line)}" for line in advice(system.sweep))
    if system.floor:
        yield from claims_markdown([system.floor.claim]).splitlines()
    if system.slices and system.slices.claims:
        yield from ("", "### Slices", "")
        yield from claims_markdown(system.slices.claims).splitlines()
    yield from _findings(system)
    yield from _losses(system)
    yield from _worst(system)
    yield from ("", "<details><summary>What was counted</summary>", "")
    yield from (f"- {for_markdown(line)}" for line in note_texts(notes_of(system.scores)))
    yield from ("", "</details>")


def _findings(system: SystemReport) -> Iterator[str]:
    if not system.diagnosis:
        return
    yield from ("", "### Diagnosis", "")
    if not system.diagnosis.findings:
        yield from claims_markdown([system.diagnosis.claim]).splitlines()
    for finding in system.diagnosis.findings:
        yield f"- **{for_markdown(finding.title)}** (confidence: {finding.confidence})"
        yield from (f"  - {for_markdown(line)}" for line in finding.evidence)
        yield from (f"  - → {for_markdown(line)}" for line in finding.advice)


def _losses(system: SystemReport) -> Iterator[str]:
    if not system.misses or not system.misses.reasons:
        return
    yield from (
        "",
        "### Where recall is lost",
        "",
        "| misses | reason | what to do |",
        "|--:|---|---|",
    )
    for reason in REASONS:
        if count := system.misses.reasons.get(reason.name):
            remedy = for_markdown(system.misses.remedy(reason.name))
            yield f"| {count:,} | {for_markdown(reason.means)} | {remedy} |"


def _worst(system: SystemReport) -> Iterator[str]:
    name = stem_of(system, "recall").metric
    table = system.head.per_query.filter(system.head.per_query[name].is_not_null())
    worst = table.sort(name, maintain_order=True).head(WORST)
    if not worst.height or worst[name][0] >= 1:
        return
    yield from ("", "### The worst queries", "", f"| {for_markdown(name)} | query |", "|--:|---|")
    for query, text, value in worst.select("query", "text", name).iter_rows():
        if value < 1:
            yield f"| {number(value)} | {for_markdown(query_name(query, text))} |"


def document(report: Report) -> Document:
    """The sentence of each system, and how to write the page."""
    first, *others = [headline(one, printable(one.name, 40)) for one in report.systems]
    how = Note("next", "save() writes the page (.html) or the short form (.md).")
    return Document(first, blocks=[Lines(others)] if others else [], notes=[how])
