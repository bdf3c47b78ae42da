"""What a page says about an option, its default or a key of the settings file is so."""

import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

from calipers.cli import every_command, group
from calipers.operation import OPERATIONS, keys_of
from tools.check_docs import current_help

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "STABILITY.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "skills").rglob("*.md")),
]
OTHER_TOOLS = {"--unbuffered"}
"""Options of programs that are not ours and that a page names."""
OPTION = re.compile(r"`(--[a-z][\w-]*)")


@pytest.fixture(scope="module")
def options() -> set[str]:
    """Every option of every command."""
    helps = " ".join(current_help(group, name) for name in every_command())
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", helps))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_option_that_a_page_names_exists(page: Path, options: set[str]) -> None:
    text = page.read_text("utf-8")
    assert set(OPTION.findall(text)) - options - OTHER_TOOLS == set()


def test_no_page_denies_an_option_that_exists(options: set[str]) -> None:
    """A question that is answered with No must not be what an option does."""
    text = (ROOT / "docs" / "README.md").read_text("utf-8")
    denied = [one.lower() for one in re.findall(r"\*\*(.+?)\*\* No\b", text)]
    verbs = {re.sub(r"^--|-.*$", "", one) for one in options}
    asked = {word for one in denied for word in re.findall(r"[a-z]+", one)}
    assert asked & (verbs & {"weight", "cluster", "resume", "explain", "compare"}) == set()
    assert "`--weight-by" in text


def test_security_names_keys_that_the_settings_file_has() -> None:
    text = " ".join((ROOT / "SECURITY.md").read_text("utf-8").split())
    claimed = re.search(r"Files that a settings file has written \((.+?)\)", text)
    assert claimed is not None
    keys = {key for one in OPERATIONS.values() for key in keys_of(one.function).values()}
    every = keys | {key.rpartition(".")[2] for key in keys} | {"[grid] output"}
    assert set(re.findall(r"`(.+?)`", claimed[1])) <= every


def test_seal_says_where_its_ledger_stands() -> None:
    said = " ".join(current_help(group, "seal").split())
    assert "NAME.ledger.jsonl stays beside the ground truth" in said
    page = " ".join((ROOT / "docs" / "seal.md").read_text("utf-8").split())
    assert "The ledger stands beside the file they come from, wherever `-o` writes" in page


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """The help of every command."""
    return {name: " ".join(current_help(group, name).split()) for name in every_command()}


