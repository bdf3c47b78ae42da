"""Ranks of a table: gaps are said, whatever the order of the rows."""

# mypy: disable-error-code="arg-type"

import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.io.tables.cells import gap_notes


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=3
    ),
    st.integers(0, 99),
)
def test_a_gap_is_said_exactly_where_a_rank_between_two_is_missing(ranks, seed):
    rows = [(query, float(rank)) for query, some in ranks.items() for rank in some]
    random.Random(seed).shuffle(rows)
    frame = pl.DataFrame(rows, schema=["query", "rank"], orient="row")
    gaps = [one for one in ranks.values() if max(one) - min(one) + 1 > len(one)]
    notes = gap_notes(frame, whole=True)
    assert len(notes) == bool(gaps)
    assert all(f"The ranks of {len(gaps)} quer" in note for note in notes)


@pytest.mark.parametrize(("order", "said"), [([1, 2, 9], 1), ([9, 2, 1], 0), ([1, 2, 3], 0)])
def test_rows_that_are_not_all_count_only_in_their_order(order, said):
    frame = pl.DataFrame({"query": "q", "rank": order})
    assert len(gap_notes(frame, whole=False)) == said


def test_the_note_reaches_the_result_and_the_results_move_up():
    run = pl.DataFrame({"query": "q", "item": ["x", "a"], "rank": [1, 5]})
    scores = calipers.evaluate(run, ground_truth={"q": ["a"]}, metrics="mrr")
    assert scores["mrr"].mean == 0.5
    assert "(1, then 5)" in scores.settings["notes"][0]


RUN = {"q1": ["a", "b"], "q2": ["b"], "q3": ["c"]}


@pytest.fixture
def judged() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "query": ["q2", "q1", "q1", "q3"],
            "item": ["b", "a", "b", "x"],
            "grade": [1, 1, 2, 1],
            "tag.country": ["fr", None, "de", None],
            "tag.year": [2024, 2025, 2025, 2024],
        }
    )


@pytest.mark.parametrize("form", ["memory", "csv", "parquet"])
def test_a_column_of_tags_is_about_the_query(judged, form: str, tmp_path: Path) -> None:
    given: object = judged
    if form != "memory":
        given = tmp_path / f"truth.{form}"
        getattr(judged, f"write_{form}")(given)
    scores = calipers.evaluate(ground_truth=given, run=RUN, metrics="recall@1")
    assert scores.queries["query"].to_list() == ["q2", "q1", "q3"]
    assert scores.tags["country"].to_list() == ["fr", "de", None]
    assert scores.tags["year"].to_list() == ["2024", "2025", "2024"]


def test_two_values_for_one_query(judged) -> None:
    split = judged.with_columns(pl.Series("tag.year", [2024, 2025, 2026, 2024]))
    with pytest.raises(
        InvalidInput, match=r"'q1' has two values in the column 'tag\.year': '2025' and '2026'"
    ):
        calipers.evaluate(ground_truth=split, run=RUN)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Retrieval test,,\n,,\nquestion,expected_ids,retrieved\nq,a,a\n", 3),
        ("Retrieval test\n\nquestion,expected_ids,retrieved\nq,a,a\n", 3),
        ("Test, March\nFrage,Erwartet,Treffer\nq,a,a\n", 2),
        ('A "test";;\r\nFrage;Erwartet;Treffer\r\nq;a;a\r\n', 2),
    ],
)
def test_a_title_above_the_header_is_called_that(text, line, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(text, newline="")
    with pytest.raises(InvalidInput, match=rf"above the table in .*sheet\.csv:{line} \("):
        calipers.evaluate(path)


@pytest.mark.parametrize("cells", ["a;a,b", "['a'];['a', 'b']"])
@pytest.mark.parametrize("last", ["Total;;0.85", "Average;;", "Summe;3;"])
@pytest.mark.parametrize("name", ["retrieved", "came"])
def test_a_last_row_that_sums_up_is_named_whatever_else_is_unclear(cells, last, name, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(f"question;expected_ids;{name}\nq;{cells}\np;{cells}\n{last}\n")
    with pytest.raises(InvalidInput, match=r"Take out the last row of .*sums up"):
        calipers.evaluate(path)


def test_a_count_below_numeric_ids_sums_up_and_another_number_is_an_id(tmp_path):
    path = tmp_path / "sheet.csv"
    run = {"q": ["7"], "p": ["8"], "Total": ["9"]}
    path.write_text("question,chunk_id\nq,7\np,8\nTotal,2\n")
    with pytest.raises(InvalidInput, match=r"Take out the last row of .*sums up"):
        calipers.evaluate(ground_truth=path, run=run)
    path.write_text("question,chunk_id\nq,7\np,8\nTotal,9\n")
    assert calipers.evaluate(ground_truth=path, run=run, metrics="mrr")["mrr"].n == 3


def test_a_question_that_is_called_like_a_total_is_kept(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("question,expected_ids,retrieved\nq,1,1\nmean,2,2\n")
    assert calipers.evaluate(path, metrics="mrr")["mrr"].mean == 1.0
