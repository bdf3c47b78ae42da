"""No cell that a spreadsheet would run, and nothing lost on the way back."""

import csv
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.io.files.write import guard, guarded, guarded_frame, unguard, unguarded, write_table

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


@given(st.text(alphabet="'=1", max_size=5), st.text(alphabet="'=1", max_size=5))
def test_no_two_texts_become_one_cell(one: str, other: str) -> None:
    assert (guard(one) == guard(other)) == (one == other)


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


def test_numbers_are_left_alone() -> None:
    frame = pl.DataFrame({"value": [-1.0, 2.0], "name": ["-1.0", None]})
    assert guarded_frame(frame).rows() == [(-1.0, "'-1.0"), (2.0, None)]
