"""Results as a notebook shows them: a table, and a chart where charts can be drawn."""

from collections.abc import Iterable
from html import escape
from typing import Any

from calipers.errors import InvalidInput, MissingExtra
from calipers.model.comparison import Comparison
from calipers.model.plot import Plot
from calipers.model.scores import Scores
from calipers.present import charts_compared, draw
from calipers.present.comparison import compared_rows, findings, heading
from calipers.present.html.texts import clean
from calipers.present.notes import notes
from calipers.present.plot import spec_of
from calipers.present.table import score_table


def as_html(value: Any) -> str:
    """What a notebook shows of scores, a comparison or a plot."""
    if isinstance(value, Scores):
        return _scores(value)
    if isinstance(value, Comparison):
        return _comparison(value)
    if isinstance(value, Plot):
        return _drawn(lambda: spec_of(value), value.chart)
    raise InvalidInput(f"A {type(value).__name__} has no looks of its own in a notebook.")


def _scores(scores: Scores) -> str:
    view = score_table(scores)
    rows = [
        [escape(name), *("" if c is None else _two(c.mean, c.interval) for c in cells)]
        for name, cells in view.rows
    ]
    said = "".join(f"<li>{escape(clean(line))}</li>" for line in notes(scores))
    return _table(("metric", *view.columns), rows) + f"<ul>{said}</ul>"


def _comparison(comparison: Comparison) -> str:
    heads = ["metric", *(clean(heading(comparison, name)) for name in comparison.systems)]
    rows = [
        [
            escape(row.metric),
            *(_two(f"{c.mean} {c.mark}".rstrip(), c.difference) for c in row.cells),
        ]
        for row in compared_rows(comparison)
    ]
    said = "".join(f"<li>{escape(clean(line))}</li>" for line in findings(comparison))
    chart = _drawn(lambda: charts_compared.differences(comparison), "Differences from the baseline")
    return f"{_table(heads, rows)}<ul>{said}</ul>{chart}"


def _drawn(make: Any, label: str) -> str:
    """The chart, or why there is none: a table without a chart is still a table."""
    try:
        return draw.inline_svg(make(), escape(label))
    except MissingExtra as error:
        return f"<p>{escape(str(error))}</p>"


def _two(first: str, second: str) -> str:
    return f"{escape(first)}<br><small>{escape(second)}</small>" if second else escape(first)


def _table(heads: Iterable[str], rows: Iterable[list[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr><th>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
