"""A hundred hostile texts in every place that data has, shown by every command that shows data."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.present.markdown import as_markdown
from tests.command import calipers_command

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ARMED = tuple("=+-@＝＋－＠\t\r\n")
PARTS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "javascript:alert(1)",
    "\x1b[31mred",
    "\x1b]0;owned\x07",
    "\x9b31m",
    "\u202egnp.exe",
    "a\u2028b\u2029c",
    "fine\rEVIL",
    "[bold]x[/bold]",
    "a\x08\x08b",
    "=1+1",
    "＝1+1",
    "+1",
    "－1",
    "@SUM(A1)",
    "\n=2",
    "\t=3",
    "www.x.org",
    "[a](http://x.org)",
    "![](http://x.org/p.png)",
    "| a | b |",
    "`code`",
    "{{ 7 * 7 }}",
)
FORMS = ("{}", "x {}", "{} y", "{}{}")
TEXTS = tuple(form.replace("{}", part) for part in PARTS for form in FORMS)
READ = ("h.jsonl",)
COMMANDS = (
    ("eval", *READ),
    ("eval", *READ, "--explain"),
    ("eval", *READ, "--by", "type"),
    ("eval", *READ, "--json"),
    ("eval", *READ, "--as", "csv"),
    ("misses", *READ, "-k", "1"),
    ("misses", *READ, "-k", "1", "--json"),
    ("diagnose", *READ),
    ("diagnose", *READ, "--json"),
    ("sweep", *READ),
    ("audit", *READ),
    ("audit", *READ, "--json"),
    ("compare", *READ, "other.jsonl"),
    ("compare", *READ, "other.jsonl", "--json"),
    ("convert", *READ, "out.qrels"),
    ("eval", *READ, "--level", "all"),
    ("gate", *READ, "--require", "mrr >= 2"),
    ("eval", *READ, "--missing", "error", "--unknown", "error"),
    ("history", "show", "@nightly~0"),
    ("history",),
    ("history", "trend", "nightly"),
)
TABLES = (
    ("eval", *READ, "--per-query", "out.csv"),
    ("misses", *READ, "-k", "1", "-o", "out.csv"),
    ("convert", *READ, "out.csv"),
    ("convert", "-r", *READ, "out.tsv"),
    ("convert", "-g", *READ, "out.csv"),
    ("labels", "draft", *READ, "-o", "out.csv"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    rows: list[dict[str, Any]] = [
        {
            "id": f"{i} {text}",
            "query": text,
            "tags": {"type": text[:40]},
            "retrieved": [{"id": f"{text}{j}", "text": text, "document": text} for j in range(3)],
            "ground_truth": [f"{text}{i % 4}"],
        }
        for i, text in enumerate(TEXTS)
    ]
    turned = [{**row, "retrieved": row["retrieved"][::-1]} for row in rows]
    for name, records in (("h", rows), ("other", turned)):
        lines = "".join(json.dumps(one) + "\n" for one in records)
        (place / f"{name}.jsonl").write_text(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name in ("h", "other"):
            saved = calipers_command(
                "eval", f"{name}.jsonl", "--save", "nightly", "--store", "h.db"
            )
            assert saved.code == 0, saved.err
    return place


def test_there_are_a_hundred_texts() -> None:
    assert len(set(TEXTS)) >= 100


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_text_steers_a_terminal(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CALIPERS_STORE", "h.db")
    printed = calipers_command(*command)
    assert printed.code in (0, 1, 2)
    assert "Traceback" not in printed.err
    assert not STEERING.search(printed.out + printed.err)


@pytest.mark.parametrize("command", TABLES, ids=" ".join)
def test_no_text_is_run_by_a_spreadsheet(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    path = folder / command[-1]
    path.unlink(missing_ok=True)  # of another command, which a draft would not write over
    assert calipers_command(*command).code == 0
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    assert len(rows) > 50
    assert [cell for row in rows for cell in row if cell.startswith(ARMED)] == []


def test_no_text_becomes_markup(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert calipers_command("eval", "h.jsonl", "--html", "out").code == 0
    page = (folder / "out").read_text(encoding="utf-8")
    short = as_markdown(calipers.misses("h.jsonl").document())
    for written in (page, short):
        assert "alert" in written
        assert not re.search(r"<(script>alert|img src=x|svg onload)", written)
    assert not re.search(r"(?<!\\)\[[^\]\\]*\]\(http|\bwww\.x|\bhttp://x", short)
