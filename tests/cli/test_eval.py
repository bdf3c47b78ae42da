"""calipers eval: what a user sees, in every shape of output and on every width of terminal."""

import csv
import io
import json
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from tests.command import CALIPERS, calipers_command
from tests.systems import tagged

RECORDS: list[dict[str, Any]] = [
    {
        "query": "q1",
        "retrieved": ["a", "x", "b"],
        "ground_truth": {"a": 2, "b": 1},
        "tags": {"type": "fact"},
    },
    {"query": "q2", "retrieved": ["x", "a"], "ground_truth": {"a": 1, "c": 3}},
    {"query": "q3", "retrieved": ["x"], "ground_truth": {"x": 0}},
]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    path = tmp_path / "evals.json"
    path.write_text(json.dumps(RECORDS))
    return path


def test_csv_holds_full_precision(evals: Path) -> None:
    printed = calipers_command("eval", evals, "-m", "recall@1,mrr", "--as", "csv")
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    scores = calipers.evaluate(evals, metrics="recall@1,mrr")
    assert [row["metric"] for row in rows] == ["recall@1", "mrr"]
    for row in rows:
        summary = scores[row["metric"]]
        assert float(row["mean"]) == summary.mean
        assert float(row["median"]) == summary.median
        assert summary.interval is not None
        assert float(row["low"]) == summary.interval.low
        assert (int(row["n"]), int(row["undefined"])) == (2, 1)


def test_an_undefined_metric_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(json.dumps(RECORDS[2:]))
    assert "undefined" in calipers_command("eval", path, "-m", "mrr").out
    row = next(
        csv.DictReader(io.StringIO(calipers_command("eval", path, "-m", "mrr", "--as", "csv").out))
    )
    assert (row["mean"], row["low"], row["n"], row["undefined"]) == ("", "", "0", "1")
    summary = json.loads(calipers_command("eval", path, "-m", "mrr", "--json").out)["summaries"][0]
    nothing = dict.fromkeys(("mean", "median", "interval"))
    assert summary == {"metric": "mrr", **nothing, "n": 0, "undefined": 1}


def test_per_query_files(evals: Path) -> None:
    path = evals.parent / "scores.parquet"
    printed = calipers_command("eval", evals, "-m", "recall@1,mrr", "--per-query", path)
    assert printed.code == 0
    table = pl.read_parquet(path)
    columns = "query text status retrieved targets tag.type recall@1 mrr"
    assert table.columns == columns.split()
    assert table["query"].to_list() == ["q1", "q2", "q3"]
    assert table["recall@1"].to_list() == [0.5, 0.0, None]
    assert table["tag.type"].to_list() == ["fact", None, None]


@pytest.mark.parametrize("columns", [10, 20, 40, 80, 200])
def test_no_width_breaks_the_table(columns: int, evals: Path) -> None:
    names = "recall@1,3,5,10,ndcg@10(gain=exp),mrr,fp@10"
    printed = calipers_command("eval", evals, "-m", names, columns=columns)
    assert printed.code == 0
    lines = printed.out.splitlines()
    assert all(len(line) <= columns for line in lines)
    together = "".join(printed.out.split())
    for stem in ("recall", "ndcg(gain", "mrr", "fp"):
        assert stem in together
    if columns > 20:
        assert "0.750" in together
        assert "ndcg(gain=exp)" in together
        assert "…" not in printed.out


def test_hostile_ids_steer_no_terminal(tmp_path: Path) -> None:
    # Short, so that no sentence cuts it: colours, markup, a turned line, a bell, ends of lines.
    name = "[bold]\x1b[31mr\x1b]0;o\x07\u202eg\x08a\u2028b\rc\u200bd\u2066"
    truth, run, no_hit = (tmp_path / f"{one}.json" for one in ("truth", "run", "other"))
    truth.write_text(json.dumps({"q": ["a"], f"missing{name}": ["a"]}))
    run.write_text(json.dumps({"q": ["a"], f"stranger{name}": ["a"]}))
    no_hit.write_text(json.dumps({"q": [name]}))
    given = ("eval", "-g", truth, "-r")
    said = ""
    for arguments, code in (
        ([run], 0),
        ([run, "--missing", "error"], 2),
        ([run, "--unknown", "error"], 2),
        ([no_hit], 2),
    ):
        printed = calipers_command(*given, *arguments)
        assert printed.code == code
        said += printed.out + printed.err
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e\u2066]", said)
    assert "[bold" in said


def test_colour_only_on_a_terminal(evals: Path) -> None:
    plain = calipers_command("eval", evals)
    assert (plain.code, plain.err) == (0, "")
    assert not ESCAPE.search(plain.out)
    # A terminal of our own making; what is written to one end is read from the other.
    pty = pytest.importorskip("pty", reason="a terminal is made in another way on Windows")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "CI"):
        environment.pop(name, None)
    with subprocess.Popen([*CALIPERS, "eval", str(evals)], stdout=theirs, env=environment):
        os.close(theirs)
        pieces = []
        # The end of what a terminal was told is an error on Linux, and nothing elsewhere.
        with suppress(OSError):
            while piece := os.read(ours, 4096):
                pieces.append(piece)
    os.close(ours)
    coloured = b"".join(pieces).decode()
    assert ESCAPE.search(coloured)
    assert ESCAPE.sub("", coloured).split() == plain.out.split()


def test_a_reader_that_leaves_gets_no_complaint(evals: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*CALIPERS, "eval", str(evals), "--json"]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (141, "")
    os.close(writing)


@pytest.mark.parametrize("page", ["cp1252", "cp437", "cp932"])
@pytest.mark.parametrize("more", [(), ("--explain",), ("--quiet",), ("--help",)])
def test_signs_are_spelled_out_where_a_code_page_lacks_them(evals, page: str, more) -> None:
    asked = ("gate", evals, "--require", "recall@1 >= 0.9", "--require", "mrr > 0.1", *more)
    printed = calipers_command(*asked, encoding=page)
    assert (printed.code, printed.err) == (0 if "--help" in more else 1, "")
    assert "FAILED " in printed.out
    assert "?" not in printed.out


def test_slices_come_after_the_table_and_csv_has_those_of_the_named_metrics(tmp_path: Path) -> None:
    path = tmp_path / "tagged.json"
    path.write_text(json.dumps(tagged({"fact": [1] * 12, "multi-hop": [None] * 7 + [9]})))
    printed = calipers_command("eval", path, "--by", "type", "--by", "length")
    assert printed.code == 0
    assert printed.out.index("by type") < printed.out.index("by length")
    assert "▼" in printed.out
    printed = calipers_command("eval", path, "--by", "type", "-m", "recall@1,f1@3", "--as", "csv")
    rows = [(row["value"], row["metric"]) for row in csv.DictReader(io.StringIO(printed.out))]
    assert rows == [(of, metric) for of in ("fact", "multi-hop") for metric in ("recall@1", "f1@3")]


def test_a_k_far_beyond_the_lists_is_not_called_the_first_results(tmp_path):
    row = {"id": "q", "ground_truth": ["a"], "retrieved": ["a", *"bcdefghi"]}
    path = tmp_path / "run.json"
    path.write_text(json.dumps([row]))
    first = calipers_command("eval", path, "-m", "recall", "-k", "1000000").out
    assert first.startswith("Finds all of what it should in its results (")
    saved = calipers_command("diagnose", path, "-k", "1000000").out
    assert "saves 89% of the results" in " ".join(saved.split())
    told = calipers_command("explain", "q", "--run", path, "-g", path, "-k", "1000000").out
    assert told.startswith("Found: the target is in the results (rank 1).")
