"""Two or more evaluations on the same queries."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput, StoreAway
from calipers.present.escape import clean
from calipers.questions.compare.query_differences import contrast, places_won
from calipers.questions.report.page.view import comparison_view
from calipers.web import parameters as asked
from calipers.web.pages import shown
from calipers.web.render import address, render
from calipers.web.sources import WebShelf
from calipers.words import did_you_mean


def compared(request: Request) -> Response:
    """The differences with their intervals and tests, and the queries that contrast most."""
    shelf: WebShelf = request.app.state.shelf
    references = tuple(dict.fromkeys(request.query_params.getlist("of")))[:8]
    anyway = asked.switch(request, "anyway")
    if len(references) < 2:
        raise InvalidInput("A comparison needs two evaluations; tick them in the list.")
    try:
        comparison = shelf.comparison(references, anyway, now=False)
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
            references=references,
        )
    names = [facts.name for facts in comparison.metrics]
    metric = asked.words(request, "metric") or comparison.leading
    if metric not in names:
        raise InvalidInput(
            f"The comparison has no {metric!r:.60}; it has {', '.join(names)}."
            f"{did_you_mean(metric, names)}"
        )
    text, different = asked.words(request, "text"), asked.switch(request, "different")
    found = contrast(
        comparison, metric, text=text, different=different, page=asked.whole(request, "page")
    )
    kept: dict[str, Any] = {
        "of": list(references),
        "anyway": "1" if anyway else None,
        "metric": metric,
        "text": text,
        "different": "1" if different else None,
    }
    opened = asked.words(request, "open")
    if opened:
        shelf.opened(references)
    return render(
        request,
        "compare.html.j2",
        title="Compare",
        comparison=comparison_view(comparison, []),
        systems=[clean(name) for name in comparison.systems],
        references=references,
        metrics=names,
        metric=metric,
        text=text,
        different=different,
        anyway=anyway,
        found=found,
        opened=_side_by_side(shelf, references, opened) if opened else None,
        open_query=opened,
        link=lambda **more: address("/compare", **{**kept, "page": found.page, **more}),
    )


def _side_by_side(shelf: WebShelf, references: tuple[str, ...], query: str) -> list[dict[str, Any]]:
    """The rankings of every system, each result with its rank in the first."""
    columns: list[dict[str, Any]] = []
    first: dict[str, int] = {}
    for reference, (system, browse) in zip(
        references, shelf.named(references).items(), strict=True
    ):
        row = browse.row_of(query)
        if row is None:
            columns.append({"name": clean(system), "results": [], "expected": []})
            continue
        one = shown(browse.open(row))
        ranks = {_called(result): result["rank"] for result in reversed(one["results"])}
        if columns:
            won = places_won(first, ranks)
            for result in one["results"]:
                name = _called(result)
                result |= {"before": first.get(name), "moved": won[name], "new": won[name] is None}
        else:
            first = ranks
        columns.append({**one, "name": clean(system), "reference": reference})
    return columns


def _called(result: dict[str, Any]) -> str:
    """What tells a result from others: its name, or else its text."""
    return result.get("name") or str(result.get("text"))
