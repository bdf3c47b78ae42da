from pathlib import Path

from tests.command import refused

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_questions.json"


def test_the_number_of_paths():
    for arguments in ([EXAMPLE], [], ["-g", EXAMPLE], ["-g", EXAMPLE, EXAMPLE, "out.json"]):
        assert "paths are given" in refused("convert", *arguments)


def test_what_is_refused_is_one_sentence_and_writes_nothing(tmp_path):
    bad, out = tmp_path / "in.jsonl", tmp_path / "out.json"
    bad.write_text('{"user_input": "a", "reference_contexts": []}\n{"response": "b"}\n')
    assert f"{bad}:2 $: no 'user_input'" in refused("convert", bad, out)
    assert "has the ending of another form" in refused("convert", EXAMPLE, out, "--to", "ragas")
    assert not out.exists()
