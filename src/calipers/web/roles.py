"""To whom an address can be open, and what holds everybody to it."""

import inspect
from collections.abc import Callable
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

LEADS_ONLY = "This is for those who lead; you are signed in as a judge."
NOT_YOURS = "You are not among the judges of this pool; join it on its page for judging."
NOT_DONE = "What others said and what labels moved is shown when your queue is done: {left} left."


def guarded(address: str, open_to: OpenTo, answer: Callable[[Request], Any]) -> Route:
    """A route that answers those alone to whom it is open; ``address`` is its method and path."""
    method, _, path = address.partition(" ")

    async def waiting(request: Request) -> Response:
        refused = await run_in_threadpool(_refused, request, open_to)
        return refused or await answer(request)

    def handle(request: Request) -> Response:
        return _refused(request, open_to) or answer(request)

    held = waiting if inspect.iscoroutinefunction(answer) else handle
    return Route(path, answer if open_to == "anybody" else held, methods=[method])


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
