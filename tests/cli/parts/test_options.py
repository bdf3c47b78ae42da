"""Options that several commands share."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from calipers.cli import group
from calipers.cli.parts.options import as_option
from calipers.cli.parts.renamed import renamed_option
from calipers.cli.systems import named_systems
from calipers.errors import InvalidInput
from tests.command import calipers_command, refused
from tools.check_docs import command_names

EXAMPLE = Path(__file__).parents[3] / "examples" / "python_questions.json"


@pytest.mark.parametrize(
    ("command", "first", "second"),
    [
        (("eval", "none.json"), "--json", "--csv"),
        (("sweep", "none.json"), "--csv", "--json"),
        (("show", "@none"), "--json", "--csv"),
        (("history",), "--json", "--csv"),
        (("trend", "none"), "--json", "--csv"),
        (("alarm", "none"), "--json", "--as"),
        (("compare", "a.json", "b.json"), "--as", "--json"),
    ],
)
def test_a_result_is_printed_in_one_form(command: tuple[str, ...], first: str, second: str) -> None:
    given = [f"{one}=markdown" if one == "--as" else one for one in (first, second)]
    sentence = refused(*command, *given)
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


def test_systems_have_the_names_that_are_written_before_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert named_systems(("a.json", "b.json")) == ["a.json", "b.json"]
    assert named_systems(("old=a.json", "runs/b.json")) == {"old": "a.json", "b": "runs/b.json"}
    Path("k=5.json").write_text("[]")
    assert named_systems(("k=5.json", "b.json")) == ["k=5.json", "b.json"]


@pytest.mark.parametrize("command", ["eval", "sweep", "misses", "diagnose", "gate"])
def test_two_files_without_names_are_not_guessed(command: str) -> None:
    assert refused(command, "qrels.txt", "run.txt") == (
        "Error: Several files are given: qrels.txt, run.txt; give one that holds results and "
        "ground truth, or say which is which with --ground-truth and --run."
    )


@click.command()
@renamed_option("--with-tag", "tags", former="--tag", multiple=True, help="Several.")
@renamed_option("--questions", former="-q", help="One.")
@renamed_option("--loud", former="--noisy", is_flag=True, help="A flag.")
def renamed(tags: tuple[str, ...], questions: str | None, loud: bool) -> None:
    """Print what was understood."""
    click.echo(f"{tags} {questions} {loud}")


@pytest.mark.parametrize(
    ("given", "understood", "old"),
    [
        ([], "() None False", []),
        (["--with-tag", "a", "--questions=x", "--loud"], "('a',) x True", []),
        (["--tag", "a", "--tag=b"], "('a', 'b') None False", ["--tag"]),
        (["--tag", "a", "--with-tag", "b"], "('a', 'b') None False", ["--tag"]),
        (["-qx", "--noisy"], "() x True", ["-q", "--noisy"]),
    ],
)
def test_a_former_spelling_works_and_warns(
    given: list[str], understood: str, old: list[str]
) -> None:
    done = CliRunner().invoke(renamed, given)
    assert done.stdout == f"{understood}\n"
    warnings = done.stderr.splitlines()
    assert [line.split()[1] for line in warnings] == old
    assert all(line.startswith("Warning: ") and "is called --" in line for line in warnings)


def test_both_spellings_of_one_value_are_one_too_many() -> None:
    done = CliRunner().invoke(renamed, ["-q", "a", "--questions", "b"])
    assert isinstance(done.exception, InvalidInput)
    assert str(done.exception) == "Both -q and --questions are given; leave -q out."


def test_help_shows_the_new_spelling_alone() -> None:
    text = CliRunner().invoke(renamed, ["--help"]).stdout
    assert "--with-tag" in text
    assert "--tag" not in text


@click.command()
@as_option("csv", "latex")
def printed(form: str | None) -> None:
    """Print the form that was asked for."""
    click.echo(f"{form}")


@pytest.mark.parametrize(
    ("given", "understood", "old"),
    [([], "None", 0), (["--as", "csv"], "csv", 0), (["--latex"], "latex", 1)],
)
def test_what_was_a_flag_is_the_value_of_an_option(
    given: list[str], understood: str, old: int
) -> None:
    done = CliRunner().invoke(printed, given)
    assert done.stdout == f"{understood}\n"
    assert done.stderr.count("Warning: --latex is written --as latex now") == old


@pytest.mark.parametrize("given", [["--csv", "--latex"], ["--as", "csv", "--latex"]])
def test_two_forms_are_one_too_many_whichever_way_they_are_written(given: list[str]) -> None:
    done = CliRunner().invoke(printed, given)
    assert isinstance(done.exception, InvalidInput)
    assert "a result is printed in one form" in str(done.exception)


@pytest.mark.parametrize("name", list(command_names(group)))
def test_help_says_what_an_option_does(name: str) -> None:
    found: click.Command = group
    for word in name.split()[1:]:
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word) or found
    for option in found.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.opts[-1]} has no help"
            assert not option.help.startswith("Of "), f"{name} {option.opts[-1]}: {option.help}"
