"""Grids: every combination once, interrupted or not, and one comparison of all."""

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from calipers.api import grid, plan_grid
from calipers.errors import InvalidInput, RetrieverFailed
from tests.command import calipers_command, refused

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


def plain(query, k, right=0):
    return (["good"] if int(query.removeprefix("question ")) < right else ["bad"])[:k]


def fails(**params):
    raise RuntimeError("no index here")


def tells(token):
    raise RuntimeError("no index for " + token)


def fails_later(**params):
    def search(query, k):
        raise RuntimeError(f"no answer for {params.get('token')}")
    return search


not_callable = 3
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "finders.py").write_text(MODULE)
    records = [{"query": f"question {i}", "ground_truth": ["good"]} for i in range(12)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "finders", raising=False)
    yield tmp_path
    sys.modules.pop("finders", None)


def write(folder, text):
    path = folder / "calipers.toml"
    path.write_text(
        'ground-truth = "questions.jsonl"\nmetrics = "recall@1"\n' + textwrap.dedent(text)
    )
    return path


TWO = """
    [grid]
    [grid.retrievers.some]
    make = "finders:make"
    params = {right = [2, 11]}
    """


def log(folder):
    path = folder / "log.txt"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def test_every_combination_is_run_scored_and_compared(folder):
    found = grid(write(folder, TWO))
    assert found.comparison.systems == ("some right=2", "some right=11")
    assert found.comparison.baseline == "some right=2"
    means = [found.comparison.mean(name, "recall@1").mean for name in found.comparison.systems]
    assert means == [2 / 12, 11 / 12]
    assert found.comparison.difference("some right=11", "recall@1").verdict == "better"
    assert [found.reports[name]["answered"] for name in found.comparison.systems] == [12, 12]
    assert not found.failures
    assert sorted(path.name for path in (folder / "grid").iterdir()) == [
        "some-right=11.jsonl", "some-right=11.jsonl.meta.json",
        "some-right=2.jsonl", "some-right=2.jsonl.meta.json",
    ]  # fmt: skip


def test_the_product_of_retrievers_parameters_and_k(folder):
    path = write(folder, """
        [grid]
        k = [1, 5]
        output = "runs"
        [grid.params]
        size = [1, 2]
        [grid.retrievers.a]
        make = "finders:make"
        params.right = 3
        [grid.retrievers.b]
        search = "finders.py:plain"
        k = 4
        params = {right = 5, size = 1}
    """)  # fmt: skip
    for use in (grid, plan_grid):
        with pytest.raises(InvalidInput, match=r"plain.*takes no parameter 'size'"):
            use(path)
    path.write_text(path.read_text().replace(", size = 1", ""))
    path.write_text(path.read_text().replace("finders.py:plain", "finders.py:make").replace(
        "search =", "make ="))  # fmt: skip
    planned = plan_grid(path)
    assert [one.name for one in planned.combinations] == [
        "a size=1 k=1", "a size=1 k=5", "a size=2 k=1", "a size=2 k=5", "b size=1", "b size=2",
    ]  # fmt: skip
    assert [one.k for one in planned.combinations] == [1, 5, 1, 5, 4, 4]
    assert planned.combinations[4].params == {"size": 1, "right": 5}
    assert not (folder / "runs").exists()


def test_what_is_finished_is_neither_made_nor_asked_again(folder):
    path = write(folder, TWO)
    first = grid(path).to_dict()
    before = log(folder)
    assert before.count("ask") == 24
    assert grid(path).to_dict() == first
    assert log(folder) == before
    path.write_text(path.read_text().replace("[2, 11]", "[2, 11, 5]"))
    assert len(grid(path).comparison.systems) == 3
    assert [line for line in log(folder)[len(before) :] if line != "ask"] == ["make 5 1"]
    assert [one["done"] for one in plan_grid(path).to_dict()["combinations"]] == [12] * 3


