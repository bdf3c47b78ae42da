"""Tables out: whole files, and nothing a spreadsheet would run."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from calipers.io.write import WRITERS, without_formulas, write_table

FRAME = pl.DataFrame(
    {"query": ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "fine", None, "é,\"\n"],
     "value": [0.1, -1.0, None, 1 / 3, 0.0, 1.0, 2.0, 3.0, 4.0]}
)  # fmt: skip


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
    wanted = without_formulas(FRAME) if ending in (".csv", ".tsv") else FRAME
    assert found["value"].to_list() == wanted["value"].to_list()
    assert found["query"].to_list() == wanted["query"].to_list()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_formulas_become_text(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    write_table(FRAME, path)
    with path.open(newline="") as file:
        cells = [row["query"] for row in csv.DictReader(file)]
    assert cells == ["'=1+1", "'+x", "'-x", "'@x", "'\tx", "'\rx", "fine", "", 'é,"\n']
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)


def test_numbers_below_zero_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    write_table(FRAME, path)
    assert pl.read_csv(path)["value"].dtype == pl.Float64
