"""The result of a comparison of two or more systems on the same queries."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Floats
from calipers.model.claim import Claim, Visibility
from calipers.model.fact import Sentence
from calipers.model.recorded import Recorded
from calipers.model.result import SCHEMA, HasRows, plain, sentences_of
from calipers.model.scores import Interval, MetricFacts
from calipers.words import did_you_mean

Verdict = Literal["better", "worse", "no clear difference", "supporting"]
"""The test of a system against the baseline. A supporting metric decides nothing: nobody
asked for it, or neither higher nor lower is better."""
STANDINGS: tuple[Verdict, ...] = ("better", "worse", "no clear difference")


@dataclass(frozen=True)
class SystemMean:
    """One system on one metric, over the queries for which all systems have a value."""

    system: str
    metric: str
    mean: float | None
    interval: Interval | None
    n: int
    undefined: int


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One system minus the baseline on one metric; also a result against its baseline in a gate.

    Wins and losses follow the direction of the metric: a lower first rank is a win.
    """

    system: str
    baseline: str
    metric: str
    n: int
    before: float | None
    """The mean of the baseline over the compared queries."""
    now: float | None
    """The mean of the system over them."""
    difference: float | None
    interval: Interval | None
    """Adjusted for multiple tests: it excludes 0 exactly where the verdict is better or
    worse. None where fewer than 8 queries changed."""
    p_value: float | None
    """Two-sided."""
    p_adjusted: float | None
    """Adjusted for all tests that decide; None for a supporting metric."""
    wins: int
    losses: int
    ties: int
    verdict: Verdict
    one_outweighs: bool = False
    """Whether one query changed more than all others together."""
    claim: Claim | None = None
    """The answer in words; None for a supporting metric."""


