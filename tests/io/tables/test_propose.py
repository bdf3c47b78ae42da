"""What is unclear is refused with lines that were tried: each gives a number, none leads back."""

import json
import shlex

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput, command_line
from calipers.io.load import load
from calipers.io.tables.columns import Columns
from tests.io.test_natural_files import PROPOSED, said
from tests.workbook import write_workbook

RUN = {"q": ["b", "a"], "p": ["c"]}
ROWS = {"q": ("a", "b"), "p": ("c", "d")}


def put(folder, text, name="data.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(**given) -> str:
    with command_line(), pytest.raises(InvalidInput) as caught:
        evaluate(**given, metrics="mrr")
    return str(caught.value)


def lines_of(sentence: str) -> list[str]:
    return [match[0] for match in PROPOSED.finditer(sentence)]


def value(line: str, **given) -> float:
    return evaluate(**given, columns=said(line), metrics="mrr")["mrr"].mean


JUDGING = {
    "Relevant? yes/no": ("yes", "no"),
    "is_correct_id": ("1", "0"),
    "page_relevant": ("1", "0"),
    "grade_num": ("2", "0"),
    "Punkte": ("2/3", "0/3"),
    "verdict": ("2 - ok", "0 - off"),
    "our view": ("hit", "miss"),
    "Relevans": ("✓", ""),
}


@pytest.mark.parametrize("name", JUDGING)
def test_a_column_that_may_judge_is_never_passed_over(name, tmp_path):
    yes, no = JUDGING[name]
    rows = [f"{q},{ids[0]},{yes}\n{q},{ids[1]},{no}" for q, ids in ROWS.items()]
    path = put(tmp_path, f"question,chunk_id,{name}\n" + "\n".join(rows) + "\n")
    sentence = refusal(ground_truth=path, run=RUN)
    graded, ignored = lines_of(sentence)
    assert shlex.split(graded) == ["--column", f"grade={name}"]
    assert shlex.split(ignored) == ["--column", f"ignore={name}"]
    # "a" alone should be found, at rank 2; with "b" as a target, at rank 1.
    assert value(graded, ground_truth=path, run=RUN) == 0.75
    assert value(ignored, ground_truth=path, run=RUN) == 1.0
    assert "q: should find a" in sentence


def test_a_column_that_is_the_same_for_all_rows_of_a_query_is_harmless(tmp_path):
    rows = [f"{q},{one},{n % 2}" for n, q in enumerate("pqrst") for one in ("a", "b")]
    path = put(tmp_path, "question,chunk_id,of interest\n" + "\n".join(rows) + "\n")
    truth = load(path, "ground_truth").ground_truth
    assert truth.targets["grade"].to_list() == [1.0] * 10
    assert "not read: of interest" in truth.notes[0]


@pytest.mark.parametrize(
    ("values", "offered"),
    [
        ((2, 1, 3), ["rank", "score"]),
        ((0.5, 0.1, 0.7), ["score", "distance"]),
        ((30, 70, 50), ["score", "distance"]),
    ],
)
def test_a_rank_is_proposed_for_whole_numbers_alone(values, offered, tmp_path):
    rows = [f"q,{one},{number}" for one, number in zip("bac", values, strict=True)]
    path = put(tmp_path, "question,doc_id,Wert\n" + "\n".join(rows) + "\n")
    lines = lines_of(refusal(ground_truth={"q": ["a"]}, run=path))
    fields = [said(line)[0].split("=")[0] for line in lines]
    assert fields[:2] == offered
    for line in lines:
        assert value(line, ground_truth={"q": ["a"]}, run=path) > 0


@pytest.mark.parametrize(
    "names", [("retrieved", "reranked"), ("RETRIEVED_IDS", "RERANKED_IDS"), ("hits", "hits_after")]
)
@pytest.mark.parametrize("cells", [("b; a", "a; b"), ('"[""b"", ""a""]"', '"[""a"", ""b""]"')])
def test_two_lists_of_results_are_refused_with_a_line_for_each(names, cells, tmp_path):
    header = ",".join(("question", "expected_ids", *names))
    path = put(tmp_path, f"{header}\nq,a,{cells[0]},{cells[1]}\n")
    last, first = lines_of(refusal(data=path))
    assert (value(last, data=path), value(first, data=path)) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (("rank", "rerank_rank"), ("1,3", "2,2", "3,1")),
        (("score", "rerank_score"), ("9,1", "8,2", "7,4")),
        (("rank", "rerank_rank"), ("1 ,2 ", "2 ,3 ", "3 ,1 ")),
    ],
)
def test_two_orders_of_results_are_refused_unless_they_are_one(names, rows, tmp_path):
    text = "".join(f"q,{one},{row}\n" for one, row in zip("abc", rows, strict=True))
    path = put(tmp_path, f"question,doc_id,{','.join(names)}\n{text}")
    reverse = rows[0] != "1 ,2 "
    if reverse:
        # The reverse order, and the same numbers, say nothing new to a distance or a rank.
        assert load(path, "run").run.frame["item"][0] == "a"
        return
    last, first = lines_of(refusal(ground_truth={"q": ["c"]}, run=path))
    assert value(last, ground_truth={"q": ["c"]}, run=path) == 1.0
    assert value(first, ground_truth={"q": ["c"]}, run=path) == pytest.approx(1 / 3)


