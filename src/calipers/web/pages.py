"""The pages: the history, one evaluation, a comparison and judging; and how they are rendered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import polars as pl
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from calipers.errors import InvalidInput, StoreAway
from calipers.keywords import as_settings, in_python
from calipers.labels.agreement_document import verdict as agreed_in_words
from calipers.labels.desk import PoolSession
from calipers.model.claim import SIGNS
from calipers.model.health import Health
from calipers.present.escape import clean
from calipers.present.html import blocks_html, for_page
from calipers.present.paging import PAGE_SIZE, Page, page_of
from calipers.present.scores import score_table, verdict
from calipers.questions.audit.settings import AuditSettings, audit
from calipers.questions.compare.query_differences import ONLY, contrast
from calipers.questions.compare.rule import REPAIR
from calipers.questions.history.settings import HistorySettings, Which, history
from calipers.questions.report.browse import (
    Browse,
    View,
    lost_because,
    tag_values,
    with_tags,
)
from calipers.questions.report.commands import commands_about
from calipers.questions.report.page.details import (
    Details,
    ShownQuery,
    ShownSystem,
    beside,
)
from calipers.questions.report.page.page import environment, part_sections
from calipers.questions.report.rule import describe, parts, summary
from calipers.store.pool import PoolSettings
from calipers.version import __version__
from calipers.web.sources import Opened, WebSources
from calipers.words import did_you_mean, plural

TEMPLATES = Path(__file__).parent / "templates"
TITLE = 200
"""Longest title in characters; longer ones are cut."""
SLICE = "slice."
"""The prefix of parameters that name a tag of the queries."""


@dataclass(frozen=True, kw_only=True)
class AskedView(View):
    """What an address may ask of a page, besides which queries it lists."""

    of: list[str] = field(default_factory=list)
    metric: str = ""
    baseline: str = ""
    only: str = ""
    anyway: bool = False
    why: bool = False
    open: str = ""
    name: str = ""
    since: str = ""
    show: str = "open"
    query: str = ""
    item: int | None = None


def asked(request: Request) -> AskedView:
    """What an address asks for, read strictly; what is empty counts as not given."""
    given: dict[str, object] = {
        name: one for name, one in request.query_params.items() if one
    }
    tags = {
        name.removeprefix(SLICE): given[name] for name in given if name.startswith(SLICE)
    }
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
        plural=plural,
        signs=SIGNS,
        shown_title=shown_title,
        verdict=verdict,
    )
    return made


def render(
    request: Request, template: str, code: int = 200, **values: object
) -> HTMLResponse:
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


def address(path: str, **query: object) -> str:
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


FEW = 10
"""A list with up to so many evaluations needs no filters."""
SHOWN_FINDINGS = 8
"""Examples that a page lists per finding."""
OPENED_UNASKED = 5_000
"""Up to so many queries a comparison says why without being asked."""
MOST_COMPARED = 8
CARDS = 20
"""Conflicts or labels per page."""
SHOWN_TEXT = 1500
"""Characters of a text in a list."""
LISTS = ("open", "counted", "settled", "notes")
"""What the page of a pool lists: conflicts by status, or items with notes."""


def home(request: Request) -> Response:
    """The evaluations for the owner, the pools for a judge."""
    return evaluations(request) if request.state.owns else pools(request)


def evaluations(request: Request) -> Response:
    """The trend of each name with the alarm's answer, and the history, newest first."""
    shelf: WebSources = request.app.state.shelf
    wanted = asked(request)
    page = max(wanted.page, 1)
    which = Which(since=wanted.since or None)
    found: Any = None
    lines: list[tuple[str, str]] = []
    if shelf.has_store:
        last = page * PAGE_SIZE + 1
        settings = HistorySettings(which=which, last=last, store=shelf.where)
        found = history(wanted.name or None, settings=settings)
        lines = shelf.lines(found.evaluations, which) if page == 1 else []
    listed = found.evaluations if found else ()
    return render(
        request,
        "evaluations",
        title="Evaluations",
        found=found,
        listed=listed,
        rows=listed[(page - 1) * PAGE_SIZE : page * PAGE_SIZE],
        page=page,
        size=PAGE_SIZE,
        given=list(shelf.given),
        asked=wanted,
        filters=bool(wanted.name or wanted.since) or len(listed) > FEW,
        lines=lines,
        pools=shelf.pools(),
    )


