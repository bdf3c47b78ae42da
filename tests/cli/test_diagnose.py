import json

import pytest

from calipers import rules
from tests.command import calipers_command, refused
from tests.systems import records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, hits in (("old", [8] * 30), ("new", [1] * 29 + [2])):
        (tmp_path / f"{name}.json").write_text(json.dumps(records(hits)))
    return tmp_path


def test_rules_are_listed(folder):
    assert "finds_little.recall=0.7" in calipers_command("diagnose", "--rules").out
    assert json.loads(calipers_command("diagnose", "--rules", "--json").out)["rules"] == rules()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["old.json", "--before", "none.json"], "There is no file none.json"),
        (["old.json", "--price", "1"], "tokens of the results are not known"),
        (["old.json", "-k", "x"], "The cut-off k is 'x'"),
        ([], "Nothing is given"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(folder, arguments, sentence):
    assert sentence in refused("diagnose", *arguments)
