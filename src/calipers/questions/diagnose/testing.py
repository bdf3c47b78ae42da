"""Cures, tested together by the one paired rule."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from calipers.frozen import dataclass
from calipers.measures import Metric
from calipers.model.arrays import Floats
from calipers.model.scores import Scores
from calipers.model.slicing import units_in
from calipers.questions.diagnose.cures import SEEN, Seen, Trial
from calipers.questions.diagnose.result import CuredValue, TriedCure
from calipers.questions.diagnose.same_ids import FEWEST
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_rows import PairedRow, paired_rows

LEAST = 0.03
"""A cure that gains less is not advised."""


def cured_value(metric: Metric, before: Floats, after: Floats) -> CuredValue:
    """One metric before and after a cure, over the queries that have both; not tested."""
    known = ~np.isnan(before) & ~np.isnan(after)
    old = before[known]
    new = after[known]
    return CuredValue(
        str(metric),
        before=exact_mean(old),
        after=exact_mean(new),
        better=int((new > old).sum()),
        worse=int((new < old).sum()),
        p=None,
        standing=None,
    )


@dataclass(frozen=True, eq=False)
class Tested:
    """A cure with what its test says, and the run as it would be."""

    trial: Trial
    cure: TriedCure
    significant: tuple[bool, ...]
    """By deciding metric: significantly better, and more than chance would give."""

    @property
    def gain(self) -> float:
        """The largest significant gain; 0 where there is none that is worth it."""
        if self.trial.at_full_depth is not None:
            whole = float(np.nanmean(self.trial.at_full_depth))
            is_worth_it = whole >= LEAST and self.cure.gain >= SEEN
            return whole if is_worth_it and self._is_sure else 0.0
        gains = (
            value.gain
            for value, sure in zip(self.cure.values, self.significant, strict=True)
            if (sure or self._helps_for_certain) and value.gain >= LEAST
        )
        return max(gains, default=0.0)

    @property
    def _is_sure(self) -> bool:
        """Whether the gain is significant, or the fault there for certain."""
        same = self.trial.same_ids
        return any(self.significant) or (same is not None and same.is_certain)

    @property
    def _helps_for_certain(self) -> bool:
        """Whether a fault that can be seen costs some queries something, and no query gains by it.

        Then nothing is left to be tested: the mean can only rise.
        """
        values = self.cure.values
        return (
            self.trial.is_fact
            and max(value.better for value in values) >= FEWEST
            and not any(value.worse for value in values)
        )

    @cached_property
    def after(self) -> Seen:
        """The run as it would be."""
        if self.trial.after is None:
            raise ValueError(f"{self.trial.name} is no certain cure")
        return self.trial.after()

    @property
    def leading(self) -> CuredValue:
        """The metric that the first line names: recall where it gains enough, else ndcg."""
        # Ids that differ, and repetitions, are facts, whose gain at k need not be significant.
        is_fact = self.trial.same_ids is not None or self._helps_for_certain
        pairs = zip(self.cure.values, self.significant, strict=True)
        return next(
            (value for value, sure in pairs if (sure or is_fact) and value.gain >= LEAST),
            max(self.cure.values, key=lambda value: value.gain),
        )


@dataclass(frozen=True, eq=False)
class Tester:
    """Tests cures together, by the one paired rule."""

    scores: Scores
    alpha: float

    def tried(
        self, seen: Seen, trials: Iterable[Trial], *, tested: bool = True
    ) -> list[Tested]:
        """Each cure with the means before and after; all of them are one family of tests."""
        listed = list(trials)
        rows: list[PairedRow] = []
        if tested:
            columns = [column for trial in listed for column in _columns(seen, trial)]
            rows = paired_rows(columns, units_in(self.scores), alpha=self.alpha)
        width = 2 * len(seen.metrics)
        return [
            self._tested(seen, trial, rows[at * width : (at + 1) * width])
            for at, trial in enumerate(listed)
        ]

    def advisable(self, seen: Seen, trials: Iterable[Trial]) -> list[Tested]:
        """Each cure with its test; none where no mean gains enough to be advised."""
        listed = list(trials)
        untested = self.tried(seen, listed, tested=False)
        enough = any(
            outcome.trial.at_full_depth is not None or outcome.cure.gain >= LEAST
            for outcome in untested
        )
        return self.tried(seen, listed) if enough else []

    def _tested(self, seen: Seen, trial: Trial, rows: Sequence[PairedRow]) -> Tested:
        """One cure with its rows of the test: the gains, then what is beyond chance."""
        values: list[CuredValue] = []
        significant: list[bool] = []
        deeper = trial.deeper
        metrics = seen.metrics if deeper is None else deeper.metrics
        before = seen.values if deeper is None else deeper.before
        n = len(metrics)
        for at, metric in enumerate(metrics):
            row = rows[at] if rows else None
            sure = bool(rows) and rows[at].standing == rows[n + at].standing == "better"
            if sure and trial.by_chance is not None:
                sure = (rows[n + at].adjusted or 0.0) <= self.alpha * trial.chance_at
            standing = None if row is None else row.standing
            if standing == "better" and not sure:
                standing = "no clear difference"
            value = cured_value(metric, before[:, at], trial.values[:, at])
            adjusted = None if row is None else row.adjusted
            values.append(replace(value, p=adjusted, standing=standing))
            significant.append(sure)
        cure = TriedCure(
            trial.name,
            trial.title,
            trial.kind,
            tuple(values),
            trial.option,
            trial.advice,
            seen.k if deeper is None else deeper.k,
        )
        return Tested(trial, cure, tuple(significant))


def _columns(seen: Seen, trial: Trial) -> Iterator[Floats]:
    """The gains of a cure in each metric, then what is beyond chance of them."""
    before = seen.values if trial.deeper is None else trial.deeper.before
    gains = trial.values - before
    if trial.at_full_depth is not None:
        gains = np.column_stack([trial.at_full_depth] * gains.shape[1])
    yield from gains.T
    yield from (gains if trial.by_chance is None else trial.values - trial.by_chance()).T
