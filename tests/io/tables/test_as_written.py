"""Tables in the shapes in which people write them, with the value that each must give."""

import pandas as pd
import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.tables.cells import Splitter
from calipers.io.tables.grades import grades_of_words


def recall(text, tmp_path, truth=None, **more):
    path = tmp_path / "data.csv"
    path.write_text(text)
    if truth is None:
        return evaluate(path, metrics="recall@5", **more)["recall@5"].mean
    other = tmp_path / "truth.csv"
    other.write_text(truth)
    scores = evaluate(run=path, ground_truth=other, metrics="recall@5", **more)
    return scores["recall@5"].mean


QUOTED = """question,evidence,chunk_id,rank,chunk_text
Who?,The seat is taken by nobody.,c1,1,Nothing about it here at all.
Who?,The seat is taken by nobody.,c2,2,We say: The seat is taken by nobody.
When?,The shop opens at nine.,c3,1,The shop closes at ten on weekdays.
When?,The shop opens at nine.,c4,2,Another text about other things.
"""


@pytest.mark.parametrize("called", ["evidence", "gold_passage"])
@pytest.mark.parametrize("text", ["chunk_text", "page_content", "text"])
def test_a_quote_beside_each_result_is_the_target(called, text, tmp_path):
    """The ids that were returned are never what should be found."""
    table = QUOTED.replace("evidence", called).replace("chunk_text", text)
    assert recall(table, tmp_path) == 0.5


def test_an_order_of_ids_beside_quotes_without_texts_is_no_perfect_retriever(tmp_path):
    rows = [",".join(line.split(",")[:4]) for line in QUOTED.splitlines()]
    with pytest.raises(InvalidInput, match="Give every result a text"):
        recall("\n".join(rows), tmp_path)


def test_one_line_names_the_columns_of_both_files(tmp_path):
    run = "hakusana,osuma,score\nKuka?,a,2\nKuka?,b,1\n"
    truth = "kysymys,oikea\nKuka?,b\nKuka?,c\n"
    with pytest.raises(InvalidInput) as caught:
        recall(run, tmp_path, truth)
    columns = {"query": "kysymys,hakusana", "item": "oikea,osuma"}
    assert all(f'"{ours}": "{theirs}"' in str(caught.value) for ours, theirs in columns.items())
    assert recall(run, tmp_path, truth, columns=columns) == 0.5


@pytest.mark.parametrize(
    ("run", "truth"),
    [
        ("query,id,distance\nq1,a,0.1\nq1,b,0.2\n", "query_id,question,expected\nq1,Who?,a;c\n"),
        ("query,id,score\nq1,a,2\nq1,b,1\n", "query,document\nq1,a\nq1,c\n"),
        ("query,document,rank\nq1,a,1\nq1,b,2\n", "query,doc_id,label\nq1,a,1\nq1,c,2\n"),
        (
            "query,doc_id,rank\nq1,How to pay bills,1\nq1,Who to ask now,2\n",
            "query,expected\nq1,How to pay bills;Where to go first\n",
        ),
    ],
)
def test_ids_under_other_usual_names_meet(run, truth, tmp_path):
    assert recall(run, tmp_path, truth) == 0.5


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        ("1. a\n2. b", ["a", "b"]),
        ("- a\n- b", ["a", "b"]),
        ("1. Setup", ["1. Setup"]),
        ("[('a', 0.9), ('b', 0.5)]", ["a", "b"]),
        ('[{"id": "a", "score": 2}, {"id": "b", "score": 1}]', ["a", "b"]),
        ('{"a": 0.9, "b": 0.5}', ["a", "b"]),
    ],
)
def test_lists_as_people_and_tools_write_them(cell, ids):
    assert Splitter("results").split(cell, str) == ids


def test_scores_in_a_cell_that_rise_are_refused():
    with pytest.raises(InvalidInput, match="no list of ids"):
        Splitter("results").split("[('a', 0.5), ('b', 0.9)]", str)


@pytest.mark.parametrize(
    ("words", "grades"),
    [
        ("high medium low none", "high=3,medium=2,low=1,none=0"),
        ("hoch mittel gering keine", "hoch=3,mittel=2,gering=1,keine=0"),
        ("high medium low", "high=2,medium=1,low=0"),
        ("exact substitute complement irrelevant", None),
    ],
)
def test_scales_with_a_little_and_nothing(words, grades):
    if grades is None:
        grades = "exact=3,substitute=2,complement=1,irrelevant=0"
    assert grades_of_words(words.split()) == grades


def test_unknown_words_of_a_grade_are_never_answered_by_leaving_them_out(tmp_path):
    with pytest.raises(InvalidInput, match="'A'") as caught:
        recall("query,doc_id\nq,a\n", tmp_path, "query,doc_id,label\nq,a,A\nq,b,D\n")
    assert "ignore" not in str(caught.value)


def test_a_rank_that_is_a_dash_was_judged_and_not_returned():
    frame = pd.DataFrame(
        {
            "query": ["q", "q", "q"],
            "doc_id": ["a", "b", "c"],
            "rank": ["1", "2", "-"],
            "relevant": [1, 0, 1],
        }
    )
    assert evaluate(frame, metrics="recall@5")["recall@5"].mean == 0.5
