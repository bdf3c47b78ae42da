"""Render templates, including those of the report."""

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from calipers.present.escape import clean
from calipers.present.scores import verdict
from calipers.questions.misses.result import REASONS
from calipers.questions.report.page.page import environment
from calipers.version import __version__
from calipers.words import number, plural

TEMPLATES = Path(__file__).parent / "templates"
STATES = {"not relevant": "judged not relevant", "repeated": "stood above already"}
"""The states of a result that need more words; script.js has the same."""
TITLE = 200
"""Longest title in characters; longer ones are cut."""


@cache
def _templates() -> Any:
    made = environment(TEMPLATES)
    made.globals.update(
        version=__version__,
        address=address,
        signed=_signed,
        minus=_minus,
        reason_list=REASONS,
        plural=plural,
        shown_title=shown_title,
        verdict=verdict,
        states=STATES,
    )
    return made


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a page."""
    text = (
        _templates()
        .get_template(template)
        .render(
            here=request.url.path,
            judge=getattr(request.state, "judge", None),
            owns=getattr(request.state, "role", None) == "owner",
            **values,
        )
    )
    # Half a surrogate pair cannot be encoded; it is shown as a broken character.
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def message(
    request: Request, status: int, title: str, sentence: str, retry: str | None = None
) -> HTMLResponse:
    """A page with one sentence, and a way to try again if there is one."""
    return render(request, "message.html.j2", status, title=title, sentence=sentence, retry=retry)


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


def _minus(text: str) -> str:
    """A number with a minus sign instead of a hyphen, so that it does not look like a range."""
    return text.replace("-", "−")


def _signed(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{number(abs(value))}"
