"""Render a document as Markdown, for pull requests, build summaries and files."""

from collections.abc import Iterator

from calipers.model.claim import SIGNS, Claim
from calipers.model.document import (
    Answers,
    Block,
    Cell,
    Column,
    Document,
    Lines,
    Table,
    in_order,
    short_notes,
)
from calipers.present.escape import for_markdown
from calipers.words import whole_commands


def as_markdown(document: Document, *, explain: bool = False) -> str:
    """Render the document, its sentence as a heading, with details and further notes collapsed."""
    sign = f"{SIGNS[document.standing]} " if document.standing else ""
    parts = [f"## {sign}{_text(document.sentence)}"]
    parts += [
        _block(block) for block in document.blocks if not getattr(block, "detail", False)
    ]
    every = in_order(document.notes)
    shown = every if explain else short_notes(document.notes)[0]
    parts.append("\n".join(f"- {_text(note.text)}" for note in shown))
    details = [
        _block(block) for block in document.blocks if getattr(block, "detail", False)
    ]
    rest = [note for note in every if note not in shown]
    details.append("\n".join(f"- {_text(note.text)}" for note in rest))
    if any(details):
        folded = "\n\n".join(filter(None, details))
        parts.append(f"<details><summary>More</summary>\n\n{folded}\n\n</details>")
    return "\n\n".join(filter(None, parts)) + "\n"


def _text(text: str) -> str:
    return for_markdown(whole_commands(text))


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return "\n".join([*_title(block.title), *table_markdown(block)])
    if isinstance(block, Lines):
        return "\n".join(
            [*_title(block.title), *(f"- {for_markdown(line)}" for line in block.lines)]
        )
    if isinstance(block, Answers):
        return "\n".join(map(_claim, block.claims))
    return ""  # charts are only for HTML


def _title(title: str) -> list[str]:
    return [f"**{for_markdown(title)}**", ""] if title else []


def _claim(claim: Claim) -> str:
    further = " ".join(
        _text(sentence) for sentence in (claim.range, claim.next) if sentence
    )
    return f"- **{for_markdown(claim.line)}**{' ' + further if further else ''}"


def table_markdown(table: Table) -> Iterator[str]:
    """The lines of a table."""
    columns = [
        Column(column) if isinstance(column, str) else column for column in table.columns
    ]
    yield _row([for_markdown(column.head) for column in columns])
    left = (column.words or column.prose or not at for at, column in enumerate(columns))
    yield "".join("|---" if is_left else "|--:" for is_left in left) + "|"
    for row in table.rows:
        yield _row([_cell(cell) for cell in row])
    if table.more:
        yield from ("", for_markdown(table.more))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return for_markdown(cell)
    text = for_markdown(cell.text)
    text = f"**{text}**" if cell.strong and text else text
    return f"{text} {SIGNS[cell.standing]}" if cell.standing else text