@pytest.mark.parametrize("names", ["doc1,doc2", "gold_a,gold_b", "chunk,chunk.1", "Chunk,Chunk 2"])
def test_columns_of_targets_are_all_read(names, tmp_path):
    path = put(tmp_path, f"question,{names}\nq,a,b\np,c,\n")
    truth = load(path, "ground_truth").ground_truth
    assert truth.targets["item"].to_list() == ["a", "b", "c"]
    assert "For example, q: should find a, b." in truth.notes[0]


def test_columns_of_unknown_name_are_proposed_together(tmp_path):
    path = put(tmp_path, "question,Quelle 1,Quelle 2\nq,a,b\np,c,\n")
    first = lines_of(refusal(ground_truth=path, run=RUN))[0]
    assert shlex.split(first) == ["--column", "item=Quelle 1,Quelle 2"]
    assert value(first, ground_truth=path, run=RUN) == 1.0


def test_a_table_on_its_side_is_refused_without_a_line(tmp_path):
    path = put(tmp_path, "question,doc1,doc2\nq,1,0\np,0,1\n")
    sentence = refusal(ground_truth=path, run={"q": ["doc1"], "p": ["doc1"]})
    assert "Write one row for each judgement" in sentence
    assert lines_of(sentence) == []


def test_a_line_is_tried_with_the_file_beside_it(tmp_path):
    truth = put(tmp_path, "Requête,Document attendu\nOù ?,a.pdf\n", "truth.csv")
    run = put(tmp_path, "Requête,Document,score\nOù ?,b.pdf,2\nOù ?,a.pdf,1\n", "run.csv")
    (line,) = lines_of(refusal(ground_truth=truth, run=run))
    assert shlex.split(line) == ["--column", "item=Document attendu"]
    assert value(line, ground_truth=truth, run=run) == 0.5


def test_a_mapping_that_has_nothing_in_common_with_the_results_is_not_proposed(tmp_path):
    path = put(tmp_path, "Was denn,Woher\nq,a\np,c\n")
    (line,) = lines_of(refusal(ground_truth=path, run=RUN))
    assert shlex.split(line) == ["--column", "query=Was denn", "--column", "item=Woher"]


def test_words_of_a_known_scale_get_their_grades(tmp_path):
    rows = "q,a,highly relevant\nq,b,not relevant\np,c,partly relevant\n"
    path = put(tmp_path, f"question,chunk_id,relevance\n{rows}")
    line = lines_of(refusal(ground_truth=path, run=RUN))[0]
    assert shlex.split(line) == [
        "--grades",
        "highly relevant=2,partly relevant=1,not relevant=0",
    ]
    assert value(line, ground_truth=path, run=RUN) == 0.75


def test_words_of_an_unknown_scale_are_named_without_a_grade(tmp_path):
    path = put(tmp_path, "question,chunk_id,grade\nq,a,superb\nq,b,meh\np,c,hm\n")
    sentence = refusal(ground_truth=path, run=RUN)
    assert "'superb', 'meh', 'hm'" in sentence
    assert lines_of(sentence) == []


def test_in_python_keywords_are_named(tmp_path):
    path = put(tmp_path, "question,chunk_id,our view\nq,a,hit\nq,b,miss\np,c,hit\n")
    with pytest.raises(InvalidInput) as caught:
        evaluate(ground_truth=path, run=RUN)
    assert 'columns={"grade": "our view"}' in str(caught.value)
    assert "--column" not in str(caught.value)


def test_what_results_and_targets_are_is_seen_before_a_line_is_pasted(tmp_path):
    path = put(tmp_path, "Kysymys;Odotettu;Löydetty\nKuka se on?;a1, a2;a1, b2, a2\n")
    sentence = refusal(data=path)
    assert "should find a1, a2; returned a1, b2, a2" in sentence
    first = lines_of(sentence)[0]
    assert load(path, "both", Columns.of(said(first))).ground_truth.targets.height == 2


