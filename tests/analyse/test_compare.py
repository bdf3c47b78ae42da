import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers import evaluate
from calipers.analyse.compare import compare_scores
from calipers.analyse.holm import holm
from calipers.analyse.paired import paired_result
from calipers.errors import InvalidInput
from tests.systems import measured, records

ranks = st.lists(st.sampled_from([1, 2, 3, 6, None]), min_size=8, max_size=14)
OLD = [3, 2, None, 5, 4, 2, 7, 3, 9, 2, None, 4]
NEW = [1, 1, 4, 2, 1, 1, 2, 1, 3, 1, 5, 2]


def naive_reciprocal(hits):
    return [0.0 if rank is None else 1 / rank for rank in hits]


@given(ranks, ranks)
@settings(max_examples=40)
def test_differences_are_those_of_the_queries_one_by_one(first, second):
    size = min(len(first), len(second))
    first, second = first[:size], second[:size]
    comparison = compare_scores(
        {"old": measured(first), "new": measured(second)}, anyway=True, resamples=200
    )
    found = comparison.difference("new", "mrr")
    pairs = list(zip(naive_reciprocal(first), naive_reciprocal(second), strict=True))
    assert found.difference == pytest.approx(sum(b - a for a, b in pairs) / size)
    assert found.wins == sum(b > a for a, b in pairs)
    assert found.losses == sum(b < a for a, b in pairs)
    assert found.ties == size - found.wins - found.losses
    means = [comparison.mean(name, "mrr").mean for name in ("old", "new")]
    assert found.difference == pytest.approx(means[1] - means[0])
    assert found.n == size


def test_p_values_are_corrected_over_systems_and_metrics():
    systems = {
        "old": measured(OLD, "recall@1,5,mrr"),
        "new": measured(NEW, "recall@1,5,mrr"),
        "odd": measured(OLD[::-1], "recall@1,5,mrr"),
    }
    comparison = compare_scores(systems)
    raw = [found.p_value for found in comparison.differences]
    assert len(raw) == 6
    assert [found.p_adjusted for found in comparison.differences] == holm(raw)
    assert comparison.settings["tests"] == 6
    alphas = [found.visibility.alpha for found in comparison.differences]
    assert alphas == pytest.approx([0.05 / 6] * 6)


def test_the_numbers_are_those_of_the_paired_test():
    comparison = compare_scores({"old": measured(OLD), "new": measured(NEW)})
    found = comparison.difference("new", "mrr")
    expected = paired_result(np.array(naive_reciprocal(NEW)) - np.array(naive_reciprocal(OLD)))
    assert (found.p_value, found.interval) == (expected.p_value, expected.interval)
    assert (found.effect_size, found.method) == (expected.effect_size, "exact")
    assert found.verdict == "better"
    assert comparison.mean("new", "mrr").best
    assert not comparison.mean("old", "mrr").best


def test_any_system_may_be_the_baseline():
    systems = {"old": measured(OLD), "new": measured(NEW)}
    found = compare_scores(systems, baseline="new").difference("old", "mrr")
    assert (found.verdict, found.baseline) == ("worse", "new")
    forward = compare_scores(systems).difference("new", "mrr")
    assert found.difference == -forward.difference
    with pytest.raises(InvalidInput, match=r"'nwe' is none of the systems.*Did you mean new"):
        compare_scores(systems, baseline="nwe")


def test_lower_is_better_where_the_metric_says_so():
    systems = {
        "old": measured([4] * 10, "first_rank"),
        "new": measured([1] * 9 + [4], "first_rank"),
    }
    comparison = compare_scores(systems)
    found = comparison.difference("new", "first_rank")
    assert found.difference < 0
    assert (found.verdict, found.wins, found.losses, found.ties) == ("better", 9, 0, 1)
    assert comparison.mean("new", "first_rank").best
    assert comparison.largest("new", "first_rank", wins=True, count=1)[0].difference == -3.0


def test_a_metric_without_a_better_side_is_not_tested():
    systems = {
        "old": measured([1] * 8, "judged@5,mrr"), "new": measured([7] * 8, "judged@5,mrr")
    }  # fmt: skip
    comparison = compare_scores(systems)
    found = comparison.difference("new", "judged@5")
    assert (found.verdict, found.p_adjusted) == ("not tested", None)
    assert comparison.settings["tests"] == 1
    assert not comparison.mean("old", "judged@5").best


