"""Trends as charts, and what hostile text may do in them."""

import pytest

from calipers.errors import InvalidInput, WriteFailed
from calipers.questions.history.show import sparkline
from calipers.questions.trend.charts import trend_chart
from calipers.questions.trend.result import Line, Mark, Point, Trend
from calipers.questions.trend.show import chart
from tests.store.saved import START

HOSTILE = "</script><script>alert(1)</script>"


def made(value: str | None = None, n: int = 4, marks: tuple[int, ...] = (2,)) -> Trend:
    from datetime import timedelta

    points = tuple(
        Point(
            f"{i:016x}",
            START + timedelta(days=i),
            None,
            0.5 + i / 10,
            0.4 + i / 10,
            0.6 + i / 10,
            9,
        )
        for i in range(n)
    )
    tag = None if value is None else "type"
    changed = tuple(Mark(points[i].id, points[i].saved, ("ground truth",)) for i in marks)
    return Trend("nightly", ("mrr",), tag, n, (Line("mrr", tag, value, points),), changed)


def test_text_of_others_is_never_markup(tmp_path):
    path = tmp_path / "t.svg"
    made(HOSTILE).save_chart(path)
    assert "<script>alert" not in path.read_text()


def test_lines_are_cut_at_marks():
    rows = trend_chart(made())["vconcat"][0]["layer"][1]["data"]["values"]
    assert [row["part"] for row in rows] == [0, 0, 1, 1]


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(InvalidInput, match="a chart is written as"):
        made().save_chart(tmp_path / "t.gif")
    with pytest.raises(WriteFailed, match="there is no folder"):
        made().save_chart(tmp_path / "none" / "t.svg")


def test_a_chart_on_the_terminal_reads_from_its_axis():
    rows = chart(made().lines[0], made(), 40, 5)
    # From the lowest end of an interval to the highest.
    assert [row.split()[0] for row in rows[:5]] == ["0.900", "0.775", "0.650", "0.525", "0.400"]
    assert rows[3].index("●") < rows[2].index("●") < rows[1].index("●")
    assert all("┊" in row for row in rows[:5])
    assert "2026-01-01" in rows[-1]


@pytest.mark.parametrize("n", [1, 2, 60, 500])
@pytest.mark.parametrize("width", [20, 80])
def test_a_chart_fits_its_width(n, width):
    trend = made(n=n, marks=())
    assert max(map(len, chart(trend.lines[0], trend, width, 5))) <= width


def test_sparklines_use_the_whole_height():
    assert sparkline([0.1, 0.9]) == "▁█"
    assert sparkline([1.0, 0.5, 0.0]) == "█▅▁"
