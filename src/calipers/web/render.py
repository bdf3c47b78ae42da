"""Render templates, including those of the report, and read what an address asks for."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse

from calipers.errors import InvalidInput
from calipers.present.escape import clean
from calipers.present.scores import verdict
from calipers.questions.misses.result import REASONS
from calipers.questions.report.browse import View
from calipers.questions.report.page.page import environment
from calipers.version import __version__
from calipers.words import number, plural

TEMPLATES = Path(__file__).parent / "templates"
STATES = {"not relevant": "judged not relevant", "repeated": "stood above already"}
"""The states of a result that need more words; script.js has the same."""
TITLE = 200
"""Longest title in characters; longer ones are cut."""
SLICE = "slice."
"""The prefix of parameters that name a tag of the queries."""


@dataclass(frozen=True, kw_only=True)
class AskedView(View):
    """What an address may ask of a page, besides which queries it lists."""

    of: list[str] = field(default_factory=list)
    baseline: str = ""
    only: str = ""
    anyway: bool = False
    why: bool = False
    open: str = ""
    name: str = ""
    branch: str = ""
    tag: str = ""
    since: str = ""
    show: str = "open"
    grade: str = ""
    query: str = ""
    item: int | None = None


def asked(request: Request) -> AskedView:
    """What an address asks for, read strictly; what is empty counts as not given."""
    given: dict[str, Any] = {name: one for name, one in request.query_params.items() if one}
    tags = {name.removeprefix(SLICE): given[name] for name in given if name.startswith(SLICE)}
    given |= {"of": request.query_params.getlist("of"), "slices": tags}
    try:
        return msgspec.convert(given, AskedView, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"The address cannot be read: {error}.") from None


@cache
def _templates() -> Any:
    made = environment(TEMPLATES)
    made.globals.update(
        version=__version__,
        address=address,
        signed=_signed,
        # A hyphen between two numbers would look like a range.
        minus=lambda text: text.replace("-", "−"),
        reason_list=REASONS,
        plural=plural,
        shown_title=shown_title,
        verdict=verdict,
        states=STATES,
    )
    return made


def render(request: Request, template: str, code: int = 200, **values: Any) -> HTMLResponse:
    """Render a page; its ``link`` is to the same address with some parameters changed."""
    given = {name: request.query_params.getlist(name) for name in request.query_params}
    text = (
        _templates()
        .get_template(f"{template}.html.j2")
        .render(
            here=request.url.path,
            judge=request.state.judge,
            owns=request.state.owns,
            link=lambda **more: address(request.url.path, **{**given, **more}),
            **values,
        )
    )
    # Half a surrogate pair cannot be encoded; it is shown as a broken character.
    return HTMLResponse(text.encode("utf-8", "replace"), code)


def address(path: str, **query: Any) -> str:
    """A path with a query string of the values that are set.

    >>> address("/compare", of=["a", "b"], open=0, text="", down=False)
    '/compare?of=a&of=b&open=0'
    """
    kept = [
        (name, one)
        for name, value in query.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        # By identity: 0 is the first query, and equals False.
        if one is not None and one is not False and one != ""
    ]
    return f"{path}?{urlencode(kept)}" if kept else path


def shown_title(title: str) -> str:
    """A title on one line, cut to leave room for the text.

    >>> shown_title("Locks  and   keys"), len(shown_title("x" * 10_000))
    ('Locks and keys', 201)
    """
    line = " ".join(clean(title[: 2 * TITLE]).split())
    return line if len(line) <= TITLE and len(title) <= 2 * TITLE else f"{line[:TITLE]}…"


def _signed(value: float | None) -> str:
    if value is None:
        return "–"
    # No ± before a zero, which would read as an uncertainty.
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"
