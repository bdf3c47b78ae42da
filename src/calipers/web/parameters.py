"""Query parameters of an address, parsed strictly."""

from typing import Any

from starlette.requests import Request

from calipers.errors import InvalidInput
from calipers.questions.report.browse import View

SLICE = "slice."
"""The prefix of parameters that name a tag of the queries."""
VIEW = ("text", "metric", "below", "reason", "failures", "sort", "down")
"""The parameters that say which queries are shown, and in which order."""


def words(request: Request, name: str, default: str = "") -> str:
    """Read a text parameter."""
    return request.query_params.get(name, default)[:1000]


def whole(request: Request, name: str, default: int = 1) -> int:
    """Read an integer parameter."""
    text = words(request, name)
    if text and (not text.isascii() or not text.isdigit() or len(text) > 9):
        raise InvalidInput(f"{name} is {text[:40]!r}; it must be a whole number.")
    return int(text) if text else default


def switch(request: Request, name: str) -> bool:
    """Read an on/off parameter."""
    return words(request, name) in ("1", "on", "true")


def tags(request: Request) -> dict[str, str]:
    """Read the query tags to filter by, with their values."""
    return {
        name.removeprefix(SLICE): value
        for name, value in request.query_params.items()
        if name.startswith(SLICE) and value
    }


def kept(request: Request, *names: str) -> dict[str, Any]:
    """These parameters and the tags, as a link to the same view has them."""
    found = {name: words(request, name) for name in names}
    return {**found, **{f"{SLICE}{name}": value for name, value in tags(request).items()}}


def view(request: Request) -> View:
    """Read which queries to show."""
    below = words(request, "below")
    try:
        least = float(below) if below else None
    except ValueError:
        raise InvalidInput(f"below is {below[:40]!r}; it must be a number.") from None
    return View(
        text=words(request, "text"),
        slices=tags(request),
        metric=words(request, "metric") or None,
        below=least,
        reason=words(request, "reason") or None,
        failures=switch(request, "failures"),
        sort=words(request, "sort"),
        down=switch(request, "down"),
        page=whole(request, "page"),
        size=whole(request, "size", View().size),
    )
