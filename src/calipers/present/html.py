"""Render a document as HTML for the report, the web app and notebooks."""

from collections.abc import Iterable, Sequence
from html import escape

from calipers.model.claim import SIGNS, Claim, Standing
from calipers.model.document import (
    Answers,
    Block,
    Cell,
    Column,
    Document,
    Lines,
    Note,
    Picture,
    Table,
    in_order,
    short_notes,
)
from calipers.present.drawing import in_notebook, on_page
from calipers.present.escape import clean
from calipers.present.retold import for_pages, with_keywords
from calipers.words import plural, whole_commands

NOTEBOOK = """<style>
.calipers p, .calipers ul {margin: 0.3em 0}
.calipers td, .calipers th {text-align: right; padding: 0.1em 0.6em}
.calipers .words {text-align: left}
.calipers .sign.better, .calipers .sign.passed {color: #218c40}
.calipers .sign.worse, .calipers .sign.failed {color: #d9443a}
.calipers .sign.no {color: #a37000}
</style>"""
"""A notebook may be light or dark: only the signs have fixed colours, visible on both."""


def for_notebook(document: Document) -> str:
    """Render the document for a notebook, with its charts."""
    shown = with_keywords(document)
    inner = heading_html(shown, "p") + _body(shown, shown.notes, notebook=True)
    return f'<div class="calipers">{NOTEBOOK}{inner}</div>'


def for_page(
    document: Document, *, heading: str = "h2", name: str = "", ident: str = ""
) -> str:
    """Render the document as a section of a page, with its sentence unless ``heading`` is empty."""
    document = for_pages(document)
    above = f'<p class="kicker">{escaped(name)}</p>' if name else ""
    title = heading_html(document, heading) if heading else ""
    marked = f' id="{escape(ident, quote=True)}"' if ident else ""
    body = _body(document, document.notes)
    return f'<section class="answer"{marked}>{above}{title}{body}</section>'


def _body(
    document: Document, notes: Iterable[Note | str], *, notebook: bool = False
) -> str:
    """The main table, the notes below it, the charts, and the collapsed details."""
    every = in_order(notes)
    shown, _ = short_notes(every)
    rest = [one for one in every if one not in shown]
    charts = [block for block in document.blocks if isinstance(block, Picture)]
    folded = [block for block in document.blocks if getattr(block, "detail", False)]
    first = [
        block for block in document.blocks if block not in charts and block not in folded
    ]
    parts = [
        *map(_block, first),
        *(f'<p class="note">{said}</p>' for said in _said(shown)),
        *(
            _picture(chart, notebook=notebook, above=document.sentence)
            for chart in charts
        ),
        *map(_block, folded),
    ]
    if folded_notes := _said(rest):
        lines = "".join(f"<p>{said}</p>" for said in folded_notes)
        more = plural(len(folded_notes), "more note" if shown else "note")
        parts.append(f"<details><summary>{more}</summary>{lines}</details>")
    return "".join(parts)


def _said(notes: Iterable[Note]) -> list[str]:
    """The notes as HTML, without those that only offered a command that cannot be given."""
    return [said for note in notes if (said := said_html(note.text))]


def blocks_html(blocks: Iterable[Block]) -> str:
    """Render blocks without a heading."""
    return "".join(map(_block, blocks))


def escaped(text: str) -> str:
    """Escape a text, and keep its line breaks."""
    return escape(clean(text)).replace("\n", "<br>")


def said_html(text: str) -> str:
    """Escape a sentence, and mark its commands as code."""
    parts = escaped(whole_commands(text)).split("`")
    if len(parts) % 2 == 0:
        return "`".join(parts)
    parts[1::2] = (f"<code>{part}</code>" for part in parts[1::2])
    return "".join(parts)


def _sign(standing: Standing | None, behind: str = " ") -> str:
    """The sign of a claim with its colour; empty without a standing."""
    if standing is None:
        return ""
    return f'<span class="sign {standing.split()[0]}">{SIGNS[standing]}</span>{behind}'


def heading_html(document: Document, tag: str) -> str:
    """The sign and the sentence of a document, as a heading."""
    inner = f"{_sign(document.standing)}{said_html(document.sentence)}"
    return f"<p><strong>{inner}</strong></p>" if tag == "p" else f"<{tag}>{inner}</{tag}>"


