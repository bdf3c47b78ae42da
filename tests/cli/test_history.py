"""calipers history, show, trend, alarm and store as a user meets them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from calipers.store.git import GitState
from calipers.store.open import open_store
from calipers.store.record import write
from tests.command import calipers_command, refused, typed
from tests.store.saved import record
from tests.systems import tagged

GOOD: dict[str, list[int | None]] = {"a": [1] * 12, "b": [1, 2] * 8}


@pytest.fixture
def history(tmp_path: Path, monkeypatch) -> Path:
    """Four nights: the ground truth changes on the third, the retriever falls on the fourth."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CALIPERS_STORE", raising=False)
    store = open_store(tmp_path / ".calipers" / "history.db", create=True)
    fallen: dict[str, list[int | None]] = {"a": [None] * 12, "b": [1, 2] * 8}
    nights = [GOOD, GOOD, GOOD, fallen]
    for day, groups in enumerate(nights):
        data = tagged(groups)
        if day >= 2:
            data[-1]["ground_truth"] = {"elsewhere": 1}
        git = GitState(f"{day}" * 40, "main", dirty=day == 1)
        tags = {"model": "<b>e5</b>"} if day == 0 else None
        write(store, record(data, day=day, git=git, tags=tags)[1])
    return tmp_path


def test_history_as_json_and_csv(history):
    found = json.loads(calipers_command("history", "--json").out)
    assert (found["total"], len(found["evaluations"])) == (4, 4)
    assert found["evaluations"][1]["changed"] == ["ground truth"]
    rows = list(csv.DictReader(io.StringIO(calipers_command("history", "--as", "csv").out)))
    newest = found["evaluations"][0]
    means = {one["metric"]: one["mean"] for one in newest["summaries"]}
    assert float(rows[0]["mrr"]) == means["mrr"]
    assert rows[2]["dirty"] == "true"


def test_history_can_be_filtered(history):
    assert "4 evaluations are saved" in calipers_command("history", "--since", "1h").out
    assert "write a date such as" in refused("history", "--since", "yesterday")
    assert "100000w at most" in refused("history", "--since", "99999999999d")


def test_show_prints_what_eval_printed(history):
    printed = calipers_command("history", "show", "@nightly~3")
    assert printed.out.startswith("Finds ")
    assert "nightly (" in printed.out
    assert "on commit 0000000000 (main)." in " ".join(printed.out.split())
    whole = json.loads(calipers_command("history", "show", "@nightly", "--json").out)
    assert (whole["schema"], whole["evaluation"]["branch"]) == (1, "main")
    assert len(whole["per_query"]) == 28
    assert typed("history show @nightly --as csv").out.startswith("metric,mean,")
    assert typed("eval @nightly --per-query scores.csv").code == 0
    assert len(Path("scores.csv").read_text().splitlines()) == 29


def test_trend_as_data_and_as_a_drawing(history):
    found = json.loads(calipers_command("history", "trend", "nightly", "-m", "mrr", "--json").out)
    assert [mark["what"] for mark in found["marks"]] == [["ground truth"]]
    rows = csv.DictReader(io.StringIO(typed("history trend nightly --as csv").out))
    assert {row["changed"] for row in rows} == {"", "ground truth"}
    drawn = ("history", "trend", "nightly", "-m", "mrr", "--html")
    assert calipers_command(*drawn, "t.html").err == "Written to t.html\n"
    assert "<svg" in Path("t.html").read_text()


def test_alarm_tells_a_drop_from_a_changed_ground_truth(history):
    store = open_store()
    for day in range(10, 16):
        write(store, record(tagged(GOOD), name="watched", day=day)[1])
    bad: dict[str, Any] = {"a": [None] * len(GOOD["a"]), "b": GOOD["b"]}
    for day in range(16, 22):
        write(store, record(tagged(bad), name="watched", day=day)[1])
    printed = calipers_command("history", "alarm", "watched")
    assert printed.code == 1, printed.err
    flat = " ".join(printed.out.split())
    assert printed.out.startswith("✗ watched got worse: recall@5 is ")
    assert "12 of 28 queries worse, none better (p < .001)." in flat
    assert "✗ No evaluation of watched since 2026-01-22 06:00 UTC." in flat
    found = json.loads(calipers_command("history", "alarm", "watched", "--json").out)
    assert (found["raised"], found["exit_code"]) == (True, 1)
    assert len(found["checks"][0]["reference"]["evaluations"]) == 6
    markdown = typed("history alarm watched --as markdown")
    assert markdown.code == 1
    assert markdown.out.startswith("## ✗ watched got worse: recall@5 ")
    # The same answer, which does not end a script.
    trend = calipers_command("history", "trend", "watched")
    assert (trend.code, trend.out) == (0, printed.out)


def test_a_night_that_is_missing_is_an_answer(history):
    printed = calipers_command("history", "alarm", "nightly", "-m", "mrr", "--since", "2026-01-04")
    assert (printed.code, printed.out[:2]) == (0, "~ ")
    printed = typed("history alarm nightly -m mrr --since 2026-01-04 --every 36h")
    assert printed.code == 2
    assert printed.out.startswith("✗ No evaluation of nightly since 2026-01-04 ")
    assert "write a number with h, d or w" in refused("history", "alarm", "nightly", "--every", "x")


def test_a_collapse_is_saved_where_the_ids_are_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = {f"q{i}": [f"a{i}"] for i in range(12)}
    for name, found in (("good", truth), ("bad", {q: ["wrong"] for q in truth})):
        rows = [{"query": q, "ground_truth": truth[q], "retrieved": found[q]} for q in truth]
        Path(f"{name}.json").write_text(json.dumps(rows))
    assert "no item id in common" in refused("eval", "bad.json", "--save", "nightly")
    for _ in range(2):
        assert calipers_command("eval", "good.json", "--save", "nightly").code == 0
    saved = calipers_command("eval", "bad.json", "--save", "nightly")
    assert (saved.code, "the collapse is saved" in saved.err) == (0, True)
    assert "no item id in common" in refused("eval", "bad.json", "--save", "another")


def test_an_alarm_does_not_compare_other_settings(history):
    write(open_store(), record(tagged(GOOD), day=9, rel=2.0)[1])
    differs = calipers_command("history", "alarm", "nightly", "--every", "9999w")
    assert (differs.code, "the setting rel is 2.0" in " ".join(differs.out.split())) == (2, True)


def test_a_damaged_store_is_refused(history):
    with open_store().writing() as connection:
        connection.exec_driver_sql("UPDATE calipers_content SET bytes = x'00'")
    assert "is damaged" in refused("history", "show", "@nightly")


def test_no_history_and_one_in_another_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CALIPERS_STORE", raising=False)
    for more in ("", " show @x", " trend x", " alarm x"):
        assert "There is no history" in refused(*f"history{more}".split())
    monkeypatch.setenv("CALIPERS_STORE", "mysql://ann:hush@db/x")
    said = refused("history")
    assert "cannot use" in said
    assert "hush" not in said
