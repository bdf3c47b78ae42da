"""Pages of the history, and of one evaluation."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from calipers.model.evaluation import Evaluation
from calipers.present.escape import clean, query_name
from calipers.present.html import blocks_html
from calipers.present.scores import score_table
from calipers.questions.history.settings import history
from calipers.questions.reading import tag_pairs
from calipers.questions.report.browse import Browse
from calipers.questions.report.page.details import Details
from calipers.store import listing
from calipers.store.schema import EVALUATION
from calipers.web import parameters as asked
from calipers.web.held import StillWorkingError
from calipers.web.render import address, render
from calipers.web.sources import WebSources

PAGE_SIZE = 50
FEW = 10
"""A list with up to so many evaluations needs no filters."""
SHOWN_FINDINGS = 8
"""Examples that a page lists per finding."""
MOST_OTHERS = 3
"""The most other runs that a page compares."""
LOOKED_AT = 50
"""How many evaluations, newest first, are searched for other runs."""
OPENED_UNASKED = 5_000
"""Up to so many queries another run is loaded at once; a larger one gets a link."""


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
        others = other_runs(shelf, about["reference"], about["saved"])
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
        versions=[
            (one, shelf.desk(one.number).truth())
            for one in shelf.pools()
            if one.name == browse.name and one.labels
        ],
        most=SHOWN_FINDINGS,
    )


@dataclass(frozen=True)
class OtherRun:
    """Another run that answered the same questions."""

    reference: str
    name: str
    queries: int


def other_runs(shelf: WebSources, reference: str, saved: Evaluation | None) -> list[OtherRun]:
    """Other runs of the same questions: those given too, or the newest in the history."""
    if saved is None:
        return [
            OtherRun(name, clean(name), len(pair.matches.queries))
            for name, pair in shelf.given.items()
            if name != reference
        ][:MOST_OTHERS]
    found: dict[str, OtherRun] = {}
    # Newest first, so that the newest of each name stays.
    for one in listing.evaluations(
        shelf.store(),
        metrics=(),
        last=LOOKED_AT,
        where=[
            EVALUATION.c.ground_truth == saved.fingerprints["ground_truth"],
            EVALUATION.c.run != saved.fingerprints["run"],
        ],
    ):
        called = one.name if one.name != saved.name else f"{one.name} {one.short}"
        found.setdefault(one.name, OtherRun(one.id, clean(called), one.queries))
    return list(found.values())[:MOST_OTHERS]


def ranks_in(
    shelf: WebSources, others: Collection[OtherRun], query: str, wanted: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The ranks in each other run by item; ``ranks`` is None if the run is loaded on request."""
    for other in others:
        shown: dict[str, Any] = {"name": other.name, "reference": other.reference, "ranks": None}
        if other.queries <= OPENED_UNASKED or other.reference in wanted:
            browse, _ = shelf.evaluation(other.reference)
            row = browse.row_of(query)
            if row is None or browse.pair is None:
                continue
            ranks = browse.open(row).rankings.select("item", "rank").reverse()
            shown["ranks"] = {clean(str(item)): rank for item, rank in ranks.iter_rows()}
        yield shown
