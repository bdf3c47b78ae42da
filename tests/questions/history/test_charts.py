"""Trends as charts, and what hostile text may do in them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from calipers.present import charts
from calipers.present.charts import Dot
from calipers.questions.history.document import time_axis, trend_chart
from calipers.questions.history.result import Alarm, Line, Mark, Point
from tests.questions.history.test_alarm import GOOD, answer
from tests.store.saved import START

HOSTILE = "</script><script>alert(1)</script>"


def made(metric: str = "mrr", n: int = 4, marks: tuple[int, ...] = (2,)) -> Alarm:
    points = tuple(
        Point(f"{i:016x}", START + timedelta(days=i), None, mean, mean - 0.1, mean + 0.1, 9)
        for i, mean in enumerate(0.5 + i / 10 for i in range(n))
    )
    changed = tuple(Mark(points[i].id, points[i].saved, ("ground truth",)) for i in marks)
    lines = (Line(metric, points),)
    return replace(answer([GOOD]), metrics=(metric,), lines=lines, marks=changed)


def test_a_trend_has_every_mean_and_hostile_names_are_texts():
    trend = made(HOSTILE)
    dots = [mark for mark in trend_chart(trend).panels[0].marks if isinstance(mark, Dot)]
    assert [dot.y for dot in dots] == [point.mean for point in trend.lines[0].points]
    assert "<script>alert" not in trend._repr_html_()


def test_lines_are_cut_at_marks():
    drawn = trend_chart(made()).panels[0].marks
    lines = [mark for mark in drawn if isinstance(mark, charts.Stroke)]
    assert [len(line.points) for line in lines if not line.dashed] == [2, 2]
    assert "▁▃┊▆█" in str(made())
    assert [line.said for line in lines if line.dashed] == ["ground truth changed"]


@pytest.mark.parametrize("step", [timedelta(days=1), timedelta(minutes=5)])
def test_labels_of_time_differ_and_name_both_ends(step):
    moments = [START + step * i for i in range(9)]
    ticks = time_axis(moments).ticks
    assert len({text for _, text in ticks}) == 9
    assert [value for value, _ in ticks[:2]] == [one.timestamp() for one in moments[::-8]]
    assert [text for _, text in time_axis([START] * 3).ticks] == [f"{START:%Y-%m-%d %H:%M}"]
    assert time_axis([]).ticks == ()
