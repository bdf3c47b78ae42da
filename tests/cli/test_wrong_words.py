"""Files without their options, and more words than a command takes: the line is proposed."""

import json
import shlex
from pathlib import Path

import pytest

from tests.command import calipers_command, typed


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ground truth, two runs and a file with both, in the current folder."""
    truth = [{"id": f"q{n}", "query": f"What is {n}?", "ground_truth": ["d"]} for n in range(4)]
    runs = [{"query_id": f"q{n}", "results": ["d" if n else "x", "y"]} for n in range(4)]
    both = [{**one, "retrieved": ["d"]} for one in truth]
    for name, rows in {"gt": truth, "old": runs, "new": runs, "both": both}.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "calipers explain q0 old.jsonl -g gt.jsonl",
        "calipers explain old.jsonl q0 -g gt.jsonl -k 3",
        "calipers explain q0 gt.jsonl old.jsonl",
        "calipers explain q0 both.jsonl",
        "calipers eval gt.jsonl old.jsonl -k 2",
        "calipers misses old.jsonl gt.jsonl -k 2",
        "calipers gate old.jsonl gt.jsonl --require 'recall@2 >= 0.5'",
    ],
)
def test_the_proposed_line_keeps_what_was_typed_and_runs(line: str) -> None:
    refused = calipers_command(*shlex.split(line)[1:])
    assert refused.code == 2
    begin = refused.err.index("calipers ", len("Error: "))
    proposed = refused.err[begin:].strip()
    options = [word for word in shlex.split(line) if word.startswith("-")]
    assert [word for word in shlex.split(proposed) if word in options] == options
    assert typed(proposed.removeprefix("calipers ")).code == 0, proposed


def test_two_runs_by_one_ground_truth_are_compared() -> None:
    refused = calipers_command("eval", "old.jsonl", "new.jsonl", "-g", "gt.jsonl", "-k", "2")
    assert "to test their difference: calipers compare old.jsonl new.jsonl" in refused.err
    line = refused.err[refused.err.index("calipers compare") :].strip()
    assert typed(line.removeprefix("calipers ")).code == 0


@pytest.mark.parametrize("command", ["sweep", "diagnose", "misses"])
def test_what_takes_one_run_proposes_the_first(command: str) -> None:
    refused = calipers_command(command, "-g", "gt.jsonl", "old.jsonl", "new.jsonl", "-k", "2")
    assert refused.code == 2
    assert "give one run at a time" in refused.err
    line = refused.err[refused.err.index(f"calipers {command}") :].strip()
    assert shlex.split(line) == f"calipers {command} -g gt.jsonl old.jsonl -k 2".split()
    assert typed(line.removeprefix("calipers ")).code == 0


@pytest.mark.parametrize("further", ["-k 2", "-k 2 --by=language", "--by language -m mrr"])
def test_of_two_runs_at_a_gate_the_first_becomes_the_baseline(further: str) -> None:
    """The gate has nothing to check of one run alone."""
    refused = typed(f"gate old.jsonl new.jsonl -g gt.jsonl {further}")
    assert refused.code == 2
    assert "to make the first the baseline of the other" in refused.err
    _, save, use = refused.err.strip().split("calipers gate ")
    assert typed("gate " + save.removesuffix(", then ")).code == 0
    checked = typed(f"gate {use}")
    assert (checked.code, checked.err) == (1, "") or checked.code == 0, checked.err
    assert "old.baseline.json" in use
    assert further in use


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("eval old.jsonl new.jsonl", "say which is which with --ground-truth and --run"),
        ("eval old.jsonl missing.jsonl -g gt.jsonl", "Several files are given"),
        ("explain q0 old.jsonl new.jsonl gt.jsonl", "by options: --run and --ground-truth"),
        ("explain why is it", "'is', 'it' have no place"),
        ("metrics mrr map", "'map' has no place"),
    ],
)
def test_where_nobody_knows_there_is_no_line(line: str, sentence: str) -> None:
    refused = calipers_command(*shlex.split(line))
    assert refused.code == 2
    assert sentence in " ".join(refused.err.split())
    assert "calipers " not in refused.err
