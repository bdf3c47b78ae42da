import csv
import io
import json
from pathlib import Path

import pytest

from tests.command import calipers_command, refused, typed
from tests.systems import records

OLD = [3, 2, None, 5, 4, 2, 7, 3, 9, 2, None, 4]
NEW = [1, 1, 4, 2, 1, 1, 2, 1, 3, 1, 5, 2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, hits in (("old", OLD), ("new", NEW), ("third", OLD[::-1])):
        lines = [
            {key: record[key] for key in ("id", "query", "retrieved")} for record in records(hits)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    truth = [{k: r[k] for k in ("id", "query", "ground_truth")} for r in records(OLD)]
    (tmp_path / "gt.jsonl").write_text("\n".join(map(json.dumps, truth)))
    return tmp_path


def test_results_names_and_baseline(folder):
    for name in ("old", "new"):
        result = calipers_command("eval", f"{name}.jsonl", "-g", "gt.jsonl", "--json").out
        (folder / f"{name}.json").write_text(result)
    printed = typed("compare before=old.json new.json --against new --as csv")
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert {(row["system"], row["baseline"]) for row in rows} == {("before", "new"), ("new", "new")}


def test_per_query_goes_to_a_file(folder):
    printed = typed("compare old.jsonl new.jsonl -g gt.jsonl -m mrr --per-query queries.csv")
    rows = list(csv.DictReader(io.StringIO((folder / "queries.csv").read_text())))
    assert len(rows) == len(OLD)
    assert (rows[0]["query"], rows[0]["old"], rows[0]["new"]) == ("q0", "0.3333333333333333", "1.0")
    assert printed.code == 0, printed.err


def test_the_system_that_shares_no_ids_is_named(tmp_path):
    files = []
    for name, item in (("good", "a"), ("strange", "other")):
        files.append(tmp_path / f"{name}.json")
        rows = [{"query": q, "retrieved": [item], "ground_truth": ["a"]} for q in "qrs"]
        files[-1].write_text(json.dumps(rows))
    assert "strange cannot be measured. The run and the ground truth have no" in refused(
        "compare", *files
    )


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


@pytest.fixture
def changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("old.jsonl", [["a", "b"], ["c", "d"], ["e"]])
    write("new.jsonl", [["a", "b"], ["d", "<script>alert(1)</script>"], ["f"]])


def test_the_page_escapes_what_comes_from_a_corpus(changes):
    printed = calipers_command("compare", "old.jsonl", "new.jsonl", "--html", "page.html")
    assert printed.code == 0, printed.err
    page = Path("page.html").read_text()
    assert "2 of 3 queries changed" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