def _block(block: Block) -> str:
    if isinstance(block, Picture):
        return _picture(block, notebook=False, above="")
    if isinstance(block, Answers):
        return f'<ul class="claims">{"".join(map(_claim, block.claims))}</ul>' * bool(
            block.claims
        )
    made = _table(block) if isinstance(block, Table) else _lines(block)
    if not block.detail:
        title = f"<p><strong>{escaped(block.title)}</strong></p>" if block.title else ""
        return title + made
    return f"<details><summary>{escaped(block.title or 'More')}</summary>{made}</details>"


def _picture(block: Picture, *, notebook: bool, above: str) -> str:
    """A chart with its title, unless that is the sentence ``above`` it."""
    chart = block.draw()
    drawn = in_notebook(chart) if notebook else on_page(chart)
    is_said = chart.title.rstrip(".") == above.rstrip(".")
    caption = "" if is_said else f"<figcaption>{said_html(chart.title)}</figcaption>"
    return f"<figure>{caption}{drawn}</figure>" if drawn else ""


def _lines(block: Lines) -> str:
    every = map(said_html, block.lines)
    lines = "".join(f"<li>{said}</li>" for said in every if said)
    return f"<ul>{lines}</ul>" if lines else ""


def _claim(claim: Claim) -> str:
    behind = [said_html(text) for text in (claim.range, claim.next) if text]
    further = "".join(f"<br>{said}" for said in behind if said)
    fact = f"<strong>{said_html(claim.fact)}</strong>"
    return f"<li>{_sign(claim.standing)}{fact}{further}</li>"


PHONE = 44
"""Characters of a table that fit beside each other on a phone."""


def _table(table: Table) -> str:
    """A table; one that is wider than a phone is marked, so that a style may stack its rows."""
    columns = [
        Column(column) if isinstance(column, str) else column for column in table.columns
    ]
    stacks = _width(columns, table.rows) > PHONE
    heads = "".join(
        _cell("th" if one.head else "td", one, at, one.head)
        for at, one in enumerate(columns)
    )
    heads = (
        f"<thead><tr>{heads}</tr></thead>"
        if any(column.head for column in columns)
        else ""
    )
    body = "".join(_row(columns, row, stacks=stacks) for row in table.rows)
    more = f"<p><small>{said_html(table.more)}</small></p>" if table.more else ""
    # Focusable, so that a wide table can be scrolled by keyboard.
    named = escape(clean(table.title or columns[0].head or "Table"), quote=True)
    marked = "answer stack" if stacks else "answer"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{named}">'
        f'<table class="{marked}">{heads}'
        f"<tbody>{body}</tbody></table></div>{more}"
    )


def _width(columns: Sequence[Column], rows: Iterable[Sequence[Cell | str]]) -> int:
    """How many characters a table needs beside each other; prose can break between words."""
    widest = [_characters(column, column.head) for column in columns]
    for row in rows:
        for at, cell in enumerate(row):
            widest[at] = max(widest[at], _characters(columns[at], cell))
    return sum(widest) + 2 * len(widest)


def _characters(column: Column, cell: Cell | str) -> int:
    """The characters that a cell needs on one line."""
    text = cell if isinstance(cell, str) else cell.text
    sign = 0 if isinstance(cell, str) or not cell.standing else 2
    if column.words or column.prose:
        return max(map(len, text.split()), default=0) + sign
    return len(text) + sign


def _row(columns: Sequence[Column], row: Sequence[Cell | str], *, stacks: bool) -> str:
    """A row; where rows may be stacked, each cell names its column."""
    cells = (
        _cell("td", columns[at], at, cell, named=stacks) for at, cell in enumerate(row)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _cell(
    tag: str, column: Column, place: int, cell: Cell | str, *, named: bool = False
) -> str:
    attributes = ' class="words"' if column.words or column.prose or not place else ""
    if named and place and column.head:
        attributes += f' data-head="{escape(clean(column.head), quote=True)}"'
    if isinstance(cell, str):
        return f"<{tag}{attributes}>{said_html(cell)}</{tag}>"
    inner = said_html(cell.text)
    inner = f"<strong>{inner}</strong>" if cell.strong else inner
    sign = f" {_sign(cell.standing, '')}" if cell.standing else ""
    return f"<{tag}{attributes}>{inner}{sign}</{tag}>"
