"""Which address is open to whom: one table, and what holds everybody to it."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from calipers.web.guard import NOT_IN, refusal
from calipers.web.render import message
from calipers.web.sources import WebShelf

OpenTo = Literal["anybody", "judge", "member", "done", "lead"]
"""Who may: anybody; who is signed in; judges of the pool; those of them whose queue is done; leads
alone. A lead may all of it."""

OPEN_TO: Mapping[str, OpenTo] = {
    "GET /enter": "anybody",
    "POST /enter": "anybody",
    "GET /assets/{name}": "anybody",
    "POST /leave": "judge",
    "GET /": "judge",
    "GET /pools": "judge",
    "GET /pools/{number:int}/judge": "judge",
    "GET /pools/{number:int}/mine": "member",
    "GET /pools/{number:int}/conflicts": "done",
    "GET /pools/{number:int}/progress": "lead",
    "GET /evaluations/{reference}": "lead",
    "GET /evaluations/{reference}/report": "lead",
    "GET /evaluations/{reference}/truth": "lead",
    "GET /compare": "lead",
    "GET /team": "lead",
    "GET /api/v1/openapi.json": "judge",
    "GET /api/v1/evaluations": "lead",
    "GET /api/v1/trend": "lead",
    "GET /api/v1/compare": "lead",
    "GET /api/v1/evaluations/{reference}": "lead",
    "GET /api/v1/evaluations/{reference}/queries": "lead",
    "GET /api/v1/evaluations/{reference}/misses": "lead",
    "GET /api/v1/evaluations/{reference}/audit": "lead",
    "GET /api/v1/people": "lead",
    "POST /api/v1/people": "lead",
    "GET /api/v1/pools": "lead",
    "POST /api/v1/pools": "lead",
    "GET /api/v1/pools/{number:int}/next": "member",
    "GET /api/v1/pools/{number:int}/list": "member",
    "GET /api/v1/pools/{number:int}/text": "member",
    "POST /api/v1/pools/{number:int}/take": "judge",
    "POST /api/v1/pools/{number:int}/labels": "member",
    "GET /api/v1/pools/{number:int}/search": "member",
    "GET /api/v1/pools/{number:int}/moved": "done",
    "GET /api/v1/pools/{number:int}/agreement": "done",
    "POST /api/v1/pools/{number:int}/settle": "lead",
    "POST /api/v1/pools/{number:int}/change": "lead",
    "GET /api/v1/pools/{number:int}/labels": "lead",
    "GET /api/v1/pools/{number:int}/export": "lead",
}
"""By method and path. What is not listed here is not served."""

LEADS_ONLY = "This is for those who lead; you are signed in as a judge."
NOT_YOURS = "You are not among the judges of this pool; join it on its page for judging."
NOT_DONE = "What others said and what labels moved is shown when your queue is done: {left} left."


def guarded(route: Route) -> Route:
    """The same route, which answers those alone to whom the table opens it."""
    methods = sorted((route.methods or set()) - {"HEAD"})
    open_to = OPEN_TO[f"{methods[0]} {route.path}"]
    answer: Callable[[Request], Any] = route.endpoint
    if open_to == "anybody":
        return route
    if inspect.iscoroutinefunction(answer):

        async def waiting(request: Request) -> Response:
            refused = await run_in_threadpool(_refused, request, open_to)
            return refused or await answer(request)

        return Route(route.path, waiting, methods=methods)

    def handle(request: Request) -> Response:
        return _refused(request, open_to) or answer(request)

    return Route(route.path, handle, methods=methods)


def _refused(request: Request, open_to: OpenTo) -> Response | None:
    """What somebody is told who may not; None: they may."""
    if request.state.judge is None:
        return _said(request, 401, "Not signed in", NOT_IN)
    if request.state.role == "lead":
        return None
    if open_to == "lead":
        return _said(request, 403, "For those who lead", LEADS_ONLY)
    if open_to == "judge":
        return None
    shelf: WebShelf = request.app.state.shelf
    desk, judge = shelf.desk(request.path_params["number"]), request.state.judge
    if judge not in desk.judges:
        # Another server may have added them.
        desk.state()
    if judge not in desk.judges:
        return _said(request, 403, "Another pool", NOT_YOURS)
    if open_to == "done" and (left := desk.progress(judge).remaining):
        return _said(request, 403, "Not yet", NOT_DONE.format(left=left))
    return None


def _said(request: Request, status: int, title: str, sentence: str) -> Response:
    if request.url.path.startswith("/api/"):
        return refusal(request.scope, status, sentence)
    retry = str(request.url.path) if status == 401 else None
    return message(request, status, title, sentence, retry)
