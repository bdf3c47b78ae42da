"""What to use: a setting, one lane alone, or what is in use.

Every metric that was asked for decides, by default one for finding and one for order. The gain of
the best setting is measured on queries that did not choose it; a lane alone is no choice of ours
and is compared as it is. All of it is tested together, by the paired test of ``compare``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Floats, Ints
from calipers.model.claim import Claim, Standing
from calipers.model.fact import Fact, Sentence, joined, named, replaced, sentence
from calipers.model.scores import MetricFacts
from calipers.questions.compare.paired_claim import LARGE, claim_of
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.fuse.result import FusedSetting
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.statistics.score_interval import Ends
from calipers.statistics.winner import WinnerGain, winner_gain

FEWEST = 2
"""The fewest queries: some to choose a setting on, others to measure it on."""
FEWEST_TO_DROP = 20
"""On fewer queries it may be luck that a second lane adds nothing."""
TIE = 1e-12
MARGIN = 0.05
"""A lane is enough where dropping the others may lose at most this much."""


class FusionDecision(NamedTuple):
    """What to use; settings and metrics are given by their place."""

    claim: Claim
    advised: int
    best: int
    decided_by: int
    """The metric by which ``best`` was chosen."""
    gain: WinnerGain
    """The gain of ``best`` over the setting in use."""
    lane: int
    """The best lane alone."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """A setting that may be advised, and its test in each metric against the one in use."""

    setting: int
    rows: Sequence[PairedRow]
    lost: Sequence[float]
    """How far each share, such as recall, is below that in use; below 0 where it is above."""
    by: int = 0
    """The metric by which it was chosen."""

    def first(self, standing: Standing) -> int | None:
        """The first metric in which it has a standing; the one that chose it goes first."""
        order = sorted(range(len(self.rows)), key=lambda at: at != self.by)
        return next((at for at in order if self.rows[at].standing == standing), None)

    @property
    def wins(self) -> bool:
        """Whether it is better in a metric, worse in none, and may not lose more than it gains."""
        if self.first("better") is None or self.first("worse") is not None:
            return False
        gains = [row.difference or 0.0 for row in self.rows if row.standing == "better"]
        return self.may_lose is None or self.lost[self.may_lose] < max(gains)

    @property
    def may_lose(self) -> int | None:
        """The metric that fell most, where that is much and may be chance."""
        fell = [
            at
            for at, row in enumerate(self.rows)
            if row.standing == "no clear difference" and self.lost[at] >= LARGE - TIE
        ]
        return max(fell, key=lambda at: self.lost[at], default=None)

    @property
    def gain(self) -> float:
        """The sum of its differences over all metrics."""
        return sum(row.difference or 0.0 for row in self.rows)

    @property
    def as_good(self) -> bool:
        """Whether it loses nothing on these queries, and little on new ones."""
        lows = (0.0 if row.interval is None else row.interval.low for row in self.rows)
        means = (row.difference or 0.0 for row in self.rows)
        return min(means) >= -TIE and min(lows) >= -MARGIN


@dataclass(frozen=True, eq=False)
class _Trial:
    """Every setting measured; the first is in use."""

    settings: Sequence[FusedSetting]
    values: Floats
    """By setting, query and metric; more is better."""
    metrics: Sequence[MetricFacts]
    clusters: Ints | None
    alpha: float

    def over(self, setting: int, metric: int) -> Floats:
        """The gain of a setting over the one in use, for each query."""
        gain: Floats = self.values[setting, :, metric] - self.values[0, :, metric]
        return gain

    def tested(self, columns: Sequence[Floats]) -> list[PairedRow]:
        """The paired test of some columns of gains, all together."""
        return paired_rows(columns, self.clusters, alpha=self.alpha)

    def choices(
        self, gains: Mapping[int, WinnerGain], lanes: Sequence[int]
    ) -> tuple[list[_Choice], list[_Choice]]:
        """The winner of each metric and each lane alone, tested together."""
        columns = [*self._of_winners(gains), *self._of_lanes(lanes)]
        rows = iter(self.tested(columns))
        every = range(len(self.metrics))
        winners = [
            _Choice(gain.winner, [next(rows) for _ in every], self.lost(gain.winner), by)
            for by, gain in gains.items()
        ]
        alone = [
            _Choice(lane, [next(rows) for _ in every], self.lost(lane)) for lane in lanes
        ]
        return winners, alone

    def lost(self, setting: int) -> list[float]:
        """How far each metric of a setting is below that in use; 0 where it is no share."""
        in_use, now = self.settings[0].means, self.settings[setting].means
        return [
            metric.turn * (in_use[metric.name] - now[metric.name])
            if metric.bounds[1] == 1
            else 0.0
            for metric in self.metrics
        ]

    def _of_winners(self, gains: Mapping[int, WinnerGain]) -> Iterator[Floats]:
        """Yield the gains of each winner; by its own metric those on fresh queries."""
        for by, gain in gains.items():
            for at in range(len(self.metrics)):
                yield _fresh(gain) if at == by else self.over(gain.winner, at)

    def _of_lanes(self, lanes: Sequence[int]) -> Iterator[Floats]:
        """Yield the gains of each lane alone in each metric."""
        for lane in lanes:
            for at in range(len(self.metrics)):
                yield self.over(lane, at)

    def advised(
        self, best: _Choice | None, lane: _Choice, gain: WinnerGain
    ) -> _Choice | None:
        """The best setting, or the lane that is as good and simpler; None where neither wins."""
        if best is None or not lane.wins or self.settings[best.setting].kind == "alone":
            return best or (lane if lane.wins else None)
        further = _fresh(gain) - self.over(lane.setting, best.by)
        [row] = self.tested([further])
        return best if row.standing == "better" else lane


def decide(
    settings: Sequence[FusedSetting],
    values: Floats,
    metrics: Sequence[MetricFacts],
    clusters: Ints | None,
    confidence: float,
    lane_in_use: int | None = None,
) -> FusionDecision:
    """Choose among settings, the first of which is in use; values by setting, query and metric.

    ``lane_in_use`` is the lane that this is, if it is one: the others are compared with it.
    """
    turns = np.array([metric.turn for metric in metrics])
    values = values if (turns == 1).all() else values * turns
    # Each metric has a winner, and all of them are asked together.
    level = 1.0 - (1.0 - confidence) / len(metrics)
    gains = _winner_gains(values, clusters, level)
    if 0 not in gains:
        raise InvalidInput(
            f"{metrics[0].name} is defined for fewer than {FEWEST} queries, so that nothing can be "
            "chosen; add queries with targets."
        )
    trial = _Trial(settings, values, metrics, clusters, 1.0 - confidence)
    alones = (at for at, setting in enumerate(settings) if setting.kind == "alone")
    winners, alone = trial.choices(gains, [at for at in alones if at != lane_in_use])
    lane = max(alone, key=lambda choice: (choice.wins, choice.gain))
    for at, winner in enumerate(winners):
        winners[at], gains[winner.by] = _of_one_voice(winner, gains[winner.by])
    sure = (way for way in winners if way.rows[way.by].standing == "better")
    best = next((winner for winner in sure if winner.wins), None)
    shown = best or winners[0]
    gain = gains[shown.by]
    advised = trial.advised(best, lane, gain)
    expected = ExpectedGain.of(gain, metrics[shown.by].most)
    of = metrics[shown.by].name
    if advised is None:
        droppable = lane if lane_in_use is None else None
        standing, fact, use = _keep(settings, metrics, winners, alone, droppable)
        leads = settings[shown.setting].name
        claim = Claim(standing, fact, expected.sentence(of, leads))
    else:
        use = advised.setting
        claim = _use(settings, metrics, advised)
        if advised is best:
            claim = replace(claim, range=expected.sentence(of))
    return FusionDecision(claim, use, shown.setting, shown.by, gain, lane.setting)


def _winner_gains(
    values: Floats, clusters: Ints | None, confidence: float
) -> dict[int, WinnerGain]:
    """What the winner of each metric gains on queries that did not choose it."""
    gains = {}
    for at in range(values.shape[2]):
        gain = winner_gain(values[:, :, at].T, 0, clusters, confidence=confidence)
        if gain is not None:
            gains[at] = replace(gain, winner=_winner(gain, values, at))
    return gains


def _of_one_voice(winner: _Choice, gain: WinnerGain) -> tuple[_Choice, WinnerGain]:
    """A winner and its gain by the metric that chose it, better only where both say so.

    The gain is tested twice: by the paired test, and by an interval that allows for the choice.
    Where one of them leaves zero in, it is not clearly better, and the interval reaches to zero.
    """
    row = winner.rows[winner.by]
    is_sure = gain.expected > 0 if gain.interval is None else gain.interval.low > 0
    if is_sure == (row.standing == "better"):
        return winner, gain
    if is_sure:
        return winner, replace(gain, interval=_with(gain.interval, row.interval))
    rows = list(winner.rows)
    rows[winner.by] = replace(row, standing="no clear difference")
    return replace(winner, rows=rows), gain


def _with(one: Ends | None, other: Ends | None) -> Ends | None:
    """The interval that holds both; None where one is not known."""
    if one is None or other is None:
        return None
    return Ends(min(one.low, other.low), max(one.high, other.high))


def _winner(gain: WinnerGain, values: Floats, by: int) -> int:
    """Of settings that tie for the lead, the one that is best in the other metrics."""
    # Setting by setting: nanmean copies what it is given.
    means = np.stack([np.nanmean(of_setting, axis=0) for of_setting in values])
    rest = np.delete(means, by, axis=1).sum(axis=1)
    tied = means[:, by] >= means[gain.winner, by] - TIE
    leads = gain.winner and rest[tied].max() > rest[gain.winner] + TIE
    return int(np.argmax(np.where(tied, rest, -np.inf))) if leads else gain.winner


def _fresh(gain: WinnerGain) -> Floats:
    """The gain of each query with the setting that the others chose."""
    column = np.full(len(gain.whole), np.nan)
    column[gain.whole] = gain.gains
    return column


def _use(
    settings: Sequence[FusedSetting], metrics: Sequence[MetricFacts], choice: _Choice
) -> Claim:
    """The claim that a setting is better than the one in use."""
    default = settings[0]
    new = settings[choice.setting]
    at = choice.first("better") or 0
    ends = (setting.means[metrics[at].name] for setting in (default, new))
    claim = claim_of(choice.rows[at], metrics[at], *ends, names=(default.name, new.name))
    fact = f"Use {new.name}. It{claim.fact.removeprefix(new.name)}"
    if choice.may_lose is None:
        return replace(claim, fact=replaced(claim.fact, fact))
    but = _fell(default, new, metrics[choice.may_lose])
    known = replaced(claim.fact, fact.removesuffix("."))
    return replace(claim, fact=joined(known, "; ", but, ".", by=""))


def _keep(
    settings: Sequence[FusedSetting],
    metrics: Sequence[MetricFacts],
    chosen: Sequence[_Choice],
    alone: Sequence[_Choice],
    lane: _Choice | None,
) -> tuple[Standing, str, int]:
    """Where nothing is clearly better: the standing, the sentence, and what to use."""
    default = named(settings[0].name)
    n = alone[0].rows[0].n
    queries = Fact(about="count", count=n, text="queries")
    for choice in (*chosen, *alone):
        better = choice.first("better")
        if better is None or choice.wins:
            continue
        now = settings[choice.setting]
        fact = sentence(
            "Keep {default.text}: {new.text} is better in {gained}{lost}.",
            default=default,
            new=named(now.name),
            gained=_moved(settings[0], now, metrics[better]),
            lost=_loss(settings[0], now, metrics, choice),
        )
        return "no clear difference", fact, 0
    if lane and n >= FEWEST_TO_DROP and lane.as_good:
        fact = sentence(
            "{lane.text} is enough: {default.text} adds nothing on {it.count:query|queries}.",
            lane=named(settings[lane.setting].name),
            default=default,
            it=queries,
        )
        return "no clear difference", fact, lane.setting
    if all(choice.first("worse") is not None for choice in alone):
        others = "each lane alone" if len(alone) > 1 else settings[alone[0].setting].name
        fact = sentence(
            "Keep {default.text}. It is better than {others.text}{where}; "
            "no setting is clearly better.",
            default=default,
            others=named(others),
            where=_where_worse(metrics, alone),
        )
        return "passed", fact, 0
    fact = sentence(
        "Keep {default.text}: no setting is clearly better on {it.count:query|queries}.",
        default=default,
        it=queries,
    )
    return "no clear difference", fact, 0


def _where_worse(metrics: Sequence[MetricFacts], alone: Sequence[_Choice]) -> Sentence:
    """The metrics in which each lane alone is worse; nothing where these are all."""
    worse = [
        [choice.rows[at].standing == "worse" for choice in alone]
        for at in range(len(metrics))
    ]
    every, some = (
        [metric for metric, lanes in zip(metrics, worse, strict=True) if of(lanes)]
        for of in (all, any)
    )
    if len(every) == len(metrics):
        return sentence("")
    names = [sentence("{it.text}", it=named(metric.name)) for metric in every or some]
    return joined(" in ", joined(*names, by=" and " if every else " or "), by="")


def _loss(
    before: FusedSetting,
    now: FusedSetting,
    metrics: Sequence[MetricFacts],
    choice: _Choice,
) -> Sentence:
    """What a setting loses that is better in another metric."""
    worse = choice.first("worse")
    if worse is not None:
        return sentence(" but worse in {lost}", lost=_moved(before, now, metrics[worse]))
    fell = _fell(before, now, metrics[choice.may_lose or 0])
    return sentence(", but {fell}", fell=fell)


def _fell(before: FusedSetting, now: FusedSetting, metric: MetricFacts) -> Sentence:
    """A metric that is much worse in a setting, which may be chance."""
    return sentence(
        "{it.metric} {how} from {it.before} to {it.value}, which may be chance",
        how="fell" if metric.turn > 0 else "rose",
        it=_difference(before, now, metric),
    )


def _moved(before: FusedSetting, now: FusedSetting, metric: MetricFacts) -> Sentence:
    """A metric of a setting, and what it was."""
    it = _difference(before, now, metric)
    return sentence("{it.metric} ({it.value}, it was {it.before})", it=it)


def _difference(before: FusedSetting, now: FusedSetting, metric: MetricFacts) -> Fact:
    """How a metric of a setting differs from that of another."""
    means = (now.means[metric.name], before.means[metric.name])
    gain = metric.turn * (means[0] - means[1])
    return Fact(
        about="difference",
        system=now.name,
        against=before.name,
        metric=metric.name,
        value=means[0],
        before=means[1],
        direction="better" if gain > 0 else "worse" if gain < 0 else "same",
    )
