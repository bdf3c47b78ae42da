"""What is simulated is what the operations answer: the same data gives the same verdicts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.io.load import load
from calipers.questions.confirm.rule import look_at
from calipers.statistics.agreement_interval import agreement_interval, cohen_kappa
from calipers.statistics.bounded_mean import largest_mean
from calipers.statistics.nights import watch
from calipers.statistics.paired_rows import paired_rows
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
from simulations.sealed import PER_LOOK
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


def test_metrics_nobody_asked_for_do_not_change_the_verdict():
    rng = np.random.default_rng(4)
    names = ("recall@10", "ndcg@10", *(f"precision@{k}" for k in (1, 3, 5, 10)))
    stopped = set()
    for loss in (-0.05, 0.02, 0.1):
        before = 0.5 + 0.5 * rng.random((60, len(names)))
        now = before - loss + rng.normal(0, 0.08, (60, 1))
        many = calipers.gate(result(now, metrics=names), baseline=result(before, metrics=names))
        pair = [result(one[:, :2], metrics=names[:2]) for one in (now, before)]
        alone = calipers.gate(pair[0], baseline=pair[1])
        assert many.asked == alone.asked == ("recall@10", "ndcg@10")
        assert [one.change for one in many.checks] == [one.change for one in alone.checks]
        assert many.stops == alone.stops
        stopped.add(alone.stops)
    assert stopped == {True, False}


def test_clusters_are_those_of_compare():
    rng = np.random.default_rng(5)
    for _ in range(5):
        names = np.repeat(np.arange(12), rng.integers(2, 6, 12))
        values = np.clip(rng.normal(0.1, 0.2, 12)[names] + rng.normal(0, 0.2, len(names)), -1, 1)
        tags = {"intent": names.tolist()}
        systems = {
            name: result(np.maximum(sign * values, 0.0), tags)
            for name, sign in (("old", -1), ("new", 1))
        }
        found = calipers.compare(systems, cluster="intent").difference("new", "recall@10")
        assert found.p_value == paired_rows([values], names)[0].p


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


def test_diagnose_says_of_k_what_sweep_says():
    rng = np.random.default_rng(9)
    said = set()
    for n in (40, 70, 200, 400):
        data = records(np.minimum(rng.geometric(0.5, n), 10).tolist())
        for one in data:
            one["retrieved"] += [f"y{i}" for i in range(20)]
        pair = calipers.read(data)
        says = calipers.sweep(pair, metrics="recall").recall.says
        evidence = [one.evidence for one in calipers.diagnose(pair, k=30).findings]
        assert says in evidence[-1]
        said.add(says)
    assert len(said) > 1


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


def test_the_interval_of_kappa_is_that_of_agreement(tmp_path):
    rng = np.random.default_rng(12)
    table = rng.choice(3, (25, 2), p=[0.7, 0.2, 0.1]).astype(float)
    table[:15, 1] = table[:15, 0]
    files = [tmp_path / "anna.csv", tmp_path / "bo.csv"]
    for file, column in zip(files, table.T, strict=True):
        rows = [f"q{i},a,{int(grade)},{file.stem}" for i, grade in enumerate(column)]
        file.write_text("\n".join(["query_id,item,grade,judge", *rows]))
    found = calipers.labels_export([str(file) for file in files]).agreement
    kappa = next(one for one in found.coefficients if one.name == "Cohen's kappa")
    expected = agreement_interval(table, lambda some: cohen_kappa(some).value)
    assert (kappa.interval.low, kappa.interval.high) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize("won", [5, 12])
def test_confirmations(won, tmp_path):
    truth = {f"q{i}": ["a"] for i in range(60)}
    sealed = calipers.seal(truth, output=tmp_path / "gt").files["sealed"]
    names = sorted(load(sealed, "ground_truth", sealed=True).ground_truth.names)
    old = {query: ["b"] if query in names[:won] else ["a"] for query in truth}
    found = calipers.confirm(old, truth, sealed=sealed)
    [row] = look_at([np.array([1.0] * won + [0.0] * (len(names) - won))], None, PER_LOOK)
    assert found.confirmed == (row.standing == "better")
    shown = (row.difference, *row.interval) if found.confirmed else (None, None, None)
    assert (found.gain, found.low, found.high) == shown
