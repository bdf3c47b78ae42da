"""Pages of judging: what there is to judge, who did how much, where judges differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.labels.desk import Desk
from calipers.labels.team import own_labels, team
from calipers.store.pool import PoolSettings
from calipers.web import parameters as asked
from calipers.web.login import Doors
from calipers.web.render import address, render
from calipers.web.shown import sample_line
from calipers.web.sources import WebShelf

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


def pools(request: Request) -> Response:
    """What there is to judge."""
    shelf: WebShelf = request.app.state.shelf
    return render(request, "pools.html.j2", title="Judge", pools=shelf.pools())


def pool_of(request: Request) -> tuple[Desk, dict[str, Any]]:
    """The pool that the address names, and what every page about it is given."""
    shelf: WebShelf = request.app.state.shelf
    desk = shelf.desk(request.path_params["number"])
    content = desk.content
    about = {
        "title": desk.name,
        "desk": desk,
        "number": content.number,
        "settings": content.settings,
    }
    return desk, about


def judge(request: Request) -> Response:
    """The page on which somebody judges; its script asks the API for one item after another."""
    desk, about = pool_of(request)
    who = request.state.judge
    desk.state()
    return render(
        request,
        "judge.html.j2",
        **about,
        # Whoever is not among the judges joins by beginning, and not by looking.
        progress=desk.progress(who) if who in desk.judges else None,
        closed=desk.closed,
        sample=sample_line(desk),
        tab="judge",
        query=asked.words(request, "query"),
        item=asked.words(request, "item"),
        scale=graded_by(desk.content.settings),
    )


def graded_by(settings: PoolSettings) -> list[dict[str, Any]]:
    """Every grade with its name and its keys: its own digit, or else its place in the scale.

    >>> [one["keys"] for one in graded_by(PoolSettings(scale="yes/no"))]
    [['0'], ['1', 'y']]
    """
    digits = [f"{grade:g}" for grade in settings.grades]
    if any(len(one) > 1 for one in digits):
        digits = [f"{place}" for place in range(1, len(digits) + 1)]
    named = zip(settings.grades, settings.grade_names, digits, strict=True)
    return [
        {"grade": grade, "name": name, "keys": [key, "y"] if name == "yes" else [key]}
        for grade, name, key in named
    ]


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
