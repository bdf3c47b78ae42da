"""A short form of `make statistics`: no rate leaves its band."""

import numpy as np
import pytest

from calipers.analyse.difference import difference
from simulations import decisions, differences, floors, means, nights
from simulations.rates import Rate, table
from simulations.shapes import SKEWED, SYMMETRIC

BANDS = {
    "coverage": lambda: means.coverage(1000, (2, 3, 5, 10, 42, 50, 500)),
    "coverage with clusters": lambda: means.clustered(150),
    "false findings": lambda: differences.level(1500, (10, 20, 100, 500)),
    "false findings with clusters": lambda: differences.clustered_level(200),
    "failing builds": lambda: differences.lucky_baseline(20),
    "advised k": lambda: decisions.too_small_k(60, (2, 30, 60, 300)),
    "floors": lambda: floors.broken_promises(40, (100,)),
    "shares under floors": lambda: floors.shares(12, (200,)),
    "marks": lambda: decisions.false_marks(15),
    "alarms": lambda: nights.false_alarms(20, (20, 100)),
    "slow declines": lambda: nights.slow_decline(15),
    "corrected means": lambda: decisions.corrected(150),
    "corrected shares": lambda: decisions.corrected_shares(400),
}


@pytest.mark.parametrize("name", BANDS)
def test_no_rate_leaves_its_band(name):
    outside = [rate for rate in BANDS[name]() if not rate.held]
    assert not outside


@pytest.mark.parametrize("shape", [*SYMMETRIC, *SKEWED], ids=lambda shape: shape.name)
def test_many_tests_at_once_are_the_test(shape):
    values = shape.draw(np.random.default_rng(0), (40, 12))
    values += np.random.default_rng(1).choice([0.0, 0.2, -0.2], (40, 1)) * (values != 0)
    below, above = differences.rejected(values)
    for row, shown_below, shown_above in zip(values, below, above, strict=True):
        low, high = difference(row, limits=None).interval()
        assert (high < 0, low > 0) == (shown_below, shown_above)


def test_a_rate_outside_its_band_shows():
    assert Rate("x", 10, 0.93, 10_000, 0.93, 1.0).held
    assert not Rate("x", 10, 0.90, 10_000, 0.93, 1.0).held
    assert not Rate("x", 10, 0.08, 10_000, highest=0.06).held
    assert Rate("x", 10, 2.2, 100, highest=2.0).held
    assert not Rate("x", 10, 4.0, 100, highest=2.0).held
    assert "**0.080**" in table([Rate("x", 10, 0.08, 10_000, highest=0.06)])
