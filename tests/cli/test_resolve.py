"""calipers convert --resolve as a user meets it."""

import json

import pytest
from click.testing import CliRunner

from calipers.cli.truth import convert as command


@pytest.fixture
def evals(tmp_path):
    path = tmp_path / "evals.jsonl"
    targets = [{"quote": "only one thread"}, {"quote": "twice"}, {"quote": "not\u001b there"}]
    path.write_text(json.dumps({"query": "b", "ground_truth": targets}) + "\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("twice: only one\nthread, twice.")
    return path


def run(evals, *arguments):
    corpus = ["--resolve", str(evals.parent / "docs")]
    return CliRunner().invoke(command, [str(evals), *map(str, arguments), *corpus])


def test_it_reports_once_several_and_not_at_all(evals):
    out = evals.parent / "spans.jsonl"
    result = run(evals, out)
    assert result.exit_code == 0
    for words in (
        "1 of 3 quotes stand once in the documents",
        "1       found once",
        "1       found in several places: left as they are",
        "1       not found",
        "2 places, a.md 0–5",
    ):
        assert words in result.output
    assert "\u001b" not in result.output
    targets = json.loads(out.read_text())["ground_truth"]
    assert ["start" in target for target in targets] == [True, False, False]


def test_strict_fails_while_a_quote_has_no_span(evals):
    assert run(evals, "--strict").exit_code == 1
    evals.write_text(json.dumps({"query": "b", "ground_truth": [{"quote": "only one thread"}]}))
    assert run(evals, "--strict").exit_code == 0


def test_the_output_is_json_lines_and_says_so(evals):
    result = run(evals, evals.parent / "spans.parquet")
    assert "with --resolve it is JSON lines" in str(result.exception)
    assert sorted(path.name for path in evals.parent.iterdir()) == ["docs", "evals.jsonl"]
