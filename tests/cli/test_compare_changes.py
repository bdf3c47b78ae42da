"""calipers compare as a user meets it."""

import csv
import json
from pathlib import Path

import pytest

from tests.command import calipers_command


def write(name, answers):
    records = [
        {
            "id": f"q{i}",
            "query": f"question {i}",
            "retrieved": [{"id": one, "text": f"text of {one}"} for one in items],
        }
        for i, items in enumerate(answers)
    ]
    Path(name).write_text("".join(json.dumps(one) + "\n" for one in records))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("old.jsonl", [["a", "b"], ["c", "d"], ["e"]])
    write("new.jsonl", [["a", "b"], ["d", "<script>alert(1)</script>"], ["f"]])


def test_exactly_the_new_results_are_written_for_judging():
    printed = calipers_command("compare", "old.jsonl", "new.jsonl", "-o", "label.csv")
    assert "2 new results to judge, written to label.csv." in printed.out
    with Path("label.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["query_id"], row["item"]) for row in rows} == {
        ("q1", "<script>alert(1)</script>"),
        ("q2", "f"),
    }
    assert all(row["text"] and row["query"] for row in rows)
    # What is written is a file of `calipers labels draft`: graded, it becomes a ground truth.
    with Path("ann.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "grade": "1", "judge": "ann"} for row in rows)
    merged = calipers_command("labels", "export", "ann.csv", "-o", "truth.jsonl")
    assert merged.code == 0, merged.err


def test_the_page_escapes_what_comes_from_a_corpus():
    printed = calipers_command("compare", "old.jsonl", "new.jsonl", "--html", "page.html")
    assert printed.code == 0, printed.err
    page = Path("page.html").read_text()
    assert "2 of 3 queries changed" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
