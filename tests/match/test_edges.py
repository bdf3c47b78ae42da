"""Edges in every shape: what the metrics make of them, against references read by eye."""

from dataclasses import dataclass
from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from calipers.engines.scoring import compute
from calipers.measures import parse_one
from calipers.model.matched import Matches
from calipers.model.policy import Policy
from tests.reference import expected
from tests.reference_query import Query
from tests.strategies import ALL_METRICS

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
            query_rows=pl.DataFrame({"query": ["q"], "text": ["q"]}),
            status=np.zeros(1, dtype=np.uint8),
            target_query=np.zeros(len(self.targets), dtype=np.int64),
            target_grade=np.array([grade for grade, _ in self.targets], dtype=np.float64),
            target_unit=np.array([group for _, group in self.targets], dtype=np.int64),
            edge_query=np.zeros(len(edges), dtype=np.int64),
            edge_rank=rank,
            edge_target=target,
            edge_overlap=np.ones(len(edges)),
            retrieved=np.array([len(self.held)]),
            corpus_size=100,
        )

    def value(self, name: str) -> float:
        return float(compute(self.matches(), [parse_one(name)], Policy())[0, 0])

    def groups(self) -> dict[int, set[int]]:
        """The relevant targets of each group."""
        found: dict[int, set[int]] = {}
        for target, (grade, group) in enumerate(self.targets):
            if grade > 0:
                found.setdefault(group, set()).add(target)
        return found

    def query(self) -> Query:
        """The same for the reference: targets and results by their numbers."""
        return Query(
            ranking=[f"result {rank}" for rank in range(len(self.held))],
            grades={str(target): grade for target, (grade, _) in enumerate(self.targets)},
            highest=max(grade for grade, _ in self.targets),
            corpus_size=100,
            inside={f"result {rank}": set(map(str, some)) for rank, some in enumerate(self.held)},
            group={str(target): str(group) for target, (_, group) in enumerate(self.targets)},
        )


@st.composite
def cases(draw) -> Case:
    n = draw(st.integers(1, 5))
    targets = draw(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=n, max_size=n)
    )
    held = draw(st.lists(st.sets(st.integers(0, n - 1)), min_size=1, max_size=DEPTH))
    return Case(targets, held)


answerable = cases().filter(lambda case: bool(case.groups()))


@given(answerable)
@example(Case([(1, 0)], [{0}, {0}]))  # two ranks hold the one target
@example(Case([(1, 0), (1, 1)], [{0, 1}]))  # one rank holds both targets
def test_every_metric_equals_its_reference_and_stays_within_its_bounds(case):
    values = compute(case.matches(), ALL_METRICS, Policy())[0].tolist()
    for metric, value in zip(ALL_METRICS, values, strict=True):
        wanted = expected(metric, case.query())
        shown = (str(metric), value, wanted)
        assert np.isnan(value) == (wanted is None), shown
        assert wanted is None or value == pytest.approx(wanted, abs=1e-12), shown
        low, high = metric.definition.bounds
        highest = np.inf if high is None else high + 1e-12
        assert np.isnan(value) or low <= value <= highest, shown


def worse(case: Case, other: Case, names: list[str]) -> list[str]:
    """The metrics that like the second case less than the first."""
    pairs = ((name, case.value(name), other.value(name)) for name in names)
    return [f"{name}: {one} and {two}" for name, one, two in pairs if two < one - 1e-12]


ungrouped = answerable.map(
    lambda case: Case([(grade, n) for n, (grade, _) in enumerate(case.targets)], case.held)
)
POSITIONS = ["map", "map@2", "ndcg", "ndcg@2", "ndcg(gain=exp)", "dcg@3", "err", "err@2", "rbp"]


one_each = answerable.map(
    lambda case: Case(case.targets, [{*list(some)[:1]} for some in case.held])
)


@given(st.one_of(ungrouped, one_each), st.integers(0, DEPTH - 1), st.integers(0, 4))
def test_finding_one_target_more_never_hurts(case, rank, target):
    """Of alternatives this holds where a result holds one target.

    A lesser alternative that joins another target in a result takes the position at which a better
    one was paid, and that is then paid for what it is better at a later one.
    """
    target %= len(case.targets)
    has_alternatives = len({group for _, group in case.targets}) < len(case.targets)
    assume(not has_alternatives or not any(case.held[rank : rank + 1]))
    held = [{*some, target} if at == rank else some for at, some in enumerate(case.held)]
    assert worse(case, Case(case.targets, held), POSITIONS) == []


@given(answerable, st.integers(0, DEPTH - 1))
def test_joining_a_chunk_with_the_next_one_never_hurts(case, rank):
    """Two chunks as one: all of the second is found one rank earlier."""
    rank %= len(case.held)
    joined = [set().union(*case.held[rank : rank + 2])]
    other = Case(case.targets, [*case.held[:rank], *joined, *case.held[rank + 2 :]])
    assert worse(case, other, POSITIONS) == []


@given(ungrouped, st.integers(1, DEPTH))
def test_a_first_chunk_with_all_is_worth_as_many_chunks_with_one_each(case, k):
    """A chunk cut into pieces that hold one target each changes no value over positions."""
    best_first = sorted(range(len(case.targets)), key=lambda t: -case.targets[t][0])
    cut = Case(case.targets, [{target} for target in best_first])
    whole = Case(case.targets, [set(best_first)])
    for name in (*POSITIONS, f"ndcg@{k}", f"map@{k}", f"err@{k}"):
        assert whole.value(name) == cut.value(name), name


def test_a_lesser_alternative_found_first_never_costs_anything():
    """Grades 1 and 3 in one group: what the second is better by is paid where it stands."""
    alternatives = [(1, 0), (3, 0), (2, 1)]
    lesser, nothing = Case(alternatives, [{0}, {1}, {2}]), Case(alternatives, [set(), {1}, {2}])
    assert worse(nothing, lesser, POSITIONS) == []
    assert lesser.value("dcg") == pytest.approx(1 + 2 / log2(3) + 2 / 2)
    assert lesser.value("dcg(gain=exp)") == pytest.approx(1 + 6 / log2(3) + 3 / 2)
    # 1/8 are satisfied at once, then 7/8 of all but for those; 3/8 of whom is left by the third.
    assert lesser.value("err") == pytest.approx(1 / 8 + 6 / 8 / 2 + 1 / 8 * 3 / 8 / 3)
    assert lesser.value("rbp(p=0.5)") == pytest.approx((1 + 2 / 2 + 2 / 4) / 3 / 2)
    best_first = Case(alternatives, [{1}, {0}, {2}])
    assert worse(lesser, best_first, POSITIONS) == []
    # One of them is enough: the lesser one behind the better one adds nothing.
    assert best_first.value("dcg") == 3 + 2 / 2
