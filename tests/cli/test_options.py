"""Options that several commands share."""

import re
from pathlib import Path

import pytest

from tests.command import calipers_command, refused

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_questions.json"


@pytest.mark.parametrize(
    ("command", "first", "second"),
    [
        (("eval", "none.json"), "--json", "--csv"),
        (("sweep", "none.json"), "--csv", "--json"),
        (("show", "@none"), "--json", "--csv"),
        (("history",), "--json", "--csv"),
        (("trend", "none"), "--json", "--csv"),
        (("alarm", "none"), "--markdown", "--json"),
        (("compare", "a.json", "b.json"), "--latex", "--csv"),
        (("compare", "a.json", "b.json"), "--json", "--markdown"),
    ],
)
def test_a_result_is_printed_in_one_form(command: tuple[str, ...], first: str, second: str) -> None:
    sentence = refused(*command, first, second)
    assert sentence == (
        f"Error: Both {first} and {second} are given; a result is printed in one form, so leave "
        "one out."
    )


@pytest.mark.parametrize("command", ["eval", "sweep", "plot"])
def test_the_metrics_that_help_names_are_taken(command: str, tmp_path: Path) -> None:
    text = " ".join(calipers_command(command, "--help").out.split())
    said = re.search(r"--metrics LIST Metrics.*? such as ([\w@,]+)", text)
    assert said is not None, text
    further = ("-o", tmp_path / "chart.json") if command == "plot" else ()
    printed = calipers_command(command, EXAMPLE, "-m", said[1], *further)
    assert (printed.code, "Error" in printed.err) == (0, False), printed.err
