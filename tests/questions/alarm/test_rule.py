"""Evaluations against their reference period, held to one that goes query by query."""

from datetime import timedelta
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput
from calipers.model.evaluation import Evaluation
from calipers.questions.alarm.reference_period import Watched, yardstick
from calipers.questions.alarm.rule import alarm, check_all
from calipers.store.save import _judgements
from tests.store.saved import START, measure
from tests.systems import records, tagged

ranks = st.lists(st.one_of(st.none(), st.integers(1, 10)), min_size=8, max_size=20)


def watched(data, day=0) -> Watched:
    pair, scores = measure(data, metrics="recall@5,mrr,first_rank")
    judgements = scores.queries.select("query", "text").join(
        _judgements(pair.ground_truth), on="query", how="left", maintain_order="left"
    )
    evaluation = Evaluation(
        id="0" * 16,
        name="n",
        saved=START + timedelta(days=day),
        calipers="",
        commit=None,
        branch=None,
        dirty=None,
        queries=len(scores),
    )
    return Watched(evaluation, scores, judgements)


def nights(runs) -> list[Watched]:
    """Oldest first, a day apart."""
    return [watched(data, day) for day, data in enumerate(runs)]


def checks(runs, *, reference=5, by=(), metrics=("recall@5", "mrr"), false_alarms=1.0):
    line = yardstick(nights(runs), reference)
    facts = facts_by_name(line.nights[-1].scores)
    return check_all(line, [facts[name] for name in metrics], by, false_alarms)


def by_query(one: Watched, metric: str) -> dict[str, float]:
    return dict(zip(one.scores.queries["query"].to_list(), one.scores.of(metric), strict=True))


@settings(max_examples=20, deadline=None)
@given(st.lists(ranks, min_size=6, max_size=6), st.sets(st.integers(1, 7)))
def test_only_queries_with_the_same_ground_truth_count(runs, rejudged):
    shortest = min(map(len, runs))
    # One query is always found: a run that shares no id with the ground truth is refused.
    made = [records([1, *one[1:shortest]]) for one in runs]
    for index in rejudged:
        made[-1][index]["ground_truth"] = {"elsewhere": 1}
    *reference, latest = line = nights(made)
    same = [f"q{i}" for i in range(shortest) if i not in rejudged]
    facts = facts_by_name(latest.scores)
    for check in check_all(yardstick(line, 5), [facts["recall@5"], facts["mrr"]], (), 1.0):
        now = by_query(latest, check.metric)
        then = {q: fmean(by_query(one, check.metric)[q] for one in reference) for q in same}
        assert check.n == len(same)
        assert check.now == pytest.approx(fmean(now[q] for q in same))
        assert check.before == pytest.approx(fmean(then.values()))
        whole = fmean(fmean(by_query(one, check.metric).values()) for one in reference)
        moved = fmean(now.values()) - whole
        assert check.by_ground_truth + check.difference == pytest.approx(moved, abs=1e-12)


GOOD, BAD = records([1] * 20), records([None] * 10 + [1] * 10)


def test_a_loss_that_stays_is_seen_with_its_queries_and_its_day():
    found = checks([GOOD] * 7 + [BAD] * 4, reference=7)
    assert [check.status for check in found] == ["worse", "worse"]
    recall = found[0]
    assert (recall.before, recall.now) == (1.0, 0.5)
    assert recall.since == START + timedelta(days=7)
    assert START + timedelta(days=8) <= recall.raised <= START + timedelta(days=10)
    assert recall.sum > recall.threshold
    # Of equals those that come first by name.
    assert [one.query for one in recall.worst] == ["q0", "q1", "q2", "q3", "q4"]


def test_one_bad_evaluation_passes_and_what_recovered_is_over():
    assert {c.status for c in checks([GOOD] * 7 + [BAD], reference=7)} == {"not shown"}
    recovered = checks([GOOD] * 7 + [BAD] * 4 + [GOOD] * 12, reference=7)
    assert {check.status for check in recovered} == {"not shown"}
    again = checks([GOOD] * 7 + [BAD] * 4 + [GOOD] * 12 + [BAD] * 4, reference=7)
    assert {check.since for check in again} == {START + timedelta(days=7 + 16)}


def test_a_gain_is_no_alarm():
    assert {check.status for check in checks([BAD] * 7 + [GOOD] * 9)} == {"not shown"}


def test_a_changed_ground_truth_is_no_drop():
    data = records([1] * 20)
    for one in data[:10]:
        one["ground_truth"] = {"elsewhere": 1}
    recall, _ = checks([GOOD] * 5 + [data] * 6)
    assert (recall.status, recall.difference) == ("not shown", 0.0)
    assert (recall.whole_before, recall.whole_now, recall.by_ground_truth) == (1.0, 0.5, -0.5)


def test_new_gone_and_reworded_queries_are_counted():
    before, now = records([1] * 10), records([1] * 10)
    now[0]["query"] = "asks something else"
    now[1]["id"] = "new"
    now[2]["ground_truth"] = {"elsewhere": 1}
    reference = yardstick(nights([before] * 5 + [now]), 5).described()
    assert (reference.shared, reference.new, reference.gone, reference.rejudged) == (7, 1, 1, 2)
    assert reference.truth_changed


def test_less_is_worse_only_where_more_is_better():
    # The first rank goes up from 1 to 4 for all queries that have one.
    runs = [records([1] * 12)] * 5 + [records([4] * 12)] * 4
    (rank,) = checks(runs, metrics=("first_rank",))
    assert (rank.status, rank.before, rank.now) == ("worse", 1.0, 4.0)


def test_a_slice_that_fell_is_seen_where_the_mean_hides_it():
    then = tagged({"a": [1] * 12, "b": [1] * 28 + [None] * 12})
    now = tagged({"a": [None] * 12, "b": [1] * 40})
    made = checks([then] * 5 + [now] * 5, by=["type"], metrics=("recall@5",))
    found = {check.slice: check.status for check in made}
    assert found == {None: "not shown", "type=a": "worse", "type=b": "not shown"}


def test_more_checks_share_one_budget():
    runs = [tagged({"a": [1] * 12, "b": [1] * 12})] * 6
    (alone,) = checks(runs, metrics=("recall@5",))
    several = checks(runs, by=["type"])
    assert {check.threshold for check in several} != {alone.threshold}
    assert all(check.threshold > alone.threshold for check in several)


def test_nothing_in_common_is_not_tested():
    found = checks([records([1] * 6)] * 5 + [[{**one, "id": f"other {one['id']}"} for one in GOOD]])
    assert {(check.status, check.n) for check in found} == {("untested", 0)}


def test_too_few_evaluations_are_said():
    few = list(reversed(nights([GOOD] * 5)))
    with pytest.raises(InvalidInput, match=r"5 evaluations called n .* at least 6 are needed"):
        alarm("n", few, None)
    enough = alarm("n", list(reversed(nights([GOOD] * 6))), None)
    assert (enough.nights, len(enough.reference.evaluations)) == (1, 5)
    assert any("2 evaluations short" in note for note in enough.notes)
    assert [check.metric for check in enough.checks] == ["recall@5"]
