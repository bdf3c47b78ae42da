"""A document as Python or a page says it: with keywords or settings in place of options."""

from collections.abc import Callable
from dataclasses import replace

from calipers.keywords import as_settings, in_cell, in_python
from calipers.model.claim import Claim
from calipers.model.document import (
    Answers,
    Block,
    Cell,
    Document,
    Lines,
    Table,
    in_order,
)

Say = Callable[[str], str]


def with_keywords(document: Document) -> Document:
    """The document as Python says it."""
    return _retold(document, in_python)


def for_pages(document: Document) -> Document:
    """The document as a page says it."""
    return _retold(document, as_settings)


def _retold(document: Document, say: Say) -> Document:
    return replace(
        document,
        sentence=say(document.sentence),
        blocks=[_block(block, say) for block in document.blocks],
        notes=[note._replace(text=say(note.text)) for note in in_order(document.notes)],
    )


def _block(block: Block, say: Say) -> Block:
    if isinstance(block, Table):
        rows = [[_cell(cell, say) for cell in row] for row in block.rows]
        return replace(block, rows=rows, more=say(block.more))
    if isinstance(block, Lines):
        return replace(block, lines=[in_cell(line, say) for line in block.lines])
    if isinstance(block, Answers):
        return replace(block, claims=[_claim(claim, say) for claim in block.claims])
    return block


def _claim(claim: Claim, say: Say) -> Claim:
    """A claim whose sentences are said so."""
    following = None if claim.next is None else say(claim.next)
    return replace(claim, fact=say(claim.fact), next=following)


def _cell(cell: Cell | str, say: Say) -> Cell | str:
    if isinstance(cell, str):
        return in_cell(cell, say)
    return replace(cell, text=in_cell(cell.text, say))
