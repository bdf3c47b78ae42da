"""What a command keeps back can be asked for: --explain, wherever an answer is more than lines."""

from calipers.cli import every_command

FEW_LINES = frozenset(
    {
        # They say in a few lines what they did, or are no answer.
        "config",
        "confirm",
        "history check",
        "history copy",
        "history prune",
        "init",
        "labels",
        "labels close",
        "labels draft",
        "labels export",
        "labels import",
        "labels judge",
        "labels list",
        "labels questions",
        "labels traces",
        "plan",
        "retrieve",
        "seal",
        "serve",
    }
)


def explains(command):
    return any("--explain" in option.opts for option in command.params)


def test_every_command_with_a_table_and_notes_has_explain():
    assert {name for name, one in every_command().items() if not explains(one)} == FEW_LINES
