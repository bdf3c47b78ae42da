"""Columns that are numbered hold one list, whatever the number stands beside."""

import pytest

from calipers import evaluate
from tests.io.tables.test_propose import lines_of, put, refusal, value

TRUTH = {"q": ["a"], "p": ["c"]}


@pytest.mark.parametrize("names", ["top_{}_id", "hit{}", "Rank {}", "result {} id"])
def test_columns_numbered_anywhere_are_one_list_of_results(names, tmp_path):
    header = ",".join(names.format(n) for n in (2, 1))
    path = put(tmp_path, f"question,{header}\nq,a,b\np,d,c\n")
    assert evaluate(run=path, ground_truth=TRUTH, metrics="mrr")["mrr"].mean == 0.75


def test_columns_that_are_numbers_are_proposed_as_one_list(tmp_path):
    path = put(tmp_path, "question,#1,#2\nq,b,a\np,c,d\n")
    [line, *_] = lines_of(refusal(run=path, ground_truth=TRUTH))
    assert line == "--column 'item=#1,#2'"
    assert value(line, run=path, ground_truth=TRUTH) == 0.75


@pytest.mark.parametrize("order", ["result_1,score_1,result_2,score_2", "other"])
def test_scores_beside_numbered_results_confirm_their_order(order, tmp_path):
    rows = [
        {"question": q, "result_1": a, "score_1": 0.9, "result_2": b, "score_2": 0.25}
        for q, a, b in (("q", "b", "a"), ("p", "c", "d"))
    ]
    names = order.split(",") if order != "other" else ["score_1", "score_2", "result_1", "result_2"]
    lines = [",".join(str(row[name]) for name in ("question", *names)) for row in rows]
    path = put(tmp_path, "\n".join([",".join(("question", *names)), *lines]) + "\n")
    assert evaluate(run=path, ground_truth=TRUTH, metrics="mrr")["mrr"].mean == 0.75


def test_scores_in_another_order_are_refused(tmp_path):
    rows = "question,result_1,score_1,result_2,score_2\nq,b,0.2,a,0.9\np,c,0.9,d,0.2\n"
    assert "which may be the grades" in refusal(run=put(tmp_path, rows), ground_truth=TRUTH)


def test_columns_called_1_2_and_3_are_a_header(tmp_path):
    path = put(tmp_path, "utterance,1,2\nq,b,a\np,c,d\n")
    [line, *_] = lines_of(refusal(run=path, ground_truth=TRUTH))
    assert value(line, run=path, ground_truth=TRUTH) == 0.75
