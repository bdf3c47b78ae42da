"""Nights against their reference: silent where nothing happened, audible where all can see it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.statistics.nights import watch

ALLOW, LEVEL = 0.02, 1 / 365


def hits(found: int, n: int = 200) -> np.ndarray:
    return (np.arange(n) < found) * 1.0


def seen(*nights):
    return watch(np.array(nights), ALLOW, LEVEL)


def rings(*nights) -> list[bool]:
    return [look is not None for look in seen(*nights).rings]


def noisy(nights: int, n: int = 200, share: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(25)
    return np.where(np.arange(n) < share * n, rng.random((nights, n)) < 0.5, 1.0)


# tests/laws has the rows of the table of what was seen, as a colleague would judge them.


@pytest.mark.parametrize(
    ("lost", "n", "expected"),
    [(4, 200, False), (5, 200, True), (200, 200, True), (2, 20, False), (3, 20, True)],
)
def test_without_noise_a_loss_beyond_what_is_allowed_of_three_queries_rings(lost, n, expected):
    assert rings(*[hits(n, n)] * 4, hits(n - lost, n))[-1] is expected


def test_won_queries_speak_against_a_loss():
    values = [np.ones(40), np.ones(40)]
    values[0][30:] = 0.0
    values[1][:12] = 0.0
    values[1][30:34] = 0.0
    assert not rings(*values)[-1]  # 12 lost, 6 won
    values[1][30:38] = 0.0
    assert rings(*values)[-1]  # 12 lost, 2 won


# The reference and the noise.


def test_the_reference_never_moves_down_and_a_night_that_rang_never_joins():
    found = seen(hits(200), hits(200), hits(150), hits(150), hits(200), hits(200), hits(150))
    assert found.reference == (0, 1, 4, 5)
    assert found.rings[-1] == "fact"


def test_what_is_over_does_not_ring():
    assert rings(*[hits(200)] * 7, *[hits(140)] * 4, hits(200))[-1] is False
    values = noisy(30)
    values[20:28, 60:120] = 0.0
    assert watch(values[:28], ALLOW, LEVEL).rings[-1]
    assert watch(values, ALLOW, LEVEL).rings[-1] is None


def test_a_change_that_is_undone_is_noise_and_mending_a_fall_is_none():
    flicker = hits(200)
    flicker[199] = 0.0
    assert seen(hits(200), flicker, hits(200), hits(200)).noisy
    assert not seen(*[hits(200)] * 3, hits(150), hits(200), hits(200)).noisy
    assert not seen(hits(150), hits(160), hits(160)).noisy


def test_one_query_that_flickers_does_not_make_it_deaf():
    flicker = hits(200)
    flicker[199] = 0.0
    nights = [hits(200), flicker] * 6
    assert seen(*nights, hits(200) * (np.arange(200) >= 10)).rings[-1] is not None


def test_with_noise_the_reference_moves_up_when_a_week_is_better():
    values = noisy(40)
    values[:15, 100:140] = 0.0
    assert min(watch(values, ALLOW, LEVEL).reference) >= 15


def test_a_small_loss_that_stays_is_heard():
    values = noisy(60)
    values[20:, 100:114] = 0.0
    assert any(watch(values, ALLOW, LEVEL).rings[20:])


def test_after_a_sudden_loss_the_reference_is_the_nights_just_before():
    """They are what the value before is the mean of; the first week is not."""
    rng = np.random.default_rng(0)
    values = np.where(np.arange(30) < 6, rng.random((16, 30)) < 0.5, 1.0)
    values[:9, 27:] = values[15, 27:] = 0.0  # better since night 9, too short to be the reference
    values[15, 15:18] = 0.0
    found = seen(*values)
    assert found.rings[-1] == "sudden"
    assert found.reference == tuple(range(8, 15))
    assert found.best is None
    assert found.before == pytest.approx(values[8:15].mean(axis=0))


def test_a_new_query_has_the_reference_of_its_own_first_nights():
    values = np.full((12, 20), np.nan)
    values[:, :10] = 1.0
    values[8:, 10:] = 1.0
    values[11, 10:] = 0.0
    found = watch(values, ALLOW, LEVEL)
    assert np.isfinite(found.gains).all()
    assert found.rings[-1] == "fact"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 11), st.floats(0.01, 1.0))
def test_raising_a_query_tonight_never_makes_it_ring(seed, query, more):
    rng = np.random.default_rng(seed)
    values = rng.random((9, 12)) if seed % 2 else np.tile(rng.random(12), (9, 1))
    values[8] *= rng.random()
    raised = values.copy()
    raised[8, query] += more
    before, after = (watch(one, ALLOW, LEVEL).rings[-1] for one in (values, raised))
    assert before or not after


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_the_order_of_queries_is_no_matter(seed, random):
    values = noisy(12, 30)
    values[11] *= np.random.default_rng(seed).random(30) > 0.3
    order = list(range(30))
    random.shuffle(order)
    one, other = watch(values, ALLOW, LEVEL), watch(values[:, order], ALLOW, LEVEL)
    assert (one.rings, one.reference) == (other.rings, other.reference)
