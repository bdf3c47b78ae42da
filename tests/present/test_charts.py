"""Axes."""

import pytest

from calipers.present.charts import cutoffs, numbers, over_k, spread


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-0.31, 0.07), (0.9, 1), (0, 123_456), (0.5, 0.5), (0, 1e-7)]
)
def test_labels_of_an_axis_are_round_few_and_within_it(low, high):
    axis = numbers(low, high)
    assert 2 <= len(axis.ticks) <= 6
    assert all(axis.low <= value <= axis.high for value, _ in axis.ticks)
    assert len({text for _, text in axis.ticks}) == len(axis.ticks)
    for value, text in axis.ticks:
        assert float(text.replace("−", "-")) == pytest.approx(value)


def test_an_axis_has_room_for_every_value_and_none_that_is_undefined():
    axis = spread([0.2, None, float("nan"), 0.7], least=0.1)
    assert (axis.low, axis.high) == (0.2, 0.7)
    assert spread([], least=0.1).low == 0


@pytest.mark.parametrize("ks", [[1], [1, 2, 3], list(range(1, 21)), [1, 10, 1000]])
def test_an_axis_of_k_names_its_ends(ks):
    axis = cutoffs(ks)
    assert {ks[0], ks[-1]} <= {value for value, _ in axis.ticks}
    assert all(ks[0] <= value <= ks[-1] for value, _ in axis.ticks)
    assert [axis.share(k) for k in ks] == sorted(axis.share(k) for k in ks)


def test_a_metric_that_is_undefined_everywhere_is_an_empty_panel():
    panel = over_k("recall", [(1, None, None, None), (5, None, None, None)], [])
    assert [mark.points for mark in panel.marks if hasattr(mark, "points")] == [[], []]
