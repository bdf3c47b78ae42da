"""Settings from a file: where they are found, and what is refused."""

from pathlib import Path

import pytest

from calipers.config import Config, check_config, find_config, read_config
from calipers.errors import InvalidInput, UnreadableFile
from calipers.model.policy import CHOICES
from calipers.names import words_in
from calipers.operation import arguments
from calipers.operations import OPERATIONS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return tmp_path


def test_the_nearest_folder_that_has_settings_wins(folder):
    (folder / "calipers.toml").write_text('k = 3\n[gate]\nrequire = "mrr >= 0.5"\n')
    assert find_config().shared == {"k": 3}
    assert find_config().gate == {"require": "mrr >= 0.5"}
    (folder / "a" / "calipers.toml").write_text("k = 5\n")
    assert find_config().shared == {"k": 5}


def test_paths_are_meant_from_the_folder_of_the_file(folder):
    (folder / "a" / "b" / "calipers.toml").write_text('data = "x/evals.json"')
    assert find_config().shared == {"data": str(Path("x", "evals.json"))}
    (folder / "a" / "b" / "calipers.toml").unlink()
    (folder / "calipers.toml").write_text('data = "evals.json"\n[gate]\nbaseline = "main.json"')
    found = find_config()
    assert found.shared["data"] == str(folder / "evals.json")
    assert found.gate["baseline"] == str(folder / "main.json")


def test_names_may_be_written_with_either_dash():
    found = check_config({"ground_truth": "g", "gate": {"only_shown": True}}, Path("calipers.toml"))
    assert set(found.shared) == {"ground-truth"}
    assert set(found.gate) == {"only-shown"}


@pytest.mark.parametrize("name", CHOICES)
def test_every_word_of_every_policy_can_stand_in_the_file(name):
    for spelling in (name, name.replace("_", "-")):
        for word in CHOICES[name]:
            found = check_config({spelling: word}, Path("calipers.toml"))
            keys = {one: one.replace("_", "-") for one in CHOICES}
            assert found.filled({}, keys) == {name: word}
        with pytest.raises(InvalidInput, match=f"one of {', '.join(CHOICES[name])}"):
            check_config({spelling: "no such word"}, Path("calipers.toml"))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"metric": "mrr"}, r"the key 'metric'.*Did you mean metrics"),
        ({"gates": {}}, r"the key 'gates'.*Did you mean gate"),
        ({"gate": {"required": ["x"]}}, r"the key 'gate.required'.*Did you mean require"),
        ({"gate": "strict"}, r"must be a table \[gate\]"),
        ({"gate": {"require": 3}}, "must be a text or a list"),
        ({"gate": {"require": ["x", 3]}}, "must be a text in item 2"),
        ({"gate": {"anyway": "yes"}}, "must be true or false"),
        ({"gate": {"allow": "0.1"}}, "must be a number"),
        ({"gate": {"allow": True}}, "must be a number"),
        ({"k": "10"}, "must be a whole number"),
        ({"k": [1, 2.5]}, "must be a whole number in item 2"),
        (
            {"missing": "zer"},
            r"missing .* 'zer'; .*one of zero.*Did you mean zero",
        ),
        ({"like": "trec"}, "must be one of trec_eval"),
        ({"data": ["a"]}, "must be a text"),
    ],
)
def test_what_cannot_be_used_is_named(table, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        check_config(table, Path("calipers.toml"))


READ = words_in("baseline candidates corpus data exact ground-truth run sealed store")


def test_every_path_that_a_settings_file_names_is_read():
    for name, one in OPERATIONS.items():
        for argument in arguments(one.function).values():
            if (setting := argument.setting) and setting.path and setting.file:
                assert setting.file.rpartition(".")[2] in READ, (name, argument.name)


def test_broken_toml_is_shown_where(folder):
    (folder / "calipers.toml").write_text("k = \n")
    with pytest.raises(UnreadableFile, match=r"not valid TOML.*line 1"):
        find_config()


def test_a_file_named_by_the_caller(folder):
    path = folder / "other.toml"
    with pytest.raises(UnreadableFile, match="no file"):
        read_config(path)
    path.write_text("k = 7")
    assert read_config(path).shared == {"k": 7}


def test_what_is_given_goes_before_the_file():
    config = Config(None, {"data": "d", "k": 3, "rel": 2}, {"by": ["type"], "k": 4})
    keys = {"data": "data", "run": "run", "k": "k", "rel": "rel", "by": "by"}
    assert config.filled({}, keys, gate=True) == {
        "data": "d",
        "k": 4,
        "rel": 2,
        "by": ["type"],
    }
    assert config.filled({"k": 9, "run": "r"}, keys) == {"rel": 2}


def test_a_grid_is_left_to_the_command_that_runs_it():
    found = check_config({"grid": {"anything": 1}}, Path("calipers.toml"))
    assert found.grid == {"anything": 1}
    with pytest.raises(InvalidInput, match=r"must be a table \[grid\]"):
        check_config({"grid": 3}, Path("calipers.toml"))
