"""Evaluations against their reference period, held to one that goes query by query."""

from datetime import timedelta
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.model.evaluation import Evaluation
from calipers.questions.history.alarm import Night, due_by, judged
from calipers.questions.history.result import Alarm
from calipers.store.save import _judgements
from tests.store.saved import START, measure
from tests.systems import records

ranks = st.lists(st.one_of(st.none(), st.integers(1, 10)), min_size=8, max_size=20)


def night(data, day=0) -> Night:
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
    return Night(evaluation, scores, judgements)


def nights(runs) -> list[Night]:
    """Oldest first, a day apart."""
    return [night(data, day) for day, data in enumerate(runs)]


def answer(runs, *, metrics=("recall@5", "mrr"), allow=0.02) -> Alarm:
    made = nights(runs)
    bare = Alarm(
        name="n",
        id=made[-1].evaluation.id,
        saved=made[-1].evaluation.saved,
        commit=None,
        branch=None,
        evaluations=len(made),
        metrics=tuple(metrics),
        lines=(),
        marks=(),
        allow=allow,
        calipers="0",
    )
    return judged(bare, made)


def checks(runs, **asked):
    """By metric."""
    return {one.metric: one for one in answer(runs, **asked).checks}


def by_query(one: Night, metric: str) -> dict[str, float]:
    return dict(zip(one.scores.queries["query"].to_list(), one.scores.of(metric), strict=True))


@settings(max_examples=20)
@given(st.lists(ranks, min_size=3, max_size=3), st.sets(st.integers(1, 7)))
def test_only_queries_with_the_same_ground_truth_count(runs, rejudged):
    shortest = min(map(len, runs))
    # One query is always found: a run that shares no id with the ground truth is refused.
    made = [records([1, *one[1:shortest]]) for one in runs]
    for index in rejudged:
        made[-1][index]["ground_truth"] = {"elsewhere": 1}
    *_, latest = nights(made)
    same = [f"q{i}" for i in range(shortest) if i not in rejudged]
    for check in answer(made).checks:
        now = by_query(latest, check.metric)
        assert check.change.n == len(same)
        assert check.change.now == pytest.approx(fmean(now[q] for q in same))


GOOD, BAD = records([1] * 20), records([None] * 10 + [1] * 10)


def test_a_loss_is_seen_the_same_night_with_its_queries_and_its_day():
    for nights_after, when in ((1, "since 1 January"), (4, "until 7 January")):
        found = checks([GOOD] * 7 + [BAD] * nights_after)
        assert {check.standing for check in found.values()} == {"failed"}
        recall = found["recall@5"]
        assert (recall.change.before, recall.change.now) == (1.0, 0.5)
        assert (recall.change.losses, recall.change.wins) == (10, 0)
        # Of equals those that come first by name.
        assert [one.query for one in recall.lost] == ["q0", "q1", "q2", "q3", "q4"]
        assert recall.claim.fact == (f"n got worse: recall@5 is 0.500, it was 1.000 {when}.")


def test_a_gain_is_no_alarm():
    found = answer([BAD] * 7 + [GOOD] * 2)
    assert (found.raised, found.exit_code, found.claims[0].standing) == (False, 0, "passed")


def test_new_gone_and_reworded_queries_are_no_drop():
    before, now = records([1] * 10), records([1] * 10)
    now[0]["query"] = "asks something else"
    now[1]["id"] = "new"
    now[2]["ground_truth"] = {"elsewhere": 1}
    check = answer([before] * 5 + [now]).checks[0]
    assert (check.standing, check.change.difference, check.change.n) == ("passed", 0.0, 7)


def test_less_is_worse_only_where_more_is_better():
    # The first rank goes up from 1 to 4 for all queries that have one.
    runs = [records([1] * 12)] * 5 + [records([4] * 12)]
    (rank,) = checks(runs, metrics=("first_rank",)).values()
    assert (rank.standing, rank.change.before, rank.change.now) == ("failed", 1.0, 4.0)


def test_no_tick_over_a_loss_and_the_fact_is_printed():
    # Ten lose, one gains, and the mean lost less than is allowed.
    then, now = [1] * 10 + [10] + [1] * 9, [2] * 10 + [1] + [1] * 9
    check = checks([records(then), records(now)], allow=0.5)["mrr"]
    assert check.standing == "no clear difference"
    assert (check.change.losses, check.change.wins) == (10, 1)


def test_what_cannot_be_compared_is_said_with_exit_code_two():
    other = records([1] * 20)
    for one in other:
        one["ground_truth"] = {"elsewhere": 1}
        one["retrieved"] = ["elsewhere"]
    found = answer([GOOD, other])
    assert (found.raised, found.exit_code) == (False, 2)
    assert "shares no query" in found.claims[0].fact
    assert "can be watched" in answer([GOOD, GOOD], metrics=("tp@5",)).unchecked


@pytest.mark.parametrize(
    ("every", "later", "missing"),
    [(None, 2, False), (None, 4, True), ("7d", 4, False), ("36h", 2, True)],
)
def test_an_evaluation_that_is_missing(every, later, missing):
    saved = [START + timedelta(days=day) for day in range(5)]
    due = due_by(saved, every)
    assert (saved[-1] + timedelta(days=later, hours=1) > due) is missing
    hourly = [START + timedelta(hours=hour) for hour in range(5)]
    assert due_by(hourly) == hourly[-1] + timedelta(days=1)
    assert due_by([START]) is None