def test_the_largest_wins_and_losses_are_named():
    comparison = compare_scores({"old": measured([1, 1, 5, 2]), "new": measured([2, 5, 1, 2])})
    wins = comparison.largest("new", "mrr", wins=True)
    losses = comparison.largest("new", "mrr", wins=False)
    assert [(one.query, one.text) for one in wins] == [("q2", "question 2")]
    assert [one.query for one in losses] == ["q1", "q0"]
    assert (losses[0].baseline, losses[0].system, losses[0].difference) == (1.0, 0.2, -0.8)
    assert len(comparison.largest("new", "mrr", wins=False, count=1)) == 1


def test_queries_undefined_in_every_system_leave_all_alike():
    unanswerable = {"id": "none", "query": "?", "retrieved": ["x"], "ground_truth": {}}
    systems = {
        name: evaluate([*records(hits), unanswerable], metrics="mrr")
        for name, hits in (("old", OLD), ("new", NEW))
    }
    comparison = compare_scores(systems)
    assert comparison.difference("new", "mrr").n == len(OLD)
    assert comparison.mean("new", "mrr").undefined == 1
    assert comparison.queries.height == len(OLD) + 1


def test_undefined_in_one_system_only_is_refused():
    systems = {
        "old": measured([1, 2, None, 4, 1, 2, 3, 4], "first_rank"),
        "new": measured([1] * 8, "first_rank"),
    }
    with pytest.raises(InvalidInput, match=r"first_rank is undefined for 1 query of old \('q2'\)"):
        compare_scores(systems)
    comparison = compare_scores(systems, anyway=True)
    found = comparison.difference("new", "first_rank")
    assert found.n == 7
    assert comparison.mean("new", "first_rank").n == comparison.mean("old", "first_rank").n == 7
    assert "flatter" in comparison.overridden[0]


def test_no_difference_anywhere_is_refused():
    with pytest.raises(InvalidInput, match="no difference to look at: old and new"):
        compare_scores({"old": measured(OLD), "new": measured(OLD)})
    comparison = compare_scores({"old": measured(OLD), "new": measured(OLD)}, anyway=True)
    found = comparison.difference("new", "mrr")
    assert (found.p_value, found.verdict, found.difference) == (1.0, "not shown", 0.0)
    assert found.visibility.why_not == "no spread"
    assert len(comparison.overridden) == 1


def test_one_query_is_refused_even_anyway():
    systems = {"old": measured([1]), "new": measured([2])}
    with pytest.raises(InvalidInput, match="One query cannot be compared"):
        compare_scores(systems, anyway=True)


def test_one_system_is_refused():
    with pytest.raises(InvalidInput, match="at least two systems: found old"):
        compare_scores({"old": measured(OLD)})


def test_metrics_must_be_shared():
    old, new = measured(OLD, "mrr,recall@5"), measured(NEW, "mrr,recall@3")
    assert [m.name for m in compare_scores({"a": old, "b": new}).metrics] == ["mrr"]
    with pytest.raises(InvalidInput, match="result of b has no 'recall@5'; it has mrr, recall@3"):
        compare_scores({"a": old, "b": new}, metrics=["recall@5"])
    with pytest.raises(InvalidInput, match="share no metric"):
        compare_scores({"a": measured(OLD, "recall@5"), "b": measured(NEW, "mrr")})


def test_a_combined_score_is_compared_where_both_have_the_same():
    weights = {"mrr": 0.5, "recall@5": 0.5}
    old, new = (measured(hits, weights=weights) for hits in (OLD, NEW))
    comparison = compare_scores({"old": old, "new": new})
    found = comparison.difference("new", "score").difference
    assert found == pytest.approx(float(np.mean(new.combined - old.combined)))
    other = measured(NEW, weights={"mrr": 0.9, "recall@5": 0.1})
    with pytest.raises(InvalidInput, match="weigh their metrics differently"):
        compare_scores({"old": old, "new": other})


def test_false_alarms_at_equal_systems_stay_below_the_level():
    random = np.random.Generator(np.random.PCG64(5))
    alarms = 0
    for seed in range(60):
        pair = [measured([int(rank) for rank in random.integers(1, 9, 40)]) for _ in range(2)]
        comparison = compare_scores(
            {"a": pair[0], "b": pair[1]}, resamples=400, seed=seed, anyway=True
        )
        alarms += any(found.verdict != "not shown" for found in comparison.differences)
    # Two tests, corrected: at most 5 in 100 expected; 9 of 60 would be a chance of 1 in 500.
    assert alarms < 9


def test_the_same_seed_gives_the_same_result():
    systems = {"old": measured(OLD * 3), "new": measured(NEW * 3)}
    first, again, other = (compare_scores(systems, seed=seed) for seed in (1, 1, 2))
    assert first.to_dict() == again.to_dict()
    assert first.differences != other.differences
