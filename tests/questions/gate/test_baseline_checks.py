"""Checks against a baseline: right verdicts, and few false alarms."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from calipers import evaluate, gate
from calipers.model.arrays import frozen_array


def scores_of(values, metrics=("recall@10", "ndcg@10", "mrr"), tags=None):
    """Scores with the given values, whatever retriever could have made them."""
    values = np.asarray(values, dtype=np.float64)
    names = [f"q{n}" for n in range(len(values))]
    template = evaluate(
        ground_truth={name: ["a"] for name in names},
        run={name: ["a"] for name in names},
        metrics=list(metrics)[: values.shape[1]],
    )
    columns = {name: pl.Series(name, column, pl.String) for name, column in (tags or {}).items()}
    return replace(template, values=frozen_array(values), tags=columns)


def compare(now, before, *, asked=1, **settings):
    names = [one.name for one in now.metrics]
    return gate(now, baseline=before, metrics=names[:asked], **settings).checks


def test_a_real_drop_is_seen():
    random = np.random.default_rng(7)
    before = random.random((200, 1))
    now = np.clip(before - 0.1 + random.normal(0, 0.1, (200, 1)), 0, 1)
    (check,) = compare(scores_of(now), scores_of(before))
    assert check.status == "failed"
    assert check.because == ("significant loss", "over the 0.05 allowed")
    assert check.change.difference < -0.05
    assert check.change.p_adjusted < 0.05
    drops = [one.baseline - one.value for one in check.worst]
    assert drops == sorted(drops, reverse=True)
    assert len(drops) == 5


def test_where_lower_is_better_a_rise_is_a_drop():
    now, before = np.full((30, 1), 3.0), np.full((30, 1), 1.0)
    (check,) = compare(scores_of(now, ["fp@10"]), scores_of(before, ["fp@10"]))
    assert check.status == "failed"
    assert (check.change.wins, check.change.losses) == (0, 30)
    assert check.claim.fact == (
        "fp@10 rose from 1.000 to 3.000; 30 of 30 queries worse, none better."
    )
    assert check.loss == 2.0
    (fine,) = compare(scores_of(before, ["fp@10"]), scores_of(now, ["fp@10"]), allow=0.1)
    assert fine.status == "passed"


ACCEPT, TAKES = "Make it the baseline: `calipers gate --accept", "To detect 0.05 takes "


@pytest.mark.parametrize(
    ("losses", "gains", "settings", "status", "following"),
    [
        (0, 0, {}, "passed", None),
        (2, 2, {}, "no clear difference", None),
        (2, 5, {}, "passed", None),
        (3, 2, {}, "no clear difference", TAKES),
        (6, 1, {}, "failed", ACCEPT),
        (6, 1, {"allow": 0.1}, "no clear difference", TAKES),
        (
            6,
            1,
            {"only_shown": True},
            "no clear difference",
            TAKES,
        ),
        (20, 0, {"only_shown": True}, "failed", ACCEPT),
        (20, 0, {"allow": 0.9}, "failed", ACCEPT),
    ],
)
def test_a_fall_fails_and_a_significant_loss_fails_and_a_tick_stands_beside_no_loss(
    losses, gains, settings, status, following
):
    before = np.full((40, 1), 0.5)
    now = before.copy()
    now[:losses] = 0.0
    now[losses : losses + gains] = 1.0
    (check,) = compare(scores_of(now), scores_of(before), **settings)
    assert (check.status, check.claim.standing) == (status, status)
    said = check.claim.next
    assert said is None if following is None else following in said
    change = check.change
    assert (change.wins, change.losses, change.ties) == (gains, losses, 40 - gains - losses)
    if change.interval is not None:
        away = change.interval.high < 0 or change.interval.low > 0
        assert away == (change.p_adjusted <= 0.05)


def test_a_mean_that_rose_is_no_gain_where_more_queries_lost():
    before = np.full((40, 1), 0.5)
    now = before.copy()
    now[:2] = 0.4
    now[2] = 1.0
    (check,) = compare(scores_of(now), scores_of(before))
    assert check.change.difference > 0
    assert check.status == "no clear difference"


def test_the_correction_covers_all_rows_and_leaves_out_what_nobody_asked_for():
    random = np.random.default_rng(3)
    before = random.random((40, 3))
    now = before + random.normal(0, 0.1, (40, 3))
    tags = {"type": ["a", "b"] * 20}
    checks = compare(scores_of(now, tags=tags), scores_of(before, tags=tags), by=["type"], asked=2)
    assert [(check.metric, check.slice) for check in checks] == [
        (name, part) for part in (None, "type=a", "type=b") for name in ("recall@10", "ndcg@10")
    ]
    assert all(check.change.p_adjusted >= check.change.p_value for check in checks)
    alone = compare(scores_of(now), scores_of(before), asked=2)
    assert [one.change.p_value for one in alone] == [one.change.p_value for one in checks[:2]]


@pytest.mark.parametrize(
    ("lost", "gained", "status"),
    [
        (2, 0, "no clear difference"),
        (3, 0, "failed"),
        (4, 2, "no clear difference"),
        (5, 2, "failed"),
    ],
)
def test_a_slice_fails_by_its_mean_from_three_queries_lost_net(lost, gained, status):
    """Two lost of ten are beyond what is allowed, and yet luck in three sets of ten."""
    before = np.full((80, 1), 0.5)
    now = before.copy()
    now[:lost] = 0.0
    now[lost : lost + gained] = 1.0
    tags = {"kind": ["small"] * 10 + ["large"] * 70}
    checks = compare(scores_of(now, tags=tags), scores_of(before, tags=tags), by="kind")
    small = next(check for check in checks if "small" in str(check.slice))
    assert small.change.difference < -0.05
    assert small.status == status


def test_the_whole_fails_by_its_mean_however_few_queries_lost():
    before = np.ones((10, 1))
    now = before.copy()
    now[0] = 0.0
    (check,) = compare(scores_of(now), scores_of(before))
    assert (check.status, check.because) == ("failed", ("over the 0.05 allowed",))


def test_the_worst_queries_are_those_that_lost():
    before = np.full((12, 1), 0.5)
    now = before.copy()
    now[:3] = 0.0
    now[11] = 1.0
    (check,) = compare(scores_of(now), scores_of(before))
    assert [query.query for query in check.worst] == ["q0", "q1", "q2"]


@pytest.mark.parametrize(("cluster", "units"), [("topic", "clusters"), (None, "queries")])
def test_what_a_difference_takes_is_said_of_what_is_counted(cluster, units):
    before = np.full((60, 1), 0.5)
    now = before.copy()
    now[:12:2] = 0.0
    now[20:36:3] = 1.0
    tags = {"topic": [f"t{at // 2}" for at in range(60)]}
    now, before = scores_of(now, tags=tags), scores_of(before, tags=tags)
    (check,) = compare(now, before, cluster=cluster, allow=0.1)
    assert str(check.claim.next).endswith(f" {units}.")
