"""Rows that do not stand together, brought together in memory and on disk."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import calipers
from calipers.engines import shards
from calipers.engines.shards import Shards
from calipers.errors import InvalidInput, WriteFailed
from calipers.io.files import spill
from calipers.model.run import Run, in_query_order

QUERIES, DEPTH = 300, 20


@pytest.fixture
def mixed() -> pl.DataFrame:
    """A run whose rows are in no order."""
    rows = [
        (f"q{q}", f"d{(q * 7 + i * 13) % 50}", 1.0 / (1 + (q * i) % 9))
        for i in range(DEPTH)
        for q in range(QUERIES)
    ]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


@pytest.fixture
def judged() -> pl.DataFrame:
    rows = [(f"q{q}", f"d{(q + j) % 50}", float(j)) for q in range(QUERIES) for j in range(4)]
    return pl.DataFrame(rows, schema=["query", "item", "grade"], orient="row")


@pytest.fixture
def small(monkeypatch):
    """So little memory that every run goes to disk, and large shards are divided again."""
    monkeypatch.setattr(Shards, "_bytes", 400_000)
    monkeypatch.setattr(shards, "_ROWS_AT_ONCE", 50)
    monkeypatch.setattr(shards, "_FEW_ROWS", 100)
    monkeypatch.setattr(shards, "SHARDS", 8)


def frames(frame: pl.DataFrame, size: int = 700):
    return lambda: (frame[i : i + size] for i in range(0, frame.height, size))


def test_every_query_stands_together_and_keeps_its_order(mixed, small):
    found = pl.concat(list(Shards()(frames(mixed))()))
    assert found.height == mixed.height
    starts = found["query"].ne_missing(found["query"].shift(1)).sum()
    assert starts == QUERIES
    expected = in_query_order([mixed]).sort("query", maintain_order=True)
    assert found.sort("query", maintain_order=True).equals(expected)


def test_queries_whose_hashes_are_alike_are_told_apart(mixed, small, monkeypatch):
    usual = pl.concat(list(Shards()(frames(mixed))()))
    monkeypatch.setattr(shards, "query_starts", lambda _: np.zeros(1, dtype=np.int64))
    alike = pl.concat(list(Shards()(frames(mixed))()))
    by_query = [one.sort("query", maintain_order=True) for one in (usual, alike)]
    assert by_query[0].equals(by_query[1])


def test_what_fits_stays_in_memory(mixed, monkeypatch):
    monkeypatch.setattr(spill, "_open", None)
    assert len(list(Shards("1GB")(frames(mixed))())) == 1


def test_one_query_larger_than_a_shard_is_not_divided(small):
    frame = pl.DataFrame({"query": ["q"] * 5000, "item": [str(i) for i in range(5000)]})
    found = [one for one in Shards()(frames(frame))() if one.height]
    assert [one.height for one in found] == [5000]


@pytest.mark.parametrize("order", ["score", "listed"])
def test_scores_from_shards_are_those_from_memory(mixed, judged, small, order):
    table = mixed if order == "score" else mixed.drop("score")
    run = Run(frames(table), order=order, ties="input")
    metrics = "recall@5,ndcg@10,map,err@5,rbp"
    in_memory = calipers.evaluate(ground_truth=judged, run=run, metrics=metrics)
    on_disk = calipers.evaluate(
        ground_truth=judged,
        run=Run(frames(table), order=order, ties="input", together=Shards()),
        metrics=metrics,
    )
    assert on_disk.to_dict() == in_memory.to_dict()


def process(code: str, temp: Path, *arguments: str) -> "subprocess.Popen[str]":
    """A process of its own that does what is written, with its temporary files in a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(temp)},
    )


SHARDED = """
import os, signal, sys
import polars as pl
from calipers.engines.shards import Shards
from calipers.errors import WriteFailed
Shards._bytes = 2_000_000
frame = pl.DataFrame({"query": [str(i % 9000) for i in range(60_000)], "score": range(60_000)})
"""


def test_a_full_disk_is_a_sentence(tmp_path):
    """A limit on the size of files stands for a full disk: the system refuses to write."""
    pytest.importorskip("resource")
    code = """
import resource
# Modules that are compiled below the limit would stay on the disk, cut short.
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
try:
    Shards()(lambda: iter([frame, frame]))
except WriteFailed as error:
    print(error)
"""
    said, complaint = process(SHARDED + code, tmp_path).communicate(timeout=120)
    assert f"The temporary file in {tmp_path} cannot grow" in said, complaint
    assert "TMPDIR" in said
    assert list(tmp_path.iterdir()) == []


STOPPED_AMONG_SHARDS = """
import signal, sys, time
from calipers.engines import shards
from calipers.io.files.spill import ScratchFile
from calipers.cli import program
# Who starts this test in the background may have had it ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
shards.Shards._bytes = 100_000
shards._ROWS_AT_ONCE = 1000
shards._FEW_ROWS = 2000
def waiting(self, piece):
    print("shards are written", self._end, flush=True)
    time.sleep(0.1)
    return read(self, piece)
read, ScratchFile.read = ScratchFile.read, waiting
sys.argv = ["calipers", *sys.argv[1:]]
program()
"""


@pytest.mark.skipif(hasattr(os, "O_BINARY"), reason="Windows has no such signals")
def test_who_is_stopped_while_shards_are_on_disk_leaves_nothing(mixed, judged, tmp_path):
    temp, out = tmp_path / "temp", tmp_path / "out"
    for folder in (temp, out):
        folder.mkdir()
    mixed.write_parquet(tmp_path / "run.parquet")
    judged.write_parquet(tmp_path / "truth.parquet")
    asked = ["eval", "-g", str(tmp_path / "truth.parquet"), "-r", str(tmp_path / "run.parquet")]
    asked += ["--per-query", str(out / "scores.parquet")]
    signals = (signal.SIGINT, signal.SIGTERM)
    stopped = {sent: process(STOPPED_AMONG_SHARDS, temp, *asked) for sent in signals}
    for sent, running in stopped.items():
        assert running.stdout is not None
        assert running.stdout.readline().startswith("shards are written")
        running.send_signal(sent)
        _, complaint = running.communicate(timeout=60)
        assert running.returncode == 128 + sent
        assert complaint.strip() == "Stopped."
    assert [*temp.iterdir(), *out.iterdir()] == []


@pytest.mark.skipif(hasattr(os, "O_BINARY"), reason="Windows has no such signals")
def test_nothing_is_left_where_the_process_is_killed(tmp_path):
    code = """
kept = Shards()(lambda: iter([frame, frame]))
print(sum(one.height for one in kept()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    said, complaint = process(SHARDED + code, tmp_path).communicate(timeout=120)
    assert said == "120000\n", complaint
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to(tmp_path, mixed, small, monkeypatch):
    monkeypatch.setattr(
        "tempfile.TemporaryFile",
        lambda **_: (_ for _ in ()).throw(OSError(13, "Permission denied")),
    )
    with pytest.raises(WriteFailed, match="No temporary file can be made"):
        Shards()(frames(mixed))


@pytest.mark.parametrize("given", ["much", "1MB", "-2GB", 5, True])
def test_memory_that_is_none(given):
    with pytest.raises(InvalidInput, match="such as 500MB or 2GB"):
        Shards(given)
