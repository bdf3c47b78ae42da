"""Summaries as CSV."""

import csv
import io

from calipers.model.scores import Scores

HEADER = ("metric", "mean", "median", "low", "high", "level", "method", "n", "undefined")


def summary_csv(scores: Scores) -> str:
    """One line per metric: mean, median, interval, n, undefined; full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for summary in scores.summaries.values():
        interval = summary.interval
        ends = (
            (interval.low, interval.high, interval.level, interval.method)
            if interval
            else ("", "", "", "")
        )
        writer.writerow(
            [summary.metric, _cell(summary.mean), _cell(summary.median), *ends,
             summary.n, summary.undefined]
        )  # fmt: skip
    return text.getvalue()


def _cell(value: float | None) -> float | str:
    return "" if value is None else value