@pytest.mark.parametrize("word", ["Total", "Summe", "Average", "Gesamt:"])
def test_a_row_that_sums_up_is_no_question(word, tmp_path):
    path = put(tmp_path, f"question,chunk_id\nq,a\np,c\n{word},2\n")
    sentence = refusal(ground_truth=path, run=RUN)
    assert "Take out the last row" in sentence
    path = put(tmp_path, f"question,chunk_id\n{word},a\np,c\n")
    assert load(path, "ground_truth").ground_truth.n_queries == 2


@pytest.mark.parametrize("word", ["no answer", "unanswerable", "None", "keine Antwort"])
def test_a_word_for_no_answer_is_no_id(word, tmp_path):
    path = put(tmp_path, f"question,chunk_id\nq,a\np,{word}\n")
    truth = load(path, "ground_truth").ground_truth
    assert (truth.targets["item"].to_list(), truth.n_queries) == (["a"], 2)


@pytest.mark.parametrize("cell", ["(a,b)", "{a,b}", "{'a', 'b'}", "('a', 'b')", "[a, b]"])
def test_a_list_in_any_brackets_is_a_list(cell, tmp_path):
    path = put(tmp_path, f'question,expected_ids\nq,"{cell}"\n')
    assert sorted(load(path, "ground_truth").ground_truth.targets["item"]) == ["a", "b"]


def test_ratings_without_a_0_are_said_to_count(tmp_path):
    path = put(tmp_path, "question,chunk_id,rating\nq,a,1\nq,b,5\np,c,3\n")
    notes = load(path, "ground_truth").ground_truth.notes
    assert any("'rating' has no 0" in note and "rel=3" in note for note in notes)
    path = put(tmp_path, "question,chunk_id,rating\nq,a,0\nq,b,5\np,c,3\n")
    assert not any("has no 0" in note for note in load(path, "ground_truth").ground_truth.notes)


@pytest.mark.parametrize("name", ["score", "distance"])
def test_numbers_with_a_decimal_comma_need_no_semicolons(name, tmp_path):
    path = put(tmp_path, f"question\tdoc_id\t{name}\nq\tb\t0,5\nq\ta\t0,1\n")
    best = {"score": "b", "distance": "a"}[name]
    assert load(path, "run").run.frame["item"][0] == best


NEAR = {
    "docs/{}.md": "prefix=docs/",
    "{}.md/": "slash",
    "{}.MD": "case",
    "{}.md?x=1": "query,slash",
}


@pytest.mark.parametrize("spelled", NEAR)
def test_a_line_says_how_ids_are_compared_where_they_nearly_meet(spelled, tmp_path):
    rows = [f"Kuka {n}?,{spelled.format(n)}" for n in "abc"]
    truth = put(tmp_path, "Kysymys,Kohta\n" + "\n".join(rows) + "\n")
    run = {f"Kuka {n}?": ["x.md", f"{n}.md"] for n in "abc"}
    [line] = lines_of(refusal(ground_truth=truth, run=run))
    assert shlex.split(line)[-2:] == ["--map-ids", NEAR[spelled]]
    columns = said(line)
    found = evaluate(truth, run=run, metrics="mrr", map_ids=columns.pop()[8:], columns=columns)
    assert found["mrr"].mean == 0.5


def test_a_line_holds_what_is_said_of_ids_already(tmp_path):
    truth = put(tmp_path, "Kysymys,Kohta\nKuka?,docs/A.md\n")
    given = {"ground_truth": truth, "run": {"Kuka?": ["a.md"]}, "map_ids": "case"}
    assert "--map-ids prefix=docs/,case" in refusal(**given)
    with pytest.raises(InvalidInput, match='"item": "Kohta"}, map_ids="prefix=docs/,case"'):
        evaluate(**given)


def test_a_map_that_would_make_two_targets_one_is_not_proposed(tmp_path):
    rows = "Kysymys,Kohta\nKuka?,x.md\nKuka?,x.txt\n"
    [line] = lines_of(refusal(ground_truth=put(tmp_path, rows), run={"Kuka?": ["x"]}))
    assert "--map-ids" not in line


def test_where_a_command_compares_no_ids_no_map_is_proposed(tmp_path):
    """``audit`` reads one file, and so do others."""
    truth = put(tmp_path, "Kysymys,Kohta,Osumat\nKuka?,docs/a.md,a.md;x.md\n")
    with command_line(), pytest.raises(InvalidInput) as caught:
        load(truth, "both", Columns())
    assert "--map-ids" not in str(caught.value)


ALONE = {
    "Kysymys,Kohta,Sija\nKuka?,a,1\nKuka?,b,2\n": ["run"],
    "Kysymys,Kohta\nKuka?,a\nMissa?,b\n": ["run", "ground_truth"],
}


