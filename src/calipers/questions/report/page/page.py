"""Render the page of a report from its template and stylesheet; it has no script."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from calipers.model.document import Document
from calipers.present.escape import clean
from calipers.present.html import blocks_html, for_page, heading_html, said_html
from calipers.questions.compare.query_differences import contrast
from calipers.questions.report.browse import FEWEST_SHOWN, lost_because
from calipers.questions.report.page.details import LONGEST, Details, ShownSystem, beside
from calipers.questions.report.result import Report, SystemReport
from calipers.questions.report.rule import ReportPart, parts, settings_table, summary
from calipers.words import listed, number

HERE = Path(__file__).parent
MOST_QUERIES = 200
"""The queries on a page; ``calipers serve`` lists all of them."""
TEXT_BYTES = 4_000_000
"""About how many bytes of texts a page holds; each is cut to its part of it."""
SHORTEST = 60
QUERY_TEXT = 300
STATES = {"not relevant": "judged not relevant", "repeated": "stood above already"}
"""The states of a result that need more words."""


def render(report: Report, *, above: str = "", back: str = "") -> str:
    """Render the report as HTML.

    ``above`` is HTML to put first, and ``back`` the address of the page that leads here.
    """
    first = report.systems[0]
    found = report.comparison
    sections = parts(first)
    return fill(
        "page.html.j2",
        title=listed([clean(system.name) for system in report.systems]),
        version=report.scores.recorded.version,
        answer=summary(first.browse) if found is None else found.document(),
        several=found is not None,
        links=[(section.ident, section.name) for section in sections],
        parts=part_sections(sections),
        lists=[_worst(first)] if found is None else _differing(report),
        settings=blocks_html([settings_table(first.browse)]),
        definitions=report.definitions,
        above=above,
        back=back,
    )


def part_sections(sections: Iterable[ReportPart]) -> str:
    """The parts of a report on one retriever as HTML."""
    return "".join(
        for_page(section.document, name=section.name, ident=section.ident)
        for section in sections
    )


def _worst(system: SystemReport) -> dict[str, object]:
    """The worst queries of one retriever, with its main metrics."""
    browse = system.browse
    names = browse.scores.queries["query"].gather(browse.worst_first[:MOST_QUERIES])
    shown = names.to_frame().join(browse.table, "query", "left", maintain_order="left")
    opened = _opened((system,), names)
    rows = []
    for row in shown.iter_rows(named=True):
        values = {
            "text": clean((row["text"] or row["query"])[:QUERY_TEXT]),
            "values": [(name, row[name]) for name in browse.shown],
            "why": None,
            "opened": opened[row["query"]],
        }
        rows.append(values)
    return {"title": "Queries, the worst first", "rows": rows, "all": len(browse.scores)}


def _differing(report: Report) -> Iterator[dict[str, object]]:
    """The queries that lost and that gained most in the leading metric, with the reasons."""
    found = report.comparison
    assert found is not None  # noqa: S101 - only a comparison is asked for
    for only in ("worse", "better"):
        page = contrast(found, found.leading, only=only, size=MOST_QUERIES // 2)
        reasons = lost_because(
            {system.name: system.browse for system in report.systems}, page.rows
        )
        names = pl.Series([row.query for row in page.rows], dtype=pl.String)
        opened = _opened(report.systems, names)
        rows = [
            {
                "text": clean((row.text or row.query)[:QUERY_TEXT]),
                "values": [*zip(map(clean, found.systems), row.values, strict=True)],
                "difference": row.difference,
                "why": reasons.get(row.query) if only == "worse" else None,
                "opened": opened[row.query],
            }
            for row in page.rows
        ]
        title = f"Queries that got {only} in {found.leading}"
        yield {"title": title, "rows": rows, "all": page.found, "only": only}


def _opened(
    systems: tuple[SystemReport, ...], names: pl.Series
) -> dict[str, list[ShownSystem]]:
    """What each query should find and what every system returned, texts cut to fit the page."""
    depth = max(systems[0].k, FEWEST_SHOWN)
    room = (
        TEXT_BYTES // (max(names.len(), 1) * depth * len(systems)) - 150
    )  # for names and marks
    cut = max(SHORTEST, min(LONGEST, room))
    details = {system: Details(system.browse, names) for system in systems}
    opened = {}
    for query in names:
        columns: list[ShownSystem] = []
        for system, known in details.items():
            shown = known.of(query, cut)
            columns.append(
                {
                    "name": clean(system.name),
                    "by_id": system.browse.by_id,
                    "expected": shown["expected"],
                    "results": shown["results"],
                }
            )
        opened[query] = beside(columns)
    return opened


def document_page(
    document: Document, title: str = "", *, above: str = "", back: str = ""
) -> str:
    """Render a document as a page of its own; ``above`` and ``back`` as for ``render``.

    The title of the window is the document's sentence unless it is given.
    """
    answer = above + for_page(document, heading="h1")
    return fill(
        "frame.html.j2", answer=answer, title=title or clean(document.sentence), back=back
    )


def fill(template: str, **view: object) -> str:
    """Render a template with our stylesheet; it may load nothing and run nothing."""
    templates = environment()
    style = (HERE / "style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    # The style is ours, not the user's, so it is not escaped.
    values: Mapping[str, Any] = {
        **view,
        "style": templates.markup(style),
        "policy": policy,
    }
    page: str = templates.get_template(template).render(values)
    return page


def _signed(value: float | None) -> str:
    if value is None:
        return "–"
    # No ± before a zero, which would read as an uncertainty.
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"


@cache
def environment(*more: Path) -> Any:
    """The templates of the report and of the given folders, with autoescaping."""
    import jinja2
    import markupsafe

    made: Any = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*more, HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        shown=lambda value: "–" if value is None else number(value),
        signed=_signed,
        tidy=clean,
        coded=lambda text: made.markup(said_html(text)),
        heading=heading_html,
        body=lambda document: for_page(document, heading=""),
        states=STATES,
    )
    made.markup = markupsafe.Markup
    return made
