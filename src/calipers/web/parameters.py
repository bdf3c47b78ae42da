"""Query parameters of an address, parsed strictly."""

from starlette.requests import Request

from calipers.errors import InvalidInput
from calipers.questions.report.browse import View

SLICE = "slice."
"""The prefix of parameters that name a tag of the queries."""


def words(request: Request, name: str, default: str = "") -> str:
    """Read a text parameter."""
    return request.query_params.get(name, default)[:1000]


def whole(request: Request, name: str, default: int = 1) -> int:
    """Read an integer parameter."""
    text = words(request, name)
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidInput(f"{name} is {text[:40]!r}; it must be a whole number.")
    return int(text)


def number(request: Request, name: str) -> float | None:
    """Read a number parameter."""
    text = words(request, name)
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{name} is {text[:40]!r}; it must be a number.") from None


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


def view(request: Request) -> View:
    """Read which queries to show."""
    below = number(request, "below")
    return View(
        text=words(request, "text"),
        slices=tags(request),
        metric=words(request, "metric") or None,
        below=below,
        reason=words(request, "reason") or None,
        failures=switch(request, "failures"),
        sort=words(request, "sort"),
        down=switch(request, "down"),
        page=whole(request, "page"),
        size=whole(request, "size", View().size),
    )
