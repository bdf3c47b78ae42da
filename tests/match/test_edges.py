"""Edges in every shape: what the metrics make of them, against references read by eye."""

from dataclasses import dataclass
from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.measures import Metric, compute, definitions, parse, parse_one
from calipers.model.matches import Matches
from calipers.model.policy import Policy

DEPTH = 5


@dataclass(frozen=True)
class Case:
    """Targets as (grade, group), and for each rank the targets that it holds."""

    targets: list[tuple[int, int]]
    held: list[set[int]]

    def matches(self) -> Matches:
        edges = [(rank, t) for rank, some in enumerate(self.held, 1) for t in sorted(some)]
        rank, target = (np.array([e[i] for e in edges], dtype=np.int64) for i in (0, 1))
        return Matches(
            queries=pl.DataFrame({"query": ["q"], "text": ["q"], "status": ["answered"]}),
            target_query=np.zeros(len(self.targets), dtype=np.int64),
            target_grade=np.array([grade for grade, _ in self.targets], dtype=np.float64),
            target_unit=np.array([group for _, group in self.targets], dtype=np.int64),
            edge_query=np.zeros(len(edges), dtype=np.int64),
            edge_rank=rank, edge_target=target, edge_overlap=np.ones(len(edges)),
            retrieved=np.array([len(self.held)]), corpus_size=100,
        )  # fmt: skip

    def value(self, name: str) -> float:
        return float(compute(self.matches(), [parse_one(name)], Policy())[0, 0])

    def groups(self) -> dict[int, set[int]]:
        """The relevant targets of each group."""
        found: dict[int, set[int]] = {}
        for target, (grade, group) in enumerate(self.targets):
            if grade > 0:
                found.setdefault(group, set()).add(target)
        return found

    def found(self, k: int) -> int:
        shown = set().union(*self.held[:k])
        return sum(bool(shown & alternatives) for alternatives in self.groups().values())

    def gain(self, k: int) -> float:
        """Each rank claims the best target of a group that nobody above has claimed."""
        claimed: set[int] = set()
        total = 0.0
        for rank, some in enumerate(self.held[:k], 1):
            free = [t for t in some if self.targets[t][0] > 0 and self.targets[t][1] not in claimed]
            if free:
                best = max(free, key=lambda t: self.targets[t][0])
                claimed.add(self.targets[best][1])
                total += self.targets[best][0] / log2(rank + 1)
        return total

    def ideal(self, k: int) -> float:
        best = [max(self.targets[t][0] for t in some) for some in self.groups().values()]
        ranked = enumerate(sorted(best, reverse=True)[:k], 1)
        return sum(grade / log2(rank + 1) for rank, grade in ranked)


@st.composite
def cases(draw) -> Case:
    n = draw(st.integers(1, 5))
    targets = draw(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=n, max_size=n)
    )
    held = draw(st.lists(st.sets(st.integers(0, n - 1)), min_size=1, max_size=DEPTH))
    return Case(targets, held)


answerable = cases().filter(lambda case: bool(case.groups()))
ks = st.integers(1, DEPTH + 1)


@settings(max_examples=150, deadline=None)
@given(answerable, ks)
def test_recall_counts_groups_and_full_recall_asks_for_all(case, k):
    share = case.found(k) / len(case.groups())
    assert case.value(f"recall@{k}") == pytest.approx(share)
    assert case.value(f"full_recall@{k}") == (share == 1)
    assert case.value(f"hit_rate@{k}") == (share > 0)


@settings(max_examples=150, deadline=None)
@given(answerable, ks)
def test_precision_counts_ranks_that_hold_anything_relevant(case, k):
    relevant = {target for target, (grade, _) in enumerate(case.targets) if grade > 0}
    assert case.value(f"precision@{k}") == sum(bool(s & relevant) for s in case.held[:k]) / k


@settings(max_examples=150, deadline=None)
@given(answerable, ks)
def test_gains_are_claimed_once_per_rank_and_group(case, k):
    assert case.value(f"dcg@{k}") == pytest.approx(case.gain(k))
    assert case.value(f"ndcg@{k}") == pytest.approx(case.gain(k) / case.ideal(k))


CORNERS = [
    pytest.param("bpref", [(1, 0)], [{0}, {0}], id="two ranks hold the one target"),
    pytest.param("capped_recall@1", [(1, 0), (1, 1)], [{0, 1}], id="one rank holds both targets"),
]
EVERY = parse(
    [
        name
        for name, definition in definitions().items()
        if definition.view.__name__ not in ("Coverage", "Leaks")
    ],
    [1, 3],
)


def outside(case: Case, metrics: tuple[Metric, ...]) -> list[str]:
    """The metrics whose value is defined and not within their bounds."""
    values = compute(case.matches(), metrics, Policy())[0].tolist()
    found = []
    for metric, value in zip(metrics, values, strict=True):
        low, high = metric.definition.bounds
        highest = np.inf if high is None else high + 1e-12
        if not (np.isnan(value) or low <= value <= highest):
            found.append(f"{metric} = {value}")
    return found


@settings(max_examples=150, deadline=None)
@given(answerable)
def test_every_metric_stays_within_its_bounds(case):
    assert outside(case, EVERY) == []


def test_the_naive_way_of_counting_chunks_leaves_the_bounds():
    """Three overlapping chunks hold the one target: relevant as a property of the chunk fails."""
    case = Case([(1, 0)], [{0}, {0}, {0}])
    relevant_chunks = sum(bool(some) for some in case.held)
    naive_recall = relevant_chunks / len(case.targets)
    naive_dcg = sum(1 / log2(rank + 1) for rank in (1, 2, 3))
    assert naive_recall == 3.0
    assert naive_dcg / case.ideal(3) > 1
    assert case.value("recall@3") == 1.0
    assert case.value("ndcg@3") == 1.0
    assert case.value("map@3") == 1.0
    assert case.value("precision@3") == 1.0


@pytest.mark.parametrize(("name", "targets", "held"), CORNERS)
def test_values_that_are_easily_counted_twice(name, targets, held):
    assert outside(Case(targets, held), parse([name])) == []
