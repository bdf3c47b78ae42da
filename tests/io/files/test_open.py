"""Files as bytes: blocks and lines, packed ones, pipes, and odd names."""

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers import read
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files import open as source
from calipers.io.files.open import Source
from calipers.io.files.write import write_table
from calipers.io.load import load, load_pair

contents = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"\xc3\xa9", b"#", b" "])).map(
    b"".join
)


@given(contents, st.integers(1, 9), st.booleans(), st.booleans())
def test_lines_do_not_depend_on_blocks(
    tmp_path_factory, content: bytes, block: int, packed: bool, marked: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "content"
    whole = (b"\xef\xbb\xbf" if marked else b"") + content
    path.write_bytes(gzip.compress(whole) if packed else whole)
    with mock.patch.object(source, "BLOCK", block):
        lines = list(Source(path).lines())
        text = b"".join(Source(path).blocks())
        assert Source(path).read() == content
    assert text == content.replace(b"\r\n", b"\n")
    naive = text.split(b"\n")
    naive = naive[:-1] if naive[-1] == b"" else naive
    assert lines == list(enumerate(naive, 1))


def test_only_blocks_of_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(b"one\ntwo\nthree\nfour")
    with mock.patch.object(source, "BLOCK", 6):
        blocks = list(Source(path).blocks())
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert len(blocks) > 2


def test_a_damaged_archive_is_found_out_late_too(tmp_path: Path) -> None:
    path = tmp_path / "run.txt.gz"
    lines = b"".join(b"q Q0 d%d 1 %d t\n" % (i, -i) for i in range(50_000))
    path.write_bytes(gzip.compress(lines)[:-100])
    with pytest.raises(UnreadableFile, match=r"run.txt.gz is damaged or cut off"):
        list(Source(path).lines())


MEGABYTE = 1 << 20


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_what_unpacks_to_too_much_is_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.packed"
    path.write_bytes(gzip.compress(b"a" * (19 * MEGABYTE), 6))
    assert path.stat().st_size < MEGABYTE
    with pytest.raises(UnreadableFile, match="unpacks to more than 18 MB"):
        Source(path, encoding=encoding).read()


def test_a_ranking_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    ranking = b'"",' * 1_000_000 + b'""'
    path.write_bytes(b'{"query": "q", "ground_truth": ["a"], "retrieved": [' + ranking + b"]}")
    with pytest.raises(InvalidInput, match=r"run\.jsonl:1 \$\.retrieved: at most 1,000,000"):
        read(path)


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
    assert b"hold several ids" in done.stdout


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(content: bytes) -> None:
        source._standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    yield put
    source._standard_input.cache_clear()


def test_a_record_of_both_or_nothing_on_standard_input(piped):
    piped(b'{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}\n')
    assert [part.n_queries for part in load_pair("-", None, None)[:1]] == [1]
    with pytest.raises(InvalidInput, match=r"Standard input \(-\) is given twice"):
        load_pair(None, "-", "-")
    piped(b"")
    with pytest.raises(InvalidInput, match="standard input is empty"):
        load_pair("-", None, None)


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".run", "utf-16"])
def test_a_named_pipe(kind, tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / f"file{kind if kind[0] == '.' else '.csv'}"
    _write(file, ["a"])
    if kind == "utf-16":
        file.write_text(file.read_text(), kind)
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


ODD = ("z*", "e[1]", "a?", "{a,b}", "**", "~x", "$HOME", "a b", "%41", "-x", "#1", "[!a]")
ENDINGS = (".csv", ".parquet", ".arrow", ".jsonl", ".run")
WANTED = {"q": ["a"]}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("stem", ODD)
def test_a_name_is_no_pattern(
    stem: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, items in ((f"z1{ending}", ["b"]), (f"z2{ending}", ["c"]), (stem + ending, ["a"])):
        _write(Path(name), items)
    for place in (stem + ending, Path(stem + ending), tmp_path / (stem + ending)):
        scores = calipers.evaluate(ground_truth=WANTED, run=place, metrics="recall@1")
        assert scores["recall@1"].mean == 1.0
        assert scores.queries["retrieved"].to_list() == [1]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".jsonl"])
def test_nor_is_that_of_a_corpus(ending: str, tmp_path: Path) -> None:
    for name, text in (("z1", "one"), ("z2", "two"), ("z*", "the GIL is a lock")):
        write_table(pl.DataFrame({"id": ["a"], "text": [text]}), tmp_path / f"{name}{ending}")
    record = [{"query": "q", "ground_truth": [{"quote": "GIL is a lock"}]}]
    found = calipers.resolve(record, tmp_path / f"z*{ending}")
    assert found.records[0]["ground_truth"][0]["document"] == "a"


def _write(path: Path, items: list[str]) -> None:
    if path.suffix == ".run":
        path.write_text("".join(f"q Q0 {item} 1 1.0 x\n" for item in items))
    elif path.suffix == ".jsonl":
        path.write_text(f'{{"query": "q", "retrieved": ["{items[0]}"]}}\n')
    else:
        frame = pl.DataFrame({"query": ["q"] * len(items), "item": items, "score": [1.0]})
        write_table(frame, path)
