"""Pages of a team: who may come in, who did how much, where judges differ, what one said."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.labels.team import own_labels, team
from calipers.web import parameters as asked
from calipers.web.login import Doors
from calipers.web.pages import graded_by, pool_of
from calipers.web.render import address, render

ON_A_PAGE = 20
"""Conflicts or labels that are shown at once."""
SHOWN_TEXT = 1500
"""Characters of a text in a list."""
STANDINGS = ("open", "settled", "all")

T = TypeVar("T")


@dataclass(frozen=True)
class PageOf(Generic[T]):
    """Some of many."""

    rows: Sequence[T]
    page: int
    pages: int
    total: int


def page_of(found: Sequence[T], page: int) -> PageOf[T]:
    """One page of what was found; behind the last one the last."""
    pages = max(-(-len(found) // ON_A_PAGE), 1)
    page = min(max(page, 1), pages)
    return PageOf(found[(page - 1) * ON_A_PAGE : page * ON_A_PAGE], page, pages, len(found))


def people(request: Request) -> Response:
    """Who may come in, and new links for them."""
    doors: Doors = request.app.state.doors
    return render(request, "team.html.j2", title="Team", people=doors.people())


def progress(request: Request) -> Response:
    """Who did how much in a pool, how each agrees with the others, and what is left."""
    desk, about = pool_of(request)
    return render(request, "progress.html.j2", **about, tab="progress", team=team(desk))


def conflicts(request: Request) -> Response:
    """How far the judges agree, and the items on which they do not, a page at a time."""
    desk, about = pool_of(request)
    machines, standing = asked.switch(request, "machines"), asked.words(request, "show", "open")
    if standing not in STANDINGS:
        raise InvalidInput(f"show is {standing[:40]!r}; it can be {', '.join(STANDINGS)}.")
    found = desk.agreement(machines=machines)
    settled = [one for one in found.conflicts if one.settled is not None]
    lists = {"open": found.open, "settled": settled, "all": found.conflicts}
    kept: dict[str, Any] = {"show": standing, "machines": "1" if machines else None}
    return render(
        request,
        "conflicts.html.j2",
        **about,
        tab="conflicts",
        machines=machines,
        found=found,
        standing=standing,
        counts={name: len(those) for name, those in lists.items()},
        listed=page_of(lists[standing], asked.whole(request, "page")),
        shared=found.agreement is not None and any(c.n for c in found.agreement.coefficients),
        numbers=desk.numbers(),
        truth=desk.truth(),
        last=desk.known.last,
        scale=graded_by(desk.content.settings),
        shown_text=SHOWN_TEXT,
        link=lambda **more: address(request.url.path, **{**kept, **more}),
    )


def mine(request: Request) -> Response:
    """What the judge who asks has said, to review and to change."""
    desk, about = pool_of(request)
    who, text, grade = (
        request.state.judge,
        asked.words(request, "text"),
        asked.words(request, "grade"),
    )
    desk.state()
    kept = {"text": text, "grade": grade}
    return render(
        request,
        "mine.html.j2",
        **about,
        tab="mine",
        text=text,
        grade=grade,
        listed=page_of(own_labels(desk, who, text, grade), asked.whole(request, "page")),
        progress=desk.progress(who) if who in desk.judges else None,
        closed=desk.closed,
        scale=graded_by(desk.content.settings),
        shown_text=SHOWN_TEXT,
        link=lambda **more: address(request.url.path, **{**kept, **more}),
    )
