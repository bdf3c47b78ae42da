"""The page that compares two or more evaluations on the same queries."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput, StoreAway
from calipers.present.escape import clean
from calipers.questions.compare.query_differences import ONLY, ContrastPage, contrast, places_won
from calipers.questions.report.browse import tag_values, with_tags
from calipers.web import parameters as asked
from calipers.web.pages import OPENED_UNASKED, shown
from calipers.web.render import address, render
from calipers.web.sources import WebSources
from calipers.words import did_you_mean


def compared(request: Request) -> Response:
    """The differences with their intervals and tests, and the queries that differ most."""
    shelf: WebSources = request.app.state.shelf
    references = _baseline_first(request, shelf)
    anyway = asked.switch(request, "anyway")
    try:
        comparison = shelf.comparison(references, anyway)
    except StoreAway:
        raise
    except InvalidInput as error:
        return render(
            request,
            "refused.html.j2",
            status=409,
            title="Compare",
            sentence=shelf.without_place(str(error)),
            anyway=address("/compare", of=list(references), anyway="1"),
        )
    names = [facts.name for facts in comparison.metrics]
    metric = asked.words(request, "metric") or comparison.leading
    if metric not in names:
        raise InvalidInput(
            f"The comparison has no {metric!r:.60}; it has {', '.join(names)}."
            f"{did_you_mean(metric, names)}"
        )
    tags = asked.tags(request)
    scores = shelf.scores(references[0])
    found = contrast(
        comparison,
        metric,
        text=asked.words(request, "text"),
        only=asked.words(request, "only"),
        among=with_tags(scores, tags) if tags else None,
        page=asked.whole(request, "page"),
    )
    opened, why = asked.words(request, "open"), asked.switch(request, "why")
    kept = {
        **asked.kept(request, "baseline", "anyway", "text", "only", "why"),
        "of": list(references),
        "metric": metric,
    }
    if opened:
        shelf.opened(references)
    tells_why = why or len(scores) <= OPENED_UNASKED
    return render(
        request,
        "compare.html.j2",
        title="Compare",
        answer=comparison.document(),
        systems=[clean(name) for name in comparison.systems],
        kept=kept,
        others=references[1:],
        metrics=names,
        tags=tag_values(scores),
        chosen=tags,
        choices=ONLY,
        found=found,
        tells_why=tells_why,
        reasons=_reasons(shelf, references, comparison.systems, found) if tells_why else {},
        opened=_side_by_side(shelf, references, opened) if opened else None,
        open_query=opened,
        link=lambda **more: address("/compare", **{**kept, "page": found.page, **more}),
    )


def _baseline_first(request: Request, shelf: WebSources) -> tuple[str, ...]:
    """The evaluations that the address names, beginning with its baseline or the oldest."""
    references = shelf.oldest_first(tuple(dict.fromkeys(request.query_params.getlist("of")))[:8])
    if len(references) < 2:
        raise InvalidInput("A comparison needs two evaluations; tick them in the list.")
    baseline = asked.words(request, "baseline") or references[0]
    if baseline not in references:
        raise InvalidInput("The baseline is not among the evaluations that are compared.")
    return tuple(sorted(references, key=lambda one: one != baseline))


def _reasons(
    shelf: WebSources,
    references: tuple[str, ...],
    systems: tuple[str, ...],
    found: ContrastPage,
) -> dict[str, str]:
    """Why the queries on a page that got worse miss their targets, by query."""
    said: dict[str, list[str]] = {}
    for reference, system in zip(references, systems, strict=True):
        lost = [row.query for row in found.rows if system in row.worse]
        for query, reason in (shelf.why(reference, lost) if lost else {}).items():
            whose = f"{clean(system)}: " if len(systems) > 2 else ""
            said.setdefault(query, []).append(whose + reason)
    return {query: ". ".join(reasons) for query, reasons in said.items()}


def _side_by_side(
    shelf: WebSources, references: tuple[str, ...], query: str
) -> list[dict[str, Any]]:
    """The rankings of every system, each result with its rank in the first."""
    columns: list[dict[str, Any]] = []
    first: dict[str, int] = {}
    for system, browse in shelf.named(references).items():
        row = browse.row_of(query)
        if row is None:
            columns.append({"name": clean(system), "results": [], "expected": [], "by_id": True})
            continue
        one = shown(browse, row)
        ranks = {_called(result): result["rank"] for result in reversed(one["results"])}
        if columns:
            won = places_won(first, ranks)
            for result in one["results"]:
                name = _called(result)
                result |= {"before": first.get(name), "moved": won[name], "new": won[name] is None}
        else:
            first = ranks
        columns.append({**one, "name": clean(system)})
    return columns


def _called(result: dict[str, Any]) -> str:
    """What identifies a result: its name, or else its text."""
    return result.get("name") or str(result.get("text"))
