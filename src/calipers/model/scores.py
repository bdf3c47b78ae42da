"""One number per query and metric, with everything needed to know what it means."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Floats, Ints, Picklable, WhenAsked
from calipers.model.policy import Policy
from calipers.model.recorded import Recorded
from calipers.model.result import SCHEMA, HasRows, Plain, plain
from calipers.words import did_you_mean, number

Method = Literal[
    "score", "t", "paired", "permutation", "jackknife", "wilson", "bootstrap", "normal"
]
"""How an interval was made: of a mean between bounds, of a mean without bounds, of paired
differences, of a group against the rest, of agreement, of a share. The last two stand in
results of earlier versions."""


@dataclass(frozen=True)
class Interval:
    """Where the mean over all such queries plausibly lies, at a level such as 0.95."""

    low: float
    high: float
    level: float
    method: Method

    @property
    def shown(self) -> str:
        """Both ends, as a table shows them."""
        return f"{number(self.low)}–{number(self.high)}"


@dataclass(frozen=True)
class Summary:
    """One metric over all queries for which it is defined."""

    metric: str
    mean: float | None
    median: float | None
    interval: Interval | None
    n: int
    undefined: int


@dataclass(frozen=True, kw_only=True)
class InputCounts(Plain):
    """The counts behind a result."""

    queries: int
    """Queries in the ground truth."""
    answered: int
    empty: int
    """Queries in the run for which nothing came back."""
    missing: int
    """Queries of the ground truth that the run does not have."""
    missing_examples: tuple[str, ...]
    errors: int
    """Queries on which the retriever failed."""
    error_examples: tuple[str, ...] = ()
    """Some of them, each with its error."""
    unanswerable: int
    """Queries without any relevant target."""
    unanswerable_silent: int
    """How many of those rightly got nothing back."""
    unknown: int
    """Queries of the run that the ground truth does not have; they are not measured."""
    unknown_examples: tuple[str, ...]
    targets: int
    """Relevant targets."""
    judgements: int
    """All targets, relevant or not."""
    repeated_judgements: int
    retrieved: int
    """Results for queries of the ground truth."""
    duplicates: int
    """Results that had been returned before for the same query."""
    ties: int
    """Results that share their score with a neighbour, where scores make the order."""
    ties_on_targets: int
    """How many of those hold a relevant target: the tie rule decides their rank."""
    depth: int | None
    """The largest cut-off in use, over which the unjudged rate is taken; None: all
    ranks."""
    shown: int
    """Results within that depth."""
    unjudged: int
    """How many of those are unjudged."""

    @property
    def unjudged_rate(self) -> float | None:
        """The share of unjudged results within ``depth``."""
        return self.unjudged / self.shown if self.shown else None

    def to_dict(self) -> dict[str, Any]:
        """The counts by name."""
        return {**super().to_dict(), "unjudged_rate": self.unjudged_rate}


ROWS_AT_ONCE = 100_000
"""Queries whose scores are written at a time."""
SHOWN = 4
"""Metrics that a prompt shows."""


@dataclass(frozen=True)
class MetricFacts:
    """The definition of one metric, as a result records it."""

    name: str
    stem: str
    """The name without the cut-off."""
    k: int | None
    better: str
    bounds: tuple[float, float | None]
    definition: str
    """The formula in words."""
    aggregate: Literal["mean", "sum"] = "mean"
    """How the values of queries become one number."""

    @property
    def kind(self) -> str:
        """The name without cut-off and parameters."""
        return self.stem.partition("(")[0]

    @property
    def most(self) -> float | None:
        """The largest difference of two values; None where there is none."""
        low, high = self.bounds
        return None if high is None else float(high - low)

    @property
    def turn(self) -> float:
        """1 where higher is better, -1 where lower is."""
        return -1.0 if self.better == "lower" else 1.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Scores(Picklable, Plain, HasRows):
    """The result of an evaluation. It explains itself.

    ``scores["recall@10"]`` is a summary (mean, median, interval, n, undefined);
    ``scores.per_query`` is a table with one row per query.
    """

    shown_by: ClassVar[str] = "calipers.present.scores"
    dict_keys: ClassVar[str] = "summaries metrics audit policy fingerprints settings"

    metrics: tuple[MetricFacts, ...]
    values: Floats
    """One row per query, one column per metric; NaN is undefined. Read-only."""
    queries: WhenAsked[pl.DataFrame] = WhenAsked()
    """query, text, status, retrieved, targets."""
    tags: Mapping[str, pl.Series]
    audit: InputCounts
    policy: Policy
    fingerprints: Mapping[str, str]
    """One each for the ground truth, the run and the settings."""
    settings: Mapping[str, Any]
    summaries: Mapping[str, Summary]
    """The summary of every metric by name."""
    find_name: Callable[[str, Iterable[str]], str | None]
    """The name that another spelling stands for, such as precision@5 for P_5."""

    @property
    def recorded(self) -> Recorded:
        """The settings that this was made with, typed."""
        return Recorded(self.settings)

    def with_notes(self, notes: Iterable[str]) -> "Scores":
        """The same with further notes."""
        # Not by dataclasses.replace, which would compute everything that waits to be
        # asked for.
        same = object.__new__(type(self))
        settings = {**self.settings, "notes": [*self.recorded.notes, *notes]}
        vars(same).update(vars(self), settings=settings)
        return same

    def __getitem__(self, name: str) -> Summary:
        if not isinstance(name, str):
            raise InvalidInput(f"A metric is named by a text; found {name!r:.60}.")
        if name in self.summaries:
            return self.summaries[name]
        if (known := self.find_name(name, self.summaries)) is not None:
            return self.summaries[known]
        raise InvalidInput(
            f"These scores have no {name!r}; they have {', '.join(self.summaries)}."
            f"{did_you_mean(name, self.summaries)}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.summaries)

    def __len__(self) -> int:
        return self.queries.height

    def __repr__(self) -> str:
        """The means in one line, for a prompt."""
        names = [*self.summaries]
        means = [f"{name} {_mean(self.summaries[name])}" for name in names[:SHOWN]]
        more = f", … ({len(names)} in all)" if len(names) > SHOWN else ""
        queries = "query" if len(self) == 1 else "queries"
        return f"<Scores of {len(self):,} {queries}: {', '.join(means)}{more}>"

    def of(self, name: str) -> Floats:
        """The values of one metric, one per query."""
        names = [metric.name for metric in self.metrics]
        return self.values[:, names.index(name if name in names else self[name].metric)]

    def rows_of(self, queries: pl.Series) -> Ints:
        """The row of each of some queries; -1 where these scores do not have it."""
        own = self.queries.select("query").with_row_index("row")
        joined = queries.to_frame("query").join(
            own, on="query", how="left", maintain_order="left"
        )
        return joined["row"].cast(pl.Int64).fill_null(-1).to_numpy()

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per query: its text, status, counts and the value of every metric."""
        return self._table(0, len(self))

    def query_blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[pl.DataFrame]:
        """The same table in pieces, each made when it is asked for; at least one, maybe empty."""
        for start in range(0, max(len(self), 1), rows):
            yield self._table(start, min(start + rows, len(self)))

    def _table(self, start: int, stop: int) -> pl.DataFrame:
        tags = (tag.alias(f"tag.{name}") for name, tag in self.tags.items())
        columns = [column[start:stop] for column in (*self.queries, *tags)]
        values = {metric.name: self.values[:, i] for i, metric in enumerate(self.metrics)}
        scores = (pl.Series(name, column[start:stop]) for name, column in values.items())
        return pl.DataFrame([*columns, *(column.fill_nan(None) for column in scores)])

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole result as plain values: what ``--json`` prints (schema in the docs)."""
        kept = {**super().to_dict(), "summaries": plain([*self.summaries.values()])}
        result = with_version(kept)
        if per_query:
            result["per_query"] = [*self.rows()]
        return result

    def rows(self) -> Iterator[dict[str, Any]]:
        """The members of ``per_query`` in ``to_dict``, made one after the other."""
        names = [metric.name for metric in self.metrics]
        for block in self.query_blocks():
            for row in block.iter_rows(named=True):
                tags = {name: row.pop(f"tag.{name}") for name in self.tags}
                scores = {name: row.pop(name) for name in names}
                yield {**row, "tags": tags, "scores": scores}


def with_version(result: dict[str, Any]) -> dict[str, Any]:
    """A result as ``--json`` prints it: the version that made it first, not in the settings."""
    settings = dict(result["settings"])
    return {
        "schema": SCHEMA,
        "calipers": settings.pop("calipers"),
        **result,
        "settings": settings,
    }


def _mean(summary: Summary) -> str:
    return "undefined" if summary.mean is None else f"{summary.mean:.3f}"
