"""A short form of `make statistics`: no rate leaves its band."""

import pytest

from simulations import decisions, differences, floors, labels, means, nights, plans
from simulations.rates import Rate, table

BANDS = {
    "coverage": lambda: means.coverage(3000, (2, 3, 5, 10, 42, 50, 500)),
    "coverage with clusters": lambda: means.clustered(150),
    "false findings": lambda: differences.level(400, (10, 20, 100)),
    "false findings with clusters": lambda: differences.clustered_level(120),
    "gates": lambda: differences.gated(300, (20, 50, 100)),
    "failing builds": lambda: differences.lucky_baseline(10),
    "advised k": lambda: decisions.too_small_k(80, (2, 30, 60, 300)),
    "floors": lambda: floors.broken_promises(40, (100,)),
    "shares under floors": lambda: floors.shares(12, (200,)),
    "plans": lambda: plans.planned(5, (60,), sizes=("⅓",)),
    "marks": lambda: decisions.false_marks(15),
    "alarms": lambda: nights.false_alarms(1, (50,), nights.NOISES[2:6]),
    "alarms of dependent nights": lambda: nights.false_alarms(1, (200,), nights.DEPENDENT[1:3]),
    "losses that are heard": lambda: nights.heard(4, ("for good",), longest=7),
    "corrected means": lambda: labels.corrected(100),
    "corrected shares": lambda: labels.corrected_shares(400),
    "agreement": lambda: labels.agreement(60, (10, 30)),
}


@pytest.mark.parametrize("name", BANDS)
def test_no_rate_leaves_its_band(name):
    outside = [rate for rate in BANDS[name]() if not rate.held]
    assert not outside


def test_a_rate_outside_its_band_shows():
    assert Rate("x", 10, 0.93, 10_000, 0.93, 1.0).held
    assert not Rate("x", 10, 0.90, 10_000, 0.93, 1.0).held
    assert not Rate("x", 10, 0.08, 10_000, highest=0.06).held
    assert Rate("x", 10, 2.2, 100, highest=2.0).held
    assert not Rate("x", 10, 4.0, 100, highest=2.0).held
    assert "**0.080**" in table([Rate("x", 10, 0.08, 10_000, highest=0.06)])
