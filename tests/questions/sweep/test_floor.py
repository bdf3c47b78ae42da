import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.questions.sweep.floor import (
    candidates,
    choose,
    find_floor,
    gather,
    lowest_mean,
)

SCORES = [0.1, 0.2, 0.3, 0.5, 0.5, 0.7, 0.9]


@st.composite
def queries(draw):
    records = []
    for i in range(draw(st.integers(1, 8))):
        items = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5))
        scores = sorted((draw(st.sampled_from(SCORES)) for _ in items), reverse=True)
        truth = draw(st.lists(st.sampled_from("abcxyz"), unique=True, max_size=3))
        retrieved = [{"id": one, "score": s} for one, s in zip(items, scores, strict=True)]
        records.append({"query": f"q{i}", "retrieved": retrieved, "ground_truth": truth})
    # One query that finds something, so that there is a score and an id in common.
    records.append(
        {"query": "anchor", "retrieved": [{"id": "a", "score": 0.4}], "ground_truth": ["a"]}
    )
    return records


def naive(records, floor, k):
    """The values of one floor, by going through every record."""
    recalls, kept, useful, returned, wrongly_answered, refused = [], [], 0, 0, [], []
    for one in records:
        shown = [r["id"] for r in one["retrieved"][:k]]
        left = [r["id"] for r in one["retrieved"][:k] if floor is None or r["score"] >= floor]
        truth = set(one["ground_truth"])
        returned += len(left)
        useful += len(truth & set(left))
        if truth:
            recalls.append(len(truth & set(left)) / len(truth))
            refused.append(not left)
            if truth & set(shown):
                kept.append(len(truth & set(left)) / len(truth & set(shown)))
        else:
            wrongly_answered.append(bool(left))
    mean = lambda values: sum(values) / len(values) if values else None  # noqa: E731
    return (
        useful / returned if returned else None,
        mean(recalls),
        mean(kept),
        mean(wrongly_answered),
        mean(refused),
        returned / len(records),
    )


@given(queries(), st.integers(1, 4))
def test_every_point_is_what_a_loop_counts(records, k):
    found = calipers.floor(records, k=k)
    for one in (found.without, *found.points):
        values = (
            one.precision,
            one.recall,
            one.kept,
            one.wrongly_answered,
            one.wrongly_refused,
            one.results,
        )
        assert values == pytest.approx(naive(records, one.floor, k))


@given(queries(), st.floats(0.05, 0.9))
def test_the_floor_is_the_last_before_the_first_that_keeps_too_little(records, least):
    evidence = gather(calipers.read(records), 4)
    wanted = None
    for floor in candidates(evidence).tolist():
        values = evidence.kept(floor)
        if lowest_mean(values[~np.isnan(values)], 0.6) < least:
            break
        wanted = floor
    assert choose(evidence, candidates(evidence), least, 0.6) == wanted


def records(n):
    found = {"retrieved": [{"id": "a", "score": 0.5}], "ground_truth": ["a"]}
    return [{"query": f"q{i}", **found} for i in range(n)]


def test_too_few_queries_promise_nothing_and_say_how_many_would():
    assert calipers.floor(records(58)).chosen is None
    assert "at least 59 are needed" in calipers.floor(records(58)).notes[0]
    assert calipers.floor(records(59)).chosen.floor == 0.5


def test_distances_and_missing_scores_are_refused():
    rising = [
        {
            "query": "q",
            "ground_truth": ["a"],
            "retrieved": [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.7}],
        }
    ]
    with pytest.raises(InvalidInput, match="look like distances"):
        calipers.floor(rising)
    with pytest.raises(InvalidInput, match="not every result has one"):
        calipers.floor([{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"keep": 1.5}, "above 0 and below 1"),
        ({"confidence": 0.2}, "of at least 0.5 and below 1"),
        ({"k": 0}, "cut-off k"),
    ],
)
def test_settings_that_cannot_be_meant(settings, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        calipers.floor(records(3), **settings)


def test_no_answer_anywhere_is_no_recall():
    pair = calipers.read(ground_truth={"q": []}, run={"q": {"a": 0.5}})
    with pytest.raises(InvalidInput, match="No query of the ground truth has an answer"):
        find_floor(pair, 10)


@given(st.integers(2, 30), st.integers(1, 5), st.floats(0.5, 0.99), st.integers(0, 2**32 - 1))
def test_queries_that_always_go_together_are_worth_one_each(clusters, size, confidence, seed):
    values = np.random.default_rng(seed).random(clusters)
    together = lowest_mean(
        np.repeat(values, size), confidence, np.repeat(np.arange(clusters), size)
    )
    assert together == pytest.approx(lowest_mean(values, confidence), abs=1e-9)


def scored(n, target, other):
    """A third of the queries have no answer; scores of targets and of all else."""
    return [
        {
            "query": f"q{i}",
            "ground_truth": ["a"] if i % 3 else [],
            "retrieved": [{"id": "a" if i % 3 else "x", "score": target(i) if i % 3 else other(i)}],
        }
        for i in range(n)
    ]


def test_a_floor_that_helps_nobody_is_not_advised():
    found = calipers.floor(scored(120, lambda i: 0.2 + i / 200, lambda _: 0.9))
    assert found.claim.standing is None
    assert "costs and does not help" in found.claim.next


def test_more_queries_make_it_safe_and_until_then_everything_is_returned():
    few = calipers.floor(scored(45, lambda _: 0.8, lambda _: 0.3))
    assert (few.guess.floor, few.chosen, few.takes) == (0.8, None, None)
    assert few.claim.next.startswith("Until more queries are there, only returning everything")
    enough = calipers.floor(scored(90, lambda _: 0.8, lambda _: 0.3))
    assert enough.chosen.floor == 0.8
    assert enough.claim.range.startswith("It keeps at least 0.95")
    assert few.claim.fact.endswith("that may not hold on new queries.")