# One evaluation


def _evaluation(request: Request, tab: str, source: Opened, **values: Any) -> Response:
    """Render a page about an evaluation."""
    browse = request.app.state.shelf.open(source)
    about = {"browse": browse, "tab": tab, **source._asdict()}
    with commands_about(source.short):
        return render(request, tab, title=clean(browse.name), **about, **values)


def _source(request: Request) -> Opened:
    """The evaluation that the address names."""
    opened: Opened = request.app.state.shelf.find(request.path_params["reference"])
    return opened


def queries(request: Request) -> Response:
    """The queries, page by page, with the one open that the address names."""
    source = _source(request)
    wanted = asked(request)
    browse = request.app.state.shelf.open(source)
    if wanted.open and not wanted.open.isdecimal():
        raise InvalidInput(
            f"open is {wanted.open[:40]!r}; it must be the number of a query."
        )
    return _evaluation(
        request,
        "evaluation",
        source,
        view=wanted,
        found=browse.select(wanted),
        opened=shown(browse, int(wanted.open)) if wanted.open else None,
        summary=blocks_html([score_table(browse.scores, browse.ceilings)]),
        watched=browse.shown[0],
    )


def shown(browse: Browse, at: int) -> ShownSystem:
    """A query as a page shows it: the targets, then the ranking."""
    row = browse.row(at)
    known = browse.pair is not None
    details: ShownQuery = {"expected": [], "results": []}
    if known:
        details = Details(browse, pl.Series([row.query])).of(row.query)
    return {
        "row": row,
        "known": known,
        "by_id": browse.by_id,
        "expected": details["expected"],
        "results": details["results"],
    }


def report(request: Request) -> Response:
    """The report of an evaluation."""
    source = _source(request)
    with commands_about(source.short):
        made = request.app.state.shelf.made(source, _report)
    return _evaluation(request, "report", source, made=made)


def _report(browse: Browse) -> str:
    return for_page(summary(browse), heading="") + part_sections(parts(describe(browse)))


def truth(request: Request) -> Response:
    """The audit of the ground truth, each finding with its queries."""
    source = _source(request)
    health = request.app.state.shelf.made(source, _health)
    return _evaluation(request, "truth", source, health=health, most=SHOWN_FINDINGS)


def _health(browse: Browse) -> Health:
    if browse.pair is None:
        raise InvalidInput(
            "The ground truth was not kept with this evaluation; save it with its run."
        )
    return audit(browse.pair.as_read[0], settings=AuditSettings())


# Two or more


def compared(request: Request) -> Response:
    """The differences with their intervals and tests, and the queries that differ most."""
    shelf: WebSources = request.app.state.shelf
    wanted = asked(request)
    references = [*dict.fromkeys(wanted.of)][:MOST_COMPARED]
    if len(references) < 2:
        raise InvalidInput("A comparison needs two evaluations; tick them in the list.")
    if wanted.baseline and wanted.baseline not in references:
        raise InvalidInput("The baseline is not among the evaluations that are compared.")
    systems = shelf.systems(references, wanted.baseline)
    try:
        comparison = shelf.comparison(systems, wanted.anyway)
    except StoreAway:
        raise
    except InvalidInput as error:
        # What can be done here stands below it, as a link.
        sentence = shelf.without_place(str(error))
        sentence = as_settings(sentence.removesuffix(in_python(REPAIR, "=")).rstrip())
        return render(request, "refused", 409, title="Compare", sentence=sentence)
    names = [facts.name for facts in comparison.metrics]
    metric = wanted.metric or comparison.leading
    if metric not in names:
        raise InvalidInput(
            f"The comparison has no {metric!r:.60}; it has {', '.join(names)}."
            f"{did_you_mean(metric, names)}"
        )
    scores = shelf.scores(next(iter(systems.values())))
    page = contrast(
        comparison,
        metric,
        text=wanted.text,
        only=wanted.only,
        among=with_tags(scores, wanted.slices) if wanted.slices else None,
        page=wanted.page,
    )
    tells_why = wanted.why or len(scores) <= OPENED_UNASKED
    opened = {name: shelf.open(one) for name, one in systems.items()} if tells_why else {}
    return render(
        request,
        "compare",
        title="Compare",
        answer=comparison.document(),
        systems=[clean(name) for name in systems],
        asked=wanted,
        of=[system.reference for system in systems.values()],
        metric=metric,
        metrics=names,
        tags=tag_values(scores),
        choices=ONLY,
        found=page,
        tells_why=tells_why,
        reasons=lost_because(opened, page.rows) if tells_why else {},
        opened=_side_by_side(shelf, systems, wanted.open) if wanted.open else None,
    )


