"""What columns are taken for, by name and by content: never a number that is wrong in silence."""

import pytest

from calipers import audit, convert, evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.command import refused

RUN = {"How?": ["a", "b"], "When?": ["c", "d"]}
GRADED = [("How?", "a", 1), ("How?", "b", 0), ("When?", "c", 1), ("When?", "d", 0)]


def sheet(folder, text, name="questions.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def graded(header, words=("1", "0")):
    yes, no = words
    rows = (f"{query},{item},{yes if grade else no}" for query, item, grade in GRADED)
    return "\n".join([f"question,chunk_id,{header}", *rows]) + "\n"


def notes(path):
    truth = load(path, "ground_truth").ground_truth
    return " ".join(truth.notes)


def precision(path, **more):
    return evaluate(RUN, ground_truth=path, metrics="precision@2", **more)["precision@2"].mean


@pytest.mark.parametrize(
    "header",
    [
        *("Relevanz", "Bewertung", "Gewichtung", "weight", "Pertinence", "Relevancia", "Rilevanza"),
        *("Relevantie", "Avaliação", "Trafność", "Ocena", "Relevanz (0-1)", "Valoración", "Poids"),
    ],
)
def test_a_grade_is_known_by_its_name_in_other_languages(header, tmp_path):
    path = sheet(tmp_path, graded(header))
    assert precision(path) == 0.5
    assert notes(path) == f"query ← question, target ← chunk_id, grade ← {header} (0–1)."


@pytest.mark.parametrize("words", [("1", "0"), ("3", "0"), ("TRUE", "FALSE"), ("ja", "nein")])
def test_a_column_that_may_be_the_grade_is_not_passed_over(words, tmp_path):
    path = sheet(tmp_path, graded("Zutreffend", words))
    with pytest.raises(InvalidInput, match=r"'Zutreffend' of .* is not understood") as error:
        precision(path)
    assert "--column grade=Zutreffend" in str(error.value)
    assert "--column ignore=Zutreffend" in str(error.value)
    assert precision(path, columns="grade=Zutreffend") == 0.5
    assert precision(path, columns={"ignore": ["Zutreffend"]}) == 1.0


@pytest.mark.parametrize("extra", ["page", "Nr", "Seite", "difficulty"])
def test_numbers_that_say_nothing_about_relevance_are_passed_over(extra, tmp_path):
    path = sheet(tmp_path, graded(extra))
    assert precision(path) == 1.0
    assert f"not read: {extra}" in notes(path)


def test_numbers_of_rows_and_words_are_passed_over(tmp_path):
    rows = "\n".join(f"{n},q{n},a,easy,2024" for n in range(1, 8))
    path = sheet(tmp_path, f"zähler,question,chunk_id,art,stand\n{rows}\n")
    assert "not read: zähler, art, stand" in notes(path)


def test_two_columns_that_could_be_the_grade(tmp_path):
    path = sheet(tmp_path, "question,chunk_id,Relevanz,Bewertung\nHow?,a,1,0\nWhen?,c,1,1\n")
    with pytest.raises(InvalidInput, match=r"two columns of .* 'Relevanz' and 'Bewertung'"):
        load(path, "ground_truth")


def test_words_in_a_grade_column_can_be_left_out(tmp_path):
    path = sheet(tmp_path, "question,chunk_id,label\nHow?,a,fact\nWhen?,c,number\n")
    with pytest.raises(InvalidInput, match=r"'label' holds 'fact' .*--column ignore=label"):
        load(path, "ground_truth")
    assert precision(path, columns="ignore=label") == 0.5


def test_results_whose_order_a_column_contradicts(tmp_path):
    rows = "How?,b,0.2\nHow?,a,0.9\nWhen?,c,0.8\n"
    path = sheet(tmp_path, f"question,chunk_id,Wert\n{rows}", "run.csv")
    with pytest.raises(
        InvalidInput, match=r"--column score=Wert; .* 'Wert' of .* has another order"
    ):
        load(path, "run")
    in_order = sheet(tmp_path, "question,chunk_id,Wert\nHow?,a,0.9\nHow?,b,0.2\n", "run.csv")
    assert load(in_order, "run").run.frame["item"].to_list() == ["a", "b"]


def test_assertions_of_promptfoo_are_no_targets(tmp_path):
    check = "python:file://eval_retrieval.py"
    text = f"query,correct_chunks,__expected\nHow?,a;b,{check}\nWhen?,c,{check}\n"
    path = sheet(tmp_path, text)
    assert load(path, "ground_truth").ground_truth.targets["item"].to_list() == ["a", "b", "c"]
    alone = sheet(tmp_path, f"query,__expected\nHow?,{check}\n", "alone.csv")
    with pytest.raises(InvalidInput, match=r"no column for the item"):
        load(alone, "ground_truth")


def test_audit_convert_and_eval_say_the_same_of_the_reading(tmp_path):
    path = sheet(tmp_path, "query,correct_chunks,__expected\nHow?,a;b,x:y\nWhen?,c,x:y\n")
    said = list(load(path, "ground_truth").ground_truth.notes)
    assert said[0] == "target ← correct_chunks; not read: __expected."
    assert list(audit(path).notes) == said
    assert list(convert(path, tmp_path / "out.jsonl").remarks) == said
    scores = evaluate(RUN, ground_truth=path)
    assert list(scores.settings["notes"][: len(said)]) == said


PROSE = "The GIL is a lock; one thread holds it."


@pytest.mark.parametrize("name", ["ground_truth", "answer", "expected", "gold"])
def test_prose_is_not_split(name, tmp_path):
    path = sheet(
        tmp_path, f'question,{name}\nHow?,"{PROSE}"\nWhen?,"Lists grow.\nSlowly, today."\n'
    )
    truth = load(path, "ground_truth").ground_truth
    assert truth.targets["quote"].to_list() == [PROSE, "Lists grow.\nSlowly, today."]
    assert f"quote ← {name} (found where" in truth.notes[0]


@pytest.mark.parametrize(
    "ids", ["a#1;a#2;a#3", "a#1, a#2, a#3", "a#1\na#2\na#3", "my a.md;my b.md"]
)
def test_ids_are_split_whatever_the_column_is_called(ids, tmp_path):
    path = sheet(tmp_path, f'question,ground_truth\nHow?,"{ids}"\nWhen?,c#1\n')
    truth = load(path, "ground_truth").ground_truth
    assert truth.kinds == {"item"}
    assert truth.targets.height == 1 + len(ids.replace("\n", ";").replace(",", ";").split(";"))


def test_results_in_prose_are_not_cut_into_ids(tmp_path):
    path = sheet(tmp_path, f'query,retrieved,ground_truth\nHow?,"{PROSE}","{PROSE}"\n')
    with pytest.raises(InvalidInput, match=r"'retrieved' of .* holds sentences"):
        load(path, "both")


NAMED = {"q1": ["a"], "q2": ["c"]}
WITH_IDS = {
    "questions.csv": "id,question,chunk_id\nq1,How?,a\nq2,When?,c\n",
    "questions.tsv": "_id\tquery\tchunk_id\nq1\tHow is it?\ta\nq2\tWhen is it?\tc\n",
    "questions.jsonl": '{"id":"q1","question":"How?","chunk_id":"a"}\n'
    '{"id":"q2","question":"When?","chunk_id":"c"}\n',
    "questions.json": '[{"query_id":"q1","query":"How?","ground_truth":["a"]},'
    '{"query_id":"q2","query":"When?","ground_truth":["c"]}]',
    "records.jsonl": '{"qid":"q1","question":"How?","ground_truth":["a"]}\n'
    '{"qid":"q2","question":"When?","ground_truth":["c"]}\n',
    "german.csv": "Frage-ID;Frage;Fundstelle\nq1;How?;a\nq2;When?;c\n",
}


@pytest.mark.parametrize("name", WITH_IDS)
def test_an_id_beside_a_question_names_it(name, tmp_path):
    path = sheet(tmp_path, WITH_IDS[name], name)
    truth = load(path, "ground_truth").ground_truth
    assert truth.queries["query"].to_list() == ["q1", "q2"]
    assert truth.queries["text"].to_list()[0].startswith("How")
    assert evaluate(NAMED, ground_truth=path, metrics="mrr")["mrr"].mean == 1.0


def test_a_run_that_names_queries_by_their_texts_is_found_all_the_same(tmp_path):
    path = sheet(tmp_path, WITH_IDS["questions.csv"])
    scores = evaluate(RUN, ground_truth=path, metrics="mrr")
    assert scores["mrr"].mean == 1.0
    assert any("by their texts" in note for note in scores.settings["notes"])
    records = [{"id": i, "query": q, "retrieved": [c]} for i, q, c in (("q1", "How?", "a"),)]
    by_text = sheet(tmp_path, "question,chunk_id\nHow?,a\nWhen?,c\n", "texts.csv")
    assert evaluate(records, ground_truth=by_text, metrics="mrr")["mrr"].mean == 0.5


def test_an_id_of_rows_does_not_make_queries(tmp_path):
    path = sheet(tmp_path, "id,question,chunk_id\n1,How?,a\n2,How?,b\n3,When?,c\n")
    truth = load(path, "ground_truth").ground_truth
    assert truth.queries["query"].to_list() == ["How?", "When?"]
    assert "not read: id" in truth.notes[0]


def test_further_ids_are_said_not_to_be_read(tmp_path):
    path = sheet(tmp_path, "question,chunk_id,also_acceptable\nHow?,a,b\nWhen?,c,\n")
    assert "not read: also_acceptable" in notes(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "question,chunk_id\nHow? ,a\nHow?, b\n When?,c \n"),
        ("g.csv", "question,chunk_id,grade\nHow? ,a ,1\nHow?, b,1\n When?,c ,1\n"),
        (
            "g.jsonl",
            '{"query":"How? ","ground_truth":["a "," b"]}\n'
            '{"query":" When?","ground_truth":["c "]}\n',
        ),
        ("g.json", '{"How? ": {"a ": 1, "b": 1}, " When?": {" c": 1}}'),
    ],
)
def test_blanks_at_the_ends_are_no_part_of_a_question_or_an_id(name, text, tmp_path):
    scores = evaluate(RUN, ground_truth=sheet(tmp_path, text, name), metrics="recall@2")
    assert (scores["recall@2"].mean, scores.audit.queries) == (1.0, 2)
    padded = {f" {q}": [f"{i} " for i in items] for q, items in RUN.items()}
    scores = evaluate(padded, ground_truth=tmp_path / name, metrics="recall@2")
    assert scores["recall@2"].mean == 1.0


def test_names_that_are_the_same_without_blanks(tmp_path):
    with pytest.raises(InvalidInput, match=r"two queries that differ only by blanks"):
        evaluate({"q": ["a"], "q ": ["b"]}, ground_truth={"q": ["a"]})


@pytest.mark.parametrize("text", ["question,chunk_id\n", "question,chunk_id,grade\n"])
def test_a_header_alone_is_no_ground_truth(text, tmp_path):
    path = sheet(tmp_path, text)
    for arguments in (("audit", path), ("eval", "-g", path, "-r", path)):
        assert "has the names of columns and no rows" in refused(*arguments)
