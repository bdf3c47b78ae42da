"""Pages for judging: the pools, one pool, a judge's own labels, who has access."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.labels.desk import PoolSession
from calipers.labels.document import verdict
from calipers.store.pool import PoolSettings
from calipers.web import parameters as asked
from calipers.web.login import Doors
from calipers.web.render import address, render
from calipers.web.sources import WebSources

ON_A_PAGE = 20
"""Conflicts or labels per page."""
SHOWN_TEXT = 1500
"""Characters of a text in a list."""
LISTS = ("open", "counted", "settled", "notes")
"""What the page of a pool lists: conflicts by status, or items with notes."""

T = TypeVar("T")


@dataclass(frozen=True)
class PageOf(Generic[T]):
    """One page of a list."""

    rows: Sequence[T]
    page: int
    pages: int
    total: int


def page_of(found: Sequence[T], page: int) -> PageOf[T]:
    """Return one page of a list; beyond the end, the last one."""
    pages = max(-(-len(found) // ON_A_PAGE), 1)
    page = min(max(page, 1), pages)
    return PageOf(found[(page - 1) * ON_A_PAGE : page * ON_A_PAGE], page, pages, len(found))


def pools(request: Request) -> Response:
    """The list of pools."""
    shelf: WebSources = request.app.state.shelf
    return render(request, "pools.html.j2", title="Judge", pools=shelf.pools())


def _pool(request: Request, template: str, **values: Any) -> Response:
    """Render a page about the pool that the address names."""
    desk = _desk(request)
    kept = {name: value for name, value in values.get("kept", {}).items() if value}
    return render(
        request,
        template,
        title=desk.name,
        desk=desk,
        number=desk.content.number,
        settings=desk.content.settings,
        closed=desk.closed,
        scale=graded_by(desk.content.settings),
        shown_text=SHOWN_TEXT,
        link=lambda **more: address(request.url.path, **{**kept, **more}),
        **values,
    )


def _desk(request: Request) -> PoolSession:
    shelf: WebSources = request.app.state.shelf
    desk = shelf.desk(request.path_params["number"])
    desk.state()
    return desk


def judge(request: Request) -> Response:
    """The page for judging; its script gets the items from the API."""
    query, item = asked.words(request, "query"), asked.words(request, "item")
    return _pool(request, "judge.html.j2", tab="judge", query=query, item=item)


def mine(request: Request) -> Response:
    """The judge's own labels, to review and to change."""
    text, grade = asked.words(request, "text"), asked.words(request, "grade")
    found = _desk(request).own_labels(request.state.judge, text, grade)
    listed = page_of(found, asked.whole(request, "page"))
    kept = {"text": text, "grade": grade}
    return _pool(request, "mine.html.j2", tab="mine", kept=kept, listed=listed, **kept)


def pool(request: Request) -> Response:
    """The owner's view of a pool: effect on the metric, judges, conflicts and notes."""
    desk, shown = _desk(request), asked.words(request, "show", "open")
    if shown not in LISTS:
        raise InvalidInput(f"show is {shown[:40]!r}; it can be {', '.join(LISTS)}.")
    found, sample, switch = desk.agreement(), desk.sample(), desk.switch()
    noted = [(desk.items[item], desk.known.notes(item)) for item in desk.known.noted()]
    lists: dict[str, Sequence[Any]] = {one: found.standing(one) for one in LISTS[:-1]}
    lists["notes"] = noted
    return _pool(
        request,
        "pool.html.j2",
        tab="pool",
        kept={"show": shown},
        shown_list=shown,
        counts={name: len(those) for name, those in lists.items()},
        listed=page_of(lists[shown], asked.whole(request, "page")),
        found=found,
        agreed=verdict(found),
        sample=sample,
        switch=switch,
        moved=[] if sample or switch else desk.moved(),
        truth=desk.truth(),
        progress=desk.progress(request.state.judge),
    )


def people(request: Request) -> Response:
    """Who has access, and new links for them."""
    doors: Doors = request.app.state.doors
    return render(request, "team.html.j2", title="Team", people=doors.people())


def graded_by(settings: PoolSettings) -> list[dict[str, Any]]:
    """Every grade with its name and its keys: its digit, or else its position in the scale.

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
