"""A long table with the expected item beside each result is read as both parts."""

import json

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput, command_line
from calipers.io.load import load
from tests.io.tables.test_propose import lines_of, put, value
from tests.io.test_natural_files import said

ROWS = [("q", "a", "b", 1), ("q", "a", "a", 2), ("p", "c", "c", 1), ("p", "c", "d", 2)]
HEADERS = [
    "question,expected_doc,doc_id,rank",
    "Question,Document attendu,Document,Rang",
    "query,expected,retrieved,rank",
    "Frage,Erwartetes Dokument,Gefundenes Dokument,Rang",
    "question,expected_document,retrieved_document,position",
]


def table(folder, header, rows=ROWS, name="data.csv"):
    lines = [",".join(map(str, row)) for row in rows]
    return put(folder, "\n".join([header, *lines]) + "\n", name)


@pytest.mark.parametrize("header", HEADERS)
def test_both_parts_are_read(header, tmp_path):
    path = table(tmp_path, header)
    scores = evaluate(path, metrics="mrr,recall@1")
    assert (scores["mrr"].mean, scores["recall@1"].mean) == (0.75, 0.5)
    # Either part alone can be asked for, too.
    _, wanted, returned, _ = header.split(",")
    truth = load(path, "ground_truth").ground_truth
    assert truth.targets["item"].to_list() == ["a", "c"]
    assert f"target ← {wanted}" in truth.notes[0]
    run = load(path, "run").run
    assert run.frame["item"].to_list() == ["b", "a", "c", "d"]
    assert f"result ← {returned}" in run.notes[0]


def test_rows_are_in_order_where_nothing_ranks_them(tmp_path):
    path = table(tmp_path, "question,expected_doc,doc_id", [row[:3] for row in ROWS])
    assert evaluate(path, metrics="mrr")["mrr"].mean == 0.75


def test_merged_cells_belong_to_the_row_above(tmp_path):
    rows = [("q", "a", "b", 1), ("", "", "a", 2), ("p", "c", "c", 1), ("", "", "d", 2)]
    path = table(tmp_path, "question,expected_doc,doc_id,rank", rows)
    assert evaluate(path, metrics="mrr")["mrr"].mean == 0.75


def test_several_targets_may_stand_in_a_cell(tmp_path):
    rows = [(q, f"{a}; x", b, n) for q, a, b, n in ROWS]
    path = table(tmp_path, "question,expected_docs,doc_id,rank", rows)
    assert evaluate(path, metrics="recall@2")["recall@2"].mean == 0.5


def test_a_grade_that_repeats_the_expected_id_is_no_second_judgement(tmp_path):
    header = "question,expected_doc,doc_id,rank,is_relevant"
    same = [(*row, int(row[1] == row[2])) for row in ROWS]
    assert evaluate(table(tmp_path, header, same), metrics="recall@1")["recall@1"].mean == 0.5
    other = [*same[:-1], ("p", "c", "d", 2, 1)]
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(table(tmp_path, header, other), metrics="recall@1")


def test_expected_ids_that_change_within_a_question_are_not_taken_for_one(tmp_path):
    rows = [*ROWS[:1], ("q", "e", "a", 2), *ROWS[2:]]
    with pytest.raises(InvalidInput, match="no ground truth"):
        evaluate(table(tmp_path, HEADERS[0], rows))


def test_one_result_each_under_the_name_of_a_list_gets_a_line_that_works(tmp_path):
    path = table(tmp_path, "question,expected_ids,retrieved_ids", [row[:3] for row in ROWS])
    with command_line(), pytest.raises(InvalidInput, match="'q' has results twice") as caught:
        evaluate(path)
    (line,) = lines_of(str(caught.value))
    assert value(line, data=path) == 0.75


def test_results_in_numbered_columns_are_called_as_in_the_file(tmp_path):
    text = "question,expected,result 1,result 2,result 3\nq,a,b,a,c\n"
    notes = load(put(tmp_path, text), "both").ground_truth.notes
    assert "results ← result 1, …, result 3" in notes[0]