def _side_by_side(
    shelf: WebSources, systems: dict[str, Opened], query: str
) -> list[ShownSystem]:
    """The rankings of every system, each result with its rank in the first."""
    columns: list[ShownSystem] = []
    for system, source in systems.items():
        browse = shelf.open(source)
        row = browse.row_of(query)
        column: ShownSystem = {"by_id": True, "expected": [], "results": []}
        if row is not None:
            column = shown(browse, row)
        column["name"] = clean(system)
        columns.append(column)
    return beside(columns)


# Judging


def desk_of(request: Request) -> PoolSession:
    """The pool that the address names."""
    shelf: WebSources = request.app.state.shelf
    return shelf.desk(request.path_params["number"])


def pools(request: Request) -> Response:
    """The list of pools."""
    return render(request, "pools", title="Judge", pools=request.app.state.shelf.pools())


def _pool(
    request: Request, tab: str, listed: Sequence[Any] = (), **values: Any
) -> Response:
    """Render a page about the pool that the address names, with one page of a list."""
    desk = desk_of(request)
    wanted = asked(request)
    within, page, pages = page_of(len(listed), wanted.page, CARDS)
    return render(
        request,
        tab,
        title=desk.name,
        tab=tab,
        asked=wanted,
        desk=desk,
        settings=desk.content.settings,
        scale=graded_by(desk.content.settings),
        shown_text=SHOWN_TEXT,
        listed=Page(listed[within], len(listed), len(listed), page, pages),
        **values,
    )


def judge(request: Request) -> Response:
    """The page for judging; its script gets the items from the API."""
    desk_of(request).state()
    return _pool(request, "judge")


def mine(request: Request) -> Response:
    """The judge's own labels, to review and to change."""
    return _pool(request, "mine", desk_of(request).own_labels(request.state.judge))


def pool(request: Request) -> Response:
    """The owner's view of a pool: effect on the metric, judges, conflicts and notes."""
    desk = desk_of(request)
    shown = asked(request).show
    if shown not in LISTS:
        raise InvalidInput(f"show is {shown[:40]!r}; it can be {', '.join(LISTS)}.")
    agreement = desk.agreement()
    sample = desk.sample()
    switch = desk.switch()
    noted = [(desk.items[item], desk.known.notes(item)) for item in desk.known.noted()]
    lists: dict[str, Sequence[object]] = {
        one: agreement.standing(one) for one in LISTS[:-1]
    }
    lists["notes"] = noted
    return _pool(
        request,
        "pool",
        lists[shown],
        counts={name: len(those) for name, those in lists.items()},
        found=agreement,
        agreed=agreed_in_words(agreement),
        sample=sample,
        switch=switch,
        moved=[] if sample or switch else desk.moved(),
        truth=desk.truth(),
        progress=desk.progress(request.state.judge),
    )


def graded_by(settings: PoolSettings) -> list[dict[str, object]]:
    """Every grade with its name and its keys.

    >>> [one["keys"] for one in graded_by(PoolSettings(scale="yes/no"))]
    [['0'], ['1', 'y']]
    """
    return [
        {
            "grade": grade,
            "name": name,
            "keys": [f"{grade:g}", *(("y",) if name == "yes" else ())],
        }
        for grade, name in settings.grades.items()
    ]
