"""Numbered results beside numbered judgements are read as a row for each result."""

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from tests.io.tables.test_propose import lines_of, put, refusal, value

HEADER = "question,result_1,relevant_1,result_2,relevant_2,result_3,relevant_3\n"
ROWS = "Who?,a,0,b,1,c,0\nWhere?,d,1,e,0,,\n"


def test_each_result_has_the_judgement_of_its_number(tmp_path):
    scores = evaluate(put(tmp_path, HEADER + ROWS), metrics="mrr,precision@2")
    assert [scores[name].mean for name in ("mrr", "precision@2")] == [0.75, 0.5]
    assert "result_1, …, result_3" in str(scores)


@pytest.mark.parametrize(
    "header",
    [
        "question,doc_1,doc_2,rel_1,rel_2",
        "question,hit1,hit2,hit1_relevant,hit2_relevant",
        "question,result_1_id,result_2_id,grade_1,grade_2",
    ],
)
def test_judgements_may_stand_behind_the_results(header, tmp_path):
    path = put(tmp_path, f"{header}\nWho?,a,b,no,yes\nWhere?,c,d,no,no\n")
    assert evaluate(path, metrics="mrr")["mrr"].mean == 0.25


def test_the_line_names_the_question_alone(tmp_path):
    path = put(tmp_path, HEADER.replace("question", "Dotaz") + ROWS)
    [line] = lines_of(refusal(data=path))
    assert (line, value(line, data=path)) == ("--column query=Dotaz", 0.75)


def test_recall_needs_what_was_not_returned(tmp_path):
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(put(tmp_path, HEADER + ROWS), metrics="recall@3")


def test_expected_ids_beside_them_are_the_targets(tmp_path):
    path = put(tmp_path, "question,expected,doc_1,doc_2,rel_1,rel_2\nWho?,z,a,b,0,1\n")
    with pytest.raises(InvalidInput, match="rel_1"):
        evaluate(path, metrics="mrr")


@pytest.mark.parametrize(
    "text",
    [
        "doc_1\trel_1\trel_2\tdoc_2\tasked\n3\t0\t0\t6\tHow is it\n12\t0\t1\t2\tWho is it\n",
        "hit 2;正解;hit 1;質問\nd17;d8;d3;reset it 1\nd9;d18;d4;reset it 2\n",
    ],
)
def test_a_table_of_texts_is_no_run_and_no_judgements(text, tmp_path):
    assert "no column for the query" in refusal(data=put(tmp_path, text))
