"""Conditions a result must meet: ``metric op value [for tag=value]``."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from calipers.engines.summary import facts_by_name, summarise
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures.spec import Metric, parse_one
from calipers.model.arrays import Ints
from calipers.model.scores import Scores, Summary
from calipers.model.slicing import QuerySlice, query_weights_in

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
IN_WORDS = {
    ">=": "at least",
    "<=": "at most",
    ">": "more than",
    "<": "less than",
    "==": "exactly",
}
SAME = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<=", "=": "=="}
"""Other spellings of an operator that are unambiguous."""
FORM = "metric op value [for tag=value], such as: recall@10 >= 0.85 for type=multi-hop"
_CONDITION = re.compile(
    r"""\s*(?P<metric>[^\s<>=≥≤(]+(?:\((?:[^()]|\([^()]*\))*\))?(?:@[\d,]+)?)\s*
    (?P<op>>=|<=|=>|=<|==|=|>|<|≥|≤)\s*
    (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%)?
    (?:\s+[fF][oO][rR]\s+(?P<tag>"[^"]+"|'[^']+'|[^=\s"']+)\s*=\s*(?P<value>"[^"]*"|'[^']*'|\S.*?))?\s*""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Condition:
    """A requirement on the mean of a metric, for all queries or a slice."""

    metric: Metric
    op: str
    value: float
    tag: str | None = None
    tag_value: str | None = None

    @property
    def name(self) -> str:
        """The name of the metric."""
        return str(self.metric)

    def holds(self, value: float) -> bool:
        """Whether a mean meets the condition; rounding errors are ignored.

        >>> parse_condition("mrr >= 0.2").holds(0.19999999999999998)
        True
        """
        same = math.isclose(value, self.value, rel_tol=1e-12, abs_tol=1e-12)
        return bool(OPERATORS[self.op](self.value if same else value, self.value))

    def __str__(self) -> str:
        place = (
            ""
            if self.tag is None
            else f" for {_quoted(self.tag)}={_quoted(self.tag_value)}"
        )
        return f"{self.name} {self.op} {self.value:.15g}{place}"


def parse_condition(text: str) -> Condition:
    """Parse a condition.

    >>> print(parse_condition("R@10>=85% for type=multi-hop"))
    recall@10 >= 0.85 for type=multi-hop
    >>> parse_condition("recall@10 is 0.85")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The condition 'recall@10 is 0.85' cannot be read; write metric \
op value [for tag=value], such as: recall@10 >= 0.85 for type=multi-hop.
    """
    form = _CONDITION.fullmatch(text) if isinstance(text, str) else None
    if form is None:
        raise InvalidInput(f"The condition {text!r} cannot be read; write {FORM}.")
    value = float(form["number"]) / (100 if form["percent"] else 1)
    tag, tag_value = (form[group] and _bare(form[group]) for group in ("tag", "value"))
    op = SAME.get(form["op"], form["op"])
    condition = Condition(parse_one(form["metric"]), op, value, tag, tag_value)
    _check_meant(condition)
    return condition


def _check_meant(condition: Condition) -> None:
    """Reject a condition that always or never holds, and suggest the nearest sensible one."""
    low, high = condition.metric.definition.bounds
    top = math.inf if high is None else high
    value = condition.value
    op = condition.op
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
        f"The condition '{condition}' {'always' if always else 'never'} holds: "
        f"{condition.name} is {between}. Write {nearest}."
    )


def _bare(text: str) -> str:
    return (
        text[1:-1]
        if text[:1] in "\"'" and text[-1:] == text[:1] and len(text) > 1
        else text
    )


def _quoted(text: str | None) -> str:
    text = text or ""
    plain = text and text == text.strip() and not set(text) & set("=\"'")
    return text if plain else f'"{text}"' if '"' not in text else f"'{text}'"


def summary_of(
    scores: Scores, metric: str, part: QuerySlice, clusters: Ints | None
) -> Summary:
    """The mean of a metric on a slice, with its interval."""
    column = np.where(part.chosen, scores.of(metric), np.nan)
    # The condition may omit the relevance threshold that the scores were made with.
    facts = facts_by_name(scores)[scores[metric].metric]
    weights = query_weights_in(scores)
    summary = summarise(
        [facts], column[:, None], scores.recorded.confidence, clusters, weights
    )[facts.name]
    return replace(summary, undefined=int(part.chosen.sum()) - summary.n)
