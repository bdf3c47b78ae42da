import json
from pathlib import Path

from tests.command import calipers_command

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_questions.json"


def write(tmp_path, text, name="in.jsonl"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_two_inputs_and_a_named_form(tmp_path):
    qrels = write(tmp_path, "q 0 a 1\n", "q.qrels")
    run = write(tmp_path, "q Q0 a 1 0.5 t\n", "r.run")
    out = tmp_path / "out.txt"
    printed = calipers_command("convert", "-g", qrels, "-r", run, out, "--to", "ours")
    assert printed.code == 0, printed.err
    assert json.loads(out.read_text()) == {
        "query": "q",
        "retrieved": [{"id": "a", "score": 0.5}],
        "ground_truth": {"a": 1},
    }


def test_the_number_of_paths(tmp_path):
    for arguments in ([EXAMPLE], [], ["-g", EXAMPLE], ["-g", EXAMPLE, EXAMPLE, "out.json"]):
        printed = calipers_command("convert", *arguments)
        assert printed.code == 2
        assert "paths are given" in printed.err


def test_an_error_is_one_sentence_with_the_place(tmp_path):
    path = write(tmp_path, '{"user_input": "a", "reference_contexts": []}\n{"response": "b"}\n')
    printed = calipers_command("convert", path, tmp_path / "out.json")
    assert printed.code == 2
    assert f"{path}:2 $: no 'user_input'" in printed.err
    assert not (tmp_path / "out.json").exists()


def test_a_name_that_says_another_form_is_refused(tmp_path):
    printed = calipers_command("convert", EXAMPLE, tmp_path / "out.json", "--to", "ragas")
    assert printed.code == 2
    assert "has the ending of another form" in printed.err
    assert not (tmp_path / "out.json").exists()
