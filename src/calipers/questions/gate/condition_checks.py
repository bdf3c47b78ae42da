"""Latency and tokens as figures that a gate can hold: from the run's own records."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.measures.spec import check_cutoff
from calipers.model.arrays import Floats
from calipers.model.matched import Matched
from calipers.questions.shown_results import Context
from calipers.words import plural

_ABOUT = re.compile(r"(latency|tokens)(?![a-z])", re.IGNORECASE)
_FORM = re.compile(r"(latency|tokens)_(mean|max|p\d{1,2})(?:@(.+))?", re.IGNORECASE)


@dataclass(frozen=True)
class Figure:
    """A statistic of what the run recorded for each query.

    >>> str(parse_figure("tokens_mean@10")), str(parse_figure("latency_p95"))
    ('tokens_mean@10', 'latency_p95')
    """

    of: Literal["latency", "tokens"]
    statistic: str
    """mean, max, or a percentile such as p95."""
    k: int | None = None
    """The results that count for tokens; None: all."""

    def __str__(self) -> str:
        return f"{self.of}_{self.statistic}" + ("" if self.k is None else f"@{self.k}")

    @property
    def unit(self) -> str:
        """What the figure is counted in, where that must be said."""
        return "ms" if self.of == "latency" else ""

    def value(self, values: Floats) -> float:
        """The statistic of some values, none of them undefined."""
        if self.statistic == "mean":
            return float(values.mean())
        if self.statistic == "max":
            return float(values.max())
        # A value that occurred, and no mixture of two: the smallest that so many do not exceed.
        share = int(self.statistic[1:]) / 100
        return float(np.quantile(values, share, method="inverted_cdf"))


def parse_figure(name: str) -> Figure | None:
    """The figure that a name stands for; None where it is another name."""
    form = _FORM.fullmatch(name)
    if form is None and _ABOUT.match(name):
        raise InvalidInput(
            f"{name} is no figure of a run; write the mean, the largest or a percentile from p1 to "
            "p99: latency_mean, latency_max, latency_p95, or tokens_p95@10 for the first 10 "
            "results."
        )
    if form is None:
        return None
    of: Literal["latency", "tokens"] = "latency" if form[1].lower() == "latency" else "tokens"
    if of == "latency" and form[3] is not None:
        raise InvalidInput(
            f"{name} has a cut-off, and a latency is that of the whole answer; leave it out."
        )
    if form[2].lower() in ("p0", "p00"):
        raise InvalidInput(f"{name} names no percentile; p1 to p99 exist, such as p95.")
    return Figure(of, form[2].lower(), None if form[3] is None else check_cutoff(form[3]))


def recorded(pair: Matched, figure: Figure) -> tuple[Floats, str | None]:
    """One value per query, NaN where the run has none, and what must be said about them."""
    return _latency(pair) if figure.of == "latency" else _tokens(pair, figure)


def _latency(pair: Matched) -> tuple[Floats, str | None]:
    queries = pair.run.queries
    if queries is None or "latency_ms" not in queries.columns or not queries["latency_ms"].count():
        raise InvalidInput(
            "A condition is about latency and the run has recorded none; `calipers retrieve` "
            "records it, or give 'latency_ms' in every record."
        )
    asked = pair.matches.queries.select("query").join(
        queries.select("query", pl.col("latency_ms").cast(pl.Float64)),
        on="query",
        how="left",
        maintain_order="left",
    )
    values = asked["latency_ms"].fill_null(float("nan")).to_numpy().copy()
    without = int(np.isnan(values).sum())
    said = f"The run has no latency for {plural(without, 'query', 'queries')}; these do not count."
    return values, said if without else None


def _tokens(pair: Matched, figure: Figure) -> tuple[Floats, str | None]:
    context = Context.of(pair.run, pair.matches, ties=pair.policy.ties, rel=pair.rel)
    counts = context.tokens()
    if counts is None:
        raise InvalidInput(
            "A condition is about tokens and the results have neither 'tokens' nor a text; give "
            "every result its 'tokens'."
        )
    values = context.summed(counts.counts, figure.k or max(1, pair.depth))
    said = "The tokens are estimated from the texts, four characters each."
    return values, said if counts.source == "estimate" else None
