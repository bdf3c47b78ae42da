import csv
import io
import json
from pathlib import Path

from tests.command import calipers_command, refused, typed
from tests.systems import records


def test_per_query_goes_to_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, hits in (("old", [3, 2, None]), ("new", [1, 1, 4])):
        Path(f"{name}.json").write_text(json.dumps(records(hits)))
    printed = typed("compare before=old.json new.json --against new -m mrr --per-query queries.csv")
    assert printed.code == 0, printed.err
    first, *_ = rows = list(csv.DictReader(io.StringIO(Path("queries.csv").read_text())))
    assert len(rows) == 3
    assert (first["query"], first["before"], first["new"]) == ("q0", "0.3333333333333333", "1.0")


def test_the_system_that_shares_no_ids_is_named(tmp_path):
    files = []
    for name, item in (("good", "a"), ("strange", "other")):
        files.append(tmp_path / f"{name}.json")
        rows = [{"query": q, "retrieved": [item], "ground_truth": ["a"]} for q in "qrs"]
        files[-1].write_text(json.dumps(rows))
    assert "strange cannot be measured. The run and the ground truth have no" in refused(
        "compare", *files
    )


def test_the_page_escapes_what_comes_from_a_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, last in (("old", "d"), ("new", "<script>alert(1)</script>")):
        hits = [{"id": one, "text": f"text of {one}"} for one in ("c", last)]
        answers = {"same": ["a", "b"], "changed": hits, "another": [name]}
        rows = [{"query": f"{query}?", "retrieved": one} for query, one in answers.items()]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    printed = calipers_command("compare", "old.jsonl", "new.jsonl", "--html", "page.html")
    assert printed.code == 0, printed.err
    page = Path("page.html").read_text()
    assert "2 of 3 queries changed" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
