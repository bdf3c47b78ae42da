"""What a judge is shown: an item without runs, ranks and opinions of others, and what is next."""

from typing import Any

from calipers.labels.desk import Desk
from calipers.labels.result import JudgeProgress
from calipers.present.escape import clean
from calipers.store.pool import LabelState, PoolItem

AHEAD = 4
"""Items that a page gets at once: the one to judge and what comes after it."""

LISTED_TEXT = 1_500
"""Characters of a text in the list of a question; one text alone is shown whole."""

TITLE = 200
"""Characters of a title; what is longer is cut."""

SENT = 20_000
"""Characters of a text that are sent unasked; a page asks for the rest."""


def shown_item(state: LabelState, item: PoolItem, judge: str) -> dict[str, Any]:
    """What a judge sees of an item: no run, no rank, no opinion of others."""
    mine = state.current(item.position, judge)
    return {
        "item": item.position,
        "key": item.key,
        "query_id": clean(item.label.query_id),
        "query": clean(item.label.query or item.label.query_id),
        "id": None if item.label.item is None else clean(item.label.item),
        "document": None if item.label.document is None else clean(item.label.document),
        "title": None if item.label.title is None else shown_title(item.label.title),
        "text": None if item.label.text is None else item.label.text[:SENT],
        "cut": len(item.label.text or "") > SENT,
        "mine": None
        if mine is None
        else {name: getattr(mine, name) for name in ("kind", "grade", "quote", "quote_start")},
        "note": state.note(item.position, judge),
    }


def shown_title(title: str) -> str:
    """A title in one line of a length that leaves room for the text.

    >>> shown_title("Locks  and   keys"), len(shown_title("x" * 10_000))
    ('Locks and keys', 201)
    """
    line = " ".join(clean(title[: 2 * TITLE]).split())
    return line if len(line) <= TITLE and len(title) <= 2 * TITLE else f"{line[:TITLE]}…"


def what_is_next(desk: Desk, judge: str, query: str | None, *, take: bool) -> dict[str, Any]:
    """What is next; only what is taken is kept for the judge, and looking takes nothing."""
    if take:
        items, progress = desk.take(judge, AHEAD, query or None)
    elif judge in desk.judges:
        items, progress = desk.ahead(judge, AHEAD, query or None)
    else:
        desk.state()
        items, progress = [], JudgeProgress(judge, 0, 0, 0, 0, None)
    state = desk.known
    return {
        "next": [shown_item(state, one, judge) for one in items],
        "progress": progress.to_dict(),
        "sample": sample_line(desk),
        "last": state.last,
    }


def sample_line(desk: Desk) -> str | None:
    """How wide the interval of a drawn sample is and will be; a value would sway who judges."""
    found = desk.sample()
    if found is None:
        return None
    return f"{found.line} {found.waiting}" if found.waiting else found.line
