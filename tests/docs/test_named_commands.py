"""Every command and option that a page names is one."""

import re
from pathlib import Path

import pytest

from calipers.cli import every_command, group
from tools.check_docs import current_help

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TYPED = re.compile(r"calipers ([a-z]+)(?: ([a-z]+)(?![^\s`]))?((?: [^\n`]*)?)")
OPTION = re.compile(r"(?<=[\s`])--?[a-z][\w-]*(?=[\s=`]|$)")
NO_COMMANDS = {"import", "mlflow"}
"""What follows the name of the package elsewhere: `from calipers import`, `pip install`."""


@pytest.fixture(scope="module")
def helps():
    return {name: current_help(group, name) for name in every_command()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_tells_to_type_can_be_typed(page, helps):
    text = page.read_text(encoding="utf-8")
    wrong = []
    for first, second, rest in TYPED.findall(text):
        name = f"{first} {second}" if f"{first} {second}" in helps else first
        if name in helps:
            wrong += [(name, one) for one in OPTION.findall(rest) if not has(helps[name], one)]
        elif name not in NO_COMMANDS:
            wrong.append((name, "is no command"))
    every = " ".join(helps.values())
    wrong += [one for one in re.findall(r"`(--[a-z][\w-]*)", text) if not has(every, one)]
    assert wrong == []


def has(said, option):
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", said)
