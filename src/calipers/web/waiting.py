"""Pages that take long: what a browser shows while one is being made."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from calipers.web.pages import render

PATIENCE_SECONDS = 2.0
"""How long a browser waits for a page before it is told that the page is being made."""
ASK_AGAIN = 2
"""Seconds after which the browser asks again by itself."""
FRESH_SECONDS = 60.0
"""A finished page that nobody asked for in this time is made anew."""
MOST_PAGES = 8
"""How many pages are made or wait to be fetched; the oldest finished one goes first."""

Answer = Callable[[Request], Response]


@dataclass
class _Page:
    """A page that is being made, or was made and is not fetched yet."""

    task: "asyncio.Task[Response]"
    started: float
    asked: float
    """When a browser last asked for it."""


class SlowPages:
    """The pages that are being made, by who asked and for which address.

    Asking again for such a page waits for the same work and starts nothing new.
    """

    def __init__(self) -> None:
        self._pages: dict[tuple[str, str], _Page] = {}

    async def answer(self, request: Request, answer: Answer) -> Response:
        """The page, or one that says for how long it is being made and then asks again."""
        name = (request.state.judge or "", str(request.url))
        now = time.monotonic()
        page = self._pages.get(name)
        if page is None or (page.task.done() and now - page.asked > FRESH_SECONDS):
            task = asyncio.ensure_future(run_in_threadpool(answer, request))
            page = _Page(task, now, now)
        page.asked = now
        done, _ = await asyncio.wait({page.task}, timeout=PATIENCE_SECONDS)
        if done:
            self._pages.pop(name, None)
            return page.task.result()
        self._pages[name] = page
        self._forget()
        return self._waiting(request, time.monotonic() - page.started)

    def _forget(self) -> None:
        """Drop the oldest finished pages that nobody fetched."""
        finished = [name for name, page in self._pages.items() if page.task.done()]
        for name in finished[: max(len(self._pages) - MOST_PAGES, 0)]:
            # An error that nobody asked for any more is not worth a line in the log.
            self._pages.pop(name).task.exception()

    def _waiting(self, request: Request, seconds: float) -> Response:
        """A page that asks again by itself; 202 says that the work goes on."""
        response = render(
            request,
            "waiting",
            202,
            title="Still working",
            seconds=int(seconds),
            again=ASK_AGAIN,
        )
        response.headers["retry-after"] = str(ASK_AGAIN)
        return response
