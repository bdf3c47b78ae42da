"""Which questions are worth judging: those with a miss, or those that two runs answer otherwise."""

from collections.abc import Iterable, Mapping

from calipers.errors import InvalidInput
from calipers.labels.judging import matched_run
from calipers.labels.judging_result import JudgeOnly
from calipers.model.ground_truth import GroundTruth
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.questions.diff.rule import diff_runs
from calipers.questions.misses.rule import explain_misses
from calipers.store.pool import PoolSettings


def worth_judging(
    only: JudgeOnly, truth: GroundTruth | None, runs: Mapping[str, Run], settings: PoolSettings
) -> set[str]:
    """The questions with a miss in some run, or in which some run differs from the first."""
    if only == "misses":
        return set(_with_misses(truth, runs.values(), settings))
    first, *others = runs.values()
    if not others:
        raise InvalidInput(
            "Only what is different is to be judged, and one run alone differs from nothing; name "
            "the run before the change and the one after it."
        )
    return {
        one.query
        for other in others
        for one in diff_runs(first, other, k=settings.depth).queries
        if one.changed
    }


def _with_misses(
    truth: GroundTruth | None, runs: Iterable[Run], settings: PoolSettings
) -> Iterable[str]:
    if truth is None:
        raise InvalidInput(
            "Only questions with a miss are to be judged, and without a ground truth nothing is "
            "missed; name it with -g."
        )
    # A run that has nothing in common with the ground truth misses all of it.
    policy = Policy(nothing_in_common="zero")
    for run in runs:
        pair = matched_run(truth, run, settings, policy)
        if pair is not None:
            yield from explain_misses(pair, settings.depth).table["query"]
