"""Pages of one evaluation: its queries, its report, its ground truth."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from calipers.present.escape import clean
from calipers.present.words import query_name
from calipers.questions.report.page.details import opened_view
from calipers.questions.report.page.view import headline, system_view
from calipers.questions.report.result import OpenedQuery
from calipers.web import parameters as asked
from calipers.web.others import other_runs, ranks_in
from calipers.web.render import address
from calipers.web.sources import WebShelf

SHOWN_FINDINGS = 8
"""Examples of one finding that a page lists."""


def queries(request: Request) -> Response:
    """The queries, a page at a time, one of them opened where the address says so."""
    shelf: WebShelf = request.app.state.shelf
    reference = request.path_params["reference"]
    browse, saved = shelf.evaluation(reference)
    view = asked.view(request)
    found = browse.select(view)
    opened = None
    if asked.words(request, "open"):
        opened = shown(browse.open(asked.whole(request, "open", 0)))
        others = other_runs(shelf, reference, saved)
        beside = request.query_params.getlist("beside")
        opened["other_runs"] = list(ranks_in(shelf, others, opened["row"].query, beside))
    kept: dict[str, Any] = {
        "text": view.text,
        "metric": view.metric,
        "below": view.below,
        "reason": view.reason,
        "failures": "1" if view.failures else None,
        "sort": view.sort,
        "down": "1" if view.down else None,
        **{f"{asked.SLICE}{name}": value for name, value in view.slices.items()},
    }
    path = request.url.path
    page: Response = request.app.state.renderer.page(
        request,
        "evaluation.html.j2",
        title=clean(browse.name),
        browse=browse,
        saved=saved,
        reference=reference,
        view=view,
        found=found,
        opened=opened,
        tab="queries",
        link=lambda **more: address(path, **{**kept, "page": found.page, **more}),
        reasons_here=browse.reasons,
        summaries=[browse.head[name] for name in browse.shown] if len(browse.scores) else [],
    )
    return page


def shown(opened: OpenedQuery) -> dict[str, Any]:
    """An opened query as the template writes it."""
    return {
        "row": opened.row,
        "name": clean(query_name(opened.row.query, opened.row.text)),
        **opened_view(opened),
    }


def report(request: Request) -> Response:
    """Everything that the report shows."""
    shelf: WebShelf = request.app.state.shelf
    reference = request.path_params["reference"]
    browse, saved = shelf.evaluation(reference)
    made = shelf.report(reference)
    page: Response = request.app.state.renderer.page(
        request,
        "report.html.j2",
        title=clean(browse.name),
        browse=browse,
        saved=saved,
        reference=reference,
        tab="report",
        system=system_view(made, False),
        lead=headline(made, clean(made.name)),
    )
    return page


def truth(request: Request) -> Response:
    """The health of the ground truth, each finding with the queries it is about."""
    shelf: WebShelf = request.app.state.shelf
    reference = request.path_params["reference"]
    browse, saved = shelf.evaluation(reference)
    health = shelf.health(reference)
    page: Response = request.app.state.renderer.page(
        request,
        "truth.html.j2",
        title=clean(browse.name),
        browse=browse,
        saved=saved,
        reference=reference,
        tab="truth",
        health=health,
        row_of=browse.row_of,
        fingerprint=browse.scores.fingerprints.get("ground_truth"),
        versions=[
            (one, shelf.desk(one.number).truth())
            for one in shelf.pools()
            if one.name == browse.name and one.labels
        ],
        most=SHOWN_FINDINGS,
    )
    return page
