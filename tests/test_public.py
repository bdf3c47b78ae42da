"""What `import calipers` gives, and what it does not load."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import calipers
from calipers.cli import COMMANDS, every_command, group

SOURCE = Path(__file__).parents[1] / "src"


def loaded_by(code: str) -> set[str]:
    """The modules in memory after some code ran in a fresh interpreter."""
    script = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); {code}\nprint(*sys.modules)"
    command = [sys.executable, "-c", script]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


HELP = """
from contextlib import redirect_stdout, suppress
from io import StringIO
from calipers.cli import main
sys.argv = ["calipers", "--help"]
with redirect_stdout(StringIO()), suppress(SystemExit):
    main()
"""
"""The whole command, to its end: what it loads before it prints is what a reader waits for."""


@pytest.mark.parametrize(
    ("code", "slow"),
    [
        ("import calipers", "polars numpy msgspec click rich sqlalchemy"),
        (
            "import calipers.functions as f; f.recall_at_k(['a'], ['a'], 1)",
            "polars numpy msgspec click rich",
        ),
        (HELP, "polars numpy rich"),
    ],
    ids=["import", "one query", "help"],
)
def test_nothing_slow_is_loaded(code: str, slow: str) -> None:
    loaded = loaded_by(code)
    assert any(name.startswith("calipers") for name in loaded)
    assert not loaded & set(slow.split())


def test_public_names_are_sorted_and_exactly_these() -> None:
    assert calipers.__all__ == sorted(calipers.__all__)
    assert dir(calipers) == calipers.__all__
    assert len(set(calipers.__all__)) == len(calipers.__all__)
    public = {name for name in vars(calipers) if not name.startswith("_")}
    modules = {name for name in public if isinstance(getattr(calipers, name), type(sys))}
    plain_imports = {"Any", "cache", "import_module"}
    assert public - modules - plain_imports <= set(calipers.__all__)


@pytest.mark.parametrize("name", calipers.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    value: Any = getattr(calipers, name)
    assert isinstance(value, str) or (value.__doc__ or "").strip()


def test_a_room_never_hides_the_operation_of_its_name() -> None:
    code = "import calipers.engines.summary; from calipers.checks import evidence; import calipers"
    assert "calipers.questions.audit.rule" in loaded_by(f"{code}; calipers.audit({{'q': ['a']}})")


def test_an_unknown_name_is_no_silent_none() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'evaluat'"):
        _ = calipers.evaluat  # type: ignore[attr-defined]


def test_help_lists_every_command() -> None:
    text = group.get_help(click.Context(group))
    assert len(COMMANDS) == 22
    for name in COMMANDS:
        assert f"\n  {name} " in text


GROUPS = [group, *(one for one in every_command().values() if getattr(one, "commands", {}))]


@pytest.mark.parametrize("one", GROUPS, ids=lambda one: one.name)
def test_the_list_of_commands_breaks_off_no_sentence(one: click.Command) -> None:
    text = one.get_help(click.Context(one, terminal_width=80))
    assert "..." not in text.partition("Commands:")[2]
