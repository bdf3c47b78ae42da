"""The JSON API of judging: what is next, the labels, and what the owner does with them."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.labels.desk import Desk
from calipers.labels.exchange import TOOLS, write_every_label, write_tasks
from calipers.present.escape import clean
from calipers.store.pool import LabelState, PoolChange, PoolItem
from calipers.web import parameters as asked
from calipers.web.login import Doors
from calipers.web.render import shown_title
from calipers.web.sources import WebShelf

MOST_QUERIES = 2_000
"""Questions that one request may put into a pool."""
AHEAD = 20
"""Items that a page gets at once: a lost connection does not stop the work."""
LISTED_TEXT = 1_500
"""Characters of a text in the list of a question; one text alone is shown whole."""
SENT = 20_000
"""Characters of a text that are sent unasked; a page asks for the rest."""
KINDS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
"""What labels are written as."""

Request_ = Annotated[str, msgspec.Meta(min_length=8, max_length=64, pattern="^[A-Za-z0-9_-]+$")]


class Taking(msgspec.Struct, forbid_unknown_fields=True):
    """A judge who begins, or goes on."""

    judge: str | None = None
    """Whose page asks; in a browser where somebody else came in since, it is refused."""
    query: str | None = None
    """The question whose results are to come first."""


class Given(Taking, forbid_unknown_fields=True, kw_only=True):
    """A label on its way into the log."""

    request: Request_
    item: int = 0
    shown: str | None = None
    """The key of the item that the page shows; said of another item, it is refused."""
    seen: int | None = None
    """The own label that the page shows of it, 0 for none; another tab may have given one."""
    kind: Literal["label", "skip", "note", "undo"] = "label"
    grade: float | None = None
    quote: str | None = None
    quote_start: int | None = None
    """Where the quote begins in the text, in characters."""
    note: str | None = None


class WantedPage(msgspec.Struct, forbid_unknown_fields=True):
    """What is to be judged: all results to some questions of some evaluations."""

    of: Annotated[list[str], msgspec.Meta(min_length=1, max_length=8)]
    queries: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_QUERIES)]
    metric: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    """The metric of the page from which judges come."""


class Invited(msgspec.Struct, forbid_unknown_fields=True):
    """Somebody who gets a new link, or is shut out."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    out: bool = False
    """End every session and the link of this person instead."""


class Settling(msgspec.Struct, forbid_unknown_fields=True):
    """The final label of an item."""

    request: Request_
    item: int
    grade: float | None
    """None: take it back."""


class Changed(msgspec.Struct, forbid_unknown_fields=True):
    """A pool that is to be closed, opened again or deleted."""

    change: PoolChange
    why: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None


def answer(value: Any, status: int = 200) -> Response:
    """Plain values as JSON."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def desk_of(request: Request) -> Desk:
    """The pool that the address names."""
    shelf: WebShelf = request.app.state.shelf
    return shelf.desk(request.path_params["number"])


async def body(request: Request, kind: Any) -> Any:
    """What was sent, strictly of a kind."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The request cannot be read: {error}.") from None


# What judges do


def shown_item(
    state: LabelState, item: PoolItem, judge: str, whole: bool = False
) -> dict[str, Any]:
    """What a judge sees of an item: no run, no rank, no opinion of others."""
    mine, about = state.current(item.position, judge), item.label
    names = ("number", "kind", "grade", "quote", "quote_start")
    return {
        "item": item.position,
        "key": item.key,
        "query_id": clean(about.query_id),
        "query": clean(about.query or about.query_id),
        "id": None if about.item is None else clean(about.item),
        "document": None if about.document is None else clean(about.document),
        "title": None if about.title is None else shown_title(about.title),
        "text": None if about.text is None else about.text if whole else about.text[:SENT],
        "cut": not whole and len(about.text or "") > SENT,
        "mine": None if mine is None else {name: getattr(mine, name) for name in names},
        "note": state.note(item.position, judge),
    }


def _next(desk: Desk, judge: str, query: str | None) -> dict[str, Any]:
    """What the judge works on now, with more to be there in time, and how far it all is."""
    items, progress, sample = (
        desk.take(judge, AHEAD, query or None),
        desk.known_progress(judge),
        desk.sample(),
    )
    return {
        "next": [shown_item(desk.known, one, judge) for one in items],
        "progress": progress.to_dict(),
        # How wide the interval is; a value would sway who judges.
        "sample": None if sample is None else sample.line,
    }


def _another(request: Request, judge: str | None) -> Response | None:
    """The refusal of a page of somebody who is no longer the one that is signed in."""
    if judge in (None, request.state.judge):
        return None
    words = f"This page is that of {judge:.60}, and {request.state.judge} is signed in now."
    return answer({"error": f"{words} Open a link of the right judge."}, 409)


async def taking(request: Request) -> Response:
    """What the judge who asks works on now."""
    wanted: Taking = await body(request, Taking)
    judge = request.state.judge
    return _another(request, wanted.judge) or answer(
        await run_in_threadpool(lambda: _next(desk_of(request), judge, wanted.query))
    )


