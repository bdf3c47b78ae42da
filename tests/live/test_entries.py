import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.live.entries import Latencies, percentile

values = st.lists(st.floats(0, 1e6), min_size=1)


@given(values, st.sampled_from([0.5, 0.95, 0.99]))
def test_percentile_is_the_smallest_value_that_covers_the_share(
    times: list[float], share: float
) -> None:
    found = percentile(sorted(times), share)
    covering = [t for t in times if sum(one <= t for one in times) >= share * len(times) - 1e-9]
    assert found == min(covering)
    assert found == np.quantile(times, share, method="inverted_cdf")


def test_warm_up_is_kept_apart() -> None:
    latencies = Latencies()
    latencies.add(500.0, warm_up=True)
    for milliseconds in (1.0, 2.0, 3.0):
        latencies.add(milliseconds, warm_up=False)
    found = latencies.to_dict()
    assert (found["p50"], found["max"], found["count"]) == (2.0, 3.0, 3)
    assert (found["warm_up_count"], found["warm_up_mean"]) == (1, 500.0)


def test_nothing_measured_is_nothing_claimed() -> None:
    assert Latencies().to_dict()["p50"] is None
    assert Latencies().to_dict()["mean"] == pytest.approx(None)