@pytest.mark.parametrize("text", ALONE)
def test_a_file_of_results_alone_gets_the_line_that_reads_it(text, tmp_path):
    path = put(tmp_path, text)
    sentence = refusal(data=path)
    assert sentence.startswith("Give what it lacks in a second file: ")
    _, *lines = sentence.splitlines()
    parts = [line.split()[0][2:].replace("-", "_") for line in lines]
    assert parts == ALONE[text]
    other = {"run": {"ground_truth": {"Kuka?": ["a"]}}, "ground_truth": {"run": {"Kuka?": ["a"]}}}
    for part, line in zip(parts, lines, strict=True):
        [columns] = lines_of(line)
        assert value(columns, **{part: path}, **other[part]) in (0.5, 1.0)
    with pytest.raises(InvalidInput, match="ground_truth=other, columns="):
        evaluate(path)


def test_a_file_with_a_column_left_over_may_hold_both(tmp_path):
    path = put(tmp_path, "Kysymys,Kohta,Mikä\nKuka?,a,u\nKuka?,b,w\n")
    assert "in a second file" not in refusal(data=path)


def test_a_matrix_of_questions_and_items_is_refused_without_a_line(tmp_path):
    """A line would take one item's grades for the targets."""
    path = put(tmp_path, "question,a,b,c\nWho?,0,1,0\nWhere?,1,0,0\n")
    sentence = refusal(data=path)
    assert sentence.startswith("Write one row for each question and item")
    assert not lines_of(sentence)


STAGED = {
    "rank_before,rank_after": (["1,2", "2,1"], "--column rank=rank_after"),
    "bm25_score,rerank_score": (["9.1,0.1", "8.1,0.9"], "--column score=rerank_score"),
}


@pytest.mark.parametrize("names", STAGED)
def test_the_order_of_the_last_stage_is_proposed_first(names, tmp_path):
    (first, second), line = STAGED[names]
    rows = [f"Who?,a,{first},0\nWho?,b,{second},1"]
    path = put(tmp_path, f"question,doc_id,{names},relevant\n" + "\n".join(rows) + "\n")
    lines = lines_of(refusal(data=path))
    assert lines[0] == line
    assert value(lines[0], data=path) == 1.0


@pytest.mark.parametrize(
    "names", [("first_stage", "second_stage"), ("before_rerank", "after_rerank")]
)
def test_the_list_of_the_last_stage_is_proposed_first(names, tmp_path):
    path = put(tmp_path, f"question,{','.join(names)},relevant\nWho?,a;b;c,b;a;c,b\n")
    lines = lines_of(refusal(data=path))
    assert lines[0] == f"--column retrieved={names[1]}"
    assert value(lines[0], data=path) == 1.0


def test_numbered_columns_with_a_list_each_are_no_single_ranking(tmp_path):
    path = put(tmp_path, "question,stage1,stage2,gold\nWho?,a;b,b;a,b\nWhere?,d;e,e;d,d\n")
    lines = lines_of(refusal(data=path))
    assert lines == ["--column retrieved=stage2", "--column retrieved=stage1"]


def test_a_score_may_be_the_grade_of_a_ground_truth_if_it_is_a_scale(tmp_path):
    path = put(tmp_path, "question,chunk_id,score\nq,a,3\nq,b,0\np,c,1\n")
    [line] = lines_of(refusal(ground_truth=path, run=RUN))
    assert line == "--column grade=score"
    assert value(line, ground_truth=path, run=RUN) == 0.75
    scored = put(tmp_path, "question,chunk_id,score\nq,a,0.93\nq,b,0.4\np,c,0.2\n")
    assert not lines_of(refusal(ground_truth=scored, run=RUN))


def test_words_that_nobody_knows_are_not_simply_left_out(tmp_path):
    path = put(tmp_path, "question,chunk_id,opinion\nq,a,superb\nq,b,meh\np,c,so so\n")
    sentence = refusal(ground_truth=path, run=RUN)
    assert sentence.startswith("Name it as the grade and give each word a number (--grades), or")


def test_two_words_that_nobody_knows_are_graded_either_way(tmp_path):
    path = put(tmp_path, "question,chunk_id,opinion\nq,a,superb\nq,b,meh\np,c,superb\n")
    lines = lines_of(refusal(ground_truth=path, run=RUN))
    assert lines == [
        "--column grade=opinion --grades superb=1,meh=0",
        "--column grade=opinion --grades meh=1,superb=0",
        "--column ignore=opinion",
    ]
    assert [value(line, ground_truth=path, run=RUN) for line in lines] == [0.75, 1.0, 1.0]


