"""Planning: the power that was promised is the power of the test."""

import numpy as np
import pytest

from calipers.analyse.difference import difference
from calipers.analyse.plan import as_seen, needed_queries, visible_difference
from calipers.errors import InvalidInput

RNG = np.random.default_rng(0)
PILOTS = {
    "normal": RNG.normal(0.02, 0.2, 40),
    "skewed": 0.2 - RNG.gamma(2.0, 0.1, 50),
    "dense steps": RNG.choice([-0.5, -0.25, 0.25, 0.5], 30),
}


@pytest.mark.parametrize("name", PILOTS)
def test_the_visible_difference_is_seen_four_times_in_five(name):
    pilot = PILOTS[name]
    planned = visible_difference(pilot, 60)
    moved = pilot - pilot.mean() + planned.difference
    rng = np.random.default_rng(5)
    seen = [difference(rng.choice(moved, 60)).interval().low > 0 for _ in range(600)]
    assert np.mean(seen) == pytest.approx(0.8, abs=0.06)


def test_both_questions_have_one_answer():
    pilot = PILOTS["normal"]
    planned = needed_queries(pilot, 0.06)
    assert planned.difference <= 0.06
    fewer = visible_difference(pilot, int(planned.queries * 0.9))
    assert fewer.difference > 0.06


def test_the_order_of_the_pilot_does_not_matter():
    pilot = PILOTS["normal"]
    assert visible_difference(pilot) == visible_difference(pilot[::-1])


@pytest.mark.parametrize("name", PILOTS)
def test_it_is_no_matter_which_of_two_systems_is_the_first(name):
    pilot = PILOTS[name]
    assert as_seen(-pilot).tolist() == as_seen(pilot).tolist()
    assert as_seen(pilot).mean() > 0
    centred = np.array([-0.75, 0.25, 0.25, 0.25])
    assert as_seen(-centred).tolist() == as_seen(centred).tolist()


def test_a_loss_of_many_small_parts_shows_sooner_than_one_with_a_long_tail():
    skewed = RNG.gamma(1.0, 0.2, 200) - 0.2
    assert visible_difference(-skewed).difference != visible_difference(skewed).difference


def test_ties_make_a_difference_harder_to_see():
    few = np.repeat([0.5, -0.5, 0.0], [4, 4, 32])
    planned = visible_difference(few)
    assert planned.difference > visible_difference(few + 1e-9).difference


def test_many_queries_follow_the_root_of_their_number():
    one, hundred = (visible_difference(PILOTS["normal"], n) for n in (2000, 200_000))
    assert hundred.difference == pytest.approx(one.difference / 10)


def test_bad_input():
    with pytest.raises(InvalidInput, match="pilot is too small"):
        visible_difference([0.1, 0.2])
    with pytest.raises(InvalidInput, match="power"):
        visible_difference(PILOTS["normal"], power=1.0)
    with pytest.raises(InvalidInput, match="other than 0"):
        needed_queries(PILOTS["normal"], 0.0)
    with pytest.raises(InvalidInput, match="at least 2"):
        visible_difference(PILOTS["normal"], 1)
