"""What mkdocs asks while it builds the site.

The documents beside docs/ are pages of it too, and so are the help of every command and the notes
on every metric: nobody keeps a copy of them.
"""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "project.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Documents in the root of the repository, and what they are called in the site."""
BOOSTED = {"which-k.md": 10}
"""Pages that search would not find first: of "which k" it looks for words that begin with a k."""
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the documents of the root, and the commands."""
    from mkdocs.structure.files import File

    sys.path.insert(0, str(ROOT))
    from tools.write_metrics_page import full_page

    made = {"commands.md": commands_page(), "every-metric.md": full_page(), "llms.txt": llms_text()}
    for name, page in PAGES.items():
        made[page] = in_root((ROOT / name).read_text(encoding="utf-8"))
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def llms_text() -> str:
    """The list of pages for language models, with the addresses that pages have in the site."""
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    return text.replace(".md):", ".html):").replace(".md)\n", ".html)\n")


def commands_page() -> str:
    """Every command with its help, as a page."""
    from calipers.cli import every_command, group
    from tools.check_docs import current_help

    parts = ["# Commands"]
    for name in every_command():
        said = current_help(group, name)
        parts.append(f"## calipers {name}\n\n```text\n{said}```")
    return "\n\n".join(parts) + "\n"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links out of docs/ to where those documents stand in the site; list the operations."""
    if page.file.src_uri in BOOSTED:
        page.meta["search"] = {"boost": BOOSTED[page.file.src_uri]}
    if page.file.src_uri == "reference.md":
        from tools.check_docs import operations_table

        markdown = markdown.replace("\n\n## ", f"\n\n{operations_table()}\n## ", 1)
    depth = page.file.src_uri.count("/")
    if page.file.src_uri in PAGES.values():
        return markdown
    return to_root(markdown, depth)


def in_root(text: str) -> str:
    """A document of the root as if it stood in docs/.

    >>> in_root("see [k](docs/which-k.md#two), [rules](CONTRIBUTING.md) and [code](src/x.py)")
    'see [k](which-k.md#two), [rules](contributing.md) and code (`src/x.py`)'
    """

    def moved(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        if re.match(r"[a-z]+:", target):
            return found[0]
        if target.startswith("docs/"):
            return f"[{label}]({target.removeprefix('docs/') or 'README.md'}{anchor})"
        return _link(label, target, "", anchor)

    return LINK.sub(moved, text)


def to_root(text: str, depth: int) -> str:
    """A document of docs/ whose links to the root lead to pages of the site.

    >>> to_root("begin with [this](../README.md), see [bench](../bench/README.md)", 0)
    'begin with [this](project.md), see bench (`bench/README.md`)'
    """
    up = "../" * (depth + 1)

    def moved(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        if not target.startswith(up):
            return found[0]
        return _link(label, target.removeprefix(up), "../" * depth, anchor)

    return LINK.sub(moved, text)


def _link(label: str, name: str, back: str, anchor: str) -> str:
    """A link to a page of the site, or the name of a file that is none."""
    return f"[{label}]({back}{PAGES[name]}{anchor})" if name in PAGES else f"{label} (`{name}`)"
