"""Files out: whole or not at all, and nothing a spreadsheet would run."""

import csv
import json
import os
import stat
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import CalipersError, WriteFailed
from calipers.io.files import write
from calipers.io.files.write import (
    WRITERS,
    guard,
    guarded,
    guarded_frame,
    remove_unfinished,
    unguard,
    unguarded,
    whole_file,
    write_table,
)
from tests.command import calipers_command, refused

FRAME = pl.DataFrame(
    {
        "query": ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "fine", None, 'é,"\n'],
        "value": [0.1, -1.0, None, 1 / 3, 0.0, 1.0, 2.0, 3.0, 4.0],
    }
)


@pytest.mark.parametrize("ending", WRITERS)
def test_every_ending_can_be_read_back(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores{ending.upper()}"
    write_table(FRAME, path)
    readers = {
        ".parquet": pl.read_parquet,
        ".arrow": pl.read_ipc,
        ".csv": pl.read_csv,
        ".tsv": lambda path: pl.read_csv(path, separator="\t"),
        ".json": lambda path: pl.DataFrame(json.loads(path.read_text())),
        ".jsonl": pl.read_ndjson,
    }
    found = readers[ending](path)
    wanted = guarded_frame(FRAME) if ending in (".csv", ".tsv") else FRAME
    assert found["value"].to_list() == wanted["value"].to_list()
    assert found["query"].to_list() == wanted["query"].to_list()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    path = tmp_path / "evals.json"
    path.write_text('[{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]')
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


UNWRITABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no folder": (lambda folder: folder / "none" / "x.csv", "there is no folder"),
    "a folder": (lambda folder: folder, "is a folder; name a file in it"),
    "below a file": (lambda folder: folder / "evals.json" / "x.csv", "there is no folder"),
    "no ending": (lambda folder: folder / "scores", "has the ending 'nothing'"),
    "unknown ending": (lambda folder: folder / "scores.xlsx", ".parquet, .csv, .tsv, .json"),
}


@pytest.mark.parametrize("fault", UNWRITABLE)
def test_an_output_that_cannot_be_written(fault: str, evals: Path) -> None:
    place, words = UNWRITABLE[fault]
    before = names_in(evals.parent)
    assert words in refused("eval", evals, "--per-query", place(evals.parent))
    assert names_in(evals.parent) == before


def test_nothing_half_written_is_left(evals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = evals.parent / "scores.csv"
    target.write_text("what stood here before")

    def disk_full(frame, file) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(write.WRITERS, ".csv", disk_full)
    printed = calipers_command("eval", evals, "--per-query", target)
    assert printed.code == 2
    sentence = " ".join(printed.err.split())
    assert f"The output {target} cannot be written: No space left on device" in sentence
    assert "nothing was changed there" in sentence
    assert target.read_text() == "what stood here before"
    assert names_in(evals.parent) == ["evals.json", "scores.csv"]


def test_any_failure_leaves_nothing_half_written(tmp_path: Path) -> None:
    def interrupted() -> None:
        with whole_file(tmp_path / "x.txt") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names_in(tmp_path) == []
    with pytest.raises(WriteFailed), whole_file(tmp_path / "none" / "x.txt"):
        pass


def test_a_written_file_is_like_any_other(tmp_path: Path) -> None:
    long_name = tmp_path / ("𝄞" * 62)
    with whole_file(long_name) as file:
        file.write(b"all")
    (tmp_path / "other").write_bytes(b"all")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1
    assert long_name.read_bytes() == b"all"


def test_a_device_stays_a_device() -> None:
    devices = Path("/dev/null"), Path("/dev/full")
    before = [(one.stat().st_ino, one.stat().st_rdev) for one in devices]
    write_table(FRAME, devices[0])
    with pytest.raises(WriteFailed, match="No space left"):
        write_table(FRAME, devices[1])
    assert [(one.stat().st_ino, one.stat().st_rdev) for one in devices] == before


@pytest.mark.parametrize("ending", WRITERS)
def test_a_pipe_gets_the_whole_table(ending: str, tmp_path: Path) -> None:
    pipe, file = tmp_path / f"pipe{ending}", tmp_path / f"file{ending}"
    os.mkfifo(pipe)
    write_table(FRAME, file)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        write_table(FRAME, pipe)
        assert read.result(10) == file.read_bytes()
    assert pipe.is_fifo()


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "scores.csv", tmp_path / "link.csv"
    link.symlink_to("far/scores.csv")
    for _ in range(2):  # first the link leads nowhere
        write_table(FRAME, link)
        assert link.is_symlink()
        assert pl.read_csv(target).height == FRAME.height
    assert [one.name for one in target.parent.iterdir()] == ["scores.csv"]


def test_a_circle_of_links_has_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a.csv")
    with pytest.raises(WriteFailed, match="cannot be written"):
        write_table(FRAME, tmp_path / "a.csv")


def test_the_rights_of_a_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.touch(0o600)
    write_table(FRAME, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "a\0.csv", "no/such.csv", "/dev/fd/99"])
def test_a_name_that_cannot_be_has_its_sentence(name: str) -> None:
    with pytest.raises(CalipersError, match="The output"):
        write_table(FRAME, name)


@pytest.mark.parametrize("place", ["-", "/dev/stdout"])
def test_standard_output_gets_the_output_alone(place: str, evals: Path) -> None:
    printed = calipers_command("eval", evals, "--per-query", place)
    assert printed.code == 0, printed.err
    assert printed.out.startswith("query,")
    assert "hit_rate" in printed.err
    both = calipers_command("eval", evals, "--per-query", place, "--json")
    assert both.code == 2
    assert "Both --json and --per-query are given" in both.err


def test_what_is_given_up_without_a_word_is_removed_at_the_end(tmp_path):
    writing = whole_file(tmp_path / "o.csv")
    writing.__enter__().write(b"half")
    assert [one.suffix for one in tmp_path.iterdir()] == [".part"]
    remove_unfinished()
    assert list(tmp_path.iterdir()) == []


RUN_BY_SPREADSHEETS = tuple("=+-@＝＋－＠\t\r\n")
CELLS = st.one_of(
    st.text(alphabet="'=+-@＝＋－＠\t\r\na1 ", max_size=6),
    st.text(st.characters(exclude_categories=["Cs"])),
)


@given(CELLS)
def test_nothing_is_run_and_everything_comes_back(text: str) -> None:
    cell = guard(text)
    assert not cell.startswith(RUN_BY_SPREADSHEETS)
    assert unguard(cell) == text


@given(st.lists(CELLS))
def test_a_column_is_guarded_as_its_cells_are(texts: list[str]) -> None:
    frame = pl.DataFrame({"cell": texts}, schema={"cell": pl.String})
    cells = frame.select(guarded(pl.col("cell")))
    assert cells["cell"].to_list() == [guard(text) for text in texts]
    assert cells.select(unguarded(pl.col("cell")))["cell"].to_list() == texts


@pytest.mark.parametrize("text", ["plain", "a=1", "'tis", "", " =1"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert guard(text) == unguard(text) == text


@given(st.lists(CELLS.filter(lambda text: "\r" not in text), min_size=1))
def test_ids_come_back_from_a_table_on_disk(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "per_query.csv"
        write_table(pl.DataFrame({"query": texts, "=mrr": [1.0] * len(texts)}), path)
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
    assert header == ["query", "'=mrr"]
    assert [unguard(row[0]) for row in rows] == texts
