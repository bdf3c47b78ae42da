"""A folder or a pattern of files is one run."""

import gzip
from pathlib import Path

import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.write import write_table

TRUTH = {f"q{i}": [f"d{i}", f"d{i + 1}"] for i in range(12)}
ROWS = pl.DataFrame(
    [(f"q{i % 12}", f"d{(i * 5) % 17}", 1.0 / (1 + i)) for i in range(120)],
    schema=["query", "item", "score"],
    orient="row",
)


def write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        write_table(frame, path)


@pytest.fixture
def expected():
    return calipers.evaluate(ground_truth=TRUTH, run=ROWS, ties="trec").to_dict()["summaries"]


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv", ".tsv", ".csv.gz"])
def test_a_folder_and_a_pattern_are_one_run(tmp_path, expected, ending):
    for i in range(3):
        # Every query is in every file.
        write(ROWS[i * 40 : (i + 1) * 40], tmp_path / f"part-{i}{ending}")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "README.md").write_text("no data")
    for given in (tmp_path, str(tmp_path / f"part-*{ending}")):
        found = calipers.evaluate(ground_truth=TRUTH, run=given, ties="trec")
        assert found.to_dict()["summaries"] == expected
        assert f"{given} is read as one: 3 files." in found.settings["notes"]


def test_rows_without_an_order_may_not_be_in_two_files(tmp_path):
    for i in range(2):
        ROWS.select("query", "item").write_parquet(tmp_path / f"{i}.parquet")
    with pytest.raises(InvalidInput, match="have neither scores nor ranks"):
        calipers.evaluate(ground_truth=TRUTH, run=tmp_path)


def test_a_ground_truth_in_parts(tmp_path):
    rows = [(q, d) for q, items in TRUTH.items() for d in items]
    frame = pl.DataFrame(rows, schema=["query", "item"], orient="row").with_columns(grade=1.0)
    frame[:10].write_parquet(tmp_path / "a.parquet")
    frame[10:].write_parquet(tmp_path / "b.parquet")
    found = calipers.evaluate(ground_truth=tmp_path, run=ROWS)
    whole = calipers.evaluate(ground_truth=frame, run=ROWS)
    assert found.fingerprints["ground_truth"] == whole.fingerprints["ground_truth"]
    assert found.to_dict()["summaries"] == whole.to_dict()["summaries"]


def test_files_that_are_not_alike(tmp_path):
    write(ROWS, tmp_path / "a.csv")
    write(ROWS.with_columns(text=pl.lit("x")), tmp_path / "c.csv")
    with pytest.raises(InvalidInput, match="files with the same columns"):
        calipers.evaluate(ground_truth=TRUTH, run=tmp_path)
    for name in "bd":
        write(ROWS, tmp_path / f"{name}.jsonl")
    for pattern in ("*", "*.jsonl"):
        with pytest.raises(InvalidInput, match=r"Put the files of .* into one"):
            calipers.evaluate(ground_truth=TRUTH, run=str(tmp_path / pattern))


def test_a_pattern_that_matches_nothing(tmp_path):
    with pytest.raises(UnreadableFile, match=r"No file matches .*\*\.parquet"):
        calipers.evaluate(ground_truth=TRUTH, run=str(tmp_path / "*.parquet"))


def test_marks_beside_the_data_are_left_out_of_a_pattern(tmp_path):
    ROWS.write_parquet(tmp_path / "part-0.parquet")
    (tmp_path / "_SUCCESS").touch()
    assert calipers.read(ground_truth=TRUTH, run=tmp_path / "*").run is not None
    with pytest.raises(UnreadableFile, match="_SUCCESS is empty"):
        calipers.read(ground_truth=TRUTH, run=tmp_path / "_*")


def test_files_whose_ranks_are_those_of_two_lists(tmp_path):
    parts = [pl.DataFrame({"query": "q", "item": list("ab"), "rank": r}) for r in ([1, 2], [3, 4])]
    for number, part in enumerate(parts):
        part.write_csv(tmp_path / f"{number}.csv")
    run = calipers.read(ground_truth={"q": ["a"]}, run=tmp_path).run
    assert run.frame["rank"].to_list() == [1, 2, 3, 4]
    parts[0].write_csv(tmp_path / "1.csv")
    with pytest.raises(InvalidInput, match="have the rank"):
        calipers.read(ground_truth={"q": ["a"]}, run=tmp_path)
