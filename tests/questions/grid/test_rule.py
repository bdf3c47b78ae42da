"""Grids: what a file may say, every combination once, interrupted or not, and one comparison."""

import json
import re
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

import calipers
from calipers import grid
from calipers.errors import InvalidInput, RetrieverFailed
from calipers.questions.grid.result import Grid, tokens_sentence
from calipers.questions.grid.rule import read_grid, tokens_per_query
from tests.command import calipers_command

MODULE = '''
import os
from pathlib import Path

HERE = Path(__file__).parent


def told(line):
    with (HERE / "log.txt").open("a") as log:
        log.write(line + "\\n")


def make(right, size=1, token=None):
    """Right about the first questions, as many as it is told."""
    told(f"make {right} {size}")

    def search(query, k):
        told("ask")
        number = int(query.removeprefix("question "))
        if (HERE / "stop").exists() and number == 3 and right == 11:
            os.kill(os.getpid(), 9)
        return (["good"] if number < right else []) + [f"bad{i}" for i in range(k - 1)]

    return search


def fails(**params):
    raise RuntimeError("no index here")


def fails_later(**params):
    def search(query, k):
        raise RuntimeError(f"no answer for {params.get('token')}")
    return search


not_callable = 3
'''


def write(folder, text):
    path = folder / "calipers.toml"
    path.write_text(
        'ground-truth = "questions.jsonl"\nmetrics = "recall@1"\n' + textwrap.dedent(text)
    )
    return path


TWO = """
    [grid]
    [grid.retrievers.some]
    make = "grid_finders:make"
    params = {right = [2, 11]}
    """


def log(folder):
    path = folder / "log.txt"
    return path.read_text().split("\n")[:-1] if path.exists() else []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "grid_finders.py").write_text(MODULE)
    records = [{"query": f"question {i}", "ground_truth": ["good"]} for i in range(12)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "grid_finders", raising=False)
    yield tmp_path
    sys.modules.pop("grid_finders", None)


def test_every_combination_is_run_scored_and_compared(folder):
    found = grid(write(folder, TWO))
    assert found.comparison.systems == ("some right=2", "some right=11")
    assert found.comparison.baseline == "some right=2"
    means = [found.comparison.mean(name, "recall@1").mean for name in found.comparison.systems]
    assert means == [2 / 12, 11 / 12]
    assert found.comparison.difference("some right=11", "recall@1").verdict == "better"
    # Every part of the queries chooses the same one, so that nothing of its gain was luck.
    assert (found.best, found.expected_gain.here) == ("some right=11", 9 / 12)
    assert found.expected_gain.expected == pytest.approx(9 / 12)
    assert 0 < found.expected_gain.low < 9 / 12 < found.expected_gain.high
    assert [found.reports[name]["answered"] for name in found.comparison.systems] == [12, 12]
    assert not found.failures
    assert sorted(path.name for path in (folder / "grid").iterdir()) == [
        "some-right=11.jsonl",
        "some-right=11.jsonl.meta.json",
        "some-right=2.jsonl",
        "some-right=2.jsonl.meta.json",
    ]


@pytest.mark.parametrize(("k", "cutoff"), [(5, 5), (30, 10)])
def test_the_usual_metrics_read_no_more_than_is_asked_for(folder, k, cutoff):
    path = write(folder, TWO.replace("[grid]\n", f"[grid]\n    k = {k}\n"))
    path.write_text(path.read_text().replace('metrics = "recall@1"\n', ""))
    cutoffs = {metric.k for metric in grid(path).comparison.metrics} - {None}
    assert cutoffs == {cutoff}


def test_what_is_finished_is_neither_made_nor_asked_again(folder):
    path = write(folder, TWO)
    first = calipers.grid(path).to_dict()
    before = log(folder)
    assert before.count("ask") == 24
    # No module of the package may stand where the operation is looked for.
    assert calipers.grid(path).to_dict() == first
    assert log(folder) == before
    path.write_text(path.read_text().replace("[2, 11]", "[2, 11, 5]"))
    assert len(grid(path).comparison.systems) == 3
    assert [line for line in log(folder)[len(before) :] if line != "ask"] == ["make 5 1"]


