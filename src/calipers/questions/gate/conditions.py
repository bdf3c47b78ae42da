"""Conditions a result must meet: ``metric op value [for tag=value]``.

The metric may be a figure: the mean, largest or a percentile of what the run recorded per query.
"""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calipers.engines.summary import facts_by_name, summarise
from calipers.errors import InvalidInput
from calipers.measures.spec import Metric, check_cutoff, parse_one
from calipers.model.arrays import Floats, Ints
from calipers.model.scores import Scores, Summary
from calipers.model.slicing import QuerySlice, query_weights_in

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
IN_WORDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "==": "exactly"}
SAME = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<=", "=": "=="}
"""Other spellings of an operator that are unambiguous."""
COMBINED = "score"
"""The weighted score: not a metric, but a condition may name it."""
FORM = (
    "metric op value [for tag=value], such as: recall@10 >= 0.85 for type=multi-hop, "
    "latency_p95 <= 300ms or tokens_mean@10 <= 4000"
)
_FIGURE = re.compile(r"(?:latency|(tokens))_(mean|max|p[1-9]\d?)(?(1)(?:@(.+))?)", re.IGNORECASE)
_CONDITION = re.compile(
    r"""\s*(?P<metric>[^\s<>=≥≤(]+(?:\([^)]*\))?(?:@[\d,]+)?)\s*
    (?P<op>>=|<=|=>|=<|==|=|>|<|≥|≤)\s*
    (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>%|ms|s)?
    (?:\s+[fF][oO][rR]\s+(?P<tag>"[^"]+"|'[^']+'|[^=\s"']+)\s*=\s*(?P<value>"[^"]*"|'[^']*'|\S.*?))?\s*""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Figure:
    """A statistic of a value that the run recorded for each query.

    >>> str(parse_figure("tokens_mean@10")), str(parse_figure("latency_p95"))
    ('tokens_mean@10', 'latency_p95')
    """

    of: Literal["latency", "tokens"]
    statistic: str
    """mean, max, or a percentile such as p95."""
    k: int | None = None
    """How many results count for tokens; None: all."""

    def __str__(self) -> str:
        return f"{self.of}_{self.statistic}" + ("" if self.k is None else f"@{self.k}")

    @property
    def unit(self) -> str:
        """The unit of the figure, or an empty text."""
        return "ms" if self.of == "latency" else ""

    def value(self, values: Floats) -> float:
        """The statistic of some values, which must all be defined."""
        if self.statistic == "mean":
            return float(values.mean())
        if self.statistic == "max":
            return float(values.max())
        # A percentile that occurred, not interpolated: the smallest that so many do not exceed.
        share = int(self.statistic[1:]) / 100
        return float(np.quantile(values, share, method="inverted_cdf"))


def parse_figure(name: str) -> Figure | None:
    """Parse the name of a figure; None if it is not one."""
    form = _FIGURE.fullmatch(name)
    if form is None:
        return None
    k = None if form[3] is None else check_cutoff(form[3])
    return Figure("tokens" if form[1] else "latency", form[2].lower(), k)


@dataclass(frozen=True)
class Condition:
    """A requirement on the mean of a metric or on a recorded figure, for all queries or a slice."""

    metric: Metric | None
    """None for the combined score or a figure."""
    op: str
    value: float
    tag: str | None = None
    tag_value: str | None = None
    figure: Figure | None = None

    @property
    def name(self) -> str:
        """The name of the metric, the figure or the combined score."""
        if self.figure is not None:
            return str(self.figure)
        return COMBINED if self.metric is None else str(self.metric)

    def holds(self, found: float) -> bool:
        """Whether a mean meets the condition; rounding errors are ignored.

        >>> (0.1 + 0.2 + 0.3) / 3 >= 0.2, Condition(None, ">=", 0.2).holds(0.19999999999999998)
        (True, True)
        """
        same = math.isclose(found, self.value, rel_tol=1e-12, abs_tol=1e-12)
        return bool(OPERATORS[self.op](self.value if same else found, self.value))

    def __str__(self) -> str:
        place = "" if self.tag is None else f" for {_quoted(self.tag)}={_quoted(self.tag_value)}"
        unit = "" if self.figure is None else self.figure.unit
        return f"{self.name} {self.op} {self.value:.15g}{unit}{place}"


def parse_condition(text: str) -> Condition:
    """Parse a condition.

    >>> print(parse_condition("R@10>=85% for type=multi-hop"))
    recall@10 >= 0.85 for type=multi-hop
    >>> print(parse_condition("latency_p95 <= 0.3 s"))
    latency_p95 <= 300ms
    >>> parse_condition("recall@10 is 0.85")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The condition 'recall@10 is 0.85' cannot be read; write metric \
op value [for tag=value], such as: recall@10 >= 0.85 for type=multi-hop, latency_p95 <= 300ms or \
tokens_mean@10 <= 4000.
    """
    form = _CONDITION.fullmatch(text) if isinstance(text, str) else None
    if form is None:
        raise InvalidInput(f"The condition {text!r} cannot be read; write {FORM}.")
    name, op, value, unit = form["metric"], form["op"], float(form["number"]), form["unit"]
    figure = parse_figure(name)
    if figure is None and name.lower().startswith(("latency", "tokens")):
        raise InvalidInput(f"The condition {text!r} cannot be read; write {FORM}.")
    metric = None if figure is not None or name == COMBINED else parse_one(name)
    timed = figure is not None and figure.unit == "ms"
    if (unit in ("ms", "s")) != timed:
        found = (
            f"the unit {unit}; only a latency has one."
            if not timed
            else ("no unit; a latency is written with ms or s, such as 300ms.")
        )
        raise InvalidInput(f"The condition {text!r} gives {found}")
    value = value / 100 if unit == "%" else value * 1000 if unit == "s" else value
    tag, tag_value = (form[one] and _bare(form[one]) for one in ("tag", "value"))
    condition = Condition(metric, SAME.get(op, op), value, tag, tag_value, figure)
    _check_meant(condition)
    return condition


def _check_meant(condition: Condition) -> None:
    """Reject a condition that always or never holds, and suggest the nearest sensible one."""
    low, high = condition.metric.definition.bounds if condition.metric else (0.0, None)
    top, value, op = math.inf if high is None else high, condition.value, condition.op
    ends = [OPERATORS[op](end, value) for end in (low, top)]
    always = op != "==" and all(ends)
    never = not low <= value <= top if op == "==" else not any(ends)
    if not always and not never:
        return
    rises = op in (">=", ">")
    nearest = replace(
        condition,
        op=(">" if rises else "<") + ("=" if never else ""),
        value=top if rises == never else low,
    )
    if top == 1.0 < value <= 100.0:
        nearest = replace(condition, value=value / 100.0)
    between = f"{low:g} or more" if high is None else f"between {low:g} and {high:g}"
    raise InvalidInput(
        f"The condition '{condition}' {'always' if always else 'never'} holds: {condition.name} is "
        f"{between}. Write {nearest}."
    )


def _bare(text: str) -> str:
    return text[1:-1] if text[:1] in "\"'" and text[-1:] == text[:1] and len(text) > 1 else text


def _quoted(text: str | None) -> str:
    text = text or ""
    plain = text and text == text.strip() and not set(text) & set("=\"'")
    return text if plain else f'"{text}"' if '"' not in text else f"'{text}'"


def summary_of(scores: Scores, metric: str, part: QuerySlice, clusters: Ints | None) -> Summary:
    """The mean of a metric on a slice, with its interval."""
    column = np.where(part.chosen, scores.of(metric), np.nan)
    # The condition may omit the relevance threshold that the scores were made with.
    facts = facts_by_name(scores)[scores[metric].metric]
    weights = query_weights_in(scores)
    found = summarise([facts], column[:, None], {}, scores.settings, clusters, weights)[facts.name]
    return replace(found, undefined=int(part.chosen.sum()) - found.n)
