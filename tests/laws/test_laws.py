"""What holds for every registered metric, so that a new one cannot escape it."""

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.measures import Metric, definitions
from tests.laws.cases import RELS, Case, both_values, values_of, worth
from tests.laws.exceptions import COPY, EXCEPTIONS, MOVED_UP, PERFECT
from tests.strategies import ITEMS, World, ids, judgements, worlds

rankings = st.lists(ids, max_size=10)


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def never_better(law: str, values: Iterable[tuple[Case, Metric, float, float]]) -> None:
    """After the change no metric may like the ranking more than before."""
    for case, metric, before, after in values:
        excuse = EXCEPTIONS.get((law, metric.name))
        excused = excuse is not None and excuse.within(case)
        if metric.definition.better != "neither" and not excused:
            shown = (law, str(metric), case, before, after)
            assert worth(metric, after) <= worth(metric, before) + 1e-12, shown


@given(worlds, st.sampled_from(["input", "trec"]))
def test_within_its_bounds(world: World, ties: str) -> None:
    for (query, metric), value in values_of(world, ties=ties, unanswerable="zero").items():
        low, high = metric.definition.bounds
        in_bounds = low <= value and (high is None or value <= high)
        assert math.isnan(value) or in_bounds, (query, str(metric), value)


@given(
    worlds,
    st.randoms(),
    st.permutations(ITEMS),
    st.sampled_from([0.25, 1024.0, None]),
    st.sampled_from(["input", "trec"]),
)
def test_ids_the_order_of_queries_and_the_size_of_scores_do_not_matter(
    world: World, random, others: list[str], factor: float | None, ties: str
) -> None:
    # Equal scores are put in the order of the ids by trec_eval, so there a name does matter.
    names = dict(zip(ITEMS, others, strict=True)) if ties == "input" else {}
    distinct = sorted({score for rows in world.run.values() for _, score in rows})
    new = {s: s * factor if factor else float(place) for place, s in enumerate(distinct)}
    truth = [
        (q, {names.get(item, item): grade for item, grade in row.items()})
        for q, row in world.truth.items()
    ]
    run = [
        (q, [(names.get(item, item), new[score]) for item, score in rows])
        for q, rows in world.run.items()
    ]
    random.shuffle(truth)
    random.shuffle(run)
    changed = values_of(World(dict(truth), dict(run)), ties=ties)
    for key, value in values_of(world, ties=ties).items():
        assert same(changed[key], value), key


@given(judgements, rankings, rankings, st.sampled_from([1, 3, 40]))
def test_what_stands_below_k_does_not_matter(grades, ranking, tail, k) -> None:
    full = (ranking * 40)[:k] if ranking else []
    cases = [Case(grades, full, full + tail if len(full) == k else full)]
    for case, metric, before, after in both_values(cases):
        # A score may hold a metric that looks deeper than itself, such as precision@40.
        if metric.k == k == max(metric.cutoffs):
            assert same(before, after), (str(metric), case)


@given(st.lists(st.tuples(judgements, rankings), max_size=4))
def test_a_perfect_ranking_is_best(drawn) -> None:
    cases = [
        Case(grades, perfect(grades, rel), other, rels=(rel,))
        for grades, other in drawn
        for rel in RELS
    ]
    never_better(PERFECT, both_values(cases))


def perfect(grades: dict[str, float], rel: float | None) -> list[str]:
    """All that is relevant, the best first, and nothing else."""
    relevant = [item for item, grade in grades.items() if grade > 0 and grade >= (rel or 0)]
    return sorted(relevant, key=lambda item: -grades[item])


@given(st.lists(st.tuples(judgements, rankings, st.integers(1, 9)), max_size=4))
def test_moving_a_relevant_item_up_never_hurts(drawn) -> None:
    cases = []
    for grades, up, place in drawn:
        if place >= len(up):
            continue
        above, item = up[place - 1], up[place]
        is_better = grades.get(item, 0) > max(grades.get(above, 0), 0)
        if is_better and item not in up[:place]:
            moved = [*up[: place - 1], item, above, *up[place + 1 :]]
            cases.append(Case(grades, before=moved, after=up))
    never_better(MOVED_UP, both_values(cases))


@given(st.lists(st.tuples(judgements, rankings, st.integers(0, 9), st.integers(1, 9)), max_size=4))
def test_a_copy_never_raises_anything(drawn) -> None:
    cases = []
    for grades, ranking, place, further in drawn:
        if place < len(ranking):
            at = place + further
            cases.append(Case(grades, ranking, [*ranking[:at], ranking[place], *ranking[at:]]))
    values = list(both_values(cases))
    never_better(COPY, values)
    for case, metric, before, after in values:
        if metric.definition.better == "neither" and (COPY, metric.name) not in EXCEPTIONS:
            assert math.isnan(before) or after <= before, (str(metric), case)


@pytest.mark.parametrize(("law", "name"), EXCEPTIONS)
def test_exceptions_are_not_stale(law: str, name: str) -> None:
    assert name in definitions()
    excuse = EXCEPTIONS[law, name]
    broken = [
        str(metric)
        for _, metric, before, after in both_values([excuse.proof])
        if metric.name == name and worth(metric, before) > worth(metric, after)
    ]
    assert broken, f"{name} keeps the law now ({law}); remove its excuse: {excuse.reason}"
