"""Tags in the columns of a table."""

from pathlib import Path

import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput

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


def test_scores_in_a_file_are_sliced_by_them(judged, tmp_path: Path) -> None:
    from calipers.io.tables.scores import write_scores

    scores = calipers.evaluate(ground_truth=judged, run=RUN, metrics="recall@1")
    write_scores(scores, tmp_path / "scores.parquet")
    again = calipers.slices(tmp_path / "scores.parquet", "year")
    assert again.to_dict() == calipers.slices(scores, "year").to_dict()


def test_two_values_for_one_query(judged) -> None:
    split = judged.with_columns(pl.Series("tag.year", [2024, 2025, 2026, 2024]))
    with pytest.raises(
        InvalidInput, match=r"'q1' has two values in the column 'tag\.year': '2025' and '2026'"
    ):
        calipers.evaluate(ground_truth=split, run=RUN)