def without_blocks(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def commands_of(page: Path, helps: dict[str, str]) -> set[str]:
    """The commands that a page is about: its own, and those that it names."""
    own = {one.command for one in OPERATIONS.values() if one.page == page.stem and one.command}
    text = page.read_text("utf-8")
    words = set(re.findall(r"[a-z]+", text))
    named = {name for name in helps if re.search(rf"(?<![\w-]){name.split('=')[0]}(?![\w-])", text)}
    # `sweep evals.jsonl --floor` is the command `sweep --floor`.
    asked = {name for name in helps if " --" in name and name.split(" --")[0] in words}
    return own | named | {name for name in asked if f"--{name.split(' --')[1]}" in text}


def shown_option(option: str) -> re.Pattern[str]:
    """An option in a help, and nothing that only begins like it."""
    return re.compile(rf"(?<![\w-]){re.escape(option)}(?![\w-])")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_an_option_belongs_to_a_command_of_its_page(page: Path, helps: dict[str, str]) -> None:
    said = " ".join(helps[name] for name in commands_of(page, helps)) or " ".join(helps.values())
    options = set(OPTION.findall(without_blocks(page.read_text("utf-8")))) - OTHER_TOOLS
    assert {option for option in options if not shown_option(option).search(said)} == set()


CLAIM = re.compile(
    r"`(--?[a-z][\w-]*)([^`]*)`[^`.|\n]{0,30}?\(?(?:the )?default:?(?: `?([^`),.;|\n]+))?"
)


def defaults_in(help_text: str, option: str) -> str:
    """What a help says is the default of an option; empty where it says none."""
    for found in shown_option(option).finditer(help_text):
        # Up to the next option: its default is another one's.
        rest = re.match(r"(?:(?! --).)*?\[default: (.*?)\]", help_text[found.end() :])
        if rest is not None:
            return rest[1]
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_default_that_a_page_names_is_the_default(page: Path, helps: dict[str, str]) -> None:
    text = without_blocks(page.read_text("utf-8"))
    for option, value, default in CLAIM.findall(text):
        claimed = (default or value).strip()
        known = {defaults_in(helps[name], option) for name in commands_of(page, helps)}
        assert any(claimed and claimed in one for one in known), (option, claimed, known)


def test_the_claims_are_heard(helps: dict[str, str]) -> None:
    assert CLAIM.findall("within `--memory` (default: half of it)") == [
        ("--memory", "", "half of it")
    ]
    assert CLAIM.findall("`--keep 0.9` (the default) says") == [("--keep", " 0.9", "")]
    assert defaults_in(helps["sweep --floor"], "--keep") == "0.95"
    assert defaults_in(helps["serve"], "--per-item") == "1"
    claims = [CLAIM.findall(without_blocks(page.read_text("utf-8"))) for page in PAGES]
    assert sum(map(len, claims)) >= 4


KEYWORD = re.compile(r"`([a-z_]+)=[^`]*`")
OTHER_WORDS = {"tag", "prefix", "suffix", "orient", "flush"}
"""What stands before a sign of equality and is no keyword of ours."""


FOR_USERS = [page for page in PAGES if page.stem != "CONTRIBUTING"]
"""Pages about what there is; recipes add commands and keywords, and have a test of their own."""


@pytest.mark.parametrize("page", FOR_USERS, ids=lambda page: page.stem)
def test_a_keyword_that_a_page_names_is_one(page: Path) -> None:
    every = {one for each in OPERATIONS.values() for one in parameters_of(each.function)}
    named = set(KEYWORD.findall(without_blocks(page.read_text("utf-8"))))
    assert named - every - OTHER_WORDS == set()


def parameters_of(function: Any) -> list[str]:
    """The keywords of an operation."""
    return list(inspect.signature(function).parameters)


def lines_of(text: str) -> Iterator[str]:
    """The command lines in the blocks of a page, each whole."""
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        whole = re.sub(r"\\\n\s*", " ", block)
        yield from re.findall(r"^\s*(?:\$ |- run: |run: )?(calipers [^\n]*)$", whole, re.MULTILINE)


@pytest.mark.parametrize("page", FOR_USERS, ids=lambda page: page.stem)
def test_every_command_that_a_page_shows_can_be_parsed(page: Path) -> None:
    for line in lines_of(page.read_text("utf-8")):
        if "…" in line or "..." in line or "COMMAND" in line:
            continue
        words = words_of(line)
        parent = click.Context(group)
        command: Any = group
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command = command.get_command(parent, words.pop(0))
            assert command is not None, line
        if words:
            try:
                command.make_context(command.name, words, parent=parent)
            except click.exceptions.Exit:
                continue  # it asked for help
            except click.UsageError as error:
                pytest.fail(f"{line}: {error.format_message()}")


def words_of(line: str) -> list[str]:
    """The words behind `calipers`, up to a pipe, another command or a comment."""
    split = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    split.whitespace_split = True
    words = []
    for word in split:
        if set(word) <= set("|&;<>"):
            break
        words.append(word)
    return words[1:]


def test_inputs_of_the_action_have_the_defaults_that_the_page_names() -> None:
    text = (ROOT / "docs" / "ci.md").read_text("utf-8")
    inputs = re.findall(r"^\| (`[a-z`, -]+`) \| .+ \| (.*?)\s*\|$", text, re.MULTILINE)
    action = msgspec.yaml.decode((ROOT / "action.yml").read_bytes())["inputs"]
    named = {name for names, _ in inputs for name in re.findall(r"`([a-z-]+)`", names)}
    assert named == set(action)
    for names, claimed in inputs:
        for name in re.findall(r"`([a-z-]+)`", names):
            default = re.match(r"`(.+?)`", claimed)
            if default is not None:
                assert action[name]["default"] == default[1]
            elif not claimed or re.match(r"[\d.]+$", claimed) is None:
                assert action[name]["default"] in ("", "${{ github.token }}")
