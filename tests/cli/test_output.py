"""What every command prints, whatever it says."""

from pathlib import Path

import pytest

from tests.command import calipers_command

EXAMPLE = Path(__file__).parents[3] / "examples" / "python_questions.json"


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", EXAMPLE, "--by", "type", "--bounds"),
        ("eval", EXAMPLE, "--level", "all"),
        ("sweep", EXAMPLE),
        ("misses", EXAMPLE),
        ("diagnose", EXAMPLE),
        ("audit", EXAMPLE),
        ("metrics",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_line_in_a_pipe_ends_in_blanks(arguments: tuple[str | Path, ...]) -> None:
    printed = calipers_command(*arguments)
    assert printed.code == 0
    assert len(printed.out.splitlines()) > 3
    assert [line for line in printed.out.splitlines() if line != line.rstrip()] == []
