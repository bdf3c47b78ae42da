"""A plan from two systems, and that it holds in the comparison it is for."""

import numpy as np
import pytest

from calipers import compare, evaluate, plan
from calipers.errors import InvalidInput
from tests.systems import records

rng = np.random.default_rng(11)
CHANCE = 0.6


def system(gain, n, rng):
    """Hits of a retriever that finds a query with this chance."""
    return records([1 if one < CHANCE + gain else 7 for one in rng.random(n)])


def scores(gain, n, rng):
    return evaluate(system(gain, n, rng), metrics="recall@5")


def test_smaller_differences_and_more_power_take_more_queries():
    pilot = {"old": scores(0.0, 150, rng), "new": scores(0.1, 150, rng)}
    found = plan(pilot, difference=0.05)
    assert (found.metric, found.systems, found.pilot) == ("recall@5", ("old", "new"), 150)
    assert plan(pilot, difference=0.02).queries > found.queries
    assert plan(pilot, difference=0.1, power=0.95).queries > plan(pilot, difference=0.1).queries


def test_clusters_are_counted_instead_of_queries():
    made = {}
    for name, gain in (("old", 0.0), ("new", 0.2)):
        data = system(gain, 40, np.random.default_rng(len(name)))
        made[name] = [
            {
                **one,
                "id": f"{one['id']}-{i}",
                "query": f"{one['query']} {i}",
                "tags": {"intent": one["id"]},
            }
            for one in data
            for i in range(4)
        ]
    clustered = plan(made, difference=0.2, primary="recall@5", cluster="intent")
    alone = plan(made, difference=0.2, primary="recall@5")
    assert (clustered.pilot, alone.pilot) == (40, 160)
    # A little more, as 40 tell less of the spread than 160.
    assert alone.queries < clustered.queries < 1.3 * alone.queries


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"difference": 0.0}, "difference is out of range"),
        ({"difference": 5.0}, "differ by 1 at most"),
        ({"difference": 0.1, "power": 1.0}, "power is 1.0"),
    ],
)
def test_what_cannot_be_planned_is_a_sentence(settings, sentence):
    pilot = {"old": scores(0.0, 40, rng), "new": scores(0.1, 40, rng)}
    with pytest.raises(InvalidInput, match=sentence):
        plan(pilot, **settings)


def test_a_pilot_must_differ_and_have_two_sides():
    one = scores(0.0, 40, rng)
    with pytest.raises(InvalidInput, match="two systems"):
        plan({"old": one}, difference=0.1)
    with pytest.raises(InvalidInput, match="no query changed"):
        plan({"old": one, "same": one}, difference=0.1)


def test_the_range_over_pilots_stands_beside_the_number():
    pilot = {"old": scores(0.0, 40, rng), "new": scores(0.1, 40, rng)}
    found = plan(pilot, difference=0.1)
    assert found.low <= found.queries <= found.high
    claim = found.claim
    assert claim.standing is None
    assert claim.fact == (
        f"To detect 0.1 in recall@5 takes {found.low:,} to {found.high:,} queries."
    )
    assert claim.range.startswith(
        f"About {found.queries:,} by this pilot, which miss it 20% of the time. "
        "Pilot: recall@5 is 0."
    )
    assert claim.next.startswith(f"{found.high:,} queries are safe.")
    assert {"low", "high", "claim"} <= set(found.to_dict())


def test_a_pilot_that_is_enough_itself_passes():
    pilot = {"old": scores(0.0, 300, rng), "new": scores(0.1, 300, rng)}
    found = plan(pilot, difference=0.3)
    assert found.high < 300
    assert found.claim.next == "The pilot's own are enough."
    assert found.claim.next == "The pilot's own are enough."
    near = plan(pilot, difference=1.03 * compare(pilot).visibility.smallest)
    assert near.low < 300 < near.high
    assert near.claim.next.startswith("These 300 may do; ")


def test_a_pilot_in_which_hardly_anything_changed_is_no_pilot():
    old = {f"q{i}": ["a"] for i in range(40)}
    new = {query: ["b"] if i < 4 else ["a"] for i, query in enumerate(old)}
    with pytest.raises(InvalidInput, match="4 of 40 differences are not zero, at least 5"):
        plan({"old": old, "new": new}, {query: ["a"] for query in old}, difference=0.1)


def test_what_is_planned_is_the_test_that_compare_makes_of_the_pair():
    """Finding and order decide together: both are tested by the same flips."""
    data = {"old": system(0.0, 120, rng), "new": system(0.1, 120, rng)}
    both = {name: evaluate(one, metrics="recall@5,ndcg@5") for name, one in data.items()}
    seen = compare(both).visibility
    found = plan(both, difference=seen.wanted)
    assert found.decides == ("recall@5", "ndcg@5")
    assert (found.low, found.high) == (seen.takes.low, seen.takes.high)
    assert "adjusted for recall@5 and ndcg@5, which decide" in " ".join(found.explain().split())
