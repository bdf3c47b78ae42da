"""What a page says about an option or a key of the settings file is so."""

import re
from pathlib import Path

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