@dataclass(frozen=True)
class QueryDifference:
    """One query on which a system and the baseline differ."""

    query: str
    text: str | None
    baseline: float
    system: float
    difference: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(HasRows):
    """Paired differences between a baseline and other systems."""

    shown_by: ClassVar[str] = "calipers.questions.compare.document"

    systems: tuple[str, ...]
    baseline: str
    metrics: tuple[MetricFacts, ...]
    queries: pl.DataFrame
    """The id and text of the queries that all systems share."""
    values: Mapping[str, Floats]
    """For each system, one row per query and one column per metric; NaN is undefined."""
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]
    primary: str | None
    """The first of the deciding metrics; None where no metric has a better direction."""
    asked: tuple[str, ...]
    """The deciding metrics: those named by the user, else one for finding and one for
    order."""
    visibility: Visibility | None
    """The smallest detectable difference in the primary metric, for the system that
    varies most."""
    ranking: tuple[str, ...]
    """The systems by the primary metric, best first."""
    near_best: tuple[str, ...]
    """Those that a paired test cannot separate from the best."""
    moved_slices: tuple[Sentence, ...]
    """The slices that fell and rose much more than all queries together."""
    overridden: tuple[str, ...]
    """Reasons not to compare that ``anyway`` overrode."""
    fingerprints: Mapping[str, Mapping[str, str]]
    settings: Mapping[str, Any]
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    """The median latency of each system whose run recorded it; printed, never tested."""

    @property
    def recorded(self) -> Recorded:
        """The settings that this was made with, typed."""
        return Recorded(self.settings)

    @property
    def others(self) -> tuple[str, ...]:
        """The systems that are compared with the baseline."""
        return tuple(name for name in self.systems if name != self.baseline)

    @cached_property
    def deciding(self) -> tuple[Difference, ...]:
        """The deciding rows, most important first: one of each system, then the others.

        Within a system a significant loss comes first, then a drop of the primary metric,
        a significant gain, any change of the primary metric, any other change, and the
        rest. Systems that are better come first, then those that are worse, each by best
        mean.
        """
        rows = {
            name: sorted(
                (self.difference(name, metric) for metric in self.asked), key=self._weight
            )
            for name in self.others
        }
        places = {name: at for at, name in enumerate([*self.ranking, *self.others][::-1])}
        order = sorted(
            (name for name in rows if rows[name]),
            key=lambda name: (STANDINGS.index(rows[name][0].verdict), -places[name]),
        )
        leading = [rows[name][0] for name in order]
        return (*leading, *(row for name in order for row in rows[name][1:]))

    def _weight(self, difference: Difference) -> int:
        leads = difference.metric == self.primary
        moved = difference.wins + difference.losses > 0
        priority = (
            difference.verdict == "worse",
            leads and self.fell(difference),
            difference.verdict == "better",
            leads and moved,
            moved,
            True,
        )
        return priority.index(True)

    def fell(self, difference: Difference) -> bool:
        """Whether the mean got worse on these queries, significant or not."""
        turn = self.metrics[self._column(difference.metric)].turn
        return difference.difference is not None and turn * difference.difference < 0

    @property
    def claims(self) -> tuple[Claim, ...]:
        """A claim for each deciding row, most important first."""
        return tuple(
            difference.claim
            for difference in self.deciding
            if difference.claim is not None
        )

    @property
    def leading(self) -> str:
        """The metric of the most important row."""
        return self.deciding[0].metric if self.deciding else self.metrics[0].name

    def facts_of(self, metric: str) -> MetricFacts:
        """The definition of one metric."""
        return self.metrics[self._column(metric)]

    def mean(self, system: str, metric: str) -> SystemMean:
        """The mean of one system on one metric."""
        return self._means[self._known(system), self._measured(metric)]

    def difference(self, system: str, metric: str) -> Difference:
        """The difference of one system from the baseline on one metric."""
        if self._known(system) == self.baseline:
            raise InvalidInput(
                f"{system!r} is the baseline, and is not compared with itself; "
                f"the other systems are {', '.join(self.others)}."
            )
        return self._differences[system, self._measured(metric)]

    def by_query(self, system: str, metric: str) -> Floats:
        """System minus baseline, one value per query; NaN where undefined."""
        column = self._column(metric)
        difference: Floats = (
            self.values[self._known(system)][:, column]
            - self.values[self.baseline][:, column]
        )
        return difference

    def largest(
        self, system: str, metric: str, *, wins: bool, count: int = 5
    ) -> tuple[QueryDifference, ...]:
        """The queries on which a system gained (or lost) most, largest first."""
        difference = self.by_query(system, metric)
        facts = self.metrics[self._column(metric)]
        towards = facts.turn * (1.0 if wins else -1.0)
        gain = np.where(np.isnan(difference), 0.0, difference * towards)
        order = np.argsort(-gain, kind="stable")[:count]
        column = self._column(metric)
        return tuple(
            QueryDifference(
                self.queries["query"][int(i)],
                self.queries["text"][int(i)],
                float(self.values[self.baseline][i, column]),
                float(self.values[system][i, column]),
                float(difference[i]),
            )
            for i in order
            if gain[i] > 0
        )

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per query and metric: the value of every system, and its difference."""
        tables = []
        for column, metric in enumerate(self.metrics):
            table = self.queries.with_columns(metric=pl.lit(metric.name))
            values = {name: self.values[name][:, column] for name in self.systems}
            values |= {
                f"{name} - {self.baseline}": self.by_query(name, metric.name)
                for name in self.others
            }
            tables.append(
                table.with_columns(
                    pl.Series(name, v).fill_nan(None) for name, v in values.items()
                )
            )
        return pl.concat(tables)

    def to_dict(self, *, examples: int = 5) -> dict[str, Any]:
        """The whole comparison as plain values: what ``--json`` prints."""
        return {
            "schema": SCHEMA,
            "calipers": self.recorded.version,
            "systems": list(self.systems),
            "baseline": self.baseline,
            "queries": self.queries.height,
            "claims": plain(self.claims),
            "overridden": list(self.overridden),
            "metrics": plain(self.metrics),
            "primary": self.primary,
            "asked": list(self.asked),
            "ranking": list(self.ranking),
            "near_best": list(self.near_best),
            "visibility": plain(self.visibility),
            "means": plain(self.means),
            "differences": [
                self._with_examples(difference, examples)
                for difference in self.differences
            ],
            "latency_ms": dict(self.latency_ms),
            "fingerprints": plain(self.fingerprints),
            # A note may be a sentence with facts, which JSON has under "sentences".
            "settings": plain(
                {k: v for k, v in self.settings.items() if k != "calipers"}
            ),
            **sentences_of(self),
        }

    def _with_examples(self, difference: Difference, count: int) -> dict[str, Any]:
        examples = {
            name: self.largest(
                difference.system, difference.metric, wins=wins, count=count
            )
            for name, wins in (("largest_wins", True), ("largest_losses", False))
        }
        return {**plain(difference), **plain(examples)}

    @cached_property
    def _means(self) -> dict[tuple[str, str], SystemMean]:
        return {(mean.system, mean.metric): mean for mean in self.means}

    @cached_property
    def _differences(self) -> dict[tuple[str, str], Difference]:
        return {
            (difference.system, difference.metric): difference
            for difference in self.differences
        }

    def _column(self, metric: str) -> int:
        return [facts.name for facts in self.metrics].index(self._measured(metric))

    def _known(self, system: str) -> str:
        return _among(self.systems, system, "system")

    def _measured(self, metric: str) -> str:
        return _among([facts.name for facts in self.metrics], metric, "metric")


def _among(names: Sequence[str], name: str, what: str) -> str:
    if name not in names:
        raise InvalidInput(
            f"There is no {what} {name!r} in this comparison; it has {', '.join(names)}."
            f"{did_you_mean(name, names)}"
        )
    return name
