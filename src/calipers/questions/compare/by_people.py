"""Differences of two systems by a machine's labels, corrected by people's on the same queries."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.scoring import choose_metrics, score
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints
from calipers.model.matched import Matched
from calipers.model.scores import MetricFacts, Scores
from calipers.questions.compare.metric_difference import Paired, limits_of
from calipers.questions.corrected.rule import FEWEST
from calipers.questions.corrected.sample import sample_of_people
from calipers.questions.inputs import judged_by
from calipers.statistics.corrected_test import CorrectedTest, corrected_difference
from calipers.words import plural


def as_people_judge(
    people: Mapping[str, Scores],
    tested: Mapping[tuple[str, str, str], Paired],
    queries: pl.DataFrame,
    facts: Sequence[MetricFacts],
    clusters: Ints | None,
) -> dict[tuple[str, str, str], Paired]:
    """The same differences (of a system from another, in a metric) as people would judge."""
    by_name = {metric.name: metric for metric in facts}
    columns = []
    for (a, b, name), one in tested.items():
        before, after = (by_people(people[system], queries, name) for system in (a, b))
        columns.append((one.column, after - before, by_name[name]))
    found = corrected_tests(columns, clusters, looks_at(*people.values()))
    pairs = zip(tested.items(), found, strict=True)
    return {key: replace(one, test=test) for (key, one), test in pairs}


def scores_by_people(
    pairs: Mapping[str, Matched], systems: Mapping[str, Scores], people: Any, sampled: str | None
) -> dict[str, Scores]:
    """The same systems scored by people's labels, on the queries that people judged."""
    before = [name for name in systems if name not in pairs]
    if before:
        raise InvalidInput(
            f"{before[0]} was measured before, without its results, so people's labels cannot be "
            "held against it; give the run itself, or leave out --corrected-by."
        )
    asked = {query for one in systems.values() for query in one.queries["query"]}
    prints = {one.fingerprints.get("ground_truth") for one in systems.values()}
    cluster = next((one.settings.get("cluster") for one in systems.values()), None)
    print_ = prints.pop() if len(prints) == 1 else None
    sample = sample_of_people(people, sampled, asked, print_, cluster)
    found = {}
    for name, pair in pairs.items():
        wanted = choose_metrics([one.name for one in systems[name].metrics], None)
        scored = score(judged_by(pair, sample.truth), wanted)
        found[name] = replace(scored, settings={**scored.settings, LOOKS: list(sample.looks)})
    return found


LOOKS = "looks"


def looks_at(*people: Scores) -> tuple[int, ...]:
    """Where people may have looked at the sample by which these were scored."""
    return max((tuple(one.settings.get(LOOKS, ())) for one in people), key=len, default=())


def by_people(scores: Scores, queries: pl.DataFrame, metric: str) -> Floats:
    """A metric by people's labels for each of the queries; NaN where people did not judge.

    Where people judged and the query lacks the metric, it is 0 for every system: no difference.
    """
    rows = scores.rows_of(queries["query"])
    return np.where(rows < 0, np.nan, np.nan_to_num(scores.of(metric))[rows])


def corrected_tests(
    columns: Sequence[tuple[Floats, Floats, MetricFacts]],
    clusters: Ints | None,
    looks: Sequence[int] = (),
) -> list[CorrectedTest]:
    """The test of each column: differences by the machine, by people (NaN: not judged), facts."""
    found = []
    for machine, people, facts in columns:
        known = ~np.isnan(machine)
        named = None if clusters is None else clusters[known]
        judged = ~np.isnan(people[known])
        units = int(judged.sum()) if named is None else len(np.unique(named[judged]))
        if units < FEWEST:
            raise InvalidInput(
                f"{facts.name} cannot be corrected: people judged "
                f"{plural(units, 'query', 'queries')} for which both systems have it, and at least "
                "two are needed (of two clusters, where --cluster is given); let people judge more."
            )
        test = corrected_difference(machine[known], people[known], named, limits_of(facts), looks)
        found.append(test)
    return found
