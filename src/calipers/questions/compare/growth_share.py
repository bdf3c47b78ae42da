"""How much of a difference the growth of the corpus explains."""

from collections.abc import Mapping

from calipers.errors import CalipersError
from calipers.input_types import GroundTruthInput, SystemsInput
from calipers.measures import parse_one
from calipers.model.fact import Fact, Sentence, sentence
from calipers.model.scores import Scores
from calipers.questions.compare.result import Comparison
from calipers.questions.grow.result import GrowthValue
from calipers.questions.grow.rule import KINDS, Asked, grow_pair
from calipers.questions.inputs import matched
from calipers.questions.reading import Inputs, MatchingSettings, Reading
from calipers.questions.systems import name_systems


def growth_explains(
    comparison: Comparison,
    systems: SystemsInput,
    scores: Mapping[str, Scores],
    ground_truth: GroundTruthInput | None,
    matching: MatchingSettings,
) -> Sentence | None:
    """What a corpus of the smaller size would have found of the larger one's run.

    None where the sizes are not known or the same, or the run is not there, or too short.
    """
    sizes = {name: of_system.recorded.corpus_size for name, of_system in scores.items()}
    known = {name: size for name, size in sizes.items() if size}
    metric = comparison.primary
    if (
        len(sizes) != 2
        or len(known) != 2
        or len(set(known.values())) != 2
        or metric is None
    ):
        return None
    smaller, larger = sorted(known, key=lambda name: known[name])
    value = name_systems(systems)[larger]
    row = _thinned(value, metric, known[smaller] / known[larger], ground_truth, matching)
    before = comparison.mean(smaller, metric).mean
    after = comparison.mean(larger, metric).mean
    if row is None or before is None or after is None:
        return None
    return sentence(
        "The corpus grew from {small.count} to {large.count}: that alone explains "
        "{it.value:+} of the {it.difference:+} in {it.metric}.",
        small=Fact(about="count", system=smaller, count=known[smaller]),
        large=Fact(about="count", system=larger, count=known[larger]),
        it=Fact(
            about="mean",
            metric=metric,
            value=after - row.mean,
            difference=after - before,
            low=after - row.high,
            high=after - row.low,
        ),
    )


def _thinned(
    value: object,
    metric: str,
    times: float,
    ground_truth: GroundTruthInput | None,
    matching: MatchingSettings,
) -> GrowthValue | None:
    """The metric in a part of the larger corpus; None where it cannot be told."""
    parsed = parse_one(metric)
    if parsed.name not in KINDS or parsed.k is None or isinstance(value, Scores):
        return None
    try:
        inputs = Inputs(ground_truth=_beside(value, ground_truth))
        pair = matched(value, Reading(inputs=inputs, matching=matching), again=True)
        growth = grow_pair(pair, Asked((parsed,), (times,))).growth
    except CalipersError:
        # A file of scores alone has no run to look into.
        return None
    return growth[0] if growth and growth[0].printed else None


def _beside(
    value: object, ground_truth: GroundTruthInput | None
) -> GroundTruthInput | None:
    """The ground truth, but for an evaluation of the history, which has its own."""
    return None if isinstance(value, str) and value.startswith("@") else ground_truth
