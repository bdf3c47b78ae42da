"""Scores as a chart: each metric against its cut-offs, or one row each where none has several."""

from calipers.model.scores import MetricFacts, Scores
from calipers.present.charts import Chart, Dot, Mark, Panel, interval_row, numbers, over_k, rows
from calipers.words import number, plural

_SAID = "The mean of each metric over the queries, with its interval."


def scores_chart(scores: Scores) -> Chart:
    """The means with their intervals, of the metrics that lie between 0 and 1."""
    families: dict[str, list[MetricFacts]] = {}
    for one in scores.metrics:
        low, high = one.bounds
        if low == 0 and high == 1:
            families.setdefault(one.stem, []).append(one)
    title = "Means with their intervals"
    if any(len(family) > 1 for family in families.values()):
        panels = [
            over_k(stem, [(one.k, *_mean_and_ends(scores, one.name)) for one in family])
            for stem, family in families.items()
        ]
        return Chart(title, panels, _SAID, columns=3)
    names = [one.name for family in families.values() for one in family]
    marks: list[Mark] = []
    for at, name in enumerate(names):
        found = scores[name]
        if found.mean is not None:
            ends = f" ({found.interval.shown})" if found.interval else ""
            said = f"{name}: {number(found.mean)}{ends}, {plural(found.n, 'query', 'queries')}"
            marks += interval_row(Dot(found.mean, -at, said, radius=5), found.interval)
    return Chart(title, [Panel(numbers(0, 1), rows(names), marks, rows=len(names))], _SAID)


def _mean_and_ends(scores: Scores, name: str) -> tuple[float | None, float | None, float | None]:
    summary = scores[name]
    ends = summary.interval
    return (summary.mean, ends.low, ends.high) if ends else (summary.mean, None, None)