def test_stars_are_grades(tmp_path):
    path = put(tmp_path, "question,chunk_id,stars\nq,a,★★☆\nq,b,☆☆☆\np,c,★☆☆\n")
    graded, _ = lines_of(refusal(ground_truth=path, run=RUN))
    assert graded == "--column grade=stars"
    assert value(graded, ground_truth=path, run=RUN) == 0.75


@pytest.mark.parametrize("cell", ["{a}", '["a"]', "{a,b}", "[a, b]"])
def test_a_list_of_one_in_brackets_is_a_list_too(cell, tmp_path):
    path = put(tmp_path, f"question;expected_ids\nq;{cell}\np;{{c}}\n")
    assert value("", ground_truth=path, run={"q": ["a"], "p": ["c"]}) == 1.0


def test_an_identifier_of_windows_keeps_its_braces(tmp_path):
    name = "{0000abcd-0000-0000-0000-000000000000}"
    path = put(tmp_path, f"question,expected_ids\nq,{name}\np,c\n")
    assert value("", ground_truth=path, run={"q": [name], "p": ["c"]}) == 1.0


@pytest.mark.parametrize("words", ["keine Antwort möglich", "Sans réponse", "out of scope"])
def test_words_for_no_answer_in_other_languages_are_no_target(words, tmp_path):
    path = put(tmp_path, f"question,expected_ids\nq,{words}\np,c\n")
    scores = evaluate(ground_truth=path, run=RUN, metrics="mrr")
    assert scores["mrr"].n == 1
    assert scores["mrr"].mean == 1.0


def test_grades_that_count_the_targets_are_said_to_count():
    graded = {"a": 1, "b": 2, "c": 3}
    records = [{"query": q, "retrieved": ["a"], "ground_truth": graded} for q in ("q", "p")]
    notes = " ".join(evaluate(records, metrics="mrr").settings["notes"])
    assert "if they are ranks, write them the other way round. rel=2 counts from 2 on" in notes
    equal = [{**record, "ground_truth": {"a": 3, "b": 3, "c": 1}} for record in records]
    assert "ranks" not in " ".join(evaluate(equal, metrics="mrr").settings["notes"])


def test_a_line_that_exchanges_results_and_targets_is_not_shown_first(tmp_path):
    """The expected document stands beside each result under a name that does not say so."""
    rows = "query,answer_doc,doc,position,hit\nq1,a,a,1,1\nq1,a,b,2,0\nq2,c,d,1,0\nq2,c,e,2,0\n"
    lines = lines_of(refusal(data=put(tmp_path, rows)))
    assert lines[0] == "--column item=answer_doc --column retrieved=doc"


LOG = {"q": ["x", "a", "y"], "p": ["x", "c", "y"]}


def two_files(folder, wanted, log):
    rows = [f"{q},{one},{n / 8}" for q, ids in LOG.items() for n, one in enumerate(ids, 1)]
    truth = put(folder, wanted, "golden.csv")
    return {"ground_truth": truth, "run": put(folder, log + "\n".join(rows) + "\n", "run.csv")}


def test_each_order_of_the_file_beside_has_a_line_and_what_rises_is_a_distance_first(tmp_path):
    given = two_files(tmp_path, "Kysymys,Kohta\nq,a\np,c\n", "Kysymys,Kohta,Luku\n")
    first, second, *_ = lines_of(refusal(**given))
    assert first.endswith("--distance Luku")
    assert second.endswith("--column score=Luku")
    assert (value(first, **given), value(second, **given)) == (0.5, 0.5)


def test_a_line_with_which_the_file_beside_cannot_be_read_is_not_shown(tmp_path):
    wanted = "case,utterance,reference doc ids\nq,How?,a\np,Why?,c\n"
    given = two_files(tmp_path, wanted, "case,match,score\n")
    lines = lines_of(refusal(**given))
    assert [value(line, **given) for line in lines] == [0.5] * len(lines)
    assert "query=case" in lines[0]
    assert "query=utterance" not in " ".join(lines)


def test_two_tables_side_by_side_are_refused_by_the_name_that_is_there_twice(tmp_path):
    path = put(tmp_path, "prompt text,target,,prompt text,place,hit\nq,a,,q,1,b\n")
    assert "has the column 'prompt text' twice" in refusal(data=path)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_table_with_names_that_nobody_knows_is_read_in_its_encoding(encoding, tmp_path):
    text = "Spørgsmål;Løsning\nHvor når?;å1\nHvem dør?;ø2\nHvad?;æ3\n"
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode(encoding))
    run = {"Hvor når?": ["x", "å1"], "Hvem dør?": ["ø2"], "Hvad?": ["æ3"]}
    [line, *_] = lines_of(refusal(ground_truth=path, run=run))
    assert value(line, ground_truth=path, run=run) == pytest.approx(2.5 / 3)


