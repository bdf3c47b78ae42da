"""The files of a folder that hold text, without what .gitignore names; the others are counted.

Written by hand, with the standard library: a folder need not be a git repository, and git need
not be installed.
"""

import logging
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.version import pip_install

Progress = Callable[[int, int], None]
"""Called with the bytes read and the bytes in all."""
KINDS = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    ".rst": "rst",
    **dict.fromkeys((".html", ".htm"), "html"),
    **dict.fromkeys((".txt", ".text"), "text"),
    ".py": "python",
    ".ipynb": "notebook",
    ".pdf": "pdf",
}
"""The files that are read, by the end of their name."""
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
MOST_FILES = 50_000
LARGEST = 10_000_000
"""The largest file that is read, in bytes; a first set of questions needs no larger one."""
LONGEST_LINE = 5_000
"""HTML and Python whose lines are longer on average are minified."""
_GENERATED = re.compile(
    r"@generated|\bdo not edit\b|\b(?:auto-?)?generated (?:by|from|file)\b", re.I
)
_GENERATED_NAMES = re.compile(r"_pb2(?:_grpc)?\.py$|requirements.*\.txt$|^license.*\.txt$", re.I)
EXAMPLES = 3


@dataclass
class PassedOver:
    """Files that were not read: how many for each reason, and the names of some."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, name: str) -> None:
        """Count one more file."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        some = self.examples.setdefault(reason, [])
        if len(some) < EXAMPLES:
            some.append(name)


@dataclass(frozen=True)
class TextFile:
    """A file of the folder: its name there, what kind it is, and its text."""

    name: str
    kind: str
    text: str


def read_folder(
    folder: Path, passed: PassedOver, progress: Progress | None = None
) -> Iterator[TextFile]:
    """Yield the files with text, in order of their names."""
    found = sorted(_walk(folder, passed), key=lambda one: one[0])
    if len(found) > MOST_FILES:
        raise InvalidInput(
            f"Name a part of {folder}: it holds {len(found):,} documents, and at most "
            f"{MOST_FILES:,} are read."
        )
    total, done = sum(size for _, _, size in found), 0
    for name, path, size in found:
        one = _read(name, path, size, passed)
        done += size
        if progress is not None:
            progress(done, total)
        if one is not None:
            yield one


def _walk(folder: Path, passed: PassedOver) -> Iterator[tuple[str, Path, int]]:
    """Yield name, path and size of every file of a kind that is read."""
    above, prefix = _rules_above(folder)
    rules = {"": above}
    # Links are never followed: one may lead back up, and what it names is read in its own place.
    for where, folders, names in os.walk(folder):
        inside = _inside(Path(where), folder)
        known = [*rules.pop(inside), *_rules_in(Path(where), prefix + inside)]
        kept = []
        for name in sorted(folders):
            if Path(where, name).is_symlink():
                passed.add("symbolic link", f"{inside}{name}")
            elif name.startswith(".") or name in SKIPPED_FOLDERS:
                passed.add("hidden or installed folder", f"{inside}{name}")
            elif _is_ignored(f"{prefix}{inside}{name}", known, is_folder=True):
                passed.add("in .gitignore", f"{inside}{name}")
            else:
                kept.append(name)
                rules[f"{inside}{name}/"] = known
        folders[:] = kept
        for name in names:
            path, full = Path(where, name), f"{inside}{name}"
            ending = path.suffix.lower()
            if path.is_symlink():
                passed.add("symbolic link", full)
            elif name.startswith(".") or _is_ignored(prefix + full, known, is_folder=False):
                passed.add("in .gitignore" if not name.startswith(".") else "hidden", full)
            elif ending not in KINDS:
                passed.add(ending or "without an ending", full)
            elif ".min." in name.lower():
                passed.add("minified", full)
            elif _GENERATED_NAMES.search(name):
                passed.add("generated", full)
            else:
                try:
                    yield full, path, path.stat().st_size
                except OSError:
                    passed.add("cannot be read", full)


