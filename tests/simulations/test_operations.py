"""What is simulated is what the operations answer: the same data gives the same verdicts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.statistics.bounded_mean import largest_mean
from calipers.statistics.nights import watch
from calipers.statistics.prediction_powered import corrected_mean
from calipers.statistics.score_interval import score_ends
from simulations.differences import (
    MILDLY_SKEWED,
    STRONGLY_SKEWED,
    SYMMETRIC_DIFFERENCES,
    rejected,
)
from simulations.gates import COLLAPSES, METRICS, RULES, UNCHANGED, collapse, gates, stops
from simulations.means import moments
from simulations.nights import ALLOW, LEVEL, NIGHTS
from simulations.results import pair_of, result
from simulations.shapes import SEED
from tests.statistics.ends import score_interval
from tests.systems import records

SHAPES = [*SYMMETRIC_DIFFERENCES, *MILDLY_SKEWED, *STRONGLY_SKEWED]


def random_ranks(rng, n, missed=0.2):
    return [None if rng.random() < missed else int(rng.integers(1, 11)) for _ in range(n)]


@pytest.mark.parametrize("n", [2, 3, 7, 42, 130])
def test_the_interval_of_a_mean_is_that_of_evaluate(n):
    rng = np.random.default_rng(n)
    data = [
        {**one, "tags": {"intent": f"{i // 3}"}}
        for i, one in enumerate(records([1, *random_ranks(rng, n - 1)]))
    ]
    scores = calipers.evaluate(data, metrics="recall@5,mrr,ndcg@10")
    clustered = calipers.evaluate(data, metrics="recall@5,mrr,ndcg@10", cluster="intent")
    for name in scores:
        values = scores.of(name)
        low, high = score_ends(*moments(values[np.newaxis]), n, 0.95)
        interval = scores[name].interval
        assert (interval.low, interval.high) == pytest.approx((low[0], high[0]), abs=1e-12)
        found, ends = clustered[name].interval, score_interval(values, clusters=np.arange(n) // 3)
        assert (found and (found.low, found.high)) == (ends and tuple(ends))


def test_the_test_is_that_of_compare_and_of_gate():
    rng = np.random.default_rng(0)
    verdicts = set()
    for shape, shift in zip(SHAPES, [0.0, 0.25, -0.25] * 6, strict=False):
        values = shape.draw(rng, (1, 14))
        values = np.clip(values + shift * (values != 0), -1.0, 1.0)
        if not values.any():
            continue  # `compare` refuses two runs that do not differ
        (down,), (up,) = rejected(values, 0.05)
        systems = pair_of(values[0])
        found = calipers.compare(systems).difference("new", "recall@10")
        assert found.verdict == ("better" if up else "worse" if down else "no clear difference")
        if found.interval is not None:
            assert (found.interval.low > 0, found.interval.high < 0) == (up, down)
        build = calipers.gate(systems["new"], baseline=systems["old"], only_shown=True)
        assert build.stops == down
        verdicts |= {found.verdict}
    assert verdicts == {"better", "worse", "no clear difference"}


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.08])
def test_the_bound_on_losses_is_that_of_sweep(share):
    rng = np.random.default_rng([8, int(share * 100)])
    targets = ["a", "b", "c", "d"]
    for n in (30, 59, 70, 150):
        lost = np.where(rng.random(n) < share, rng.integers(1, 5, n), 0)
        # So many of four targets stand below rank 5.
        run = {
            f"q{i}": [*targets[many:], *"xyzuv"[: 1 + many], *targets[:many]]
            for i, many in enumerate(lost)
        }
        found = calipers.sweep(
            ground_truth=dict.fromkeys(run, targets), run=run, k=[5, 10], metrics="recall"
        ).recall
        bound = largest_mean(lost / 4)
        assert found.safe_k == (5 if bound <= 0.05 else 10)
        assert found.safe_bound == (bound if bound <= 0.05 else 0.0)


def test_the_gate_is_that_of_its_rows():
    rng = np.random.default_rng(SEED)
    cases: list[tuple[Any, Any, list[str] | None]]
    cases = [(*build(rng, 14), None) for build in UNCHANGED.values() for _ in range(2)]
    cases += [collapse(kind, rng) for kind in COLLAPSES]
    stopped = []
    for before, now, tags in cases:
        named = None if tags is None else {"part": tags}
        new, old = (result(one, named, METRICS) for one in (now, before))
        rows = gates([(before, now)], tags)[0]
        for rule in RULES.values():
            by = () if tags is None else "part"
            verdict = calipers.gate(new, baseline=old, by=by, only_shown=rule.only_shown)
            assert verdict.stops == stops(rows, rule)
            stopped.append(verdict.stops)
    assert {*stopped} == {True, False}


def test_the_alarm_is_that_of_the_nights(tmp_path):
    rng = np.random.default_rng(10)
    values = NIGHTS["independent, hits"](rng, 14, 40)
    values[9:, :12] = 0.0
    rings = [at for at, look in enumerate(watch(values, ALLOW, LEVEL).rings) if look]
    store = str(tmp_path / "history.db")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for night, row in enumerate(values):
        data = records([1 if one else None for one in row])
        scores = calipers.evaluate(data, metrics="recall@5")
        saved = start + timedelta(days=night)
        calipers.save(scores, "nightly", store=store, now=saved)
        if night >= 1:
            check = calipers.history_alarm("nightly", store=store).checks[0]
            assert check.rings == (night in rings)
    assert rings


def test_the_corrected_mean_is_that_of_corrected():
    rng = np.random.default_rng(11)
    for n, sampled in ((40, 8), (120, 30)):
        machine = {f"q{i:03d}": {"a": 1} for i in range(n)}
        people = {q: {rng.choice(["a", "b"]): 1} for q in list(machine)[:sampled]}
        run = {query: ["a", "x", "b"] for query in machine}
        found = calipers.corrected(
            ground_truth=machine, run=run, people=people, metrics="mrr", sampled="at-random"
        )
        told, known = np.ones(n), np.full(n, np.nan)
        known[:sampled] = [1.0 if "a" in one else 1 / 3 for one in people.values()]
        expected = corrected_mean(told, known)
        assert found["mrr"].value == expected.value
        assert (found["mrr"].interval.low, found["mrr"].interval.high) == expected.interval