def test_a_killed_grid_goes_on(folder):
    path = write(folder, TWO.replace("[grid]\n", "[grid]\n    workers = 1\n", 1))
    undisturbed = grid(path).comparison.to_dict()
    for file in (folder / "grid").iterdir():
        file.unlink()
    (folder / "log.txt").unlink()
    (folder / "stop").touch()
    code = f"import calipers; calipers.grid({str(path)!r})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    (folder / "stop").unlink()
    assert grid(path).comparison.to_dict() == undisturbed
    # Only the question that was on its way when the process died is asked again.
    assert log(folder).count("ask") == 25
    assert log(folder).count("make 2 1") == 1


def test_other_parameters_do_not_go_on_with_an_old_run(folder):
    path = write(folder, TWO)
    grid(path)
    path.write_text(path.read_text().replace("right = [", "size = 2, right = ["))
    again = grid(path).reports["some right=2"]
    assert again["asked"] == 12
    assert again["earlier"].endswith("some-right=2.jsonl.bak.")


def test_changed_code_is_asked_again(folder):
    path = write(folder, TWO)
    grid(path)
    asked = log(folder).count("ask")
    module = folder / "grid_finders.py"
    module.write_text(module.read_text() + "\n# another version\n")
    grid(path)
    assert log(folder).count("ask") == 2 * asked
    grid(path)
    assert log(folder).count("ask") == 2 * asked
    assert grid(path, restart=True).reports["some right=2"]["asked"] == 12


def test_one_that_fails_is_reported_and_the_others_go_on(folder):
    path = write(
        folder,
        TWO
        + """
    [grid.retrievers.broken]
    make = "grid_finders:fails"
    [grid.retrievers.silent]
    make = "grid_finders:fails_later"
    """,
    )
    found = grid(path)
    assert list(found.failures) == ["broken", "silent"]
    assert "raises RuntimeError: no index here" in found.failures["broken"]
    assert "no answer" in found.failures["silent"]
    assert len(found.comparison.systems) == 2
    printed = calipers_command("grid", path)
    assert printed.code == 2
    assert "broken is not in the table" in printed.out
    path.write_text(path.read_text().replace("[grid]", '[grid]\nbaseline = "broken"', 1))
    with pytest.raises(RetrieverFailed, match="The baseline 'broken' could not be run"):
        grid(path)


def test_the_command(folder):
    path = write(folder, TWO)
    printed = calipers_command("grid", path, columns=100)
    assert printed.code == 0, printed.err
    assert printed.out.startswith(
        "▲ some right=11 is better than some right=2: recall@1 is 0.917, it was 0.167."
    )
    assert "9 of 12 queries better, none worse" in printed.out
    found = json.loads(calipers_command("grid", path, "--json").out)
    assert found == {"schema": 1, **json.loads(json.dumps(grid(path).to_dict()))}


def test_a_secret_parameter_is_in_no_file_and_no_error(folder):
    silent = """
    [grid.retrievers.silent]
    make = "grid_finders:fails_later"
    params.token = "sk-secret-token"
    """
    path = write(folder, TWO.replace("{right", '{token = "sk-secret-token", right') + silent)
    found = grid(path)
    assert "no answer for ***" in found.failures["silent"]
    assert "sk-secret-token" not in json.dumps(found.to_dict())
    for file in (folder / "grid").iterdir():
        assert "sk-secret-token" not in file.read_text()


def test_tokens_are_the_mean_over_the_results_that_the_primary_metric_reads():
    def pair_of(*tokens):
        listed = [{"id": f"{at}", "tokens": one} for at, one in enumerate(tokens)]
        made = [{"query": f"q{i}", "ground_truth": ["0"], "retrieved": listed} for i in range(8)]
        return calipers.read(made)

    pairs = {"cheap": pair_of(10, 10, 10, 10), "dear": pair_of(25, 25, 25)}
    for k, tokens in ((2, {"cheap": 20, "dear": 50}), (3, {"cheap": 30, "dear": 75})):
        assert tokens_per_query(calipers.compare(pairs, k=k), pairs) == tokens
    plain = calipers.read(ground_truth={"q": ["a"]}, run={"q": ["a"]})
    both = {"a": plain, "b": plain}
    assert tokens_per_query(calipers.compare(both), both) == {}