def test_a_killed_grid_goes_on(folder):
    path = write(folder, TWO.replace("[grid]\n", "[grid]\n    workers = 1\n", 1))
    undisturbed = grid(path).comparison.to_dict()
    for file in (folder / "grid").iterdir():
        file.unlink()
    (folder / "log.txt").unlink()
    (folder / "stop").touch()
    code = f"from calipers.api import grid; grid({str(path)!r})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    (folder / "stop").unlink()
    assert [one["done"] for one in plan_grid(path).to_dict()["combinations"]] == [12, 3]
    assert grid(path).comparison.to_dict() == undisturbed
    # Only the question that was on its way when the process died is asked again.
    assert log(folder).count("ask") == 25
    assert log(folder).count("make 2 1") == 1


def test_what_differs_in_k_alone_is_made_once(folder):
    path = write(folder, TWO.replace("[grid]", "[grid]\n    k = [1, 3, 5]"))
    assert len(grid(path).comparison.systems) == 6
    assert [line for line in log(folder) if line != "ask"] == ["make 2 1", "make 11 1"]


def test_other_parameters_do_not_go_on_with_an_old_run(folder):
    path = write(folder, TWO)
    grid(path)
    path.write_text(path.read_text().replace("right = [", "size = 2, right = ["))
    with pytest.raises(InvalidInput, match=r"belongs to another run: params was .*--restart"):
        grid(path)
    assert grid(path, restart=True).reports["some right=2"]["asked"] == 12


def test_one_that_fails_is_reported_and_the_others_go_on(folder):
    path = write(folder, TWO + """
    [grid.retrievers.broken]
    make = "finders:fails"
    [grid.retrievers.silent]
    make = "finders:fails_later"
    """)  # fmt: skip
    found = grid(path)
    assert list(found.failures) == ["broken", "silent"]
    assert "raises RuntimeError: no index here" in found.failures["broken"]
    assert "no answer" in found.failures["silent"]
    assert len(found.comparison.systems) == 2
    printed = calipers_command("grid", path)
    assert printed.code == 2
    assert "broken is not in the table" in printed.out
    with pytest.raises(RetrieverFailed, match="The baseline 'broken' could not be run"):
        grid(path, baseline="broken")


def test_a_secret_parameter_is_in_no_file(folder):
    path = write(folder, TWO.replace("{right", '{token = "sk-secret-token", right'))
    found = grid(path)
    assert "sk-secret-token" not in json.dumps(found.to_dict())
    for file in (folder / "grid").iterdir():
        assert "sk-secret-token" not in file.read_text()


def test_secrets_that_vary_are_numbered_and_hidden_in_errors(folder):
    path = write(
        folder,
        """
    [grid]
    [grid.retrievers.some]
    make = "finders:tells"
    params.token = ["sk-secret-one", "sk-secret-two"]
    """,
    )
    assert [one.name for one in plan_grid(path).combinations] == ["some token=#1", "some token=#2"]
    with pytest.raises(RetrieverFailed, match=r"no index for \*\*\*") as failed:
        grid(path)
    assert "sk-secret" not in str(failed.value)


def test_a_plain_word_that_only_looks_secret_leaves_answers_alone(folder):
    path = write(folder, TWO.replace("{right", '{token = "good", right'))
    found = grid(path)
    assert found.comparison.mean("some right=11", "recall@1").mean == 11 / 12


def test_a_secret_in_the_error_of_a_search_is_hidden(folder):
    path = write(folder, TWO + """
    [grid.retrievers.silent]
    make = "finders:fails_later"
    params.token = "sk-secret-token"
    """)  # fmt: skip
    assert "no answer for ***" in grid(path).failures["silent"]


