"""The page, written from its view, its stylesheet and its script."""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.model.document import Document
from calipers.present.escape import clean
from calipers.present.html import for_page
from calipers.questions.misses.result import REASONS
from calipers.questions.report.page.details import Details
from calipers.questions.report.page.queries import QueryData
from calipers.questions.report.page.view import page_view
from calipers.questions.report.result import Report
from calipers.words import number

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Page:
    """The text of a page, and the queries whose rankings had no room in it."""

    text: str
    left_out: tuple[str, ...]
    sources: Mapping[str, Details]
    """Everything about these, by the name of the retriever."""


def render(report: Report, beside: str | None = None, *, full: bool = False) -> Page:
    """The report as one HTML text. ``beside`` names the file for what has no room in it."""
    view = page_view(report, beside, full=full)
    data: QueryData = view["data"]
    return Page(fill("page.html.j2", view, _read("script.js")), data.left_out, data.sources)


def document_page(document: Document, title: str) -> str:
    """A document as a page of its own."""
    view = {"answer": for_page(document, heading="h1"), "title": title}
    return fill("document.html.j2", view)


def fill(template: str, view: Mapping[str, Any], script: str = "") -> str:
    """A page from its template, with our stylesheet and at most our own script."""
    templates = environment()
    style = _read("style.css")
    markup = templates.markup
    page: str = templates.get_template(template).render(
        **view,
        # Both are ours and not the user's, so they are written as they are.
        style=markup(style),
        script=markup(script),
        policy=_policy(style, script),
    )
    return page


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, and of scripts and styles only our own two, known by their hashes."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _coded(text: str, markupsafe: Any) -> Any:
    """A sentence of ours with its commands set as code; all of it escaped."""
    escaped = str(markupsafe.escape(text))
    return markupsafe.Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped))


def environment(*more: Path) -> Any:
    """Templates of the report, and those of the folders given, with everything escaped."""
    import jinja2
    import markupsafe

    made: Any = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*more, HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["reasons"] = {reason.name: reason for reason in REASONS}
    made.globals["shown"] = lambda value: "–" if value is None else number(value)
    made.globals["tidy"] = clean
    made.globals["coded"] = lambda text: _coded(clean(text), markupsafe)
    made.markup = markupsafe.Markup
    return made