def _read(name: str, path: Path, size: int, passed: PassedOver) -> TextFile | None:
    kind = KINDS[path.suffix.lower()]
    if size > LARGEST:
        passed.add(f"larger than {LARGEST // 1_000_000} MB", name)
        return None
    try:
        content = path.read_bytes()
    except OSError:
        passed.add("cannot be read", name)
        return None
    if kind == "pdf":
        text = _text_of_pdf(path, name, passed)
        return None if text is None else TextFile(name, kind, text)
    text, is_guess = decoded(content)
    if text is None:
        passed.add("binary", name)
        return None
    if is_guess:
        passed.add("not UTF-8, read as Windows-1252", name)
    if not text.strip():
        passed.add("empty", name)
        return None
    if kind in ("html", "python") and len(text) / (text.count("\n") + 1) > LONGEST_LINE:
        passed.add("minified", name)
        return None
    if _GENERATED.search(text[:400]):
        passed.add("generated", name)
        return None
    return TextFile(name, kind, text)


def decoded(content: bytes) -> tuple[str | None, bool]:
    """The text of a file, None if it is binary, and whether its encoding is a guess.

    >>> decoded(b"caf\\xe9"), decoded("é".encode("utf-16")), decoded(b"\\x00\\x01")
    (('café', True), ('é', False), (None, False))
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _plain_lines(content.decode("utf-16", errors="replace")), False
    if b"\x00" in content[:4096]:
        return None, False
    try:
        return _plain_lines(content.decode("utf-8-sig")), False
    except UnicodeDecodeError:
        return _plain_lines(content.decode("cp1252", errors="replace")), True


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _text_of_pdf(path: Path, name: str, passed: PassedOver) -> str | None:
    """The text of a PDF, a form feed between its pages; pypdf is an extra."""
    try:
        from pypdf import PdfReader
    except ImportError:
        passed.add(f".pdf ({pip_install('pdf')} reads them)", name)
        return None
    # What it logs of a damaged file is counted below, and is not for the terminal.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    try:
        return "\f".join(page.extract_text() or "" for page in PdfReader(path).pages)
    except Exception:  # noqa: BLE001 - a damaged PDF may raise anything
        passed.add("damaged PDF", name)
        return None


@dataclass(frozen=True)
class _Rule:
    """A line of a .gitignore, as a pattern of paths below the folder that is read."""

    pattern: re.Pattern[str]
    only_folders: bool
    keeps: bool
    """Whether it takes back an earlier line."""


def _rules_in(where: Path, inside: str) -> list[_Rule]:
    """The rules of a folder, whose path in the repository is ``inside``."""
    try:
        lines = (where / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [rule for line in lines if (rule := _rule(line, re.escape(inside))) is not None]


def _rules_above(folder: Path) -> tuple[list[_Rule], str]:
    """The rules of the folders above, in a repository, and the path of the folder in it."""
    here = folder.resolve()
    root = next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
    between = [one for one in reversed(here.parents) if one.is_relative_to(root)]
    rules = [rule for one in between for rule in _rules_in(one, _inside(one, root))]
    return rules, _inside(here, root)


def _inside(path: Path, root: Path) -> str:
    name = path.relative_to(root).as_posix()
    return "" if name == "." else f"{name}/"


def _rule(line: str, inside: str) -> _Rule | None:
    """A line as a rule; None for a comment or nothing."""
    line = line.rstrip()
    if not line or line.startswith("#"):
        return None
    keeps, only_folders = line.startswith("!"), line.endswith("/")
    glob = line.removeprefix("!").removeprefix("\\").rstrip("/")
    # Without a slash before its end a name counts at any depth.
    anywhere = "/" not in glob
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?|\[[^]]+\])", glob.lstrip("/"))
    signs = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(
        signs.get(part) or (part if part.startswith("[") else re.escape(part)) for part in parts
    )
    try:
        pattern = re.compile(f"{inside}{'(?:.*/)?' if anywhere else ''}{body}")
    except re.error:
        return None
    return _Rule(pattern, only_folders, keeps)


def _is_ignored(name: str, rules: list[_Rule], *, is_folder: bool) -> bool:
    """Whether the last line that fits says so, as git decides it."""
    for rule in reversed(rules):
        if (is_folder or not rule.only_folders) and rule.pattern.fullmatch(name):
            return not rule.keeps
    return False
