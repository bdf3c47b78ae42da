"""The latest against those before, held to a reference that goes query by query."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.analyse.alarm import check_all
from calipers.analyse.yardstick import Watched, yardstick
from calipers.model.evaluation import Evaluation
from calipers.store.save import _judgements
from tests.store.saved import START, measure
from tests.systems import records, tagged

ranks = st.lists(st.one_of(st.none(), st.integers(1, 10)), min_size=8, max_size=20)


def watched(data) -> Watched:
    pair, scores = measure(data, metrics="recall@5,mrr,first_rank")
    judgements = scores.queries.select("query", "text").join(
        _judgements(pair.ground_truth), on="query", how="left", maintain_order="left"
    )
    evaluation = Evaluation(
        id="0" * 16, name="n", saved=START, calipers="", commit=None, branch=None, dirty=None,
        queries=len(scores),
    )  # fmt: skip
    return Watched(evaluation, scores, judgements)


def checks(latest, *earlier, by=(), metrics=("recall@5", "mrr"), resamples=200):
    yardsticks = [yardstick(latest, earlier[:1], "previous")]
    if len(earlier) > 1:
        yardsticks.append(yardstick(latest, earlier, "window"))
    return check_all(latest, yardsticks, metrics, by, alpha=0.05, resamples=resamples, seed=0)


def by_query(one: Watched, metric: str) -> dict[str, float]:
    return dict(zip(one.scores.queries["query"].to_list(), one.scores.of(metric), strict=True))


@settings(max_examples=30)
@given(st.lists(ranks, min_size=2, max_size=4), st.sets(st.integers(1, 7)))
def test_only_queries_with_the_same_ground_truth_count(runs, rejudged):
    shortest = min(map(len, runs))
    # One query is always found: a run that shares no id with the ground truth is refused.
    made = [records([1, *one[1:shortest]]) for one in runs]
    for index in rejudged:
        made[0][index]["ground_truth"] = {"elsewhere": 1}
    latest, *earlier = map(watched, made)
    same = [f"q{i}" for i in range(shortest) if i not in rejudged]
    for check in checks(latest, *earlier):
        before = earlier[:1] if check.against == "previous" else earlier
        now = by_query(latest, check.metric)
        then = {q: fmean(by_query(one, check.metric)[q] for one in before) for q in same}
        assert check.now == pytest.approx(fmean(now[q] for q in same))
        assert check.change.difference == pytest.approx(
            fmean(now[q] - then[q] for q in same), abs=1e-12
        )
        whole = fmean(fmean(by_query(one, check.metric).values()) for one in before)
        moved = fmean(now.values()) - whole
        assert check.by_ground_truth + check.change.difference == pytest.approx(moved, abs=1e-12)
        assert check.change.better == sum(now[q] > then[q] + 1e-9 for q in same)
        assert check.change.worse == sum(now[q] < then[q] - 1e-9 for q in same)


def test_a_drop_is_seen_and_its_queries_are_named():
    latest, before = watched(records([None] * 10 + [1] * 10)), watched(records([1] * 20))
    recall, mrr = checks(latest, before, resamples=2000)
    assert (recall.status, recall.change.baseline, recall.now) == ("worse", 1.0, 0.5)
    assert [one.query for one in recall.worst] == [f"q{i}" for i in range(5)]
    assert mrr.status == "worse"
    better = checks(before, latest, resamples=2000)
    assert [check.status for check in better] == ["better", "better"]


def test_a_changed_ground_truth_is_no_drop():
    data = records([1] * 20)
    for one in data[:10]:
        one["ground_truth"] = {"elsewhere": 1}
    recall, _ = checks(watched(data), watched(records([1] * 20)))
    assert (recall.status, recall.change.difference) == ("not shown", 0.0)
    assert (recall.whole_before, recall.whole_now, recall.by_ground_truth) == (1.0, 0.5, -0.5)


def test_new_gone_and_reworded_queries_are_counted():
    before, now = records([1] * 10), records([1] * 10)
    now[0]["query"] = "asks something else"
    now[1]["id"] = "new"
    now[2]["ground_truth"] = {"elsewhere": 1}
    reference = yardstick(watched(now), [watched(before)], "previous").reference
    assert (reference.shared, reference.new, reference.gone, reference.rejudged) == (7, 1, 1, 2)
    assert reference.truth_changed


def test_less_is_worse_only_where_more_is_better():
    # The first rank goes up from 1 to 4 for all queries that have one.
    latest, before = watched(records([4] * 12)), watched(records([1] * 12))
    (rank,) = checks(latest, before, metrics=("first_rank",), resamples=2000)
    assert (rank.status, rank.change.worse, rank.change.better) == ("worse", 12, 0)


def test_a_slice_that_fell_is_seen_where_the_mean_hides_it():
    now = tagged({"a": [None] * 12, "b": [1] * 40})
    then = tagged({"a": [1] * 12, "b": [1] * 28 + [None] * 12})
    made = checks(watched(now), watched(then), by=["type"], metrics=("recall@5",), resamples=5000)
    found = {check.slice: check.status for check in made}
    assert found == {None: "not shown", "type=a": "worse", "type=b": "better"}


def test_the_mean_of_many_equal_values_is_no_change():
    ranks = [1, 3, 6, 7, 9, 10] * 3
    found = checks(watched(records(ranks)), *(watched(records(ranks)) for _ in range(7)))
    assert {(c.change.better, c.change.worse, c.change.same) for c in found} == {(0, 0, 18)}


def test_too_few_queries_are_not_tested():
    found = checks(watched(records([1, None, None])), watched(records([1] * 3)))
    assert {check.status for check in found} == {"untested"}
    assert found[0].change.visibility.why_not == "too few queries"


def test_false_alarms_keep_to_their_rate():
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(60):
        first, second = (
            [int(r) if r <= 10 else None for r in rng.integers(1, 14, 30)] for _ in range(2)
        )
        found = checks(watched(records(first)), watched(records(second)), resamples=500)
        alarms += any(check.status == "worse" for check in found)
    # At most 5 % on either side together, so about 1.5 of 60 here; 7 would be a one in 10,000.
    assert alarms <= 6
