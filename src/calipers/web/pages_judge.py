"""Pages of one pool: judging, and what judges do not agree on."""

from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.web import parameters as asked
from calipers.web.sources import WebShelf


def judge(request: Request) -> Response:
    """The page on which somebody judges; its script asks the API for one item after another."""
    shelf: WebShelf = request.app.state.shelf
    desk = shelf.desk(request.path_params["number"])
    who = request.state.judge
    if who not in desk.judges:
        raise InvalidInput(
            f"{who} is not among the judges of the pool {desk.name}: {', '.join(desk.judges)}."
        )
    page: Response = request.app.state.renderer.page(
        request,
        "judge.html.j2",
        title=desk.name,
        desk=desk,
        number=desk.content.number,
        settings=desk.content.settings,
        progress=desk.progress(who),
        tab="judge",
        query=asked.words(request, "query"),
    )
    return page


def conflicts(request: Request) -> Response:
    """How far the judges agree, and every item on which they do not."""
    shelf: WebShelf = request.app.state.shelf
    desk = shelf.desk(request.path_params["number"])
    machines = asked.switch(request, "machines")
    found = desk.agreement(machines=machines)
    page: Response = request.app.state.renderer.page(
        request,
        "conflicts.html.j2",
        title=desk.name,
        desk=desk,
        number=desk.content.number,
        settings=desk.content.settings,
        tab="conflicts",
        machines=machines,
        found=found,
        shared=found.agreement is not None and any(c.n for c in found.agreement.coefficients),
        numbers=desk.numbers(),
        truth=desk.truth(),
        progress=[desk.progress(one) for one in desk.judges],
    )
    return page
