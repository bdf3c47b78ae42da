"""A document as HTML: the same markup for the report, the web app and notebooks."""

from collections.abc import Iterable
from html import escape

from calipers.model.claim import SIGNS, Claim, Standing
from calipers.model.document import (
    Answers,
    Block,
    Cell,
    Column,
    Document,
    Heading,
    Lines,
    Note,
    Picture,
    Table,
    in_order,
    short_notes,
)
from calipers.present.chart_output import in_notebook, on_page
from calipers.present.escape import clean
from calipers.present.terminal import in_python
from calipers.words import plural, whole_commands

NOTEBOOK = """<style>
.calipers p, .calipers ul {margin: 0.3em 0}
.calipers td, .calipers th {text-align: right; padding: 0.1em 0.6em}
.calipers .words {text-align: left}
.calipers .sign.better, .calipers .sign.passed {color: #218c40}
.calipers .sign.worse, .calipers .sign.failed {color: #d9443a}
.calipers .sign.no {color: #a37000}
</style>"""
"""A notebook may be light or dark: no colour is fixed but that of the signs, seen on both."""


def for_notebook(document: Document) -> str:
    """The document as a notebook shows it, with its charts."""
    parts = [_sentence(document, "p"), *(_block(one, notebook=True) for one in document.blocks)]
    notes = [one._replace(text=in_python(one.text)) for one in in_order(document.notes)]
    inner = "".join([*parts, _notes(notes)])
    return f'<div class="calipers">{NOTEBOOK}{inner}</div>'


def for_page(document: Document, *, heading: str = "h2") -> str:
    """The document as a part of a page; the sentence stands in ``heading``."""
    parts = [_sentence(document, heading), *map(_block, document.blocks), _notes(document.notes)]
    return f'<section class="answer">{"".join(parts)}</section>'


def blocks_html(blocks: Iterable[Block]) -> str:
    """Some blocks alone, where the page has a heading of its own."""
    return "".join(map(_block, blocks))


def notes_html(notes: Iterable[Note | str]) -> str:
    """Notes alone: those that matter, and the rest folded."""
    return _notes(notes)


def escaped(text: str) -> str:
    """A text that no browser takes for markup, its line ends kept."""
    return escape(clean(text)).replace("\n", "<br>")


def _said(text: str) -> str:
    """A sentence, its commands marked as code."""
    parts = escaped(whole_commands(text)).split("`")
    if len(parts) % 2 == 0:
        return "`".join(parts)
    parts[1::2] = (f"<code>{one}</code>" for one in parts[1::2])
    return "".join(parts)


def _sign(standing: Standing | None, behind: str = " ") -> str:
    if standing is None:
        return ""
    return f'<span class="sign {standing.split()[0]}">{SIGNS[standing]}</span>{behind}'


def _sentence(document: Document, tag: str) -> str:
    inner = f"{_sign(document.standing)}{_said(document.sentence)}"
    return f"<p><strong>{inner}</strong></p>" if tag == "p" else f"<{tag}>{inner}</{tag}>"


def _block(block: Block, *, notebook: bool = False) -> str:
    if isinstance(block, Picture):
        return in_notebook(block.draw()) if notebook else on_page(block.draw())
    if isinstance(block, Heading):
        return f"<h3>{escaped(block.text)}</h3>"
    if isinstance(block, Answers):
        return f'<ul class="claims">{"".join(map(_claim, block.claims))}</ul>' * bool(block.claims)
    made = _table(block) if isinstance(block, Table) else _lines(block)
    if not block.detail:
        title = f"<p><strong>{escaped(block.title)}</strong></p>" if block.title else ""
        return title + made
    return f"<details><summary>{escaped(block.title or 'More')}</summary>{made}</details>"


def _lines(block: Lines) -> str:
    return f"<ul>{''.join(f'<li>{escaped(one)}</li>' for one in block.lines)}</ul>"


def _claim(claim: Claim) -> str:
    further = "".join(f"<br>{_said(one)}" for one in (claim.range, claim.next) if one)
    fact = f"<strong>{_said(claim.line[2:])}</strong>"
    return f"<li>{_sign(claim.standing)}{fact}{further}</li>"


def _table(table: Table) -> str:
    columns = [Column(one) if isinstance(one, str) else one for one in table.columns]
    heads = "".join(_cell("th", one, at, one.head) for at, one in enumerate(columns))
    body = "".join(
        "<tr>"
        + "".join(_cell("td", columns[at], at, cell) for at, cell in enumerate(row))
        + "</tr>"
        for row in table.rows
    )
    more = f"<p><small>{_said(table.more)}</small></p>" if table.more else ""
    # Reached by the keyboard: a wide table scrolls on a narrow screen.
    named = escape(clean(table.title or columns[0].head or "Table"), quote=True)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{named}">'
        f'<table class="answer"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{more}"
    )


def _cell(tag: str, column: Column, place: int, cell: Cell | str) -> str:
    left = ' class="words"' if column.words or column.prose or not place else ""
    if isinstance(cell, str):
        return f"<{tag}{left}>{_said(cell)}</{tag}>"
    inner = _said(cell.text)
    inner = f"<strong>{inner}</strong>" if cell.strong else inner
    sign = f" {_sign(cell.standing, '')}" if cell.standing else ""
    return f"<{tag}{left}>{inner}{sign}</{tag}>"


def _notes(notes: Iterable[Note | str]) -> str:
    every = in_order(notes)
    shown, _ = short_notes(every)
    rest = [one for one in every if one not in shown]
    lines = "".join(f'<p class="note"><small>{_said(one.text)}</small></p>' for one in shown)
    if not rest:
        return lines
    folded = "".join(f"<p><small>{_said(one.text)}</small></p>" for one in rest)
    more = plural(len(rest), "more note" if shown else "note")
    return f"{lines}<details><summary><small>{more}</small></summary>{folded}</details>"
