"""Pages that list: what was measured when, and what there is to judge."""

import html
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput, MissingExtra
from calipers.present.charts import PAGE, inline_svg
from calipers.questions.history.settings import history
from calipers.questions.trend.charts import trend_chart
from calipers.questions.trend.result import Trend
from calipers.questions.trend.settings import trend
from calipers.web import parameters as asked
from calipers.web.sources import WebShelf

SIZE = 50
DRAWN = 2
"""Metrics that are drawn over time."""


def evaluations(request: Request) -> Response:
    """The history, newest first; of one name also how it moved."""
    shelf: WebShelf = request.app.state.shelf
    page = max(asked.whole(request, "page"), 1)
    name, branch = asked.words(request, "name"), asked.words(request, "branch")
    tag, since = asked.words(request, "tag"), asked.words(request, "since")
    found: Any = None
    if shelf.has_store:
        found = history(
            name or None,
            branch=branch or None,
            tags=_tags(tag),
            since=since or None,
            last=page * SIZE + 1,
            store=shelf.where,
        )
    listed = list(found.evaluations) if found else []
    values: Any = request.app.state.renderer.page(
        request,
        "evaluations.html.j2",
        title="Evaluations",
        found=found,
        rows=listed[(page - 1) * SIZE : page * SIZE],
        page=page,
        more=len(listed) > page * SIZE,
        given=list(shelf.given),
        name=name,
        branch=branch,
        tag=tag,
        since=since,
        names=sorted({one.name for one in listed}),
        chart=_chart(name, shelf) if name and len(listed) > 1 else None,
        pools=shelf.pools(),
    )
    response: Response = values
    return response


def _tags(text: str) -> dict[str, str] | None:
    if not text:
        return None
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInput(f"The tag is {text[:60]!r}; write it as name=value, such as model=e5.")
    return {name: value}


def _chart(name: str, shelf: WebShelf) -> str:
    """The means over time; a sentence where they cannot be drawn."""
    listed = history(name, last=1, store=shelf.where)
    moved: Trend = trend(name, metrics=listed.metrics[:DRAWN] or None, store=shelf.where)
    try:
        drawn = inline_svg(trend_chart(moved, palette=PAGE), html.escape(f"{name} over time"))
    except MissingExtra as error:
        return f"<p>{html.escape(str(error))}</p>"
    return f'<div class="chart">{drawn}</div>'


def pools(request: Request) -> Response:
    """What there is to judge."""
    shelf: WebShelf = request.app.state.shelf
    response: Response = request.app.state.renderer.page(
        request, "pools.html.j2", title="Judge", pools=shelf.pools()
    )
    return response
