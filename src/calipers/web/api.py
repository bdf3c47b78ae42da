"""The JSON API: what ``--json`` prints, and the labels of judges."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.labels.desk import Desk
from calipers.present.escape import clean
from calipers.questions.history.settings import history, history_trend
from calipers.questions.report.browse import LONGEST_PAGE
from calipers.store.pool import PoolItem
from calipers.web import parameters as asked
from calipers.web.shown import LISTED_TEXT, shown_item, what_is_next
from calipers.web.sources import WebShelf

HERE = Path(__file__).parent
MOST_QUERIES = 2_000
"""Questions that one request may put into a pool."""

Request_ = Annotated[str, msgspec.Meta(min_length=8, max_length=64, pattern="^[A-Za-z0-9_-]+$")]


class Given(msgspec.Struct, forbid_unknown_fields=True):
    """A label on its way into the log."""

    request: Request_
    judge: str | None = None
    """Whose page sends it; in a browser where somebody else came in since, it is refused."""
    item: int = 0
    shown: str | None = None
    """The key of the item that the page shows; said of another item, it is refused."""
    kind: Literal["label", "skip", "note", "undo"] = "label"
    grade: float | None = None
    quote: str | None = None
    quote_start: int | None = None
    """Where the quote begins in the text, in characters."""
    note: str | None = None
    query: str | None = None
    """The question whose results are to come next, where one is judged alone."""


class Taking(msgspec.Struct, forbid_unknown_fields=True):
    """A judge who begins, or goes on."""

    judge: str | None = None
    """Whose page asks; in a browser where somebody else came in since, it is refused."""
    query: str | None = None
    """The question whose results are to come first."""


class WantedPage(msgspec.Struct, forbid_unknown_fields=True):
    """What is to be judged: all results to some questions of some evaluations."""

    of: Annotated[list[str], msgspec.Meta(min_length=1, max_length=8)]
    queries: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_QUERIES)]
    metric: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    """The metric of the page from which judges come: they watch it move."""


def answer(value: Any, status: int = 200) -> Response:
    """Plain values as JSON, as the command line prints them."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _shelf(request: Request) -> WebShelf:
    shelf: WebShelf = request.app.state.shelf
    return shelf


def desk_of(request: Request) -> Desk:
    """The pool that the address names."""
    return _shelf(request).desk(request.path_params["number"])


