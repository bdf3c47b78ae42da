"""A sweep over k as a document: which k to take, the table, and each metric against k."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from calipers.model.claim import Claim
from calipers.model.document import (
    Cell,
    Cells,
    Column,
    Document,
    Heads,
    Note,
    Picture,
    Table,
    note_of,
    of_claim,
)
from calipers.model.fact import Fact, Sentence, named, sentence
from calipers.present import charts
from calipers.present.charts import Chart
from calipers.questions.sweep.result import Sweep, SweepPoint, SweepValue
from calipers.words import number

DEFAULT_METRICS = ("precision", "recall", "f1", "hit_rate", "ndcg", "mrr")
"""The metrics measured when none is named."""
ONLY_RETURNED = "No k can be chosen by recall: only what was returned was judged."
DECISIVE = ("recall", "precision")
"""The metrics that are printed by default."""
FEW_ROWS = 12
"""Up to this many points all are printed; beyond it, only round k."""
USUAL_ROWS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000)
SOURCES = {
    "data": "Tokens are those given with the results.",
    "estimate": "Tokens are estimated as characters / 4; 'tokens' in the results are exact.",
}


def document(sweep: Sweep) -> Document:
    """The k to use, the main rows of the table (CSV and JSON have all), and the reasons."""
    points = _shown_points(sweep)
    left = len(sweep.points) - len(points)
    more = f"{left} more k: --as csv" if left else ""
    return of_claim(
        leading_claim(sweep),
        *notes(sweep),
        blocks=[
            sweep_table(sweep, points, more),
            *([Picture(partial(over_k, sweep))] if sweep.recall else []),
        ],
        rows=lambda: sweep_rows(sweep),
    )


def sweep_table(sweep: Sweep, points: list[SweepPoint], more: str = "") -> Table:
    """One row per k: the means, tokens and what they cost."""
    has_tokens = any(point.tokens for point in points)
    has_price = any(point.tokens and point.tokens.cost is not None for point in points)
    # The metrics that decide k; the others are in the chart, CSV and JSON.
    decisive = DECISIVE if sweep.metrics == DEFAULT_METRICS else sweep.metrics
    shown = [metric for metric in decisive if metric != "tokens" or not has_tokens]
    heads: Heads = [
        Column("k"),
        *shown,
        *(["tokens"] if has_tokens else []),
        *(["1,000 queries"] if has_price else []),
    ]
    called = _called(sweep)
    rows: list[Cells] = []
    for point in points:
        means = [point.values[metric].mean for metric in shown]
        use = point.tokens
        row: list[Cell | str] = [Cell(f"{point.k}", strong=point.k in called)]
        row += ("" if mean is None else number(mean) for mean in means)
        if has_tokens:
            row.append(f"{use.mean:,.0f}" if use else "")
        if has_price:
            row.append(_money(use.cost) if use and use.cost is not None else "")
        rows.append(row)
    return Table(heads, rows, more=more)


def _money(cost: float) -> str:
    """An amount with two places, or two digits where it is small.

    >>> _money(1234.5), _money(0.731), _money(0.0042)
    ('1,234.50', '0.73', '0.0042')
    """
    return f"{cost:,.2f}" if cost >= 0.1 or not cost else f"{cost:.2g}"


def leading_claim(sweep: Sweep) -> Claim:
    """The best guess and the safe k."""
    if sweep.recall is None and sweep.recorded.only_returned:
        return Claim(None, ONLY_RETURNED)
    if sweep.recall is None:
        return Claim(None, "Nothing can be said of k: no query has anything to find.")
    return sweep.recall.claim


def notes(sweep: Sweep) -> Iterator[Note]:
    """Notes on the input, and how the numbers were computed."""
    yield from map(note_of, sweep.recorded.notes)
    if without := sweep.queries - sweep.n:
        left = Fact(about="left out", metric="recall", count=without, of=sweep.queries)
        verb = "is" if without == 1 else "are"
        yield Note(
            "left out",
            sentence(
                "{it.count} of {it.of} queries {verb} left out of {it.metric}: nothing relevant "
                "is known for {them}.",
                it=left,
                verb=verb,
                them="it" if without == 1 else "them",
            ),
        )
    if sweep.token_source:
        marks = SOURCES[sweep.token_source]
        yield Note("marks", Sentence(marks, [named(marks)]))
    if "recall" not in sweep.metrics:
        return
    yield Note(
        "method", "Start from recall: what was not retrieved, no language model can use."
    )


def _shown_points(sweep: Sweep) -> list[SweepPoint]:
    """The points to print: round k, the last, and those advised."""
    if len(sweep.points) <= FEW_ROWS:
        return list(sweep.points)
    wanted = {*USUAL_ROWS, sweep.points[-1].k, *_called(sweep)}
    return [point for point in sweep.points if point.k in wanted]


def sweep_rows(sweep: Sweep) -> Iterator[dict[str, object]]:
    """One row per k, full precision."""
    for point in sweep.points:
        row: dict[str, Any] = {"k": point.k}
        for metric in sweep.metrics:
            ends = zip(("", "_low", "_high"), _ends(point.values[metric]), strict=True)
            row |= {f"{metric}{end}": value for end, value in ends}
        for name in ("mean", "p95", "highest"):
            row[f"tokens_{name}"] = point.tokens and getattr(point.tokens, name)
        row["cost_of_1000_queries"] = point.tokens and point.tokens.cost
        yield row


def over_k(sweep: Sweep) -> Chart:
    """Each metric over k in its own panel, with its interval, the best guess and the safe k."""
    called = _called(sweep)
    # The safe k is a solid line, the best guess a dashed one; solid where both are the same.
    guides = [(k, name != "safe") for k, name in called.items()]
    panels = []
    for stem in sweep.metrics:
        line = [(point.k, *_ends(point.values[stem])) for point in sweep.points]
        panels.append(charts.over_k(stem, line, guides))
    legend = [
        ("dashed" if name != "safe" else "line", "worse", f"k = {k}, {name}")
        for k, name in called.items()
    ]
    caption = "Each metric against k, with its interval."
    return Chart(
        of_claim(leading_claim(sweep)).sentence, panels, caption, columns=3, legend=legend
    )


def _ends(value: SweepValue) -> tuple[float | None, float | None, float | None]:
    ends = value.interval
    return (value.mean, ends.low, ends.high) if ends else (value.mean, None, None)


def _called(sweep: Sweep) -> dict[int, str]:
    """The best guess and the safe k with their labels."""
    found = sweep.recall
    return {found.best_guess: "best guess", found.safe_k: "safe"} if found else {}
