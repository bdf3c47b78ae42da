"""The answer about a fusion: use a setting, use one lane, or keep what is in use.

Every metric that was asked for decides, by default one for finding and one for order. The gain of
the best setting is measured on queries that did not choose it; a lane alone is no choice of ours
and is compared as it is. All of it is tested together, by the paired test of ``compare``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints
from calipers.model.claim import Claim, Standing
from calipers.model.scores import MetricFacts
from calipers.questions.compare.paired_claim import claim_of
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.fuse.result import FusedSetting
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.statistics.winner import WinnerGain, winner_gain
from calipers.words import number, plural

FEWEST = 2
"""The fewest queries: some to choose a setting on, others to measure it on."""
FEWEST_TO_DROP = 20
"""On fewer queries it may be luck that a second lane adds nothing."""
TIE = 1e-12
MARGIN = 0.05
"""A lane is enough where dropping the others may lose at most this much."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What to use; settings and metrics are given by their place."""

    claim: Claim
    advised: int
    best: int
    decided_by: int
    """The metric by which ``best`` was chosen."""
    gain: WinnerGain
    """The gain of ``best``, over the setting in use."""
    lane: int
    """The best lane alone."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A setting that may be advised: its test in each metric against the setting in use."""

    setting: int
    rows: Sequence[PairedRow]
    by: int = 0
    """The metric by which it was chosen."""

    def first(self, standing: str) -> int | None:
        """The first metric in which it has a standing; the one that chose it goes first."""
        order = sorted(range(len(self.rows)), key=lambda at: at != self.by)
        return next((at for at in order if self.rows[at].standing == standing), None)

    @property
    def wins(self) -> bool:
        """Whether it is better in a metric and worse in none."""
        return self.first("better") is not None and self.first("worse") is None


def decide(
    settings: Sequence[FusedSetting],
    values: Floats,
    metrics: Sequence[MetricFacts],
    clusters: Ints | None,
    confidence: float,
) -> Decision:
    """Choose among settings, the first of which is in use; values by setting, query and metric."""
    values = values * np.array([one.turn for one in metrics])
    every, alpha = range(len(metrics)), 1.0 - confidence
    found = {
        at: winner_gain(values[:, :, at].T, 0, clusters, confidence=confidence) for at in every
    }
    gains = {at: gain for at, gain in found.items() if gain is not None}
    if 0 not in gains:
        raise InvalidInput(
            f"{metrics[0].name} is defined for fewer than {FEWEST} queries, so that nothing can be "
            "chosen; add queries with targets."
        )
    gains = {at: _by_the_others(gain, values, at) for at, gain in gains.items()}
    columns = []
    for by, gain in gains.items():
        columns += [values[gain.winner, :, at] - values[0, :, at] for at in every]
        columns[by - len(every)] = _fresh(gain)
    lanes = [at for at, one in enumerate(settings) if one.kind == "alone"]
    columns += [values[lane, :, at] - values[0, :, at] for lane in lanes for at in every]
    rows = iter(paired_rows(columns, clusters, alpha=alpha))
    chosen = [Choice(gain.winner, [next(rows) for _ in every], by) for by, gain in gains.items()]
    alone = [Choice(lane, [next(rows) for _ in every]) for lane in lanes]
    lane = max(alone, key=lambda one: (one.wins, sum(row.difference or 0.0 for row in one.rows)))
    # An interval of the gain that holds 0 is a doubt of its own.
    sure = [one for one in chosen if (ends := gains[one.by].interval) is None or ends.low > 0]
    best = next((one for one in sure if one.wins), None)
    advised = best if best is not None or not lane.wins else lane
    if best is not None and lane.wins and settings[best.setting].kind != "alone":
        # A lane alone is simpler than a setting that is not clearly better than it.
        over = values[0, :, best.by] - values[lane.setting, :, best.by] + _fresh(gains[best.by])
        [row] = paired_rows([over], clusters, alpha=alpha)
        advised = best if row.standing == "better" else lane
    shown = best or chosen[0]
    likely = ExpectedGain.of(gains[shown.by]).sentence(settings[shown.setting].name)
    answer = _Answer(settings, metrics, lane, alone)
    if advised is None:
        standing, fact, kept = answer.keep(chosen)
        claim = Claim(standing, fact, likely)
    else:
        claim, kept = answer.use(advised), advised.setting
        claim = replace(claim, range=likely) if advised is best else claim
    return Decision(claim, kept, shown.setting, shown.by, gains[shown.by], lane.setting)


def _by_the_others(gain: WinnerGain, values: Floats, by: int) -> WinnerGain:
    """Of settings that tie for the lead, the one that is best in the other metrics."""
    means = np.nanmean(values, axis=1)
    rest = np.delete(means, by, axis=1).sum(axis=1)
    tied = means[:, by] >= means[gain.winner, by] - TIE
    better = gain.winner and rest.size and rest[tied].max() > rest[gain.winner] + TIE
    return replace(gain, winner=int(np.argmax(np.where(tied, rest, -np.inf)))) if better else gain


def _fresh(gain: WinnerGain) -> Floats:
    """The gain of each query with the setting that the others chose."""
    column = np.full(len(gain.whole), np.nan)
    column[gain.whole] = gain.gains
    return column


@dataclass(frozen=True, eq=False)
class _Answer:
    """The first line in words."""

    settings: Sequence[FusedSetting]
    metrics: Sequence[MetricFacts]
    lane: Choice
    alone: Sequence[Choice]

    def use(self, one: Choice) -> Claim:
        at = one.first("better") or 0
        now, before = (self.settings[of].means[self.metrics[at].name] for of in (one.setting, 0))
        names = (self.settings[0].name, self.settings[one.setting].name)
        claim = claim_of(one.rows[at], self.metrics[at], before, now, names=names)
        return replace(claim, fact=f"Use {names[1]}. It{claim.fact.removeprefix(names[1])}")

    def keep(self, chosen: Sequence[Choice]) -> tuple[Standing, str, int]:
        """Where nothing is clearly better: the standing, the sentence, and what to use."""
        default, n = self.settings[0].name, self.lane.rows[0].n
        queries = plural(n, "query", "queries")
        torn = [one for one in (*chosen, *self.alone) if None not in _ends(one)]
        if torn:
            better, worse = (self._moved(torn[0], at) for at in _ends(torn[0]))
            name = self.settings[torn[0].setting].name
            fact = f"Keep {default}: {name} is better in {better} but worse in {worse}."
            return "no clear difference", fact, 0
        if n >= FEWEST_TO_DROP and all(_as_good(row) for row in self.lane.rows):
            lane = self.settings[self.lane.setting].name
            fact = f"{lane} is enough: {default} adds nothing on {queries}."
            return "no clear difference", fact, self.lane.setting
        if all(one.first("worse") is not None for one in self.alone):
            fact = (
                f"Keep {default}. It is better than each lane alone; no setting is clearly better."
            )
            return "passed", fact, 0
        return (
            "no clear difference",
            f"Keep {default}: no setting is clearly better on {queries}.",
            0,
        )

    def _moved(self, one: Choice, at: int) -> str:
        name = self.metrics[at].name
        now, before = (self.settings[of].means[name] for of in (one.setting, 0))
        return f"{name} ({number(now)}, it was {number(before)})"


def _ends(one: Choice) -> tuple[int | None, int | None]:
    return one.first("better"), one.first("worse")


def _as_good(row: PairedRow) -> bool:
    """Whether a lane alone loses nothing on these queries, and little on new ones."""
    low = 0.0 if row.interval is None else row.interval.low
    return (row.difference or 0.0) >= -TIE and low >= -MARGIN
