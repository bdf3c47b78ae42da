"""The scores of a machine's ground truth, corrected by people's on a sample of the queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints
from calipers.model.document import Cell, Column, Document, Note, Table
from calipers.model.result import SCHEMA, HasRows, Plain
from calipers.model.scores import Interval, Method, Scores
from calipers.model.slicing import clusters_in
from calipers.statistics.prediction_powered import corrected_mean_of_defined
from calipers.words import number, plural


@dataclass(frozen=True)
class CorrectedMetric:
    """One metric as people would have found it over all queries."""

    metric: str
    value: float
    interval: Interval
    machine: float
    """The mean by the machine's labels."""
    people: float
    """The mean of the sample by the people's labels alone."""
    weight: float
    """How much of the machine's word was used: 0 nothing, 1 all."""
    sampled: int
    n: int


@dataclass(frozen=True, repr=False)
class CorrectedScores(Plain, HasRows):
    """Every metric, corrected by people."""

    shown_by: ClassVar[str] = "calipers.questions.evaluate.corrected"
    dict_keys: ClassVar[str] = "queries sampled metrics skipped unjudged settings"

    metrics: tuple[CorrectedMetric, ...]
    queries: int
    sampled: int
    """Queries that people judged."""
    skipped: tuple[str, ...]
    """Metrics that are defined for too few of these."""
    settings: Mapping[str, Any]
    unjudged: float = 0.0
    """The share of the results of a drawn sample that people never saw, as another run's."""

    def __getitem__(self, name: str) -> CorrectedMetric:
        return next(one for one in self.metrics if one.metric == name)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {"schema": SCHEMA, **super().to_dict()}


FEWEST = 2
"""Queries, or clusters of them, that people must have judged for a metric to be corrected."""


def correct_scores(
    machine: Scores, people: Scores, confidence: float = 0.95, looks: Sequence[int] = ()
) -> CorrectedScores:
    """Each metric over all queries of the machine, as people would have found it.

    The mean is over the queries for which people's labels define the metric, those that they did
    not judge among them.
    """
    unknown = people.queries.join(machine.queries, on="query", how="anti")
    if unknown.height:
        raise InvalidInput(
            f"People judged {unknown.height} {'query' if unknown.height == 1 else 'queries'} that "
            f"the machine did not, such as {unknown['query'][0]!r}; the machine must have judged "
            "everything."
        )
    rows = people.rows_of(machine.queries["query"])
    judged = rows >= 0
    clusters = clusters_in(machine)
    found, skipped = [], []
    for facts in machine.metrics:
        mine = machine.of(facts.name)
        theirs = np.where(judged, people.of(facts.name)[rows], np.nan)
        if facts.aggregate != "mean" or _judged(theirs, clusters) < FEWEST:
            skipped.append(facts.name)
            continue
        result = corrected_mean_of_defined(
            mine, theirs, judged, confidence, value_bounds(facts), clusters, looks
        )
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
        {"confidence": confidence, **cluster, **({"looks": list(looks)} if looks else {})},
        (people.audit.unjudged_rate or 0.0) if looks else 0.0,
    )


def _judged(people: Floats, clusters: Ints | None) -> int:
    known = ~np.isnan(people)
    return int(known.sum()) if clusters is None else len(np.unique(clusters[known]))


def document(found: CorrectedScores) -> Document:
    """One line per metric: corrected, by the machine, and by people alone."""
    columns = (Column("as people would judge", words=True), "mean", "interval", "machine", "people")
    rows = [
        (
            Cell(one.metric, strong=True),
            number(one.value),
            one.interval.shown,
            number(one.machine),
            number(one.people),
        )
        for one in found.metrics
    ]
    one = found.metrics[0]
    return Document(
        f"{one.metric}: machine alone {number(one.machine)}; corrected by people's labels of "
        f"{plural(one.sampled, 'query', 'queries')} {number(one.value)} ({one.interval.shown}).",
        blocks=[Table(columns, rows)],
        notes=_notes(found),
        rows=lambda: found.metrics,
    )


def _notes(found: CorrectedScores) -> list[Note]:
    """What the correction rests on."""
    lines = [
        Note(
            "method",
            f"People judged {found.sampled:,} of {plural(found.queries, 'query', 'queries')}; the "
            f"mean is corrected by what they found there. The {found.settings['confidence']:.0%} "
            "interval counts the errors of the machine that they saw, and those that so small a "
            "sample may lack.",
        )
    ]
    if found.unjudged:
        lines.append(
            Note(
                "unjudged",
                f"{found.unjudged:.0%} of the results that count here were not among those that "
                "people judged, as another run was drawn for; they count as not relevant. Draw a "
                "sample of this run, too.",
            )
        )
    if found.skipped:
        skipped = ", ".join(found.skipped)
        lines.append(Note("doubt", f"Not corrected, as too little is known: {skipped}."))
    return lines
