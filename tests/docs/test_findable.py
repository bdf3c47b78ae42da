"""What people ask is found in two steps of the navigation."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST_WORDS = 33_600  # with pages for agents, other languages, beginning with nothing, growth, proof
ASKED = {
    "which k": "which-k.md",
    "how many questions do I need": "plan.md",
    "after re-chunking": "ground-truth.md",
    "two embedding models": "compare.md",
    "GitHub": "ci.md",
    "LangSmith": "platforms.md",
    "three judges": "make-ground-truth.md",
    "Spark": "scale.md",
    "hybrid": "hybrid.md",
    "may I switch": "switch.md",
    "Pinecone": "adapters.md",
    "TypeScript": "other-languages.md",
    "agent": "agents.md",
    "corpus grows": "grow.md",
    "published numbers": "proof.md",
}


def navigation():
    """The titles that lead to each page, from the outermost on."""
    # What the settings of the theme hold is of no interest here, and not all of it is plain YAML.
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    found = {}

    def walk(entries, path):
        for entry in entries:
            for title, what in entry.items():
                if isinstance(what, str):
                    found[what] = [*path, title]
                else:
                    walk(what, [*path, title])

    walk(yaml.safe_load(text[text.index("nav:\n") :])["nav"], [])
    return found


def words(text):
    return re.findall(r"[\w-]+", text.lower())


def has(text, asked):
    """Whether the words stand together in a text, as in a search for a phrase."""
    return f" {' '.join(words(asked))} " in f" {' '.join(words(text))} "


@pytest.mark.parametrize("asked", ASKED)
def test_it_is_found_in_two_steps(asked):
    titles = navigation()[ASKED[asked]]
    assert len(titles) <= 2
    assert has(titles[-1], asked)


def test_beginning_with_nothing_comes_first_and_every_page_is_led_to():
    found = navigation()
    assert [*found][:2] == ["begin-with-nothing.md", "your-own-data.md"]
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} <= set(found)


def test_the_documents_are_short():
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= MOST_WORDS
