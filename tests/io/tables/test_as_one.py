"""Columns with a number each are one column."""

import json

import pytest

from calipers import evaluate
from tests.command import calipers_command, refused

RUN = {"q1": ["a", "x", "b"], "q2": ["x", "c"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    return tmp_path


@pytest.mark.parametrize(
    "table",
    [
        "Question,Chunk 1,Chunk 2,Chunk 3\nq1,a,b,\nq2,c,,\n",
        "question;expected_chunk_1;expected_chunk_2\nq1;a;b\nq2;c;\n",
        "query,doc1,doc2,doc3\nq1,b,,a\nq2,c,,\n",
        "query,chunk_id_0,chunk_id_1\nq1,a,b\nq2,,c\n",
    ],
)
def test_targets_in_columns_of_their_own(folder, table):
    (folder / "gold.csv").write_text(table)
    scores = evaluate(ground_truth="gold.csv", run="run.json", metrics="recall@2,recall@3")
    assert (scores["recall@2"].mean, scores["recall@3"].mean) == (0.75, 1.0)
    assert any("are taken as one" in note for note in scores.settings["notes"])


def test_results_in_columns_of_their_own(folder):
    (folder / "run.csv").write_text("query,result 1,result 2,result 3\nq1,x,a,b\nq2,c,,\n")
    for role in ("result", "Chunk"):
        table = (folder / "run.csv").read_text().replace("result", role)
        (folder / "again.csv").write_text(table)
        scores = evaluate(ground_truth={"q1": ["a"], "q2": ["c"]}, run="again.csv", metrics="mrr")
        assert scores["mrr"].mean == 0.75


def test_targets_and_results_in_one_table(folder):
    (folder / "both.csv").write_text("query,chunk_id,result 1,result 2\nq1,a,x,a\nq2,c,c,\n")
    assert evaluate("both.csv", metrics="mrr")["mrr"].mean == 0.75


def test_texts_in_columns_of_their_own(folder):
    (folder / "gold.csv").write_text('query,quote 1,quote 2\nq1,"The cat; it sat",on a mat\n')
    run = [{"query": "q1", "retrieved": [{"text": "The cat; it sat."}, {"text": "no"}]}]
    assert evaluate(ground_truth="gold.csv", run=run, metrics="recall@2")["recall@2"].mean == 0.5


def test_what_could_be_two_things_is_refused(folder):
    (folder / "graded.csv").write_text("query,Chunk 1,Note 1,Chunk 2,Note 2\nq1,a,3,b,0\n")
    assert "has numbers in Note 1, Note 2 beside Chunk 1, Chunk 2" in refused("audit", "graded.csv")
    (folder / "several.csv").write_text("query,Chunk 1,Chunk 2\nq1,a;b,c\n")
    sentence = refused("audit", "several.csv")
    assert "A cell of 'Chunk 1' holds several ids at several.csv:2" in sentence
    (folder / "remarks.csv").write_text("query,Chunk 1,Note 1,Chunk 2,Note 2\nq1,a,why,b,\n")
    assert calipers_command("audit", "remarks.csv").code == 0
