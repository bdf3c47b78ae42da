"""The JSON API for judging: the queue, the labels, and the owner's actions."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.labels.desk import PoolSession
from calipers.labels.exchange import TOOLS, write_every_label, write_tasks
from calipers.model.fact import text_of
from calipers.present.escape import clean
from calipers.store.pool import LabelState, PoolChange, PoolItem
from calipers.web.pages import asked, desk_of, shown_title
from calipers.web.sources import WebSources

MOST_QUERIES = 2_000
"""The most questions that one request may add to a pool."""
AHEAD = 20
"""Items sent to a page at once, so that a lost connection does not stop the judge."""
SENT = 20_000
"""Characters of a text that are sent at first; the page requests the rest."""
S = TypeVar("S")
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Request_ = Annotated[
    str, msgspec.Meta(min_length=8, max_length=64, pattern="^[A-Za-z0-9_-]+$")
]


class Taking(msgspec.Struct, forbid_unknown_fields=True):
    """A judge's request for the next items."""

    judge: str | None = None
    """The judge of the page; refused if someone else has signed in since in that browser."""
    query: str | None = None
    """The question whose results are to come first."""


class Given(Taking, forbid_unknown_fields=True, kw_only=True):
    """A label to be added to the log."""

    request: Request_
    item: int = 0
    shown: str | None = None
    """The key of the item on the page; refused if it is not the key of ``item``."""
    seen: int | None = None
    """The judge's label that the page shows, 0 for none; another tab may have added one."""
    kind: Literal["label", "skip", "note", "undo"] = "label"
    grade: float | None = None
    quote: str | None = None
    quote_start: int | None = None
    """Where the quote begins in the text, in characters."""
    note: str | None = None


class WantedPage(msgspec.Struct, forbid_unknown_fields=True):
    """A request to judge all results of some questions in some evaluations."""

    of: Annotated[list[str], msgspec.Meta(min_length=1, max_length=8)]
    queries: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_QUERIES)]
    metric: Name | None = None
    """The metric of the page that the request comes from."""


class Settling(msgspec.Struct, forbid_unknown_fields=True):
    """The final label of an item."""

    request: Request_
    item: int
    grade: float | None
    """None takes it back."""


class Changed(msgspec.Struct, forbid_unknown_fields=True):
    """A request to close, reopen or delete a pool."""

    change: PoolChange


def read(body: bytes, kind: type[S]) -> S:
    """The body of a request, decoded strictly."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The request cannot be read: {error}.") from None


def answer(value: object, status: int = 200) -> Response:
    """Plain values as JSON."""
    content = msgspec.json.encode(value, enc_hook=text_of)
    return Response(content, status, media_type="application/json")


# Actions of judges


def shown_item(
    state: LabelState, item: PoolItem, judge: str, most: int | None = SENT
) -> dict[str, object]:
    """An item as a judge sees it, up to so many characters: no run, no rank, no label of others."""
    mine = state.current(item.position, judge)
    about = item.label
    names = ("number", "kind", "grade", "quote", "quote_start")
    return {
        "item": item.position,
        "key": item.key,
        "query_id": clean(about.query_id),
        "query": clean(about.query or about.query_id),
        "id": None if about.item is None else clean(about.item),
        "document": None if about.document is None else clean(about.document),
        "title": None if about.title is None else shown_title(about.title),
        "text": None if about.text is None else about.text[:most],
        "cut": most is not None and len(about.text or "") > most,
        "mine": None if mine is None else {name: getattr(mine, name) for name in names},
        "note": state.note(item.position, judge),
    }


def _next(request: Request, wanted: Taking, fresh: bool = True) -> dict[str, object]:
    """The judge's next items, some prefetched, and the progress."""
    desk = desk_of(request)
    judge = request.state.judge
    items = desk.take(judge, AHEAD, wanted.query or None, fresh=fresh)
    progress = desk.progress(judge, fresh=False)
    sample = desk.sample() or desk.switch()
    return {
        "next": [shown_item(desk.known, item, judge) for item in items],
        "progress": progress._asdict(),
        # Only the width of the interval: a value would bias the judge.
        "sample": None if sample is None else sample.line,
    }


def _check_judge(request: Request, wanted: Taking) -> None:
    """Refuse a page of a judge who is no longer the one signed in."""
    if wanted.judge not in (None, request.state.judge):
        words = f"This page is that of {wanted.judge:.60}, and {request.state.judge} is signed in"
        raise HTTPException(409, f"{words} now. Open a link of the right judge.")