def test_the_product_of_retrievers_parameters(folder):
    path = write(
        folder,
        """
        [grid]
        k = 5
        output = "runs"
        [grid.params]
        size = [1, 2]
        [grid.retrievers.a]
        make = "grid_finders:make"
        params.right = 3
        [grid.retrievers.b]
        make = "grid_finders.py:make"
        params = {right = 5}
    """,
    )
    planned = read_grid(path)
    assert [one.name for one in planned.combinations] == [
        "a size=1",
        "a size=2",
        "b size=1",
        "b size=2",
    ]
    assert [one.k for one in planned.combinations] == [5] * 4
    assert planned.combinations[2].params == {"size": 1, "right": 5}
    assert not (folder / "runs").exists()


def test_baseline_by_name(folder):
    path = write(
        folder,
        TWO
        + """
    [grid.retrievers.other]
    make = "grid_finders:make"
    params.right = 7
    """,
    )
    text = path.read_text()
    for name, sentence in (
        ("some", "is none of the combinations"),
        ("othr", r"Did you mean other\?"),
    ):
        path.write_text(text.replace("[grid]", f'[grid]\nbaseline = "{name}"', 1))
        with pytest.raises(InvalidInput, match=sentence):
            grid(path)
    path.write_text(text.replace("[grid]", '[grid]\nbaseline = "other"', 1))
    assert grid(path).comparison.baseline == "other"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"has no \[grid\]"),
        ("[grid]\nk = 5", "missing required field `retrievers`"),
        ("[grid]\nretriever = 1", "unknown field `retriever`.*Its keys are retrievers, "),
        ("[grid.retrievers.a]\nparams.a = 3", "missing required field `make`"),
        ("[grid.retrievers.a]\nmake = 'x'\nsearch = 'y'", "field `search`.* retriever are make, "),
        ("[grid.retrievers]\na = 'x'", r"Expected `object`, got `str` - at `\$\.retrievers"),
        ("[grid.retrievers.a]\nmake = 'grid_finders:make'\nparams.right = 1", "At least two"),
        ("[grid.retrievers.a]\nmake = 'grid_finders:make'\nparams.right = [1, 1]", "At least two"),
        ("[grid]\nk = 0\n[grid.retrievers.a]\nmake = 'grid_finders:make'", "cut-off k is"),
        (
            "[grid.retrievers.a]\nmake = 'grid_finders:mak'\nparams.right = [1, 2]",
            "Did you mean make",
        ),
        ("[grid.retrievers.a]\nmake = 'nowhere_x:f'\nparams.right = [1, 2]", "no module 'now"),
        (
            "[grid.retrievers.a]\nmake = 'grid_finders:not_callable'\nparams.a = [1, 2]",
            "is a int; 'make'",
        ),
        ("grid = 3", r"must be a table \[grid\]"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_asked(folder, text, sentence):
    path = write(folder, "")
    path.write_text(path.read_text() + text)
    with pytest.raises(InvalidInput, match=sentence):
        grid(path)
    assert "ask" not in log(folder)


def test_a_ground_truth_is_needed(folder):
    path = write(folder, TWO)
    path.write_text(path.read_text().replace('ground-truth = "questions.jsonl"', ""))
    with pytest.raises(InvalidInput, match="names no ground truth"):
        grid(path)
    assert "ask" not in log(folder)


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        ({"old": 400.0, "new": 600.0},
         "new takes 50% more tokens than old: 600 per query, not 400."),
        ({"old": 400.0, "new": 300.0},
         "new takes 25% fewer tokens than old: 300 per query, not 400."),
        ({"old": 400.0, "new": 401.0}, "new takes as many tokens as old: 401."),
        ({"old": 400.0}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_the_price_of_the_best_combination_is_said_in_tokens(tokens, sentence):
    truth = {f"q{at}": ["a"] for at in range(9)}
    runs = {"old": {query: ["b", "a"] for query in truth}, "new": truth}
    comparison = calipers.compare(runs, truth, metrics="mrr@10")
    grid = Grid((), {}, {}, comparison, best="new", tokens=tokens)
    assert tokens_sentence(grid) == sentence
    facts = {fact.count for fact in tokens_sentence(grid).facts if fact.count is not None}
    assert facts == {int(number) for number in re.findall(r"\b\d+\b(?!%)", sentence)}
    assert sentence in " ".join(str(grid).split())
    assert tokens_sentence(replace(grid, best="old")) == ""
