"""Numbered results beside numbered judgements are read as a row for each result."""

import json

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


@pytest.mark.parametrize("column", ["doc_id", "chunk_id", "item_id"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_further_column_of_ids_is_asked_about(column, form, tmp_path):
    rows = [
        {"question": "Who?", column: "a", "doc_1": "a", "rel_1": 0, "doc_2": "b", "rel_2": 1},
        {"question": "Where?", column: "c", "doc_1": "d", "rel_1": 0, "doc_2": "c", "rel_2": 1},
    ]
    path = written(tmp_path, rows, form)
    sentence = refusal(data=path)
    judged, wanted = lines_of(sentence)
    assert judged == f"--column ignore={column}"
    assert ("'retrieved=doc_*'" in wanted) == (column != "doc_id")
    assert [value(line, data=path) for line in (judged, wanted)] == [0.5, 0.75]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("further", [{}, {"chunk_id": "a"}, {"nr": 7}])
def test_judgements_of_an_unknown_name_are_said_with_their_results(form, further, tmp_path):
    rows = [
        {"question": f"{q}?", **further, "hit1": "a", "hit2": "b", "hit1_ok": x, "hit2_ok": y}
        for q, x, y in (("Who", 1, 0), ("Where", 0, 1), ("When", 0, 0))
    ]
    path = written(tmp_path, rows, form)
    line = lines_of(refusal(data=path))[0]
    assert line == "--column retrieved=hit1,hit2 --column grade=hit1_ok,hit2_ok"
    assert value(line, data=path) == 0.5


def test_a_blank_judgement_is_none(tmp_path):
    rows = [{"question": "Who?", "hit1": "a", "hit2": "b", "hit1_ok": "", "hit2_ok": "yes"}]
    columns = {"retrieved": ["hit1", "hit2"], "grade": ["hit1_ok", "hit2_ok"]}
    for form in ("csv", "jsonl"):
        scores = evaluate(written(tmp_path, rows, form), metrics="judged@2", columns=columns)
        assert scores["judged@2"].mean == 0.5


def test_each_result_needs_a_column_of_judgements(tmp_path):
    path = put(tmp_path, "question,hit1,hit2,ok1,ok2,ok3\nWho?,a,b,1,0,1\n")
    columns = {"retrieved": ["hit1", "hit2"], "grade": ["ok1", "ok2", "ok3"]}
    with pytest.raises(InvalidInput, match="two columns for the grade"):
        evaluate(path, metrics="mrr", columns=columns)


def written(folder, rows, form):
    if form == "csv":
        lines = [",".join(map(str, row.values())) for row in rows]
        return put(folder, "\n".join([",".join(rows[0]), *lines, ""]))
    path = folder / "data.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_several_columns_of_records_are_proposed_beside_their_question(tmp_path):
    path = tmp_path / "judged.jsonl"
    rows = [
        {"Kysymys": asked, "result_1": f"{asked}.md", "result_2": "x.md"}
        | {"relevant_1": "yes", "relevant_2": "no", "id": n}
        for n, asked in enumerate(("Who is it?", "Where is it?"), start=1)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert lines_of(refusal(data=path))[0] == "--column query=Kysymys"


def test_what_judges_whole_questions_names_no_targets(tmp_path):
    rows = [f"q{n},{n},{at + n},{at}" for n in (0, 1) for at in range(1, 6)]
    path = put(tmp_path, "\n".join(["question,passt,chunk_id,position", *rows]) + "\n")
    assert "ground_truth=passt" not in refusal(data=path)
