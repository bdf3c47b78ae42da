"""Check that the documents agree with the program.

Relative links and their headings exist, every page is reached from docs/README.md, every command
is mentioned under docs/, and every operation has its page and its place in the reference. No
document holds a help text: the site has a page of them, made when it is built. Sentences of the
user's pages are short.
Run it from the root of the repository.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

import click
from click.testing import CliRunner

from calipers.cli import every_command
from calipers.operations import OPERATIONS

FENCE = re.compile(r"^```[^\n]*\n.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
HELP_BLOCK = re.compile(r"^\$ calipers[^\n]* --help\nUsage:", re.MULTILINE)
INDEX = Path("docs") / "README.md"
REFERENCE = Path("docs") / "reference.md"
WIDTH = 80
MOST_WORDS_A_SENTENCE = 30


def documents(root: Path) -> list[Path]:
    """Return the documents a reader of the repository meets."""
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])


def anchors(text: str) -> set[str]:
    r"""Return the names by which the headings of a document can be linked.

    >>> sorted(anchors("# How it works\n## What's `k`?\n## How it works"))
    ['how-it-works', 'how-it-works-1', 'whats-k']
    """
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\]\([^)]*\)", "", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        name, repeat = slug, 0
        while name in found:
            repeat += 1
            name = f"{slug}-{repeat}"
        found.add(name)
    return found


def broken_links(path: Path) -> Iterator[str]:
    """Yield one sentence for each relative link of a document that leads nowhere."""
    text = path.read_text(encoding="utf-8")
    for target in LINK.findall(INLINE_CODE.sub("", FENCE.sub("", text))):
        if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target):
            continue
        file, _, anchor = unquote(target).partition("#")
        destination = path.parent / file if file else path
        if not destination.exists():
            yield f"{path}: the link to {target} leads nowhere"
        elif (
            anchor
            and destination.suffix == ".md"
            and anchor not in anchors(destination.read_text(encoding="utf-8"))
        ):
            yield f"{path}: the link to {target} names a heading that does not exist"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a document: a row of a table has one per cell, code is one word.

    >>> list(sentences("# One\\nTwo `a b` three. Four!\\n- five\\n\\n| six | seven |"))
    ['# One', 'Two code three.', 'Four!', '- five', 'six', 'seven']
    """
    plain = re.sub(r"\]\([^)]*\)", "]", INLINE_CODE.sub("code", FENCE.sub("\n\n", text)))
    # A paragraph ends at an empty line, and before a heading, an item or a row.
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.)\s)|(?<=\n)(?=#)|(?<=^)(?=#)", plain):
        heading, _, rest = (
            block.strip().partition("\n") if block.startswith("#") else ("", "", block)
        )
        # What a cell lists is read part by part.
        for part in [
            heading,
            *(re.split(r"[|;]", rest.strip().strip("|")) if "|" in rest else [rest]),
        ]:
            yield from filter(None, re.split(r"(?<=[.!?])\s+", " ".join(part.split())))


def long_sentences(path: Path) -> Iterator[str]:
    """Yield one complaint for each sentence that takes more than one breath."""
    for sentence in sentences(path.read_text(encoding="utf-8")):
        words = len(re.findall(r"[^\W_][\w’'.,%/-]*", sentence))
        if words > MOST_WORDS_A_SENTENCE:
            yield f"{path}: {words} words in one sentence: {sentence[:60]}…"


def unreachable(root: Path) -> Iterator[str]:
    """Yield one sentence for each page under docs/ to which no links lead from the index."""
    seen, waiting = set(), [(root / INDEX).resolve()]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        text = INLINE_CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
        files = (unquote(target).partition("#")[0] for target in LINK.findall(text))
        waiting += [(page.parent / file).resolve() for file in files if file]
    for page in sorted(root.glob("docs/**/*.md")):
        if page.resolve() not in seen:
            yield f"{page}: no links lead here from {INDEX}"


def unreferenced(text: str) -> Iterator[str]:
    """Yield one sentence for each operation that the reference page leaves out."""
    for name in sorted(OPERATIONS):
        if f"::: calipers.{name}\n" not in text:
            yield f"{REFERENCE}: {name} is missing; add `::: calipers.{name}`"


def homeless(root: Path) -> Iterator[str]:
    """Yield one sentence for each operation whose page does not exist."""
    for name, one in sorted(OPERATIONS.items()):
        page = root / "docs" / f"{one.page}.md"
        if not page.is_file():
            yield f"{page}: is missing, and is the page of the operation {name}"


def operations_table() -> str:
    """Return every operation with its page and its command, as a table."""
    lines = ["| operation | command |", "|---|---|"]
    for name, one in sorted(OPERATIONS.items()):
        command = f"`calipers {one.command}`" if one.command else ""
        lines.append(f"| [`{name}`]({one.page}.md) | {command} |")
    return "\n".join(lines) + "\n"


def unmentioned(names: Iterable[str], texts: list[str]) -> Iterator[str]:
    """Yield one sentence for each command that no document under docs/ mentions."""
    for words in names:
        name, _, option = f"calipers {words}".partition(" --")
        after = rf"[^`\n]*--{option.partition('=')[0]}" if option else ""
        mention = re.compile(rf"{re.escape(name)}{after}(?![\w-])")
        if not any(mention.search(text) for text in texts):
            yield f"docs/: no document mentions the command `calipers {words}`"


def current_help(group: click.Group, arguments: str) -> str:
    """Return all the help that a command prints, at a fixed width."""
    # A terminal width in the environment would change the text from one machine to the next.
    runner = CliRunner(env={"COLUMNS": str(WIDTH)})
    said = ""
    for option in ("--help", "--help-all"):
        asked = [*arguments.split(), option]
        if option in said or not said:
            said = runner.invoke(group, asked, prog_name="calipers", terminal_width=WIDTH).output
    return said


def main() -> int:
    """Print every disagreement; 0 if there is none, else 1."""
    root = Path()
    problems = [problem for path in documents(root) for problem in broken_links(path)]
    problems += unreachable(root)
    pages = {page: page.read_text(encoding="utf-8") for page in root.glob("docs/**/*.md")}
    problems += unmentioned(every_command(), list(pages.values()))
    problems += unreferenced(pages[REFERENCE])
    problems += homeless(root)
    users = [root / "README.md", *pages]
    problems += [problem for page in users for problem in long_sentences(page)]
    for path in documents(root):
        if HELP_BLOCK.search(path.read_text(encoding="utf-8")):
            problems.append(f"{path}: holds a help text, which will be out of date; name --help")
    for problem in problems:
        print(problem)
    print(f"documents: {f'{len(problems)} problems' if problems else 'all fine'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
