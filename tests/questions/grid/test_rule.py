"""Grids: every combination once, interrupted or not, and one comparison of all."""

import json
import subprocess
import sys

import pytest

import calipers
from calipers.errors import RetrieverFailed
from calipers.questions.grid.rule import tokens_per_query
from calipers.questions.grid.settings import grid
from tests.command import calipers_command, refused
from tests.questions.grid.grids import TWO, log, write


def test_every_combination_is_run_scored_and_compared(folder):
    found = grid(write(folder, TWO))
    assert found.comparison.systems == ("some right=2", "some right=11")
    assert found.comparison.baseline == "some right=2"
    means = [found.comparison.mean(name, "recall@1").mean for name in found.comparison.systems]
    assert means == [2 / 12, 11 / 12]
    assert found.comparison.difference("some right=11", "recall@1").verdict == "better"
    assert found.without_effect == ()
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
    module = folder / "finders.py"
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
    make = "finders:fails"
    [grid.retrievers.silent]
    make = "finders:fails_later"
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
    with pytest.raises(RetrieverFailed, match="The baseline 'broken' could not be run"):
        grid(path, baseline="broken")


def test_the_command(folder):
    path = write(folder, TWO)
    printed = calipers_command("grid", path, "--dry-run")
    assert printed.code == 0, printed.err
    assert printed.out == "some right=2\nsome right=11\n"
    assert "leave out --json" in refused("grid", path, "--dry-run", "--json")
    assert not (folder / "grid").exists()
    printed = calipers_command("grid", path, columns=100)
    assert printed.code == 0, printed.err
    assert printed.out.startswith(
        "▲ some right=11 is better than some right=2: recall@1 is 0.917, it was 0.167."
    )
    assert "9 of 12 queries better, none worse" in printed.out
    found = json.loads(calipers_command("grid", path, "--json").out)
    assert found == {"schema": 1, **json.loads(json.dumps(grid(path).to_dict()))}
    assert "Did you mean" in refused("grid", path, "--against", "some right=3")


def test_what_differs_in_k_alone_is_made_once(folder):
    path = write(folder, TWO.replace("[grid]", "[grid]\n    k = [1, 3, 5]"))
    assert len(grid(path).comparison.systems) == 6
    assert [line for line in log(folder) if line != "ask"] == ["make 2 1", "make 11 1"]


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
    listed = calipers_command("grid", path, "--dry-run").out
    assert listed == "some token=#1\nsome token=#2\n"
    with pytest.raises(RetrieverFailed, match=r"no index for \*\*\*") as failed:
        grid(path)
    assert "sk-secret" not in str(failed.value)


def test_a_plain_word_that_only_looks_secret_leaves_answers_alone(folder):
    path = write(folder, TWO.replace("{right", '{token = "good", right'))
    found = grid(path)
    assert found.comparison.mean("some right=11", "recall@1").mean == 11 / 12


def test_a_secret_parameter_is_in_no_file_and_no_error(folder):
    silent = """
    [grid.retrievers.silent]
    make = "finders:fails_later"
    params.token = "sk-secret-token"
    """
    path = write(folder, TWO.replace("{right", '{token = "sk-secret-token", right') + silent)
    found = grid(path)
    assert "no answer for ***" in found.failures["silent"]
    assert "sk-secret-token" not in json.dumps(found.to_dict())
    for file in (folder / "grid").iterdir():
        assert "sk-secret-token" not in file.read_text()


def test_a_parameter_that_changes_nothing_is_an_answer(folder):
    both = TWO.replace("{right = [2, 11]}", "{right = [2, 11], size = [1, 5]}")
    assert grid(write(folder, both)).to_dict()["without_effect"] == ["size"]
    said = calipers_command("grid", write(folder, both)).out
    assert "\nsize changes nothing: all values score the same on each of the 12 queries." in said
    assert said.startswith("▲ some right=11 size=1 is better than some right=2 size=1:")
    alone = write(folder, TWO.replace("{right = [2, 11]}", "{right = 2, size = [1, 5]}"))
    printed = calipers_command("grid", alone)
    assert printed.code == 0
    assert printed.out.startswith("~ size changes nothing: ")
    assert "some size=5" in printed.out


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
