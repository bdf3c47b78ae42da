"""Comparisons by a machine's labels, corrected by people's on the same queries."""

from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.statistics.corrected_test import corrected_difference

N = 120
QUERIES = [f"q{i:03d}" for i in range(N)]
DRAWN: dict[str, Any] = {"sampled": "at-random", "metrics": "mrr"}


def drawn(seed=1, flatters=0.0):
    """Two runs, what people say, and a machine that takes the new run's first result for right."""
    rng = np.random.default_rng(seed)
    old = {query: ["a", "b"] for query in QUERIES}
    new = {query: ["a", "b"] if rng.random() < 0.5 else ["b", "a"] for query in QUERIES}
    people = {query: ["a" if rng.random() < 0.5 else "b"] for query in QUERIES}
    machine = {
        query: [new[query][0]] if rng.random() < flatters else found
        for query, found in people.items()
    }
    return {"old": old, "new": new}, machine, people


def some(people, n):
    return {query: people[query] for query in QUERIES[:n]}


def test_the_difference_is_the_kernel_on_values_put_in_line():
    systems, machine, people = drawn(flatters=0.3)
    found = calipers.compare(systems, machine, corrected_by=some(people, 40), **DRAWN)
    columns = []
    for truth in (machine, people):
        ranks = [
            [1.0 if run[query][0] == truth[query][0] else 0.5 for query in QUERIES]
            for run in systems.values()
        ]
        columns.append(np.subtract(ranks[1], ranks[0]))
    columns[1][40:] = np.nan
    machine_, people_ = columns
    expected = corrected_difference(machine_, people_)
    one = found.difference("new", "mrr")
    assert one.difference == pytest.approx(expected.mean)
    assert (one.interval.low, one.interval.high) == pytest.approx(expected.interval())
    assert one.p_value == pytest.approx(expected.p_value())
    assert "machine alone" in one.claim.fact
    assert "corrected by people's labels of 40 queries" in one.claim.fact


def test_a_gain_that_only_the_machine_sees_is_no_longer_shown():
    systems, machine, people = drawn(flatters=0.6)
    alone = calipers.compare(systems, machine, metrics="mrr")
    assert alone.difference("new", "mrr").verdict == "better"
    found = calipers.compare(systems, machine, corrected_by=some(people, 60), **DRAWN)
    assert found.difference("new", "mrr").verdict == "no clear difference"
    assert found.visibility is None


def test_where_people_judged_everything_their_verdict_stands():
    systems, machine, people = drawn(flatters=0.6)
    theirs = calipers.compare(systems, people, metrics="mrr").difference("new", "mrr")
    found = calipers.compare(systems, machine, corrected_by=people, sampled="all", metrics="mrr")
    one = found.difference("new", "mrr")
    assert one.difference == pytest.approx(theirs.difference)
    assert (one.interval.low, one.interval.high) == pytest.approx(
        (theirs.interval.low, theirs.interval.high)
    )


def test_what_cannot_be_corrected_is_said():
    systems, machine, people = drawn()
    with pytest.raises(InvalidInput, match="mrr cannot be corrected: people judged 1 query"):
        calipers.compare(systems, machine, corrected_by=some(people, 1), **DRAWN)
    before = calipers.evaluate(ground_truth=machine, run=systems["old"], metrics="mrr")
    with pytest.raises(InvalidInput, match="old was measured before, without its results"):
        calipers.compare(
            {"old": before, "new": calipers.read(ground_truth=machine, run=systems["new"])},
            corrected_by=some(people, 40),
            **DRAWN,
        )
    with pytest.raises(InvalidInput, match="not known who gave the labels"):
        calipers.compare(systems, machine, corrected_by=some(people, 40), metrics="mrr")
