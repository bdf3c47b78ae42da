"""Several runs of one commit as one baseline."""

from dataclasses import replace

import numpy as np

from calipers.engines.summary import summarise
from calipers.errors import InvalidInput
from calipers.model.arrays import frozen_array
from calipers.model.scores import Scores
from calipers.model.slicing import clusters_in
from calipers.questions.baseline import Baseline
from calipers.questions.compare.comparable import obstacles
from calipers.questions.gate.rule import pair
from calipers.statistics.paired_test import mean_of_runs


def average(kept: Baseline) -> Scores:
    """The runs of a baseline as one result: per query the mean over the runs that have it."""
    if not kept.further:
        return kept.scores
    first = kept.scores
    columns = []
    for metric in first.metrics:
        lined = [first.of(metric.name)]
        for other in kept.further:
            both = pair(first, other)
            column = np.full(len(first), np.nan)
            column[both.rows_now] = other.of(metric.name)[both.rows_before]
            lined.append(column)
        columns.append(mean_of_runs(lined))
    values = frozen_array(np.column_stack(columns))
    summaries = summarise(first.metrics, values, first.weights, first.settings, clusters_in(first))
    return replace(first, values=values, summaries=summaries)


def with_run(kept: Baseline, new: Baseline) -> Baseline:
    """The baseline with one more run, which must have been measured in the same way."""
    named = {f"the baseline {kept.name}": kept.scores, "this run": new.scores}
    blocked = list(obstacles(named))
    missing = [one.name for one in kept.scores.metrics if one.name not in new.scores]
    if missing:
        blocked.append(f"This run has no {missing[0]}, which the baseline {kept.name} holds.")
    if blocked:
        raise InvalidInput(
            f"{' '.join(blocked)} Add runs of the same commit on the same queries, or save the "
            "baseline anew without --add."
        )
    return replace(new, scores=kept.scores, name=kept.name, further=(*kept.further, new.scores))
