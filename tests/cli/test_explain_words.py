"""More words than a command takes: what to type is said."""

from tests.command import refused


def test_a_file_beside_the_question_gets_its_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.csv").write_text("question,doc_id,rank\nq,a,1\n")
    for words in (("Who is it?", "run.csv"), ("run.csv", "Who is it?")):
        assert "calipers explain 'Who is it?' --run run.csv" in refused("explain", *words)


def test_words_without_quotation_marks_are_told_to_have_them():
    said = refused("explain", "who", "is", "it")
    assert "takes QUESTION; 'is', 'it'" in said
    assert "quotation marks" in said


def test_a_run_as_the_baseline_of_a_gate_is_called_that(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "question,expected_doc,doc_id,rank\nq,a,a,1\nq,a,b,2\n"
    (tmp_path / "run.csv").write_text(rows)
    said = refused("gate", "run.csv", "--baseline", "run.csv")
    assert "run.csv is a run" in said
    assert "calipers gate save run.csv -o run.baseline.json" in said
