import csv
import io

import pytest

from calipers import evaluate, slices
from calipers.present.csv import as_csv
from tests.systems import tagged

HOSTILE = "=bad\x1b[31m"


@pytest.fixture(scope="module")
def found():
    scores = evaluate(tagged({"fact": [1] * 12, HOSTILE: [None] * 8, "alone": [1]}))
    return slices(scores, ["type", "targets"])


def test_slices_are_marked(found):
    text = str(found)
    assert "1.000 ▲" in text
    assert "0.000 ▼" in text
    assert "by type" in text
    assert "by targets" in text
    assert f"over {found.tests} slices together" in " ".join(found.explain().split())


def test_csv_is_whole_and_harmless(found):
    rows = list(csv.DictReader(io.StringIO(as_csv(found.document()))))
    assert len(rows) == len(found.rows)
    # Neither a formula for a spreadsheet nor an escape for a terminal.
    harmless = "'=bad\N{REPLACEMENT CHARACTER}[31m"
    assert {row["value"] for row in rows if row["by"] == "type"} == {"fact", harmless, "alone"}
    worst = next(row for row in rows if row["value"].startswith("'"))
    assert (worst["standing"], float(worst["mean"])) == ("worse", 0.0)
