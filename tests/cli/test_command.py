"""Commands that are made from operations: their options, and what they hand on."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner

from calipers.cli import every_command, group
from calipers.cli.command import CommandInput, command
from calipers.cli.compare import named_systems
from calipers.operation import Setting
from tests.command import calipers_command, refused


def asked_of(
    k: Annotated[int, Setting("How many.", "-k", file="k")] = 10,
    *,
    by: Annotated[Sequence[str], Setting("Tags.", metavar="TAG", several=True)] = (),
    ties: Annotated[Literal["trec", "input"] | None, Setting("Order.")] = None,
    shout: Annotated[Any, Setting("Loud.", "--shout", read=str.upper)] = None,
    strict: Annotated[bool, Setting("Strictly.")] = False,
    rare: Annotated[int, Setting("Elsewhere.", only="eval")] = 0,
    now: object = None,
) -> dict[str, Any]:
    """An operation that answers with what it was asked."""
    return {"k": k, "by": list(by), "ties": ties, "shout": shout, "strict": strict}


@command(operation=asked_of)
def shown(asked: CommandInput) -> None:
    """Show it."""
    if asked.output_format is None:
        click.echo(f"{asked.values}")
    else:
        asked.show(asked.answer())


def test_what_carries_a_setting_is_an_option_of_its_type() -> None:
    text = " ".join(CliRunner().invoke(shown, ["--help"]).stdout.split())
    assert shown.name == "shown"
    assert "-k INTEGER How many. [default: 10]" in text
    assert "--by TAG Tags." in text
    assert "--ties [trec|input] Order." in text
    assert "--shout TEXT Loud." in text
    assert "--strict Strictly." in text
    assert "--rare" not in text
    assert "--now" not in text


@pytest.mark.usefixtures("nowhere")
def test_only_what_was_given_is_handed_on() -> None:
    given = ["-k", "3", "--by", "a", "--by", "b", "--shout", "mrr", "--strict"]
    handed = "{'k': 3, 'by': ['a', 'b'], 'shout': 'MRR', 'strict': True}"
    assert CliRunner().invoke(shown, given).stdout == f"{handed}\n"
    assert CliRunner().invoke(shown, []).stdout == "{}\n"


def test_one_k_is_the_largest_of_the_settings_file(nowhere: Path) -> None:
    (nowhere / "calipers.toml").write_text("k = [1, 7, 5]\n")
    assert CliRunner().invoke(shown, []).stdout == "{'k': 7}\n"
    assert CliRunner().invoke(shown, ["-k", "2"]).stdout == "{'k': 2}\n"
    assert '"k": 7' in CliRunner().invoke(shown, ["--json"]).stdout


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "first", "second"),
    [
        (("eval", "none.json"), "--json", "--as"),
        (("history",), "--as", "--quiet"),
        (("compare", "a.json", "b.json"), "--as", "--json"),
    ],
)
def test_a_result_is_printed_in_one_form(command: tuple[str, ...], first: str, second: str) -> None:
    given = [f"{one}=markdown" if one == "--as" else one for one in (first, second)]
    sentence = refused(*command, *given)
    assert sentence == (
        f"Error: Both {first} and {second} are given, and standard output takes one; leave one "
        "out, or write it to a file."
    )


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


@pytest.mark.parametrize("name", every_command())
def test_help_says_what_a_command_and_its_options_do(name: str) -> None:
    assert (every_command()[name].help or "").strip()
    for option in every_command()[name].params:
        if isinstance(option, click.Option):
            assert (option.help or "").strip(), f"{name} {option.opts[-1]} has no help"
            assert not option.help.startswith("Of "), f"{name} {option.opts[-1]}: {option.help}"


@pytest.mark.parametrize("name", every_command())
def test_help_fits_on_a_screen_and_all_of_it_can_be_had(monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    short = calipers_command(*name.split(), "--help").out
    assert len(short.splitlines()) <= 40
    if "--help-all" not in short:
        return
    whole = calipers_command(*name.split(), "--help-all").out
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", short, flags=re.MULTILINE))
    assert options < set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", whole, flags=re.MULTILINE))
    assert re.search(r"^(Policy|Asking|Reading|History|Statistics|Output) options:$", whole, re.M)


FEW_LINES = (
    "confirm, convert, labels, "
    "labels draft, labels draft --from-traces=FILE, labels export, labels import, labels judge, "
    "mcp, plan, retrieve, seal, serve"
)
"""Commands that say in a few lines what they did, or are no answer."""


def test_what_a_command_keeps_back_can_be_asked_for():
    without = {
        name
        for name, one in every_command().items()
        if not any("--explain" in option.opts for option in one.params)
    }
    assert without == set(FEW_LINES.split(", "))


def takes_one(option):
    flag = not isinstance(option, click.Option) or option.is_flag or option.count
    return not flag and not option.multiple


def test_every_option_with_one_value_is_refused_twice():
    """Click would drop the first in silence."""
    asked = 0
    for name, one in every_command().items():
        for option in filter(takes_one, one.params):
            first, last = option.opts[0], option.opts[-1]
            result = CliRunner().invoke(group, [*name.split(), first, "1", "file", last, "2"])
            said = f"{max(option.opts, key=len)} is given twice, and only one can count; give it"
            assert said in result.output
            assert result.exit_code == 2
            asked += 1
    assert asked > 100


@pytest.mark.parametrize("given", [["--json", "--json"], ["--by", "a", "--by", "b"]])
def test_flags_and_lists_of_options_may_be_repeated(given):
    result = CliRunner().invoke(group, ["eval", "no such file", *given])
    assert "is given twice" not in result.output


def test_what_is_missing_is_said_with_what_it_is_and_an_example():
    asked = 0
    for name, one in every_command().items():
        if not any(parameter.required for parameter in one.params):
            continue
        result = CliRunner().invoke(group, name.split())
        if "is missing" in result.output:
            said = result.output[result.output.index("Error: ") :]
            assert re.search(r"is missing(: [a-z]\S+ .+)?\. For example: calipers \w", said), name
            assert result.exit_code == 2
            asked += 1
    assert asked > 4
    assert "Error: --difference is missing: the difference that must not be missed. " in (
        CliRunner().invoke(group, ["plan", "old.jsonl", "new.jsonl"]).output
    )
