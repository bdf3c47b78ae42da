import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.questions.gate.conditions import Figure
from tests.command import calipers_command


def records(n=20, **more):
    return [
        {
            "query": f"q{i}",
            "latency_ms": 10.0 * (i + 1),
            "ground_truth": ["a"],
            "retrieved": [{"id": "a", "tokens": 100}, {"id": "b", "tokens": 50}],
            "tags": {"type": "odd" if i % 2 else "even"},
            **more,
        }
        for i in range(n)
    ]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.integers(1, 99))
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(values, p):
    found = Figure("latency", f"p{p}").value(np.array(values))
    ordered = sorted(values)
    enough = [v for v in ordered if sum(x <= v for x in ordered) * 100 >= p * len(ordered)]
    assert found == enough[0]


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("latency_p95 <= 300ms", 190.0),
        ("latency_max <= 0.2s", 200.0),
        ("latency_mean <= 105ms", 105.0),
        ("latency_p50 <= 300ms for type=even", 90.0),
        ("tokens_mean@1 <= 100", 100.0),
        ("tokens_mean <= 150", 150.0),
        ("tokens_p95@10 <= 4000", 150.0),
    ],
)
def test_what_the_run_recorded_is_held(condition, value):
    verdict = calipers.gate(records(), require=condition)
    assert (verdict.passed, verdict.checks[0].value) == (True, value)


def test_a_failure_names_the_slowest_queries():
    verdict = calipers.gate(records(), require="latency_p95 <= 100ms")
    (check,) = verdict.failed
    assert check.because == ("<= 100ms required",)
    assert [one.value for one in check.worst] == [200.0, 190.0, 180.0, 170.0, 160.0]


def test_texts_are_counted_where_tokens_are_not_and_that_is_said():
    texts = records(retrieved=[{"id": "a", "text": "four" * 10}])
    verdict = calipers.gate(texts, require="tokens_mean@5 <= 10", match="id")
    assert verdict.passed
    assert any("estimated" in note for note in verdict.notes)


def test_what_was_not_recorded_is_no_pass():
    plain = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]
    with pytest.raises(InvalidInput, match="the run has recorded none"):
        calipers.gate(plain, require="latency_p95 <= 1s")
    with pytest.raises(InvalidInput, match="neither 'tokens' nor a text"):
        calipers.gate(plain, require="tokens_mean@5 <= 10")
    with pytest.raises(InvalidInput, match="give the run itself"):
        calipers.gate(calipers.evaluate(plain), require="latency_p95 <= 1s")


def test_queries_without_a_latency_are_counted():
    some = records(4)
    some[0]["latency_ms"] = None
    verdict = calipers.gate(some, require="latency_max <= 1s")
    assert verdict.checks[0].undefined == 1
    assert "no latency for 1 query; these do not count" in verdict.notes[0]


def test_a_latency_is_shown_with_its_unit_and_nothing_else_is_measured(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records()))
    done = calipers_command("gate", str(path), "--require", "latency_p95 <= 100ms")
    assert "latency_p95 is 190.0 ms; <= 100ms required (20 queries)" in done.out
    assert 'Lost most: "q19"' in done.out
    assert "hit_rate" not in done.out
    assert calipers.gate(records(), require="latency_p95 <= 100ms").checks[0].unit == "ms"


def test_a_live_retriever_is_asked_for_the_results_whose_tokens_count():
    asked = []

    def search(query, k):
        asked.append(k)
        return [{"id": "a", "tokens": 1}] * k

    truth = [{"id": "q", "query": "Who?", "ground_truth": ["a"]}]
    calipers.gate(ground_truth=truth, retriever=search, require="tokens_mean@25 <= 30")
    assert asked == [25]


@pytest.mark.parametrize(
    "name", ["tokens", "tokens@10", "latency", "latency_p101", "latency_p99.9"]
)
def test_a_figure_that_does_not_exist_gets_those_that_do(name):
    with pytest.raises(InvalidInput, match=r"is no figure of a run.*latency_p95"):
        calipers.gate(records(), require=f"{name} <= 30")


RECORDS = [
    {
        "query": "Who pays?",
        "id": f"q{i}",
        "retrieved": ["a", "secret"] if i < 7 else ["a"],
        "ground_truth": ["a"],
        "forbidden": ["secret", "other"],
        "tags": {"tenant": "x" if i % 2 else "y"},
    }
    for i in range(10)
]


def test_a_gate_names_every_leak():
    verdict = calipers.gate(RECORDS, require="leak_rate@10 == 0")
    (check,) = verdict.failed
    assert check.value == 0.7
    assert [(one.query, one.rank, one.forbidden) for one in check.leaks] == [
        (f"q{i}", 2, "secret") for i in range(7)
    ]


def test_of_a_slice_and_within_k():
    asked = ["leak@2 == 0 for tenant=x", "leak_rate@1 == 0", "leak@10 == 0 for targets=1 target"]
    verdict = calipers.gate(RECORDS, require=asked)
    assert [one.query for one in verdict.checks[0].leaks] == ["q1", "q3", "q5"]
    assert (verdict.checks[1].status, len(verdict.checks[2].leaks)) == ("passed", 7)


def test_on_a_terminal_and_in_markdown(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    summary = tmp_path / "summary.md"
    done = calipers_command(
        "gate", str(path), "--require", "leak_rate@10 == 0", "--markdown", str(summary)
    )
    assert done.code == 1
    assert done.out.count("rank 2: secret") == 7
    assert summary.read_text().count("rank 2: secret") == 7


def test_a_condition_is_about_the_number_that_an_evaluation_shows():
    found = [*records(9), *records(1, retrieved=["b"], query="none")]
    scores = calipers.evaluate(found, metrics="gm_map,num_rel_ret")
    asked = ["gm_map >= 0.5", "num_rel_ret >= 9"]
    checks = calipers.gate(found, require=asked).checks
    assert [(one.status, one.value) for one in checks] == [
        ("failed", scores["gm_map"].mean),
        ("passed", scores["num_rel_ret"].mean),
    ]
    assert [one.interval for one in checks] == [scores[one.metric].interval for one in checks]


def test_a_result_of_another_threshold_answers_what_is_asked_of_it():
    scores = calipers.evaluate(records(), metrics="recall@1", rel=1)
    [check] = calipers.gate(scores, require="recall@1 >= 1").checks
    assert (check.status, check.value) == ("passed", 1.0)


def test_the_interval_of_a_figure_counts_clusters_at_the_level_asked_for():
    one = "latency_mean <= 300ms"
    plain, sure = (calipers.gate(records(), require=one, confidence=c) for c in (0.95, 0.99))
    among = calipers.gate(records(), require=one, cluster="type")
    ends = [found.checks[0].interval for found in (plain, sure, among)]
    assert [end.level for end in ends] == [0.95, 0.99, 0.95]
    assert ends[0].high < min(ends[1].high, ends[2].high)
