import json

import pytest
from click.testing import CliRunner

from calipers.cli.truth import audit as command
from tests.command import calipers_command


@pytest.fixture
def evals(tmp_path):
    path = tmp_path / "evals.jsonl"
    rows = [
        {"query": "a \u001b[31m red [bold]query[/bold]", "ground_truth": [{"quote": "not there"}]},
        {"query": "b", "ground_truth": [{"quote": "only one thread runs"}]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("In Python only one\nthread runs.")
    return path


def run(*arguments):
    return CliRunner().invoke(command, [str(one) for one in arguments])


def test_the_table_names_what_it_means_and_what_to_do(evals):
    result = run(evals, "--corpus", evals.parent / "docs")
    assert result.exit_code == 0
    for words in ("evidence_in_no_chunk", "1 of 2 quotes", "→ Correct the quote"):
        assert words in result.output
    assert "\u001b" not in result.output
    assert "[bold]query[/bold]" in result.output


@pytest.mark.parametrize(
    ("fail_on", "with_corpus", "code"),
    [("error", True, 1), ("error", False, 0), ("warning", False, 1), (None, True, 0)],
)
def test_the_exit_code_is_for_ci(evals, fail_on, with_corpus, code):
    corpus = ["-c", evals.parent / "docs"] if with_corpus else []
    chosen = ["--fail-on", fail_on] if fail_on else []
    assert run(evals, *corpus, *chosen, "--quiet").exit_code == code


def test_quiet_is_the_first_line(evals):
    assert len(run(evals, "-q").output.splitlines()) == 1


def test_one_pair_of_duplicates_has_no_more_to_list(tmp_path):
    path = tmp_path / "truth.json"
    rows = [{"id": n, "query": "Same here?", "ground_truth": ["a"]} for n in "12"]
    path.write_text(json.dumps(rows))
    printed = calipers_command("audit", path, columns=200).out
    assert "asked again as '2'" in printed
    assert "more" not in printed.split("duplicate_queries")[1].split("→")[0]
