import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from calipers.errors import InvalidInput
from calipers.io.files import open as open_files
from calipers.io.load import load, load_pair

TRUTH = "question,chunk_id\nHow?,a;b\n"
RUN = "query,item,score\nHow?,b,2\nHow?,x,1\n"


def test_standard_input_is_read_once(tmp_path):
    (tmp_path / "run.csv").write_text(RUN)
    begin = "import sys; from calipers.cli import main; sys.exit(main())"
    asked = ("eval", "-g", "-", "-r", str(tmp_path / "run.csv"), "-m", "recall@5")
    command = [sys.executable, "-c", begin, *asked]
    done = subprocess.run(
        command, input=TRUTH.encode(), capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert b"0.500" in done.stdout
    assert b"2 ids, divided by ';'" in done.stdout


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(content: bytes) -> None:
        open_files._standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    yield put
    open_files._standard_input.cache_clear()


def test_a_record_of_both_or_nothing_on_standard_input(piped):
    piped(b'{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}\n')
    assert [part.n_queries for part in load_pair("-", None, None)[:1]] == [1]
    with pytest.raises(InvalidInput, match=r"Standard input \(-\) is given twice"):
        load_pair(None, "-", "-")
    piped(b"")
    with pytest.raises(InvalidInput, match="standard input is empty"):
        load_pair("-", None, None)


@pytest.mark.parametrize("kind", ["csv", "parquet", "trec"])
def test_a_named_pipe(kind, tmp_path):
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]})
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    if kind == "parquet":
        frame.write_parquet(file)
    elif kind == "csv":
        frame.write_csv(file)
    else:
        file.write_text("q Q0 a 1 1.0 t\n")
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(file.read_bytes(),), daemon=True)
    writer.start()
    run = load(pipe, "run").run
    assert run is not None
    assert run.frame["item"].to_list() == ["a"]
    assert run.ranked() is not None
    writer.join(10)


def test_what_the_shell_opens(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, TRUTH.encode())
    os.close(writing)
    place = Path(f"/dev/fd/{reading}")
    try:
        for _ in range(2):
            truth = load(place, "ground_truth").ground_truth
            assert truth is not None
            assert truth.targets.height == 2
    finally:
        os.close(reading)
