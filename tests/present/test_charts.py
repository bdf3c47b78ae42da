"""One chart of one result, as a file."""

import pytest

import calipers
from calipers.errors import InvalidInput, WriteFailed
from calipers.present.charts import check_chart, write_chart
from tests.reports import records, reversed_records

RESULTS = {
    "comparison": lambda: calipers.compare({"old": records(), "new": reversed_records()}),
    "sweep": lambda: calipers.sweep(records()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_chart_is_one_svg_file(name, tmp_path):
    write_chart(RESULTS[name](), tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")


def test_places_where_no_chart_can_be_written(tmp_path):
    with pytest.raises(InvalidInput, match=r"'\.png'; a chart is written as \.svg"):
        check_chart(tmp_path / "a.png")
    with pytest.raises(WriteFailed, match="there is no folder"):
        check_chart(tmp_path / "none" / "a.svg")
