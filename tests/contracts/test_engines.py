"""Every engine gives what evaluation in memory gives, whatever its partitions and their order."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import calipers
from calipers.engines.in_blocks import EnginePlan, Part, measure
from calipers.model.ground_truth import GroundTruth
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import Scores

METRICS = (
    "recall@5",
    "precision@3",
    "ndcg@10",
    "map",
    "err@5",
    "rbp(p=0.9)",
    "mrr",
    "bpref",
    "judged@10",
    "first_rank",
    "f1@5",
    "err@5(gains={2:7})",
)
PARTITIONS = (1, 2, 8, 33)
COUNTS = (
    "queries",
    "answered",
    "empty",
    "missing",
    "unanswerable",
    "unanswerable_silent",
    "unknown",
    "targets",
    "judgements",
    "repeated_judgements",
    "retrieved",
    "duplicates",
    "ties",
    "ties_on_targets",
    "depth",
    "shown",
    "unjudged",
)


@dataclass(frozen=True)
class Tables:
    truth: pl.DataFrame
    run: pl.DataFrame

    def evaluate(self, **settings) -> Scores:
        return calipers.evaluate(
            ground_truth=self.truth, run=self.run, metrics=list(METRICS), ties="trec", **settings
        )


@pytest.fixture(scope="module")
def tables() -> Tables:
    return made_tables()


def made_tables() -> Tables:
    """Queries with everything that goes wrong in real ones, one of them far longer than others."""
    draw = random.Random(16)
    truth, run = [], []
    for q in range(120):
        judged = draw.sample(range(60), draw.choice((1, 2, 7)))
        # The highest grade is in one query alone, and some have nothing relevant.
        truth += [
            (f"q{q}", f"d{d}", float(draw.choice((0, 1, 2)) if q != 77 else 4)) for d in judged
        ]
        if q % 10 == 3:
            continue
        depth = 3000 if q == 50 else draw.choice((1, 5, 30))
        run += [
            (f"q{q}", f"d{draw.randrange(depth + 40)}", draw.choice((0.1, 0.5, 0.25, 3.0)))
            for _ in range(depth)
        ]
    run += [(f"unknown{i}", "d1", 1.0) for i in range(5)]
    truth += truth[:4]
    return Tables(
        pl.DataFrame(truth, schema=["query", "item", "grade"], orient="row"),
        pl.DataFrame(run, schema=["query", "item", "score"], orient="row"),
    )


def plan_for(tables: Tables, policy: Policy) -> EnginePlan:
    return EnginePlan(
        metrics=METRICS,
        matching=Matching(match="id", level="evidence", policy=policy),
        grades=tuple(tables.truth["grade"].unique()),
    )


def partitions(tables: Tables, n: int, seed: int) -> Iterator[list[pl.DataFrame]]:
    """The rows of both sides, shuffled, divided by query, and sorted by it."""
    for number in random.Random(seed).sample(range(n), n):
        yield [
            one.filter(one["query"].hash(seed) % n == number)
            .sample(fraction=1.0, shuffle=True, seed=seed)
            .sort("query")
            for one in (tables.run, tables.truth)
        ]


@pytest.mark.parametrize("n", PARTITIONS)
@pytest.mark.parametrize(
    "policy", [Policy(ties="trec"), Policy(ties="trec", missing="exclude", unanswerable="zero")]
)
def test_blocks_give_the_values_counts_and_fingerprints_of_memory(tables, n, policy):
    whole = tables.evaluate(missing=policy.missing, unanswerable=policy.unanswerable)
    measured = [
        measure(
            GroundTruth.from_targets(judged, where=lambda _: ""),
            Run.from_frame(results, order="score", ties="trec"),
            plan_for(tables, policy),
        )
        for results, judged in partitions(tables, n, seed=n)
    ]
    table = pl.concat([found.table for found in measured])
    in_order = whole.per_query.select("query").join(table, on="query", maintain_order="left")
    assert in_order.equals(whole.per_query.select(table.columns))
    part = Part()
    for one in measured:
        part.merge(one.part)
    audit = part.audit(whole.audit.depth)
    assert {c: getattr(audit, c) for c in COUNTS} == {c: getattr(whole.audit, c) for c in COUNTS}
    assert audit.unknown_examples == ("unknown0", "unknown1", "unknown2")
    assert part.digest.hexdigest() == whole.fingerprints["run"]
    for i, name in enumerate(METRICS):
        assert np.array_equal(part.column(name), np.sort(whole.values[:, i]), equal_nan=True)