async def label(request: Request) -> Response:
    """Take one entry into the log; it is on disk when this is answered."""
    given: Given = await body(request, Given)
    if (refused := _another(request, given.judge)) is not None:
        return refused
    judge = request.state.judge

    def write() -> Response:
        desk = desk_of(request)
        if given.shown is not None and desk.item(given.item).key != given.shown:
            raise InvalidInput(
                f"The page shows another text than item {given.item} of the pool {desk.name}: the "
                "pool was replaced since. Nothing was labelled; reload the page."
            )
        held = None if given.seen is None else desk.known.current(given.item, judge)
        if (
            given.seen is not None
            and held is not None
            and held.number != given.seen
            and (held.request != given.request)
        ):
            about = shown_item(desk.known, desk.items[given.item], judge)
            words = f"you labelled it in another tab meanwhile ({held.kind} {held.grade or 0:g})."
            return answer({"error": words, "about": about}, 412)
        entry = desk.give(
            judge,
            given.item,
            given.grade,
            kind=given.kind,
            quote=given.quote,
            quote_start=given.quote_start,
            note=given.note,
            request=given.request,
        )
        ahead, undone = _next(desk, judge, given.query), None
        if entry.undoes is not None:
            # Who takes something back sees what it was, and the item it was about.
            undone = {
                **desk.known.taken_back[entry.undoes].to_dict(),
                "about": shown_item(desk.known, desk.items[entry.item], judge),
            }
        return answer({"saved": entry.to_dict(), "undone": undone, **ahead})

    return await run_in_threadpool(write)


def one_item(request: Request) -> Response:
    """An item with its whole text."""
    desk = desk_of(request)
    found = desk.item(asked.whole(request, "item", 0))
    return answer(shown_item(desk.state(), found, request.state.judge, whole=True))


def question_list(request: Request) -> Response:
    """Every result of the question of an item that the judge is to look at, cut short."""
    desk, judge = desk_of(request), request.state.judge
    query = desk.item(asked.whole(request, "item", 0)).label.query_id
    items = [one for one in desk.queue(judge) if one.label.query_id == query]
    rows = [shown_item(desk.known, one, judge) for one in items]
    for one in rows:
        one["cut"] = len(one["text"] or "") > LISTED_TEXT
        one["text"] = one["text"] and one["text"][:LISTED_TEXT]
    return answer({"query": rows[0]["query"] if rows else clean(query), "items": rows})


def search(request: Request) -> Response:
    """Items whose question or text holds some words."""
    desk, judge = desk_of(request), request.state.judge
    found, state = desk.search(asked.words(request, "text")), desk.state()
    return answer({"items": [shown_item(state, one, judge) for one in found]})


# What the owner does


def moved(request: Request) -> Response:
    """What the labels did to the watched metric of every run, from the start to now."""
    desk = desk_of(request)
    found = [] if desk.content.settings.sample else [one.to_dict() for one in desk.moved()]
    return answer({"metric": desk.content.settings.metric, "moved": found})


async def make_pool(request: Request) -> Response:
    """Put the results to some questions into the pool of their evaluations."""
    wanted: WantedPage = await body(request, WantedPage)
    shelf: WebShelf = request.app.state.shelf
    desk = await run_in_threadpool(
        lambda: shelf.judge_these(tuple(wanted.of), set(wanted.queries), wanted.metric)
    )
    page = f"/pools/{desk.content.number}/judge"
    found = {"pool": desk.content.number, "name": desk.name, "items": len(desk.items)}
    return answer({**found, "page": page}, 201)


async def invite(request: Request) -> Response:
    """A new link for a person, while the server runs; nobody is signed out by that."""
    wanted: Invited = await body(request, Invited)
    doors: Doors = request.app.state.doors
    if wanted.out:
        await run_in_threadpool(lambda: doors.shut_out(wanted.name))
        return answer({"name": wanted.name, "link": None})
    link = request.app.state.address.link(doors.invite(wanted.name))
    return answer({"name": wanted.name.strip(), "link": link}, 201)


async def settle(request: Request) -> Response:
    """Give a final label, or take it back; it is on disk when this is answered."""
    wanted: Settling = await body(request, Settling)
    desk, who = desk_of(request), request.state.judge

    def write() -> dict[str, Any]:
        if wanted.grade is None:
            entry = desk.reopen(who, wanted.item, wanted.request)
        else:
            entry = desk.give(who, wanted.item, wanted.grade, kind="final", request=wanted.request)
        found = next(
            (one for one in desk.agreement().conflicts if one.item.position == wanted.item), None
        )
        said = None if found is None else {"standing": found.standing, "verdict": found.verdict}
        return {"saved": entry.to_dict(), "conflict": said}

    return answer(await run_in_threadpool(write))


async def change_pool(request: Request) -> Response:
    """Close a pool, open it again or delete what it holds; the log says who did it."""
    wanted: Changed = await body(request, Changed)
    desk, who = desk_of(request), request.state.judge
    await run_in_threadpool(lambda: desk.change(wanted.change, who, wanted.why))
    return answer({"pool": desk.content.number, "change": wanted.change})


def labels(request: Request) -> Response:
    """Every label as CSV or JSON lines, or what is judged as tasks of another tool."""
    form = asked.words(request, "as", "jsonl")
    desk = desk_of(request)
    if form in TOOLS:
        kind = "application/json"
        return _download(desk, f"-{form}.json", kind, lambda at: write_tasks(desk, at, form))
    if form not in KINDS:
        raise InvalidInput(f"as is {form[:40]!r}; it can be {', '.join((*KINDS, *TOOLS))}.")
    return _download(desk, f"-labels.{form}", KINDS[form], lambda at: write_every_label(desk, at))


def export(request: Request) -> Response:
    """The ground truth with the labels, as a file to keep."""
    desk, machines = desk_of(request), asked.switch(request, "machines")
    return _download(desk, ".jsonl", KINDS["jsonl"], lambda at: desk.export(at, machines=machines))


def _download(desk: Desk, ending: str, kind: str, write: Callable[[Path], object]) -> Response:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ending}"
        write(path)
        content = path.read_bytes()
    plain = "".join(one if one.isascii() and one.isalnum() else "-" for one in desk.name)[:60]
    name = f'attachment; filename="{plain or "pool"}{ending}"'
    return Response(content, media_type=kind, headers={"content-disposition": name})