def test_the_id_of_results_is_found_among_columns_of_any_name(tmp_path):
    path = put(tmp_path, "question,Tiedosto,text\nq,b,Lists grow.\nq,a,Locks.\np,c,Keys.\n")
    truth = {"q": ["a"], "p": ["c"]}
    [line] = lines_of(refusal(run=path, ground_truth=truth))
    assert line == "--column item=Tiedosto"
    assert value(line, run=path, ground_truth=truth) == 0.75


def test_the_number_before_a_title_is_no_part_of_the_id(tmp_path):
    path = put(tmp_path, "question,relevant_passages\nq,1. Backups & restore\np,1. How to pay\n")
    run = {"q": ["VPN", "Backups & restore"], "p": ["How to pay"]}
    assert evaluate(run, ground_truth=path, metrics="mrr")["mrr"].mean == 0.75


def test_a_line_that_names_the_separator_is_no_title(tmp_path):
    path = put(tmp_path, "sep=;\nutterance;Kohta\nq;a\np;c\nr;d\n")
    [first, *_] = lines_of(refusal(ground_truth=path, run={"q": ["x", "a"], "p": ["c"], "r": []}))
    assert first == "--column query=utterance --column item=Kohta"


def test_the_header_below_a_title_is_found_by_the_width_of_its_rows(tmp_path):
    path = put(tmp_path, "Results in May\nutterance,Kohta,Osuma\nq,a,b\np,c,c\nr,d,d\n")
    assert "Take out what stands above the table" in refusal(data=path)


def test_numbers_that_judge_are_no_ids_and_a_name_may_say_what_they_mean(tmp_path):
    rows = "Kysymys,1=gut,Kohta\nq,1,a\nq,1,b\nq,1,x\np,0,c\np,0,d\np,0,x\n"
    path = put(tmp_path, rows)
    lines = lines_of(refusal(ground_truth=path, run={"q": ["a"], "p": ["c"]}))
    assert lines[0] == "--column query=Kysymys --column item=Kohta --column grade=1=gut"
    assert not any("item=1=gut" in line for line in lines)


def test_no_line_takes_the_target_for_the_question_or_ids_for_grades(tmp_path):
    rows = "utterance;Kohta;Treffer;Luku\nq;303;359;1\nq;;303;2\np;394;394;1\np;;282;2\n"
    path = put(tmp_path, rows)
    lines = lines_of(refusal(data=path))
    assert not any("grade=Kohta" in line for line in lines)


def test_quotes_that_stand_in_no_text_are_not_proposed(tmp_path):
    path = put(
        tmp_path, "utterance,Arvio,text\nHow long is it?,no,Keys.\nHow old is it?,yes,Locks.\n"
    )
    assert "quote=" not in " ".join(lines_of(refusal(data=path)))


def test_the_same_word_in_every_row_is_no_target(tmp_path):
    rows = 'utterance,Kieli,Lang,Kohta,Saatu\nq,en,en,a,"b; a"\np,en,en,c,"c; d"\n'
    lines = lines_of(refusal(data=put(tmp_path, rows)))
    assert lines
    assert not any("item=Kieli" in line or "item=Lang" in line for line in lines)


def test_a_trial_knows_which_metrics_are_asked(tmp_path):
    rows = "Who?,a,1,no\nWho?,b,2,yes\nWhere?,c,1,no\nWhere?,d,2,no\n"
    path = put(tmp_path, f"question,chunk_id,rank,Zutreffend\n{rows}")
    with pytest.raises(InvalidInput, match=r"recall@2 cannot be measured.*returned") as caught:
        evaluate(path, metrics="mrr,recall@2")
    assert 'columns={"grade": "Zutreffend"}' in str(caught.value)
    assert 'judged="complete"' in str(caught.value)
    with pytest.raises(InvalidInput) as caught:
        evaluate(path, metrics="mrr")
    assert "cannot be measured" not in str(caught.value)


@pytest.mark.parametrize(("metric", "judges"), [("mrr", True), ("ndcg@5", False)])
def test_a_line_that_cannot_give_the_metric_is_not_proposed(metric, judges, tmp_path):
    # The ids that are expected are a few of those that were returned.
    rows = [f"{n % 5 + 1},{(7 * n) % 12 + 1},{n % 4},q{n // 5},{n // 5 + 2}" for n in range(15)]
    header = "Rang,Gefundenes Dokument,Aufwand,Frage,Erwartetes Dokument\n"
    path = put(tmp_path, header + "\n".join(rows) + "\n")
    with pytest.raises(InvalidInput) as caught:
        evaluate(path, metrics=metric)
    assert ('"grade": "Aufwand"' in str(caught.value)) is judges


