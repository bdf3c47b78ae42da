"""Nights against their reference: silent where nothing happened, audible where all can see it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.statistics.drift import first_quiet, looks

ALLOW, LEVEL = 0.02, 1 / 365


def lost(nights: int, queries: int, from_night: int = 6, n: int = 200) -> np.ndarray:
    values = np.ones((nights, n))
    values[from_night:, :queries] = 0.0
    return values


def rings(values: np.ndarray, reference=range(6), night: int | None = None) -> bool:
    at = len(values) - 1 if night is None else night
    return any(look.rings for look in looks(values, reference, [at], ALLOW, LEVEL)[0])


@pytest.mark.parametrize(("queries", "expected"), [(0, False), (4, False), (6, False), (7, True)])
def test_without_noise_seven_lost_ring_the_same_night(queries, expected):
    assert rings(lost(7, queries)) is expected


def test_a_loss_within_what_is_allowed_does_not_ring_however_sure_it_is():
    assert not rings(lost(7, 20, n=1000))
    assert rings(lost(7, 21, n=1000))


def test_one_night_says_nothing_of_noise():
    assert not rings(lost(2, 8, from_night=1), reference=[0])
    assert rings(lost(2, 14, from_night=1), reference=[0])


def test_a_quiet_night_that_gained_shows_that_nights_have_noise():
    values = lost(9, 8, from_night=8)
    values[:, 100:110] = 0.0
    assert rings(values)
    values[7, 100] = 1.0
    assert not rings(values)


def test_what_is_over_does_not_ring():
    values = lost(9, 60)
    values[8] = 1.0
    assert rings(values, night=7)
    assert not rings(values)


def test_a_small_loss_that_stays_is_heard():
    rng = np.random.default_rng(4)
    values = np.where(np.arange(200) < 40, rng.random((40, 200)) < 0.5, 1.0)
    values[7:, 100:112] = 0.0
    seen = looks(values, range(7), range(7, 40), ALLOW, LEVEL)
    assert {look.window for one in seen for look in one if look.rings} >= {7}


def test_a_night_that_lost_clearly_never_joins_the_reference():
    bad = {2, 3}
    assert first_quiet(lambda _, night: night in bad, 12, 5) == [0, 1, 4, 5, 6]
    assert first_quiet(lambda *_: False, 3, 7) == [0, 1]
    assert first_quiet(lambda *_: True, 9, 7) == [0]


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(0, 11), st.floats(0.01, 1.0))
def test_raising_a_query_never_makes_it_ring(seed, query, more):
    rng = np.random.default_rng(seed)
    values = rng.random((4, 12))
    values[3] *= 0.2
    raised = values.copy()
    raised[3, query] += more
    before, after = (looks(one, range(3), [3], ALLOW, LEVEL)[0][0] for one in (values, raised))
    assert after.p >= before.p - 1e-9
    assert before.rings or not after.rings


def test_a_loss_that_is_shown_but_not_to_be_too_large_does_not_ring():
    """Eleven of 200 lost 0.4 each: 0.022 in the mean, and 0.02 is allowed."""
    values = np.full((3, 200), 0.5)
    values[:2, 150] = 0.4, 0.6  # nights have noise
    values[2, :11] = 0.1
    [[look]] = looks(values, [0, 1], [2], 0.02, 1 / 365)
    assert look.beyond
    assert look.p <= look.level
    assert not look.larger
    assert not look.rings
    values[2, :40] = 0.1
    [[look]] = looks(values, [0, 1], [2], 0.02, 1 / 365)
    assert look.rings
