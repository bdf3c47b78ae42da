import json

import pytest

from tests.command import calipers_command


@pytest.fixture
def evals(tmp_path):
    path = tmp_path / "evals.jsonl"
    quotes = {"a": "not there", "b": "only one thread runs"}
    rows = [{"query": query, "ground_truth": [{"quote": one}]} for query, one in quotes.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("In Python only one\nthread runs.")
    return path


@pytest.mark.parametrize(
    ("fail_on", "with_corpus", "code"),
    [("error", True, 1), ("error", False, 0), ("warning", False, 1), (None, True, 0)],
)
def test_the_exit_code_is_for_ci(evals, fail_on, with_corpus, code):
    corpus = ["-c", evals.parent / "docs"] if with_corpus else []
    chosen = ["--fail-on", fail_on] if fail_on else []
    assert calipers_command("audit", evals, *corpus, *chosen, "--quiet").code == code
