"""What a command keeps back can be asked for: --explain, wherever an answer is more than lines."""

import click
import pytest

from calipers.cli import group

FEW_LINES = frozenset(
    {
        # They say in a few lines what they did, or are no answer.
        "baseline",
        "config",
        "convert",
        "draft",
        "init",
        "judge",
        "labels",
        "plan",
        "plot",
        "questions",
        "retrieve",
        "serve",
        "store",
        "traces",
    }
)


def commands():
    context = click.Context(group)
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


def explains(command):
    return any("--explain" in option.opts for option in command.params)


def test_every_command_with_a_table_and_notes_has_explain():
    assert {name for name, one in commands().items() if not explains(one)} == FEW_LINES


@pytest.mark.parametrize("name", ["save", "show"])
def test_so_has_a_baseline(name):
    assert explains(commands()["baseline"].commands[name])
