"""How much of a difference the size of the corpus explains."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from calipers.errors import CalipersError
from calipers.input_types import GroundTruthInput, SystemsInput
from calipers.measures import parse_one
from calipers.model.fact import Fact, Sentence, named, sentence
from calipers.model.scores import Scores
from calipers.questions.compare.result import Comparison
from calipers.questions.grow.result import FEWEST, GrowthValue, TodayValue
from calipers.questions.grow.rule import KINDS, Asked, grow_pair
from calipers.questions.inputs import matched, tags_of
from calipers.questions.reading import Inputs, Intervals, MatchingSettings, Reading
from calipers.questions.systems import name_systems


class _Sizes(NamedTuple):
    """The sizes of the baseline's corpus and of the other system's."""

    baseline: str
    before: int
    system: str
    after: int

    @property
    def grew(self) -> bool:
        return self.after > self.before

    @property
    def changed(self) -> Sentence:
        """Which way the corpus went."""
        return sentence(
            "The corpus {verb} from {before.count} to {after.count}",
            verb="grew" if self.grew else "shrank",
            before=Fact(about="count", system=self.baseline, count=self.before),
            after=Fact(about="count", system=self.system, count=self.after),
        )


class _Answer(NamedTuple):
    """What a run finds in its own corpus, and in one of the other's size."""

    own: TodayValue
    other: GrowthValue | None
    """None below the fewest queries."""
    is_larger: bool
    """Whether the run's own corpus is the larger one."""


def growth_explains(
    comparison: Comparison,
    systems: SystemsInput,
    scores: Mapping[str, Scores],
    ground_truth: GroundTruthInput | None,
    matching: MatchingSettings,
    intervals: Intervals,
) -> Sentence | None:
    """What the size of the corpus alone does to a metric, beside what changed.

    The run of the larger corpus is thinned, which is exact; where its lists are too short
    for that, the run of the smaller one is projected. None where the sizes are not known
    or the same, or no run is there.
    """
    metric = next(filter(_follows, (comparison.primary, *comparison.asked)), None)
    if metric is None or len(scores) != 2:
        return None
    baseline, [system] = comparison.baseline, comparison.others
    difference = comparison.difference(system, metric).difference
    before = scores[baseline].recorded.corpus_size
    after = scores[system].recorded.corpus_size
    if difference is None or not before or not after or before == after:
        return None
    sizes = _Sizes(baseline, before, system, after)
    answers = list(
        _answers(sizes, metric, name_systems(systems), ground_truth, matching, intervals)
    )
    if not answers:
        return None
    for answer in answers:
        if answer.other is not None and answer.other.printed:
            return _explained(sizes, metric, difference, answer, answer.other)
    return _needs(sizes, metric, difference, answers[0])


def _follows(metric: str | None) -> bool:
    """Whether what growth does to a metric can be computed."""
    if metric is None:
        return False
    parsed = parse_one(metric)
    return parsed.name in KINDS and parsed.k is not None


def _answers(
    sizes: _Sizes,
    metric: str,
    systems: Mapping[str, object],
    ground_truth: GroundTruthInput | None,
    matching: MatchingSettings,
    intervals: Intervals,
) -> Iterator[_Answer]:
    """What each run that is there finds in the other corpus, the larger corpus first."""
    both = [(sizes.before, sizes.after, sizes.baseline)]
    both.append((sizes.after, sizes.before, sizes.system))
    for own, other, name in sorted(both, reverse=True):
        value = systems[name]
        if isinstance(value, Scores):
            continue
        asked = Asked(
            (parse_one(metric),),
            (other / own,),
            confidence=intervals.confidence,
            cluster=intervals.cluster,
            weight_by=intervals.weight_by,
        )
        inputs = Inputs(ground_truth=_beside(value, ground_truth))
        reading = Reading(inputs=inputs, matching=matching)
        try:
            pair = matched(value, reading, again=True, tags=tags_of(intervals))
            growth = grow_pair(pair, asked)
        except CalipersError:
            # A file of scores alone has no run to look into.
            continue
        value_there = growth.growth[0] if growth.growth else None
        yield _Answer(growth.today[0], value_there, own > other)


def _explained(
    sizes: _Sizes, metric: str, difference: float, answer: _Answer, there: GrowthValue
) -> Sentence:
    """How much of the difference the size explains, or what it would do alone."""
    # From the run's own corpus to the other, or the other way round.
    sign = 1.0 if answer.is_larger != sizes.grew else -1.0
    effect = sign * (there.mean - answer.own.mean)
    ends = sorted(sign * (end - answer.own.mean) for end in (there.low, there.high))
    part = difference / effect if abs(effect) >= 0.0005 else 0.0
    if part >= 1.0:
        share = "explains {about}{it.value:+} of the {it.difference:+} in {it.metric}."
    elif part > 0.0 and ends[0] <= difference <= ends[1]:
        share = "explains all of the {it.difference:+} in {it.metric}."
    else:
        share = "would change {it.metric} by {about}{it.value:+}; it changed by {it.difference:+}."
    return sentence(
        "{sizes}: that alone " + share,
        sizes=sizes.changed,
        about="" if answer.is_larger else "about ",
        it=Fact(
            about="mean",
            metric=metric,
            value=effect,
            difference=difference,
            low=ends[0],
            high=ends[1],
        ),
    )


def _needs(sizes: _Sizes, metric: str, difference: float, answer: _Answer) -> Sentence:
    """What it takes to say how much the size explains."""
    reason = answer.other.reason if answer.other else f"needs {FEWEST} queries"
    return sentence(
        "{sizes}; to say how much of the {it.difference:+} in {it.metric} that explains "
        "{reason.text}.",
        sizes=sizes.changed,
        it=Fact(about="mean", metric=metric, difference=difference),
        reason=named(reason or ""),
    )


def _beside(
    value: object, ground_truth: GroundTruthInput | None
) -> GroundTruthInput | None:
    """The ground truth, but for an evaluation of the history, which has its own."""
    return None if isinstance(value, str) and value.startswith("@") else ground_truth
