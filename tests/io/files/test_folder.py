"""A folder or a pattern of files is one run."""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput, UnreadableFile
from tests.command import calipers_command

TRUTH = {f"q{i}": [f"d{i}", f"d{i + 1}"] for i in range(12)}
ROWS = pl.DataFrame(
    [(f"q{i % 12}", f"d{(i * 5) % 17}", 1.0 / (1 + i)) for i in range(120)],
    schema=["query", "item", "score"],
    orient="row",
)


def write(frame: pl.DataFrame, path: Path) -> None:
    if path.name.endswith(".parquet"):
        frame.write_parquet(path)
        return
    text = (
        frame.write_csv()
        if ".csv" in path.name
        else frame.write_ndjson()
        if ".jsonl" in path.name
        else "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in frame.iter_rows())
    ).encode()
    if path.suffix == ".gz":
        text = gzip.compress(text)
    path.write_bytes(text)


@pytest.fixture
def expected():
    return calipers.evaluate(ground_truth=TRUTH, run=ROWS, ties="trec").to_dict()["summaries"]


ENDINGS = [".parquet", ".csv", ".csv.gz", ".jsonl", ".trec", ".trec.gz"]


@pytest.mark.parametrize("ending", ENDINGS)
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


def test_records_in_many_files(tmp_path):
    for i in range(3):
        records = [{"query": f"q{j}", "retrieved": [f"d{j}"]} for j in range(i * 4, i * 4 + 4)]
        text = "".join(json.dumps(one) + "\n" for one in records)
        (tmp_path / f"{i}.jsonl").write_text(text)
    found = calipers.evaluate(ground_truth=TRUTH, run=tmp_path, metrics="recall@1")
    assert found["recall@1"].mean == 0.5
    (tmp_path / "3.jsonl").write_text('{"query": "q0", "retrieved": ["d1"]}\n')
    with pytest.raises(InvalidInput, match="The query 'q0' is in two files"):
        calipers.evaluate(ground_truth=TRUTH, run=tmp_path)


def test_rows_without_an_order_may_not_be_in_two_files(tmp_path):
    for i in range(2):
        ROWS.select("query", "item").write_parquet(tmp_path / f"{i}.parquet")
    with pytest.raises(InvalidInput, match="is in two files"):
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


def test_a_file_of_that_very_name_is_that_file(tmp_path):
    write(ROWS, tmp_path / "run[1].csv")
    write(ROWS[:5], tmp_path / "run1.csv")
    found = calipers.evaluate(ground_truth=TRUTH, run=str(tmp_path / "run[1].csv"))
    assert found.audit.retrieved == 120


def test_files_that_are_not_alike(tmp_path):
    write(ROWS, tmp_path / "a.csv")
    write(ROWS, tmp_path / "b.trec")
    with pytest.raises(InvalidInput, match="are not alike"):
        calipers.evaluate(ground_truth=TRUTH, run=tmp_path)
    write(ROWS.with_columns(text=pl.lit("x")), tmp_path / "c.csv")
    with pytest.raises(InvalidInput, match="files with the same columns"):
        calipers.evaluate(ground_truth=TRUTH, run=str(tmp_path / "*.csv"))


def test_a_pattern_that_matches_nothing(tmp_path):
    with pytest.raises(UnreadableFile, match=r"No file matches .*\*\.parquet"):
        calipers.evaluate(ground_truth=TRUTH, run=str(tmp_path / "*.parquet"))


def test_the_command_counts_the_files(tmp_path):
    for i in range(2):
        write(ROWS[i * 60 : (i + 1) * 60], tmp_path / f"{i}.csv")
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps(TRUTH))
    done = calipers_command("eval", "-g", truth, "-r", str(tmp_path / "*.csv"))
    assert done.code == 0, done.err
    assert "is read as one: 2 files." in " ".join(done.out.split())


def test_a_damaged_file_is_named(tmp_path):
    write(ROWS, tmp_path / "a.csv.gz")
    whole = (tmp_path / "a.csv.gz").read_bytes()
    (tmp_path / "a.csv.gz").write_bytes(whole[:20] + b"\x00" * 50)
    with pytest.raises(UnreadableFile, match="is damaged or cut off"):
        calipers.evaluate(ground_truth=TRUTH, run=tmp_path / "a.csv.gz")
    (tmp_path / "a.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\x00" * 50)
    with pytest.raises(UnreadableFile, match=r"Unpack .*a\.csv\.zst first"):
        calipers.evaluate(ground_truth=TRUTH, run=tmp_path / "a.csv.zst")


def test_marks_beside_the_data_are_left_out_of_a_pattern(tmp_path):
    ROWS.write_parquet(tmp_path / "part-0.parquet")
    (tmp_path / "_SUCCESS").touch()
    assert calipers.read(ground_truth=TRUTH, run=tmp_path / "*").run is not None
    with pytest.raises(UnreadableFile, match="_SUCCESS is empty"):
        calipers.read(ground_truth=TRUTH, run=tmp_path / "_*")


def test_progress_goes_from_file_to_file(tmp_path):
    told = []
    for i in range(3):
        ROWS[i::3].write_parquet(tmp_path / f"part-{i}.parquet")
    calipers.evaluate(
        ground_truth=TRUTH, run=tmp_path, metrics="mrr", progress=lambda *at: told.append(at)
    )
    size = sum(one.stat().st_size for one in tmp_path.iterdir())
    assert {total for _, total in told} == {size}
    assert told[-1][0] == size
    assert len({done for done, _ in told}) == 3


def test_a_tag_that_one_of_the_files_has(tmp_path):
    tags: list[dict[str, Any]] = [{}, {"tags": {"type": "x"}}, {"tags": {"hops": 2}}]
    for i, tagged in enumerate(tags):
        record = {"query": f"q{i}", "retrieved": ["a"], "ground_truth": ["a"], **tagged}
        (tmp_path / f"{i}.jsonl").write_text(json.dumps(record) + "\n")
    table = calipers.evaluate(tmp_path, metrics="mrr").per_query
    assert table["tag.type"].to_list() == [None, "x", None]
    assert table["tag.hops"].to_list() == [None, None, "2"]


def test_a_ground_truth_and_a_run_side_by_side_keep_their_stages(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"query": "q1", "ground_truth": ["a"]}\n')
    for name in ("q1", "q2"):
        found = {"query": name, "retrieved": ["a"], "stages": {"candidates": ["b", "a"]}}
        (tmp_path / f"run-{name}.jsonl").write_text(json.dumps(found) + "\n")
    pair = calipers.read(tmp_path)
    assert pair.run.frame["query"].to_list() == ["q1", "q2"]
    assert pair.run.stages["candidates"].frame["item"].to_list() == ["b", "a", "b", "a"]


def test_files_whose_ranks_are_those_of_two_lists(tmp_path):
    parts = [pl.DataFrame({"query": "q", "item": list("ab"), "rank": r}) for r in ([1, 2], [3, 4])]
    for number, part in enumerate(parts):
        part.write_csv(tmp_path / f"{number}.csv")
    run = calipers.read(ground_truth={"q": ["a"]}, run=tmp_path).run
    assert run.frame["rank"].to_list() == [1, 2, 3, 4]
    parts[0].write_csv(tmp_path / "1.csv")
    with pytest.raises(InvalidInput, match=r"have the rank 1, one in .*0\.csv and one in .*1\.csv"):
        calipers.read(ground_truth={"q": ["a"]}, run=tmp_path)
