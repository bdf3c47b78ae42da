import csv
import io

import pytest
from calipers.questions.slices.show import print_slices, slices_chart, slices_csv
from rich.console import Console

from calipers import evaluate, slices
from tests.systems import tagged

HOSTILE = "=bad\x1b[31m"


@pytest.fixture(scope="module")
def found():
    scores = evaluate(tagged({"fact": [1] * 12, HOSTILE: [None] * 8, "alone": [1]}))
    return slices(scores, ["type", "targets"])


@pytest.mark.parametrize("width", [50, 80, 120])
def test_slices_fit_and_are_marked(found, width):
    out = io.StringIO()
    console = Console(width=width, file=out, highlight=False)
    print_slices(found, console)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "▲ 1.000" in text
    assert "▼ 0.000" in text
    assert "by type" in text
    assert "by targets" in text
    assert "\x1b" not in text
    assert f"corrected over {found.tests} tests" in " ".join(text.split())


def test_csv_is_whole_and_harmless(found):
    rows = list(csv.DictReader(io.StringIO(slices_csv(found))))
    assert len(rows) == len(found.rows)
    assert {row["slice"] for row in rows if row["by"] == "type"} == {"fact", f"'{HOSTILE}", "alone"}
    worst = next(row for row in rows if row["slice"].startswith("'"))
    assert (worst["standing"], float(worst["mean"])) == ("below", 0.0)


def test_a_chart_has_room_for_a_metric_that_goes_beyond_one():
    scores = evaluate(tagged({"a": [1, 2, 7, 9], "b": [4, 5, 6, 8]}), metrics="first_rank")
    found = slices(scores, "type")
    drawn = slices_chart(found, "first_rank", None)
    assert drawn.panels[0].x.high >= max(row.interval.high for row in found.rows)
