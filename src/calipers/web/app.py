"""The application: which address is which page."""

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from calipers.errors import CalipersError
from calipers.web import api, assets, pages_compare, pages_evaluation, pages_judge, pages_lists
from calipers.web.guard import (
    NOT_IN,
    TOO_LARGE,
    Address,
    BodyTooLargeError,
    Guard,
    refusal,
    set_cookie,
)
from calipers.web.login import LIFETIME, Doors
from calipers.web.render import Renderer
from calipers.web.sources import WebShelf

Page = Callable[[Request], Response]


def make_app(shelf: WebShelf, address: Address, doors: Doors) -> ASGIApp:
    """The whole application, guarded."""
    renderer = Renderer()
    app = Starlette(
        routes=[
            Route("/enter", enter),
            Route("/", known(pages_lists.evaluations)),
            Route("/pools", known(pages_lists.pools)),
            Route("/evaluations/{reference}", known(pages_evaluation.queries)),
            Route("/evaluations/{reference}/report", known(pages_evaluation.report)),
            Route("/evaluations/{reference}/truth", known(pages_evaluation.truth)),
            Route("/compare", known(pages_compare.compared)),
            Route("/pools/{number:int}/judge", known(pages_judge.judge)),
            Route("/pools/{number:int}/conflicts", known(pages_judge.conflicts)),
            Route("/assets/{name}", assets.asset),
            *api.routes(),
        ],
        exception_handlers={
            CalipersError: sentence,
            HTTPException: http_error,
            BodyTooLargeError: too_large,
            Exception: broken,
        },
    )
    app.state.shelf, app.state.renderer = shelf, renderer
    app.state.address, app.state.doors = address, doors
    return Guard(app, address, doors)


def known(page: Page) -> Page:
    """A page for those who came in by a link; everybody else is told how to."""

    def handle(request: Request) -> Response:
        if request.state.judge is None:
            renderer: Renderer = request.app.state.renderer
            return renderer.page(
                request,
                "message.html.j2",
                status=401,
                title="Not signed in",
                sentence=NOT_IN,
                retry=str(request.url.path),
            )
        return page(request)

    return handle


def enter(request: Request) -> Response:
    """Exchange the token of a link for a cookie, and go on to where no token is in the address."""
    doors: Doors = request.app.state.doors
    renderer: Renderer = request.app.state.renderer
    if doors.shut:
        return renderer.page(
            request,
            "message.html.j2",
            status=429,
            title="Too many tries",
            sentence="Too many wrong links were tried; wait a minute.",
            retry=None,
        )
    token = request.query_params.get("token", "")
    cookie = doors.enter(token) if request.method == "GET" else None
    if cookie is None:
        if request.state.judge is not None:
            return renderer.page(request, "entered.html.j2", title="Signed in")
        return renderer.page(
            request,
            "message.html.j2",
            status=403,
            title="This link is used up",
            sentence="A link works once, and this one was used or never given. Start the server "
            "again for new links.",
            retry=None,
        )
    # A page and no redirect: after a redirect from another site a browser would hold back a
    # cookie that is for this site alone.
    response = renderer.page(request, "entered.html.j2", title="Signed in")
    set_cookie(response, request.app.state.address, cookie, LIFETIME)
    return response


def sentence(request: Request, error: Exception) -> Response:
    """What the library refuses, in its own words."""
    return said(request, 400, str(error))


def http_error(request: Request, error: Exception) -> Response:
    """A page that does not exist."""
    status = getattr(error, "status_code", 500)
    return said(request, status, "There is no such page." if status == 404 else str(error))


def too_large(request: Request, _: Exception) -> Response:
    """A body that went on past the limit."""
    return refusal(request.scope, 413, TOO_LARGE)


def broken(request: Request, _: Exception) -> Response:
    """A mistake of ours; what it was stands in the log of the server alone."""
    return refusal(request.scope, 500, "The server made a mistake; its log says which.")


def said(request: Request, status: int, words: str) -> Response:
    """A sentence as JSON or as a page."""
    if request.url.path.startswith("/api/") or request.state.judge is None:
        return refusal(request.scope, status, words)
    renderer: Any = request.app.state.renderer
    page: HTMLResponse = renderer.page(
        request,
        "message.html.j2",
        status=status,
        title="That did not work",
        sentence=words,
        retry=None,
    )
    return page
