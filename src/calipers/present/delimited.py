"""Results as CSV: every table goes through here, and summaries have theirs."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from calipers.model.scores import Scores
from calipers.model.summary import Summary

HEADER = ("metric", "mean", "median", "low", "high", "level", "method", "n", "undefined")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV, full precision; what is undefined is an empty cell.

    >>> csv_text(("k", "recall"), [(1, 0.5), (2, None)])
    'k,recall\\n1,0.5\\n2,\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def summary_csv(scores: Scores) -> str:
    """One line per metric: mean, median, interval, n, undefined; full precision."""
    return csv_text(HEADER, map(_summary, scores.summaries.values()))


def _summary(one: Summary) -> list[Any]:
    ends: tuple[Any, ...] = (None,) * 4
    if one.interval:
        ends = (one.interval.low, one.interval.high, one.interval.level, one.interval.method)
    return [one.metric, one.mean, one.median, *ends, one.n, one.undefined]