def test_baseline_by_name_or_by_its_only_combination(folder):
    path = write(folder, TWO + """
    [grid.retrievers.other]
    make = "finders:make"
    params.right = 7
    """)  # fmt: skip
    assert grid(path, baseline="other").comparison.baseline == "other"
    assert grid(path, baseline="some right=11").comparison.baseline == "some right=11"
    for name, sentence in (("some", "stands for 2 combinations"), ("othr", "Did you mean other")):
        with pytest.raises(InvalidInput, match=sentence):
            grid(path, baseline=name)
    path.write_text(path.read_text().replace("[grid]", '[grid]\nbaseline = "other"', 1))
    assert grid(path).comparison.baseline == "other"
    assert grid(path, metrics="mrr").comparison.metrics[0].name == "mrr"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"has no \[grid\]"),
        ("[grid]\nk = 5", "names no retriever"),
        ("[grid]\nretriever = 1", r"'grid\.retriever'.*Did you mean retrievers"),
        ("[grid.retrievers.a]\nmakes = 'x'", r"'grid\.retrievers\.a\.makes'.*Did you mean make"),
        ("[grid.retrievers.a]\nk = 3", "neither 'make' and 'search'"),
        ("[grid.retrievers.a]\nmake = 'x'\nsearch = 'y'", "both 'make' and 'search'"),
        ("[grid.retrievers.a]\nmake = 3", "must be a text"),
        ("[grid.retrievers]\na = 'x'", r"must be a table \[grid\.retrievers\.a\]"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams = 3", "must be a table"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.right = []", "at least one value"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.right = 1", "one combination"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.right = [1, 1]", "two combinations"),
        ("[grid]\nk = 0\n[grid.retrievers.a]\nmake = 'finders:make'", "k = 0 in"),
        ("[grid]\nk = []\n[grid.retrievers.a]\nmake = 'finders:make'", r"k = \[\] in"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.righ = [1, 2]", "takes right, size"),
        ("[grid.retrievers.a]\nmake = 'finders:mak'\nparams.right = [1, 2]", "Did you mean make"),
        ("[grid.retrievers.a]\nmake = 'nowhere_x:f'\nparams.right = [1, 2]", "no module 'now"),
        ("[grid.retrievers.a]\nmake = 'finders:not_callable'\nk = [1, 2]", "is a int; 'make'"),
        ("grid = 3", r"must be a table \[grid\]"),
    ],
)  # fmt: skip
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
    path.write_text(path.read_text().replace("[grid]", '[grid]\nquestions = "questions.jsonl"', 1))
    assert plan_grid(path).questions == 12
    with pytest.raises(InvalidInput, match="names no ground truth"):
        grid(path)
    assert "ask" not in log(folder)


def test_the_nearest_file_is_found(folder, monkeypatch):
    write(folder, TWO)
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert len(plan_grid().combinations) == 2
    empty = folder.parent / "nothing here"
    empty.mkdir()
    monkeypatch.chdir(empty)
    with pytest.raises(InvalidInput, match=r"There is no calipers.toml"):
        plan_grid()


def test_the_command(folder):
    path = write(folder, TWO)
    printed = calipers_command("grid", path, "--dry-run")
    assert printed.code == 0, printed.err
    assert "2 combinations, 12 questions each; 24 left to ask. Nothing was run." in printed.out
    assert not (folder / "grid").exists()
    dry: Any = json.loads(calipers_command("grid", path, "--dry-run", "--json").out)
    assert [one["params"] for one in dry["combinations"]] == [{"right": 2}, {"right": 11}]
    printed = calipers_command("grid", path, columns=100)
    assert printed.code == 0, printed.err
    assert "some right=11 is better in recall@1 than some right=2." in printed.out
    found = json.loads(calipers_command("grid", path, "--json").out)
    assert found == json.loads(json.dumps(grid(path).to_dict()))
    assert "Did you mean" in refused("grid", path, "--baseline", "some right=3")


def test_other_commands_read_the_same_file(folder, monkeypatch):
    path = write(folder, TWO + "[gate]\nrequire = 'recall@1 >= 0.5'\n".replace("\n", "\n    "))
    grid(path)
    monkeypatch.chdir(folder)
    run = folder / "grid" / "some-right=11.jsonl"
    assert calipers_command("gate", "--run", run, "-g", "questions.jsonl").code == 0
