"""calipers convert --resolve as a user meets it."""

import json

import pytest

from tests.command import calipers_command


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
    return calipers_command("convert", evals, *arguments, *corpus)


def test_it_reports_once_several_and_not_at_all(evals):
    out = evals.parent / "spans.jsonl"
    result = run(evals, out)
    assert result.code == 0
    for words in (
        "1 of 3 quotes stands once in the documents",
        "1       found once",
        "1       found in several places: left as they are",
        "1       not found",
        "2 places, a.md 0–5",
    ):
        assert words in result.out
    assert "\u001b" not in result.out
    targets = json.loads(out.read_text())["ground_truth"]
    assert ["start" in target for target in targets] == [True, False, False]


def test_the_output_is_json_lines_and_says_so(evals):
    result = run(evals, evals.parent / "spans.parquet")
    assert "with --resolve it is JSON lines" in result.err
    assert sorted(path.name for path in evals.parent.iterdir()) == ["docs", "evals.jsonl"]