def test_a_number_of_the_row_orders_nothing_and_was_not_returned(tmp_path):
    rows = [f"{n},Wer {n // 2}?,e{n // 2},{'ex'[n % 2]}{n // 2}" for n in range(6)]
    path = put(tmp_path, "No.,Anliegen,Erwartet,Dokument\n" + "\n".join(rows) + "\n")
    sentence = refusal(data=path)
    assert "score=No." not in sentence
    assert value(lines_of(sentence)[0], data=path) == 1.0


def test_a_name_that_ends_like_a_sentence_is_quoted(tmp_path):
    path = put(tmp_path, "Vorgang.,Erwartet.\nWer war das?,a\nWo war das?,c\n")
    sentence = refusal(ground_truth=path, run={"Wer war das?": ["a"], "Wo war das?": ["b"]})
    assert "--column 'query=Vorgang.'" in sentence


def test_a_reading_without_results_is_no_line(tmp_path):
    rows = [
        f'{{"Frage": "Wer {n // 2}?", "Fundstelle": "a{n}", "rank": {n % 2 + 1}, '
        f'"Güte": "{"1" if n % 2 else ""}", "id": {n}}}'
        for n in range(6)
    ]
    path = put(tmp_path, "\n".join(rows) + "\n", "data.jsonl")
    assert lines_of(refusal(data=path)) == ["--column 'grade=Güte'"]


@pytest.mark.parametrize(
    "header", ["input,expected_output,output", "inputs,reference,outputs", "input,expected,output"]
)
def test_a_table_of_a_tool_without_its_parts_is_asked_about(header, tmp_path):
    path = put(tmp_path, f"{header}\nWho was it?,a,b;a\nWhere was it?,c,c;d\n")
    [line] = lines_of(refusal(data=path))
    assert value(line, data=path) == 0.75


def test_columns_of_targets_beside_merged_results_have_a_line(tmp_path):
    header = "query,Soll 1,Soll 2,result_1,result_2"
    path = put(tmp_path, f"{header}\nWho?,a,,b,a\nWhere?,c,d,d,x\n")
    [line] = lines_of(refusal(data=path))
    assert value(line, data=path) == 0.75


def test_nested_columns_of_unknown_names_have_a_line(tmp_path):
    import polars as pl

    results = [[{"id": one, "score": 1.0} for one in ids] for ids in (("b", "a"), ("c", "d"))]
    for found in (results, [["b", "a"], ["c", "d"]]):
        frame = pl.DataFrame(
            {"Soru": ["Kim bu?", "Ne bu?"], "Doğru": [["a"], ["c"]], "Gelen": found}
        )
        frame.write_parquet(tmp_path / "data.parquet")
        line, *_ = lines_of(refusal(data=tmp_path / "data.parquet"))
        assert value(line, data=tmp_path / "data.parquet") == 0.75


def test_a_title_above_merged_cells_is_named(tmp_path):
    rows: list[list[object]] = [
        ["Golden set"],
        [],
        ["Otázka", "Úryvek", "Hodnota"],
        ["Kdo?", "a", 1],
    ]
    rows += [[None, "b", 0], [None, "c", 0], ["Kde?", "d", 1]]
    path = write_workbook(tmp_path / "data.xlsx", {"Gold": rows})
    sentence = refusal(ground_truth=path, run=RUN)
    assert "row 2 below the first (Otázka, Úryvek, Hodnota)" in sentence


def test_marks_in_a_column_called_note_may_judge(tmp_path):
    rows = [
        f"{q},{one},{'high' if one in 'ac' else 'none'}" for q, ids in ROWS.items() for one in ids
    ]
    path = put(tmp_path, "Requête,Extrait,Note\n" + "\n".join(rows) + "\n")
    first, *_ = lines_of(refusal(ground_truth=path, run=RUN))
    assert first == "--column grade=Note --grades high=1,none=0"
    path = put(tmp_path, "Requête,Extrait,Note\nq,a,see\nq,b,\np,c,see\np,d,\n")
    assert evaluate(ground_truth=path, run=RUN, metrics="mrr")["mrr"].mean == 1.0


def test_ranks_are_no_results(tmp_path):
    rows = [f"{n // 3},{n % 3 + 1},{(5 * n) % 9 + 1},{'yes' if n % 2 else 'no'}" for n in range(9)]
    path = put(tmp_path, "Soru No,Sıra,Parça,İlgili mi\n" + "\n".join(rows) + "\n")
    assert "retrieved=Sıra" not in refusal(data=path)


def test_an_id_that_stays_beside_those_that_change_is_the_target(tmp_path):
    rows = "Wer?,a,b\nWer?,a,a\nWo?,c,c\nWo?,c,d\n"
    path = put(tmp_path, f"Anfrage,Vorgabe,Abschnitt\n{rows}")
    [line, *_] = lines_of(refusal(data=path))
    assert value(line, data=path) == 0.75


