"""Random ground truths and runs with everything that goes wrong in real ones, and the metrics."""

from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import polars as pl
from hypothesis import strategies as st

from calipers import GroundTruth, Run
from calipers.measures import Definition, Metric, definitions, parse_one
from tests.reference_query import Query

Rows = list[tuple[str, float]]

# Few ids, so that copies and hits happen; the last ones differ in UTF-8 and in other orders.
ITEMS = ["a", "b", "c", "d", "e", "B", "aa", "é", "日本", "￿", "𝄞"]
GRADES = [-2, -1, 0, 0, 0.25, 0.5, 1, 1, 2, 2.5, 3]
SCORE_VALUES = [-1.5, 0.0, 0.5, 0.5000000000000001, 1.0, 3e10]
QUERIES = ["q1", "q2", "q3", "q4"]
CUTOFFS = (1, 3, 40)
VALUES: dict[str, tuple[float | str, ...]] = {
    "alpha": (0.0, 0.9, 1.0),
    "beta": (0.5, 2.0),
    "gmax": (7.0,),
    "p": (0.5, 0.95),
    "rel": (0.5, 2.0),
}
"""What is tried for a parameter that is no choice of words; a new one needs a line here."""


@dataclass(frozen=True)
class World:
    """What should be found and what came back; the anchor makes sure that one id is shared."""

    truth: dict[str, dict[str, float]] = field(default_factory=dict)
    run: dict[str, Rows] = field(default_factory=dict)

    def anchored(self) -> "World":
        return World({"anchor": {"z": 1.0}, **self.truth}, {"anchor": [("z", 1.0)], **self.run})

    def ranking(self, query: str, ties: str) -> list[str]:
        """The items of a query in order: by score, equal scores by the rule for ties."""
        rows = self.run.get(query, [])
        if ties == "trec":
            rows = sorted(rows, key=lambda row: row[0].encode(), reverse=True)
        return [item for item, score in sorted(rows, key=lambda row: -row[1])]

    def query(self, name: str, ties: str = "input") -> Query:
        grades = (grade for row in self.truth.values() for grade in row.values())
        highest = max([0.0, *grades])
        return Query(self.ranking(name, ties), self.truth[name], highest)

    def ground_truth_value(self) -> GroundTruth:
        rows = [(q, item, g) for q, row in self.truth.items() for item, g in row.items()]
        return GroundTruth.from_targets(
            pl.DataFrame(
                rows,
                schema={"query": pl.String, "item": pl.String, "grade": pl.Float64},
                orient="row",
            ),
            queries=pl.DataFrame({"query": list(self.truth)}, schema={"query": pl.String}),
        )

    def run_value(self) -> Run:
        rows = [(query, *row) for query, rows in self.run.items() for row in rows]
        schema = {"query": pl.String, "item": pl.String, "score": pl.Float64}
        return Run.from_frame(
            pl.DataFrame(rows, schema=schema, orient="row"),
            order="score",
            queries=pl.DataFrame({"query": list(self.run)}, schema={"query": pl.String}),
        )

    def with_run(self, run: dict[str, Rows]) -> "World":
        return replace(self, run=run)


ids = st.sampled_from(ITEMS)
judgements = st.dictionaries(ids, st.sampled_from(GRADES), max_size=8)
results = st.lists(st.tuples(ids, st.sampled_from(SCORE_VALUES)), max_size=14)
worlds = st.builds(
    World,
    st.dictionaries(st.sampled_from(QUERIES), judgements, max_size=4),
    st.dictionaries(st.sampled_from([*QUERIES, "stranger"]), results, max_size=5),
).map(World.anchored)


def variants(definition: Definition) -> list[Metric]:
    """A metric without and with each of its parameters, at several cut-offs."""
    ks: list[int | None] = list(CUTOFFS)
    if definition.cutoff == "none":
        ks = [None]
    elif definition.cutoff == "optional":
        ks.append(None)
    settings: list[tuple[tuple[str, Any], ...]] = [()]
    for name, parameter in definition.parameters.items():
        values = [v for v in parameter.choices or VALUES[name] if v != parameter.default]
        settings += [((name, value),) for value in values]
    every_k = [Metric(definition.name, k) for k in ks]
    return every_k + [Metric(definition.name, k, own) for k, own in product(ks[-2:], settings[1:])]


MORE_THAN_IDS = ("Coverage", "Leaks", "Versions", "Reading", "Parts")
BY_ID = tuple(d for d in definitions().values() if d.view.__name__ not in MORE_THAN_IDS)
"""The metrics that ids are enough for; others need spans, something forbidden, texts or parts."""
SCORES = tuple(
    map(
        parse_one,
        (
            "score(recall@3=0.7,mrr=0.3)",
            "score@1(recall=1,ndcg(gain=exp)=2,map=0.5)",
            "score@3(hit_rate(rel=2)=3,precision@40=1,rel=0.5)",
        ),
    )
)
"""Metrics made of others."""
ALL_METRICS = (*(metric for definition in BY_ID for metric in variants(definition)), *SCORES)
