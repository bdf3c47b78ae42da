"""The scores of a machine's ground truth, corrected by people's on a sample of the queries."""

import numpy as np

from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints
from calipers.model.scores import Interval, Method, Scores
from calipers.model.slicing import clusters_in
from calipers.questions.corrected.result import CorrectedMetric, CorrectedScores
from calipers.statistics.prediction_powered import corrected_mean

FEWEST = 2
"""Queries, or clusters of them, that people must have judged for a metric to be corrected."""


def correct_scores(machine: Scores, people: Scores, confidence: float = 0.95) -> CorrectedScores:
    """Each metric over all queries of the machine, as people would have found it.

    A query for which the machine's labels leave a metric undefined is left out of it; one that
    people left undefined counts as not judged by them.
    """
    unknown = people.queries.join(machine.queries, on="query", how="anti")
    if unknown.height:
        raise InvalidInput(
            f"People judged {unknown.height} {'query' if unknown.height == 1 else 'queries'} that "
            f"the machine did not, such as {unknown['query'][0]!r}; the machine must have judged "
            "everything."
        )
    rows = (
        machine.queries.select("query")
        .with_row_index("row")
        .join(
            people.queries.select("query").with_row_index("theirs"),
            on="query",
            how="inner",
            maintain_order="left",
        )
    )
    clusters = clusters_in(machine)
    found, skipped = [], []
    for facts in machine.metrics:
        mine = machine.of(facts.name)
        theirs = np.full(len(mine), np.nan)
        theirs[rows["row"].to_numpy()] = people.of(facts.name)[rows["theirs"].to_numpy()]
        known = ~np.isnan(mine)
        named = None if clusters is None else clusters[known]
        if facts.aggregate != "mean" or _judged(theirs[known], named) < FEWEST:
            skipped.append(facts.name)
            continue
        result = corrected_mean(mine[known], theirs[known], confidence, value_bounds(facts), named)
        kind: Method = "score" if value_bounds(facts) else "t"
        found.append(
            CorrectedMetric(
                facts.name,
                result.value,
                Interval(*result.interval, confidence, kind),
                result.machine,
                result.people,
                result.weight,
                result.sampled,
                result.n,
            )
        )
    if not found:
        raise InvalidInput(
            "No metric can be corrected: each needs at least two queries that people judged and "
            "for which it is defined; let people judge more queries."
        )
    cluster = {} if clusters is None else {"cluster": machine.settings["cluster"]}
    return CorrectedScores(
        tuple(found),
        len(machine),
        len(people),
        tuple(skipped),
        {"confidence": confidence, **cluster},
    )


def _judged(people: Floats, clusters: Ints | None) -> int:
    known = ~np.isnan(people)
    return int(known.sum()) if clusters is None else len(np.unique(clusters[known]))