def test_numbered_documents_beside_the_expected_one_came_back(tmp_path):
    path = put(tmp_path, "Consulta,Documento esperado,doc_1,doc_2\nQ1?,a,b,a\nQ2?,c,c,d\n")
    [line] = lines_of(refusal(data=path))
    assert value(line, data=path) == 0.75


def test_grades_below_numbers_are_no_ids(tmp_path):
    path = put(tmp_path, "question,1,2,3\nq,2,0,0\np,0,2,0\n")
    assert not lines_of(refusal(ground_truth=path, run=RUN))


def test_a_file_beside_that_nothing_helps_is_refused_first(tmp_path):
    truth = put(tmp_path, "Anliegen,Soll\nWer war das?,a\nWo war das?,c\n")
    text = "Results in May\nAnliegen,Stelle,Punkte\nWer war das?,a,2\nWo war das?,c,1\n"
    run = put(tmp_path, text, "run.csv")
    sentence = refusal(ground_truth=truth, run=run)
    assert "Take out what stands above the table" in sentence
    assert not lines_of(sentence)


def test_texts_in_records_of_a_tool_are_asked_about(tmp_path):
    rows = [("Who was it?", "a", "b | a"), ("Where was it?", "c | x", "c | d")]
    names = ("input", "expected_output", "output")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    path = put(tmp_path, "\n".join(lines) + "\n", "data.jsonl")
    [line] = lines_of(refusal(data=path))
    assert value(line, data=path) == 0.75


def test_records_whose_question_has_another_name_are_asked_about(tmp_path):
    rows = [{"q": q, "retrieved": RUN[q], "ground_truth": [ids[0]]} for q, ids in ROWS.items()]
    path = put(tmp_path, json.dumps(rows), "data.json")
    [line] = lines_of(refusal(data=path))
    assert (line, value(line, data=path)) == ("--column query=q", 0.75)


def test_two_stages_in_texts_are_asked_about(tmp_path):
    stages = {"retrieved": '["b", "a"]', "after_rerank": '["a", "b"]'}
    rows = [{"Frage": f"Wer war {q}?", "erwartet": ["a"], **stages} for q in ROWS]
    path = put(tmp_path, json.dumps(rows), "data.json")
    first, second = lines_of(refusal(data=path))
    assert [value(line, data=path) for line in (first, second)] == [1.0, 0.5]


def test_what_was_measured_of_each_question_names_no_results(tmp_path):
    path = put(tmp_path, "question,hit@3,MRR\na,1,1\nb,1,0.5\nc,0,0\n")
    assert lines_of(refusal(data=path)) == []


def test_several_ids_in_a_cell_are_no_grades(tmp_path):
    rows = "How?,1,6; 9; 2,no,8; 6; 3\nWhere?,0,9; 3; 12,yes,1; 11\n"
    path = put(tmp_path, "input,Aufwand,output,reviewed,expected\n" + rows)
    assert lines_of(refusal(data=path))[0] == "--column retrieved=output"


def test_a_no_that_stands_by_whole_questions_is_asked_about(tmp_path):
    rows = [f"q{n},How is {n}?,c{n}{at},{-1 if n else 1}" for n in (0, 1) for at in range(3)]
    path = put(tmp_path, "\n".join(["query_id,Kysymys,Kohta,Osuvuus", *rows]) + "\n")
    lines = lines_of(refusal(ground_truth=path, run={"q0": ["c00"], "q1": ["c10"]}))
    assert lines[0].endswith("--column grade=Osuvuus")
    assert lines[1].endswith("--column ignore=Osuvuus")


def test_an_empty_quote_and_one_result_in_every_row_are_no_lines(tmp_path):
    path = tmp_path / "quotes.jsonl"
    answers = ("The lock is held by one thread, and by no other.", "It was built in 1912. So what?")
    rows = [
        {"query_id": f"q{n}", "Vraag": f"Who is {n}?", "answer": answer, "Aufwand": 1 - n}
        | {"notes": "see the annex of the second edition" if n else ""}
        for n, answer in enumerate(answers)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = [{"query": row["Vraag"], "retrieved": [{"text": row["answer"]}]} for row in rows]
    assert "quote=notes" not in refusal(ground_truth=path, run=run)
    judged = [f"q{n},Is it {n}?,{9 - n},{at},{at}" for n in range(3) for at in range(1, 6)]
    names = "query_id,question,relevant_chunk,chunk_id,rank"
    path = put(tmp_path, "\n".join([names, *judged]) + "\n")
    assert "item=query_id" not in refusal(data=path)
