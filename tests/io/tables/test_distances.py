"""Distances: the smallest comes first, by any of their names, unless the user says otherwise."""

import polars as pl
import pytest

from calipers.errors import CalipersError, command_line
from calipers.io.load import load, load_run
from calipers.io.tables.columns import Columns

NAMES = (
    *("distance", "dist", "L2", "l2_distance", "euclidean", "cosine_dist", "cosineDistance"),
    *("Distanz", "hamming", "distance_score", "score (lower is better)", "Afstand"),
    "vector distance",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("comma", [False, True])
def test_the_smallest_distance_comes_first_in_any_order_of_rows(name, comma, tmp_path):
    path = tmp_path / "run.csv"
    text = f"question;doc_id;{name}\nq;b;0.5\nq;a;0.1\nq;c;0.7\n"
    path.write_text(text.replace("0.", "0,") if comma else text)
    run = load(path, "run").run
    assert [*zip(run.frame["item"], run.frame["score"], strict=True)] == [
        ("a", -0.1),
        ("b", -0.5),
        ("c", -0.7),
    ]
    assert run.order == "score"
    assert "the smallest comes first" in run.notes[0]


def test_distances_that_are_ignored_are_not_read(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("question,doc_id,distance\nq,b,0.5\nq,a,0.1\nq,c,0.7\n")
    run = load(path, "run", Columns.of(["ignore=distance"])).run
    assert (run.order, run.frame["item"].to_list()) == ("listed", ["b", "a", "c"])


def test_a_column_said_to_be_a_score_is_one(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("question,doc_id,L2\nq,b,0.5\nq,a,0.1\n")
    run = load(path, "run", Columns.of(["score=L2"])).run
    assert run.frame["score"].to_list() == [0.5, 0.1]


@pytest.mark.parametrize("name", ["Distance", "Abstand", "cosine_dist"])
def test_documents_beside_a_distance_are_results(name, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(f"Question;Document;{name}\nq;b;0,5\nq;a;0,1\n")
    assert load(path, "run").run.frame["item"].to_list() == ["a", "b"]


ROWS = [("q", 4, 0.3), ("p", 6, 0.5), ("p", 3, 0.2), ("p", 1, 0.4), ("q", 12, 0.1), ("q", 3, 0.7)]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_an_id_that_counts_the_rows_is_no_result(ending, tmp_path):
    path = tmp_path / f"run.{ending}"
    rows = [
        {"Frage": asked, "Dokument": found, "cosine_dist": far, "id": number}
        for number, (asked, found, far) in enumerate(ROWS, start=1)
    ]
    table = pl.DataFrame(rows)
    path.write_text(table.write_csv() if ending == "csv" else table.write_ndjson())
    with command_line(), pytest.raises(CalipersError) as refused:
        load_run(path)
    first, *_ = str(refused.value)[str(refused.value).index("--column") :].splitlines()
    assert first.startswith("--column item=Dokument --distance cosine_dist")
    assert "retrieved=" not in str(refused.value)
    run = load(path, "run", Columns.of(["item=Dokument", "distance=cosine_dist"])).run
    ranked = run.frame.sort("score", descending=True)
    assert ranked.filter(query="q")["item"].to_list() == ["12", "4", "3"]
