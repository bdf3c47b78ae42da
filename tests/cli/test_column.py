"""--column: every command that reads results or a ground truth takes it, and minds it."""

import re

import pytest

from calipers.cli import every_command
from tests.command import calipers_command, refused

READS = {"data", "ground_truth", "run", "runs", "questions", "add_to", "candidates"}
"""Names of arguments and options that are files with columns."""


def test_every_command_that_reads_a_table_takes_it():
    without = [
        name
        for name, command in every_command().items()
        if READS & {one.name for one in command.params if one.metavar not in ("INTEGER", "N")}
        and "columns" not in {one.name for one in command.params}
    ]
    assert without == []


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.csv").write_text("frage,stelle\nWho is it?,is a lock\n")
    (tmp_path / "run.csv").write_text("frage,treffer,punkte\nWho is it?,a,2\nWho is it?,b,1\n")
    (tmp_path / "old.csv").write_text("frage,treffer,punkte\nWho is it?,b,2\nWho is it?,c,1\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gil.md").write_text("The GIL is a lock.")
    (tmp_path / "search.py").write_text("def search(query, k):\n    return ['a', 'b']\n")
    return tmp_path


RUN = ("--column", "query=frage", "--column", "item=treffer", "--column", "score=punkte")
TRUTH = ("--column", "query=frage", "--column", "quote=stelle")
COMMANDS = {
    "convert": ("gold.csv", "spans.jsonl", "--resolve", "docs", *TRUTH),
    "labels draft": ("run.csv", "old.csv", "-o", "label.csv", *RUN),
    "compare": ("old.csv", "run.csv", *RUN),
    "retrieve": ("search.py:search", "gold.csv", "-o", "out.jsonl", "--column", "query=frage"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("files")
def test_columns_of_any_name_are_read_and_what_is_mistyped_is_named(command):
    printed = calipers_command(*command.split(), *COMMANDS[command])
    assert (printed.code, printed.err) == (0, ""), printed
    given = COMMANDS[command]
    role = refused(*command.split(), *(word.replace("query=", "qery=") for word in given))
    assert "A column cannot be named as 'qery'" in role
    assert "Did you mean query?" in role
    name = refused(*command.split(), *(word.replace("=frage", "=fragen") for word in given))
    assert re.search("no column ('fragen' to take as query|for the query)", name)
    assert "frage" in name.replace("fragen", "")


@pytest.mark.usefixtures("files")
def test_stages_of_misses_have_the_same_columns(files):
    (files / "truth.csv").write_text("frage,treffer,grade\nWho is it?,a,1\nWho is it?,c,1\n")
    printed = calipers_command(
        "misses", "-g", "truth.csv", "-r", "run.csv", "--candidates", "old.csv", *RUN, "--json"
    )
    assert '"candidate_rank":2' in printed.out.replace(" ", ""), printed