SIDE_BY_SIDE = [("q", "a", "b"), ("q", "x", "a"), ("q", "", "c"), ("p", "c", "c"), ("p", "", "d")]


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize(
    "header", ["question,expected_doc,retrieved_doc", "Kysymys,Document attendu,Document"]
)
def test_two_lists_side_by_side_are_proposed_as_such(header, merged, tmp_path):
    rows = SIDE_BY_SIDE
    if merged:
        firsts = {rows[0], rows[3]}
        rows = [row if row in firsts else ("", *row[1:]) for row in rows]
    path = table(tmp_path, header, rows)
    with command_line(), pytest.raises(InvalidInput) as caught:
        evaluate(path, metrics="mrr")
    line = lines_of(str(caught.value))[0]
    assert value(line, data=path) == 0.75
    assert evaluate(path, columns=said(line), metrics="recall@2")["recall@2"].mean == 0.75


def test_the_same_result_twice_is_no_list_beside_another(tmp_path):
    rows = [*SIDE_BY_SIDE, ("q", "", "b")]
    path = table(tmp_path, "question,expected_doc,retrieved_doc", rows)
    columns = ["item=expected_doc", "retrieved=retrieved_doc"]
    with pytest.raises(InvalidInput, match="has results twice"):
        evaluate(path, columns=columns, metrics="mrr")


def test_a_check_of_each_result_is_not_offered_beside_the_targets(tmp_path):
    """``is_hit`` says again which result is the target: measured by it, recall would be 1."""
    hits = [(*row, str(row[1] == row[2]).lower()) for row in ROWS]
    path = table(tmp_path, "Soru,Beklenen kaynak,Bulunan belge,Konum,is_hit", hits)
    with command_line(), pytest.raises(InvalidInput) as caught:
        evaluate(path, metrics="recall@1")
    lines = lines_of(str(caught.value))
    assert "rank=Konum" in lines[0]
    assert not any("grade=" in line for line in lines)
    found = evaluate(path, columns=said(lines[0]), metrics="recall@1")
    assert found["recall@1"].mean == 0.5


def test_quoted_blanks_are_merged_cells_for_results_too(tmp_path):
    rows = [("q", "a", "b"), ("", "a", "a"), ("p", "c", "c"), ("", "c", "d")]
    quoted = [tuple(f'"{cell}"' for cell in row) for row in rows]
    path = table(tmp_path, '"Busca","Fonte esperada","Recuperado"', quoted)
    columns = ["query=Busca", "item=Fonte esperada", "retrieved=Recuperado"]
    assert evaluate(path, columns=columns, metrics="mrr")["mrr"].mean == 0.75


def test_what_is_called_expected_is_the_target_beside_ids_of_a_usual_name(tmp_path):
    path = table(tmp_path, "utterance,truth,doc_id", [row[:3] for row in ROWS])
    with command_line(), pytest.raises(InvalidInput) as caught:
        evaluate(path, metrics="mrr")
    line = lines_of(str(caught.value))[0]
    assert line == "--column query=utterance --column item=truth --column retrieved=doc_id"
    assert value(line, data=path) == 0.75


def test_what_both_files_lack_is_one_line(tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("User question,Source\nWho?,a\nWhere?,d\n")
    run = tmp_path / "run.json"
    rows = [{"question": "Who?", "top_k": [{"doc_id": "b"}, {"doc_id": "a"}]}]
    rows += [{"question": "Where?", "top_k": [{"doc_id": "d"}]}]
    run.write_text(json.dumps(rows))
    given = {"ground_truth": truth, "run": run}
    with command_line(), pytest.raises(InvalidInput) as caught:
        evaluate(**given)
    [line] = lines_of(str(caught.value))
    assert line.endswith("--column item=Source --column retrieved=top_k")
    assert evaluate(**given, columns=said(line), metrics="mrr")["mrr"].mean == 0.75
