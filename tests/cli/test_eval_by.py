import csv
import io
import json

import pytest

from calipers import evaluate, slices
from tests.command import calipers_command, refused
from tests.systems import tagged


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "evals.json"
    path.write_text(json.dumps(tagged({"fact": [1] * 12, "multi-hop": [None] * 7 + [9]})))
    return path


def test_slices_come_after_the_table(file):
    printed = calipers_command("eval", file, "--by", "type", "--by", "length")
    assert printed.code == 0
    assert printed.out.index("by type") < printed.out.index("by length")
    assert "▼" in printed.out


def test_json_has_the_scores_and_the_slices(file):
    result = json.loads(calipers_command("eval", file, "--by", "type", "--json").out)
    scores = evaluate(file)
    expected = json.loads(json.dumps(slices(scores, "type").to_dict()))
    assert result.pop("slices") == expected
    assert result == json.loads(json.dumps(scores.to_dict()))


def test_the_metrics_that_were_named_are_sliced_and_csv_has_the_slices(file):
    printed = calipers_command("eval", file, "--by", "type", "-m", "recall@1,f1@3", "--csv")
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [(row["slice"], row["metric"]) for row in rows] == [
        ("fact", "recall@1"),
        ("fact", "f1@3"),
        ("multi-hop", "recall@1"),
        ("multi-hop", "f1@3"),
    ]


def test_a_tag_that_does_not_exist_is_refused(file):
    assert "Did you mean type?" in refused("eval", file, "--by", "tpye")