def taking(request: Request, body: bytes) -> Response:
    """The next items for the signed-in judge."""
    wanted = read(body, Taking)
    _check_judge(request, wanted)
    return answer(_next(request, wanted))


def label(request: Request, body: bytes) -> Response:
    """Add an entry to the log; it is on disk when this answers."""
    given = read(body, Given)
    _check_judge(request, given)
    judge = request.state.judge
    desk = desk_of(request)
    if given.shown is not None and desk.item(given.item).key != given.shown:
        raise InvalidInput(
            f"The page shows another text than item {given.item} of the pool {desk.name}: the "
            "pool was replaced since. Nothing was labelled; reload the page."
        )
    held = None if given.seen is None else desk.known.current(given.item, judge)
    if held is not None and held.number != given.seen and held.request != given.request:
        about = shown_item(desk.known, desk.items[given.item], judge)
        words = (
            f"you labelled it in another tab meanwhile ({held.kind} {held.grade or 0:g})."
        )
        return answer({"error": words, "about": about}, 412)
    names = ("kind", "quote", "quote_start", "note", "request")
    said: dict[str, Any] = {name: getattr(given, name) for name in names}
    entry = desk.give(judge, given.item, given.grade, **said)
    ahead = _next(request, given, fresh=False)
    undone = None
    if entry.undoes is not None:
        # After an undo the judge sees what it was, and its item.
        about = shown_item(desk.known, desk.items[entry.item], judge)
        undone = {**desk.known.taken_back[entry.undoes].to_dict(), "about": about}
    return answer({"saved": entry.to_dict(), "undone": undone, **ahead})


def one_item(request: Request) -> Response:
    """An item with its whole text."""
    desk = desk_of(request)
    pool_item = desk.item(asked(request).item or 0)
    return answer(shown_item(desk.state(), pool_item, request.state.judge, most=None))


# Actions of the owner


def make_pool(request: Request, body: bytes) -> Response:
    """Add the results of some questions to the pool of their evaluations."""
    wanted = read(body, WantedPage)
    shelf: WebSources = request.app.state.shelf
    desk = shelf.judge_these(tuple(wanted.of), set(wanted.queries), wanted.metric)
    number = desk.content.number
    found = {"pool": number, "name": desk.name, "items": len(desk.items)}
    return answer({**found, "page": f"/pools/{number}/judge"}, 201)


def settle(request: Request, body: bytes) -> Response:
    """Give a final label, or take it back; it is on disk when this answers."""
    wanted = read(body, Settling)
    desk = desk_of(request)
    who = request.state.judge
    if wanted.grade is None:
        entry = desk.reopen(who, wanted.item, wanted.request)
    else:
        entry = desk.give(
            who, wanted.item, wanted.grade, kind="final", request=wanted.request
        )
    found = [
        conflict
        for conflict in desk.agreement().conflicts
        if conflict.item.position == wanted.item
    ]
    said = {"standing": found[0].standing, "verdict": found[0].verdict} if found else None
    return answer({"saved": entry.to_dict(), "conflict": said})


def change_pool(request: Request, body: bytes) -> Response:
    """Close, reopen or delete a pool; the log records who did it."""
    desk = desk_of(request)
    change = read(body, Changed).change
    desk.change(change, request.state.judge)
    return answer({"pool": desk.content.number, "change": change})


JSONL = "application/x-ndjson"
FORMS: dict[str, tuple[str, str, Callable[[PoolSession, Path], object]]] = {
    "truth": (".jsonl", JSONL, PoolSession.export),
    "jsonl": ("-labels.jsonl", JSONL, write_every_label),
    "csv": ("-labels.csv", "text/csv; charset=utf-8", write_every_label),
    **{
        tool: (f"-{tool}.json", "application/json", partial(write_tasks, tool=tool))
        for tool in TOOLS
    },
}
"""What is downloaded: the end of the file name, its type and who writes it."""


def export(request: Request) -> Response:
    """Download the ground truth, every label, or the items as tasks of another tool."""
    form = request.query_params.get("as", "truth")
    desk = desk_of(request)
    if form not in FORMS:
        raise InvalidInput(f"as is {form[:40]!r}; it can be {', '.join(FORMS)}.")
    ending, kind, write = FORMS[form]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ending}"
        write(desk, path)
        content = path.read_bytes()
    plain = "".join(one if one.isascii() and one.isalnum() else "-" for one in desk.name)[
        :60
    ]
    name = f'attachment; filename="{plain or "pool"}{ending}"'
    return Response(content, media_type=kind, headers={"content-disposition": name})
