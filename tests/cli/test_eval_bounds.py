"""calipers eval --bounds as a user meets it."""

import csv
import io
import json

import pytest

from tests.command import calipers_command


@pytest.fixture
def evals(tmp_path):
    path = tmp_path / "evals.json"
    records = [{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a"]}]
    path.write_text(json.dumps(records))
    return path


def test_the_bounds_stand_under_the_table(evals):
    printed = calipers_command("eval", evals, "-m", "mrr,judged@2", "--bounds")
    assert printed.code == 0, printed.err
    rows = [line.split() for line in printed.out.splitlines()]
    assert ["mrr", "0.500", "0.500", "1.000", "1.000"] in rows
    assert "1 of 2 results (50%)" in " ".join(printed.out.split())
    assert "Without bounds: judged@2." in printed.out


def test_csv(evals):
    printed = calipers_command("eval", evals, "-m", "mrr,recall@1", "--bounds", "--csv")
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(printed.out))}
    assert float(rows["recall@1"]["highest"]) == 0.5
    assert float(rows["mrr"]["value"]) == 0.5
