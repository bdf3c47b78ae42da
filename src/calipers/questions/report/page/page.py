"""Render the page from its template, stylesheet and script."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from calipers.model.document import Document
from calipers.present.escape import clean
from calipers.present.html import blocks_html, for_page, heading_html, said_html
from calipers.present.scores import verdict
from calipers.questions.report.page.excerpt import LONGEST
from calipers.questions.report.page.queries import QueryData, query_data
from calipers.questions.report.parts import parts, settings_table, summary
from calipers.questions.report.result import Report, SystemReport
from calipers.words import listed, number

HERE = Path(__file__).parent
STATIC_ROWS = 50
"""Rows of the table that are in the HTML itself, for readers without JavaScript."""
EXAMPLES = 5
"""Wins and losses of each system whose rankings are always on the page."""
MOST_VALUES = 50
"""Tags with more values than this cannot be filtered by."""


def render(report: Report, *, above: str = "", back: str = "") -> str:
    """Render the report as HTML.

    ``above`` is HTML to put first, and ``back`` the address of the page that leads here.
    """
    comparison = report.comparison
    moved = (
        []
        if comparison is None
        else [
            one.query
            for name in comparison.others
            for wins in (True, False)
            for one in comparison.largest(name, comparison.leading, wins=wins, count=EXAMPLES)
        ]
    )
    data = query_data(report, moved)
    first = report.systems[0]
    answer = summary(first.browse) if comparison is None else comparison.document()
    view = {
        "title": listed([clean(one.name) for one in report.systems]),
        "k": report.k,
        "version": report.scores.settings["calipers"],
        "answer": answer,
        "several": comparison is not None,
        "systems": [_system(one, at, len(report.systems)) for at, one in enumerate(report.systems)],
        "data": data,
        "room": _room(data),
        "static": _static(data),
        "tags": _tag_choices(data),
        "settings": blocks_html([settings_table(first.browse)]),
        "definitions": report.definitions,
        "above": above,
        "back": back,
    }
    return fill("page.html.j2", view, _read("script.js"))


def _system(system: SystemReport, at: int, count: int) -> dict[str, Any]:
    """The template values of one retriever: its parts and their anchors."""
    several = count > 1
    before = f"s{at + 1}-" if several else ""
    return {
        "name": clean(system.name),
        "lead": verdict(system.scores),
        "links": [(one.ident, one.name) for one in parts(system)],
        "summary": for_page(summary(system.browse), heading="") if several else "",
        "parts": part_sections(system, heading="h3" if several else "h2", before=before),
    }


def part_sections(system: SystemReport, *, heading: str = "h2", before: str = "") -> str:
    """The parts of a report on one retriever as HTML."""
    return "".join(
        for_page(one.document, heading=heading, name=one.name, ident=before + one.ident)
        for one in parts(system)
    )


def _room(data: QueryData) -> list[str]:
    lines = []
    if data.rows < data.all_rows:
        lines.append(
            f"The page holds {data.rows:,} of {data.all_rows:,} queries: the worst, and a sample "
            "of the others. calipers serve lists all of them."
        )
    if data.cut < LONGEST:
        lines.append(f"Of each text, {data.cut} characters around what was matched are shown.")
    return lines


def _static(data: QueryData) -> list[list[Any]]:
    """The worst rows, in the initial order of the page."""

    def worth(row: list[Any]) -> tuple[bool, float]:
        value = row[3][0][0][0]
        return (value is None, value or 0.0)

    return sorted(data.values["rows"], key=worth)[:STATIC_ROWS]


def _tag_choices(data: QueryData) -> list[tuple[str, list[str]]]:
    choices = []
    for at, tag in enumerate(data.values["tags"]):
        values = sorted({row[2][at] for row in data.values["rows"] if row[2][at] is not None})
        if 1 < len(values) <= MOST_VALUES:
            choices.append((tag, values))
    return choices


def document_page(document: Document, title: str, *, above: str = "", back: str = "") -> str:
    """Render a document as a page of its own; ``above`` and ``back`` as for ``render``."""
    answer = above + for_page(document, heading="h1")
    view = {"answer": answer, "title": title, "back": back}
    return fill("document.html.j2", view)


def fill(template: str, view: Mapping[str, Any], script: str = "") -> str:
    """Render a template with our stylesheet and, if given, our script."""
    templates = environment()
    style = _read("style.css")
    markup = templates.markup
    page: str = templates.get_template(template).render(
        **view,
        # Both are ours, not the user's, so they are not escaped.
        style=markup(style),
        script=markup(script),
        policy=_policy(style, script),
    )
    return page


def _policy(style: str, script: str) -> str:
    """The content security policy: nothing is loaded; our script and style are allowed by hash."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


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
        tidy=clean,
        coded=lambda text: made.markup(said_html(text)),
        heading=heading_html,
        body=lambda document: for_page(document, heading=""),
    )
    made.markup = markupsafe.Markup
    return made
