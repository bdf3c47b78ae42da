"""Pages of the history, and of one evaluation."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from calipers.present.escape import clean, query_name
from calipers.present.html import blocks_html
from calipers.present.scores import score_table
from calipers.questions.history.settings import history
from calipers.questions.reading import tag_pairs
from calipers.questions.report.browse import Browse
from calipers.questions.report.page.details import Details
from calipers.web import parameters as asked
from calipers.web.held import StillWorkingError
from calipers.web.render import address, render
from calipers.web.sources import WebSources

PAGE_SIZE = 50
FEW = 10
"""A list with up to so many evaluations needs no filters."""
SHOWN_FINDINGS = 8
"""Examples that a page lists per finding."""
OPENED_UNASKED = 5_000
"""Up to so many queries a comparison says why without being asked."""


def evaluations(request: Request) -> Response:
    """The trend of each name with the alarm's answer, and the history, newest first."""
    shelf: WebSources = request.app.state.shelf
    page = max(asked.whole(request, "page"), 1)
    kept = {one: asked.words(request, one) for one in ("name", "branch", "tag", "since")}
    which: dict[str, Any] = {
        "branch": kept["branch"] or None,
        "tags": tag_pairs((kept["tag"],)) if kept["tag"] else None,
        "since": kept["since"] or None,
    }
    found: Any = None
    lines: list[tuple[str, str]] = []
    waiting = ""
    if shelf.has_store:
        last = page * PAGE_SIZE + 1
        found = history(kept["name"] or None, last=last, store=shelf.where, **which)
        try:
            lines = shelf.lines(found.evaluations, **which) if page == 1 else []
        except StillWorkingError as error:
            waiting = str(error)
    listed = list(found.evaluations) if found else []
    return render(
        request,
        "evaluations.html.j2",
        title="Evaluations",
        found=found,
        rows=listed[(page - 1) * PAGE_SIZE : page * PAGE_SIZE],
        page=page,
        more=len(listed) > page * PAGE_SIZE,
        given=list(shelf.given),
        kept=kept,
        filters=any(kept.values()) or len(listed) > FEW,
        names=sorted({one.name for one in listed}),
        lines=lines,
        waiting=waiting,
        pools=shelf.pools(),
    )


def _evaluation(request: Request) -> tuple[WebSources, Browse, dict[str, Any]]:
    """The evaluation that the address names, and the values that its pages share."""
    shelf: WebSources = request.app.state.shelf
    reference = request.path_params["reference"]
    browse, saved = shelf.evaluation(reference)
    title = clean(browse.name)
    about = {"title": title, "browse": browse, "saved": saved, "reference": reference}
    return shelf, browse, about


def queries(request: Request) -> Response:
    """The queries, page by page, with the one open that the address names."""
    shelf, browse, about = _evaluation(request)
    view = asked.view(request)
    if view.reason:
        shelf.explained(about["reference"])
    found = browse.select(view)
    opened = None
    if asked.words(request, "open"):
        opened = shown(browse, asked.whole(request, "open", 0))
    kept = asked.kept(request, *asked.VIEW)
    path = request.url.path
    return render(
        request,
        "evaluation.html.j2",
        **about,
        view=view,
        found=found,
        opened=opened,
        tab="queries",
        link=lambda **more: address(path, **{**kept, "page": found.page, **more}),
        reasons_here=browse.reasons,
        summary=blocks_html([score_table(browse.scores, browse.ceilings)]),
        watched=view.metric or browse.shown[0],
    )


def shown(browse: Browse, row: int) -> dict[str, Any]:
    """A query as a page shows it: the targets, then the ranking."""
    opened = browse.open(row)
    query = opened.row.query
    known = browse.pair is not None
    return {
        "row": opened.row,
        "name": clean(query_name(query, opened.row.text)),
        "known": known,
        "by_id": browse.by_id,
        **(Details.of_query(opened).of(query) if known else {"expected": [], "results": []}),
    }


def report(request: Request) -> Response:
    """The report of an evaluation."""
    shelf, _, about = _evaluation(request)
    made = shelf.report(about["reference"])
    return render(request, "report.html.j2", **about, tab="report", made=made)


def truth(request: Request) -> Response:
    """The audit of the ground truth, each finding with its queries."""
    shelf, browse, about = _evaluation(request)
    return render(
        request,
        "truth.html.j2",
        **about,
        tab="truth",
        health=shelf.health(about["reference"]),
        row_of=browse.row_of,
        fingerprint=browse.scores.fingerprints.get("ground_truth"),
        most=SHOWN_FINDINGS,
    )
