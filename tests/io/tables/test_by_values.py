"""What values settle: single results, texts of queries, scores in words, and ids beside answers."""

import pytest

from calipers import evaluate
from calipers.io.load import load
from tests.io.tables.test_propose import lines_of, put, refusal, value

TRUTH = {"q": ["a"], "p": ["c"]}


def test_results_with_one_in_each_row_are_items_where_a_rank_or_grade_is(tmp_path):
    rows = "question,retrieved_id,rank\nq,b,1\nq,a,2\np,c,1\np,d,2\n"
    assert evaluate(run=put(tmp_path, rows), ground_truth=TRUTH, metrics="mrr")["mrr"].mean == 0.75
    graded = "question,retrieved_id,rank,relevance\nq,b,1,0\nq,a,2,1\np,c,1,1\np,d,2,0\n"
    assert evaluate(put(tmp_path, graded), metrics="mrr")["mrr"].mean == 0.75


@pytest.mark.parametrize("marks", ["?", "？"])
def test_questions_beside_their_ids_are_their_texts(marks, tmp_path):
    rows = f"query_id,utterance,chunk_id\n1,q{marks},a\n1,q{marks},b\n2,p{marks},c\n"
    path = put(tmp_path, rows)
    run = {f"q{marks}": ["b"], f"p{marks}": ["c"]}
    assert evaluate(run, ground_truth=path, metrics="recall@1")["recall@1"].mean == 0.75


def test_two_texts_of_one_query_are_no_text_of_it(tmp_path):
    rows = "query_id,utterance,chunk_id\n1,q?,a\n1,r?,b\n2,p?,c\n"
    assert "'utterance'" in refusal(ground_truth=put(tmp_path, rows), run={"1": ["a"], "2": ["c"]})


def test_a_score_that_says_yes_or_no_is_a_grade(tmp_path):
    rows = "question,chunk_id,rank,score\nq,b,1,no\nq,a,2,yes\np,c,1,yes\np,d,2,no\n"
    assert evaluate(put(tmp_path, rows), metrics="mrr")["mrr"].mean == 0.75


def test_a_score_with_the_scale_of_a_judge_is_a_grade(tmp_path):
    rows = "question,chunk_id,rank,score (0-3)\nq,b,1,0\nq,a,2,3\np,c,1,2\np,d,2,0\n"
    assert evaluate(put(tmp_path, rows), metrics="mrr")["mrr"].mean == 0.75


def test_answers_are_no_quotes_beside_a_column_of_expected_ids(tmp_path):
    rows = "question,Documentos correctos,answer\nq,a; b,It was built in 1912.\np,c,Nobody knows.\n"
    [first, *_] = lines_of(refusal(ground_truth=put(tmp_path, rows), run=TRUTH))
    assert first == "--column 'item=Documentos correctos'"


@pytest.mark.parametrize("ranks", ["#1 #2", "1st 2nd", "Rank 1;Rank 2", "1. 2.", "1位 2位", "0 1"])
def test_ranks_in_any_spelling(ranks, tmp_path):
    one, two = ranks.split(";") if ";" in ranks else ranks.split()
    rows = f"question,chunk_id,rank\nq,a,{two}\nq,b,{one}\np,c,{one}\np,d,{two}\n"
    assert evaluate(run=put(tmp_path, rows), ground_truth=TRUTH, metrics="mrr")["mrr"].mean == 0.75
    unknown = put(tmp_path, rows.replace("rank", "Kohta", 1))
    [first, *_] = lines_of(refusal(run=unknown, ground_truth=TRUTH))
    assert first == "--column rank=Kohta"
    assert value(first, run=unknown, ground_truth=TRUTH) == 0.75


def test_a_cross_beside_a_circle_means_no(tmp_path):
    rows = "question,chunk_id,relevance\nq,a,O\nq,b,X\np,c,O\np,d,X\n"
    run = {"q": ["b", "a"], "p": ["c"]}
    assert evaluate(run, ground_truth=put(tmp_path, rows), metrics="mrr")["mrr"].mean == 0.75


JUDGED = "question\tchunk_id\trank\trelevance\nq\tb\t1\t0\n\ta\t2\t1\np\tc\t1\t1\n\td\t2\t0\n"


@pytest.mark.parametrize("quoted", [False, True])
def test_merged_questions_of_judged_rows_belong_to_the_row_above(quoted, tmp_path):
    rows = JUDGED
    if quoted:
        cells = [[f'"{cell}"' for cell in line.split("\t")] for line in JUDGED.splitlines()]
        rows = "\n".join("\t".join(line) for line in cells) + "\n"
    path = put(tmp_path, rows, "data.tsv")
    assert evaluate(path, metrics="mrr")["mrr"].mean == 0.75
    assert "2 rows have no question and belong" in " ".join(load(path, "both").ground_truth.notes)


def test_a_question_missing_in_a_log_is_no_merged_cell(tmp_path):
    rows = "question,chunk_id,rank\nq,b,1\nq,a,2\n,c,1\np,d,2\n"
    assert "holds nothing" in refusal(run=put(tmp_path, rows), ground_truth=TRUTH)


NOTATIONS = {"plain": "0.5", "exponents": "5.0e-01", "percent": "50%", "commas": "0,5"}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_scores_in_any_notation_order_the_rows(notation, tmp_path):
    low = NOTATIONS[notation]
    high = low.replace("5", "9", 1)
    path = put(tmp_path, f"Kysymys;Kohta;Luku\nq;a;{low}\np;d;{low}\nq;b;{high}\np;c;{high}\n")
    [first, *_] = lines_of(refusal(run=path, ground_truth=TRUTH))
    assert first == "--column query=Kysymys --column item=Kohta --column score=Luku"
    assert value(first, run=path, ground_truth=TRUTH) == 0.75


def test_what_is_the_same_for_all_results_of_a_question_orders_nothing(tmp_path):
    rows = "Kysymys,kesto,Kohta,Luku\nq,0.3,b,0.9\nq,0.3,a,0.5\np,0.1,c,0.8\np,0.1,d,0.7\n"
    lines = lines_of(refusal(run=put(tmp_path, rows), ground_truth=TRUTH))
    assert not any("kesto" in line for line in lines)


@pytest.mark.parametrize("name", ["Zutreffend?", "Osuva?"])
def test_a_question_above_judgements_is_the_name_of_their_column(name, tmp_path):
    path = put(tmp_path, f"question,chunk_id,{name}\nq,a,1\nq,b,0\np,c,1\n")
    [first, *_] = lines_of(refusal(ground_truth=path, run=TRUTH))
    assert first == f"--column 'grade={name}'"


def test_relevant_is_a_grade_beside_results_of_an_unknown_name(tmp_path):
    rows = "Kysymys,Kohta,Sija,Relevant\nq,b,1,no\nq,a,2,yes\np,c,1,yes\np,d,2,no\n"
    path = put(tmp_path, rows)
    [first, *_] = lines_of(refusal(data=path))
    assert value(first, data=path) == 0.75
    assert "rank=Sija" in first