async def body(request: Request, kind: Any) -> Any:
    """What was sent, strictly of a kind."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The request cannot be read: {error}.") from None


def description(_: Request) -> Response:
    """This API in the words of OpenAPI."""
    return Response((HERE / "openapi.json").read_bytes(), media_type="application/json")


def evaluations(request: Request) -> Response:
    """What ``calipers history --json`` prints."""
    found = history(
        asked.words(request, "name") or None,
        branch=asked.words(request, "branch") or None,
        since=asked.words(request, "since") or None,
        last=asked.whole(request, "last", 20),
        store=_shelf(request).where,
    ).to_dict()
    # Where the database is, is nobody's business who came by a link.
    found.pop("place")
    return answer(found)


def trend_of(request: Request) -> Response:
    """What ``calipers history trend --json`` prints."""
    found = history_trend(asked.words(request, "name"), store=_shelf(request).where)
    return answer(found.to_dict())


def evaluation(request: Request) -> Response:
    """What ``calipers history show --json`` prints, with the queries on request."""
    browse, saved = _shelf(request).evaluation(request.path_params["reference"])
    found = browse.scores.to_dict(per_query=asked.switch(request, "per_query"))
    if saved is not None:
        kept = saved.to_dict()
        kept.pop("summaries")
        found["evaluation"] = kept
    return answer(found)


def queries(request: Request) -> Response:
    """One page of the queries of an evaluation."""
    browse, _ = _shelf(request).evaluation(request.path_params["reference"])
    return answer(browse.select(asked.view(request)).to_dict())


def misses(request: Request) -> Response:
    """What ``calipers misses --json`` prints, its tables a page at a time."""
    size = min(max(asked.whole(request, "size", LONGEST_PAGE), 1), LONGEST_PAGE)
    first = (max(asked.whole(request, "page"), 1) - 1) * size
    reference = request.path_params["reference"]
    return answer(_shelf(request).misses(reference, first, size).to_dict())


def health(request: Request) -> Response:
    """What ``calipers audit --json`` prints."""
    return answer(_shelf(request).health(request.path_params["reference"]).to_dict())


def compared(request: Request) -> Response:
    """What ``calipers compare --json`` prints."""
    references = tuple(dict.fromkeys(request.query_params.getlist("of")))[:8]
    return answer(_shelf(request).comparison(references, asked.switch(request, "anyway")).to_dict())


def pools(request: Request) -> Response:
    """What ``calipers labels list --json`` prints."""
    return answer({"pools": [one.to_dict() for one in _shelf(request).pools()]})


async def make_pool(request: Request) -> Response:
    """Put the results to some questions into the pool of their evaluations."""
    wanted: WantedPage = await body(request, WantedPage)
    desk = await in_thread(
        lambda: _shelf(request).judge_these(tuple(wanted.of), set(wanted.queries), wanted.metric)
    )
    number = desk.content.number
    judges = request.state.judge in desk.judges
    return answer(
        {
            "pool": number,
            "name": desk.name,
            "items": len(desk.items),
            "page": f"/pools/{number}/{'judge' if judges else 'progress'}",
        },
        201,
    )


async def in_thread(work: Callable[[], Any]) -> Any:
    """Do what takes a while, and let others be answered meanwhile."""
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(work)


def following(request: Request) -> Response:
    """What would be next for the judge who asks; looking hands out nothing."""
    desk, judge = desk_of(request), request.state.judge
    found = what_is_next(desk, judge, asked.words(request, "query"), take=False)
    if asked.words(request, "item"):
        found["next"] = [shown_item(desk.known, _item(request, desk), judge)]
    return answer(found)


async def taking(request: Request) -> Response:
    """What the judge who asks works on now; some more are sent along, to be there in time."""
    wanted: Taking = await body(request, Taking)
    if (refused := _another(request, wanted.judge)) is not None:
        return refused
    judge = request.state.judge
    return answer(
        await in_thread(lambda: what_is_next(desk_of(request), judge, wanted.query, take=True))
    )


def text(request: Request) -> Response:
    """The whole text of an item, where only its beginning was sent."""
    item = _item(request, desk_of(request))
    return answer({"item": item.position, "text": item.label.text})


def _item(request: Request, desk: Desk) -> PoolItem:
    at = asked.whole(request, "item", 0)
    desk.state()
    if at >= len(desk.items):
        raise InvalidInput(f"There is no item {at} in the pool; it has {len(desk.items)}.")
    return desk.items[at]


def question_list(request: Request) -> Response:
    """Every result of the question of an item that the judge is to look at, cut short."""
    desk, judge = desk_of(request), request.state.judge
    query = _item(request, desk).label.query_id
    rows = [
        shown_item(desk.known, one, judge)
        for one in desk.queue(judge)
        if one.label.query_id == query
    ]
    for one in rows:
        one["cut"] = len(one["text"] or "") > LISTED_TEXT
        one["text"] = one["text"] and one["text"][:LISTED_TEXT]
    return answer({"query": rows[0]["query"] if rows else clean(query), "items": rows})


def _another(request: Request, judge: str | None) -> Response | None:
    """The refusal of a page of somebody who is no longer the one that is signed in."""
    if judge in (None, request.state.judge):
        return None
    words = f"This page is that of {judge:.60}, and {request.state.judge} is signed in now."
    return answer({"error": f"{words} Open a link of the right judge."}, 409)


async def label(request: Request) -> Response:
    """Take one entry into the log; it is on disk when this is answered."""
    given: Given = await body(request, Given)
    if (refused := _another(request, given.judge)) is not None:
        return refused
    judge = request.state.judge

    def write() -> dict[str, Any]:
        desk = desk_of(request)
        if given.shown is not None:
            _check_shown(desk, given.item, given.shown)
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
        ahead = what_is_next(desk, judge, given.query, take=True)
        undone = None
        if entry.undoes is not None:
            # Who takes something back sees what it was, and the item it was about.
            undone = {
                **desk.known.taken_back[entry.undoes].to_dict(),
                "about": shown_item(desk.known, desk.items[entry.item], judge),
            }
        return {"saved": entry.to_dict(), "undone": undone, "before": entry.number - 1, **ahead}

    return answer(await in_thread(write))


def _check_shown(desk: Desk, item: int, key: str) -> None:
    if item >= len(desk.items):
        # Another server may have put it into the pool.
        desk.state()
    if not 0 <= item < len(desk.items) or desk.items[item].key != key:
        raise InvalidInput(
            f"The page shows another text than item {item} of the pool {desk.name}: the pool was "
            "replaced since. Nothing was labelled; reload the page."
        )


def moved(request: Request) -> Response:
    """What the entries behind a number did to the watched metric of every run."""
    desk = desk_of(request)
    found = desk.moved(asked.whole(request, "since", 0))
    return answer(
        {"metric": desk.content.settings.metric, "moved": [one.to_dict() for one in found]}
    )


def search(request: Request) -> Response:
    """Items whose question or text holds some words."""
    desk, judge = desk_of(request), request.state.judge
    found, state = desk.search(asked.words(request, "text")), desk.state()
    return answer({"items": [shown_item(state, one, judge) for one in found]})
