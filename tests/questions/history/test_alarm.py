"""Evaluations against their reference period, held to one that goes query by query."""

from datetime import timedelta
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.model.evaluation import Evaluation
from calipers.questions.history.alarm import Watched, alarm
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
        id=f"{day:016x}",
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


def answer(runs, *, metrics=("recall@5", "mrr"), **asked):
    return alarm("n", list(reversed(nights(runs))), list(metrics), **asked)


def checks(runs, **asked):
    """By metric and slice."""
    return {(one.metric, one.slice): one for one in answer(runs, **asked).checks}


def by_query(one: Watched, metric: str) -> dict[str, float]:
    return dict(zip(one.scores.queries["query"].to_list(), one.scores.of(metric), strict=True))


@settings(max_examples=20)
@given(st.lists(ranks, min_size=6, max_size=6), st.sets(st.integers(1, 7)))
def test_only_queries_with_the_same_ground_truth_count(runs, rejudged):
    shortest = min(map(len, runs))
    # One query is always found: a run that shares no id with the ground truth is refused.
    made = [records([1, *one[1:shortest]]) for one in runs]
    for index in rejudged:
        made[-1][index]["ground_truth"] = {"elsewhere": 1}
    *reference, latest = nights(made)
    same = [f"q{i}" for i in range(shortest) if i not in rejudged]
    found = answer(made)
    ids = set(found.reference.evaluations)
    reference = [one for one in reference if one.evaluation.id in ids]
    for check in found.checks:
        now = by_query(latest, check.metric)
        then = {q: fmean(by_query(one, check.metric)[q] for one in reference) for q in same}
        assert check.n == len(same)
        assert check.now == pytest.approx(fmean(now[q] for q in same))
        assert check.before == pytest.approx(fmean(then.values()))
        whole = fmean(fmean(by_query(one, check.metric).values()) for one in reference)
        moved = fmean(now.values()) - whole
        assert check.by_ground_truth + check.difference == pytest.approx(moved, abs=1e-12)


GOOD, BAD = records([1] * 20), records([None] * 10 + [1] * 10)


def test_a_loss_is_seen_the_same_night_with_its_queries_and_its_day():
    for nights_after in (1, 4):
        found = checks([GOOD] * 7 + [BAD] * nights_after)
        assert {check.standing for check in found.values()} == {"worse"}
        recall = found["recall@5", None]
        assert (recall.before, recall.now, recall.lost, recall.gained) == (1.0, 0.5, 10, 0)
        assert recall.since == START + timedelta(days=7)
        # Of equals those that come first by name.
        assert [one.query for one in recall.worst] == ["q0", "q1", "q2", "q3", "q4"]


def test_what_recovered_is_over():
    assert not answer([GOOD] * 7 + [BAD] * 4 + [GOOD]).raised
    again = answer([GOOD] * 7 + [BAD] * 4 + [GOOD] * 2 + [BAD])
    assert {check.since for check in again.checks} == {START + timedelta(days=7 + 6)}


def test_a_night_that_rang_never_joins_the_reference():
    found = answer([GOOD, GOOD, BAD, BAD, GOOD, GOOD, BAD])
    assert [int(one, 16) for one in found.reference.evaluations] == [0, 1, 4, 5]
    assert (found.raised, found.nights) == (True, 3)


def test_a_gain_is_no_alarm():
    assert not answer([BAD] * 7 + [GOOD] * 2).raised


def test_a_changed_ground_truth_is_no_drop():
    data = records([1] * 20)
    for one in data[:10]:
        one["ground_truth"] = {"elsewhere": 1}
    recall = checks([GOOD] * 5 + [data], reference=5)["recall@5", None]
    assert (recall.standing, recall.difference) == ("passed", 0.0)
    assert (recall.whole_before, recall.whole_now, recall.by_ground_truth) == (1.0, 0.5, -0.5)


def test_new_gone_and_reworded_queries_are_counted():
    before, now = records([1] * 10), records([1] * 10)
    now[0]["query"] = "asks something else"
    now[1]["id"] = "new"
    now[2]["ground_truth"] = {"elsewhere": 1}
    reference = answer([before] * 5 + [now]).reference
    assert (reference.shared, reference.new, reference.gone, reference.rejudged) == (7, 1, 1, 2)
    assert reference.truth_changed


def test_less_is_worse_only_where_more_is_better():
    # The first rank goes up from 1 to 4 for all queries that have one.
    runs = [records([1] * 12)] * 5 + [records([4] * 12)]
    (rank,) = checks(runs, metrics=("first_rank",)).values()
    assert (rank.standing, rank.before, rank.now) == ("worse", 1.0, 4.0)


def test_a_slice_that_fell_is_seen_where_the_mean_hides_it():
    then = tagged({"a": [1] * 12, "b": [1] * 28 + [None] * 12})
    now = tagged({"a": [None] * 12, "b": [1] * 40})
    found = answer([then] * 5 + [now], by=["type"], metrics=("recall@5",)).checks
    standings = {check.slice: check.standing for check in found}
    assert standings == {None: "passed", "type=a": "worse", "type=b": "passed"}
    # What matters most stands first.
    assert found[0].slice == "type=a"


def test_more_checks_share_one_budget():
    noisy = [
        tagged({"a": [1] * 12 + [None], "b": [1] * 12}),
        tagged({"a": [1] * 13, "b": [1] * 12}),
    ]
    runs = [noisy[night % 2] for night in range(6)]
    (alone,) = answer(runs, metrics=("recall@5",)).checks
    several = answer(runs, by=["type"]).checks
    assert alone.level == pytest.approx(1 / 730)
    assert [check.level for check in several[:4]] == pytest.approx([1 / 730 / 6] * 4)
    # Those of b are the same every night.
    assert [check.level for check in several[4:]] == [0.01, 0.01]


def test_too_few_queries_cannot_tell_though_nothing_was_lost():
    found = answer([records([1] * 4)] * 8, metrics=("recall@5",))
    assert found.claims[0].line.startswith("~ recall@5 1.000 → 1.000: 0 lost, 0 gained of 4 ")
    assert "at least 7 queries" in found.claims[0].next


def test_it_answers_from_the_second_evaluation_on():
    one = answer([GOOD])
    assert (one.raised, one.checks, one.claims[0].standing) == (False, (), "no clear difference")
    for count in range(2, 7):
        found = answer([GOOD] * count)
        assert (found.nights, len(found.reference.evaluations)) == (1, count - 1)
        assert found.claims[0].sign == "✓"
    assert any("2 evaluations short" in note for note in found.notes)


def test_no_tick_where_the_signs_speak_against_it():
    # Ten lose, one gains, and the mean lost less than is allowed.
    then, now = [1] * 10 + [10] + [1] * 9, [2] * 10 + [1] + [1] * 9
    check = checks([records(then), records(now)], allow=0.5)["mrr", None]
    assert (check.standing, check.lost, check.gained) == ("no clear difference", 10, 1)


def test_metrics_that_are_named_need_no_primary_one():
    runs = [records([1, 2, 3])] * 2
    assert answer(runs, metrics=["mrr"], primary="ndcg@10").checks[0].metric == "mrr"
