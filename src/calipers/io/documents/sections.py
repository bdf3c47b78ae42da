"""The sections of a document: a small splitter for each kind of file.

Written by hand: a section is a heading, where it starts and where it ends. A parser of all of
Markdown would be a dependency for what a few patterns say.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from itertools import pairwise

from calipers.io.documents.walk import TextFile
from calipers.names import words_in

LONGEST_CHUNK = 1_500
"""Sections that are longer, in characters, are cut between paragraphs."""


@dataclass(frozen=True)
class Section:
    """A part of a document under one heading, by its characters."""

    heading: str
    """Without its markup; empty before the first heading."""
    level: int
    start: int
    body: int
    """Where the text below the heading begins."""
    end: int
    anchor: str = ""
    """What a link to it ends with."""
    node: ast.AST | None = None
    """The function or class of Python."""
    line: int = 0
    """Its line in the file, where the text is not that of the file; else 0."""


@dataclass(frozen=True)
class Link:
    """A link in a document."""

    start: int
    end: int
    words: str
    href: str


@dataclass(frozen=True)
class TextDocument:
    """A document: its name in the folder, its text, its sections and its links."""

    name: str
    kind: str
    text: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()

    def line(self, at: int) -> int:
        """The line of a character in the file, from 1; in a page that of its heading."""
        known = self.section_at(at).line if self.kind == "html" else 0
        return known or self.text.count("\n", 0, at) + 1

    def section_at(self, at: int) -> Section:
        """The section that holds a character."""
        return next(one for one in reversed(self.sections) if one.start <= at or not one.start)

    @cached_property
    def by_anchor(self) -> dict[str, Section]:
        """The sections that links can name."""
        found: dict[str, Section] = {}
        for one in self.sections:
            if one.anchor:
                found.setdefault(one.anchor.lower(), one)
        return found

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each chunk: a section, or a part of a long one.

        A heading without a text of its own goes with what follows it.
        """
        start: int | None = None
        for one in self.sections:
            start = one.start if start is None else start
            if not self.text[one.body : one.end].strip():
                continue
            yield from _cut(self.text, start, one.end)
            start = None


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST_CHUNK:
        for mark in ("\n\n", "\n", " "):
            at = text.rfind(mark, start + LONGEST_CHUNK // 3, start + LONGEST_CHUNK)
            if at > 0:
                break
        at = at if at > 0 else start + LONGEST_CHUNK
        yield start, at
        start = at
    if text[start:end].strip():
        yield start, end


def as_document(file: TextFile) -> TextDocument:
    """A file with its sections and links."""
    if file.kind == "html":
        return _of_html(file)
    if file.kind == "notebook":
        file = TextFile(file.name, file.kind, _cells(file.text))
    find = {"markdown": _markdown, "notebook": _markdown, "rst": _rst, "python": _python}
    marks = find[file.kind](file.text) if file.kind in find else ()
    links: tuple[Link, ...] = ()
    if file.kind in ("markdown", "notebook"):
        links = tuple(_markdown_links(file.text))
    elif file.kind == "rst":
        links = tuple(_rst_links(file.text))
    return TextDocument(file.name, file.kind, file.text, _between(marks, len(file.text)), links)


@dataclass(frozen=True)
class _Mark:
    """Where a section begins."""

    start: int
    body: int
    heading: str
    level: int
    anchor: str = ""
    node: ast.AST | None = None
    line: int = 0


def _between(marks: "Iterator[_Mark] | tuple[_Mark, ...]", size: int) -> tuple[Section, ...]:
    """Sections from one mark to the next, with what stands before the first."""
    listed = list(marks)
    if not listed or listed[0].start > 0:
        listed.insert(0, _Mark(0, 0, "", 0))
    ends = [*(one.start for one in listed[1:]), size]
    return tuple(
        Section(one.heading, one.level, one.start, one.body, end, one.anchor, one.node, one.line)
        for one, end in zip(listed, ends, strict=True)
    )


_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_ATTRIBUTES = re.compile(r"\s*\{:?\s*#([\w-]+)[^}]*\}\s*$")
_FRONT = re.compile(r"\A(---|\+\+\+)\n.*?\n\1[ \t]*\n", re.DOTALL)


def lines_of(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the start and the text of each line, and whether it is code between fences."""
    at, fence = 0, ""
    front = _FRONT.match(text)
    for line in text.split("\n"):
        found = _FENCE.match(line)
        inside = bool(fence) or bool(front and at < front.end())
        if found and not fence and "`" not in line[found.end() :]:
            fence, inside = found[1], True
        elif found and fence and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        yield at, line, inside
        at += len(line) + 1


def _markdown(text: str) -> Iterator[_Mark]:
    before: tuple[int, str] | None = None
    for at, line, is_code in lines_of(text):
        end = min(at + len(line) + 1, len(text))
        if is_code:
            before = None
            continue
        if found := _ATX.match(line):
            yield _marked(at, end, found[2] or "", len(found[1]))
            before = None
        elif before is not None and (found := _SETEXT.match(line)):
            yield _marked(before[0], end, before[1], 1 if found[1][0] == "=" else 2)
            before = None
        else:
            plain = line.strip()
            is_text = plain and line[:1] not in (" ", "\t") and plain[0] not in "|>-*+<!"
            # A paragraph of two lines above a rule is no heading.
            before = (at, line) if is_text and before is None else None if not plain else before


def _marked(start: int, body: int, raw: str, level: int) -> _Mark:
    found = _ATTRIBUTES.search(raw)
    heading = without_markup(raw[: found.start()] if found else raw)
    return _Mark(start, body, heading, level, found[1] if found else slug(heading))


_INLINE = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r":[\w:]+:`~?([^`<]+?)(?:\s*<[^`]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<[^`]*>`__?"), r"\1"),
    (re.compile(r"<[^>]{1,200}>"), ""),
    (re.compile(r"`+([^`]*)`+"), r"\1"),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])[*_](?=\S)(.+?)(?<=\S)[*_](?![\w*])"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|<>-])"), r"\1"),
    (re.compile(r":[a-z0-9_+-]+:(?=\s|$)"), ""),
)


_MARKED = re.compile(r"[`*_\[<\\]|:\w")


def without_markup(text: str) -> str:
    """A line without the marks of Markdown and reStructuredText.

    >>> without_markup("**Use** `pip` to [install](a.md) :ref:`it <x>`")
    'Use pip to install it'
    """
    if _MARKED.search(text):
        for pattern, instead in _INLINE:
            text = pattern.sub(instead, text)
    return " ".join(text.split())


def slug(heading: str) -> str:
    """The anchor that GitHub and most site builders give a heading.

    >>> slug("What's new, in C++?")
    'whats-new-in-c'
    """
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


_LINKED = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
_REFERENCED = re.compile(r"(?<!!)\[((?:[^\[\]])+)\]\[([^\]]*)\]")
_DEFINED = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?(\S+?)>?(?:\s+.*)?$", re.MULTILINE)


def _markdown_links(text: str) -> Iterator[Link]:
    where = {found[1].lower(): found[2] for found in _DEFINED.finditer(text)}
    for found in _LINKED.finditer(text):
        yield Link(found.start(), found.end(), without_markup(found[1]), found[2])
    for found in _REFERENCED.finditer(text):
        if href := where.get((found[2] or found[1]).lower()):
            yield Link(found.start(), found.end(), without_markup(found[1]), href)


_UNDERLINE = re.compile(r"([=\-`:'\"~^_*+#<>.!$%&,;@\\])\1{2,}[ \t]*$")
_LABEL = re.compile(r"\.\. _([^:]+):[ \t]*$")
_ROLE = re.compile(r":(ref|doc|std:ref|std:doc):`([^`<]*?)\s*(?:<([^>`]+)>)?`")
_EXTERNAL = re.compile(r"`([^`<]+?)\s*<([^>`]+)>`__?")


def _rst(text: str) -> Iterator[_Mark]:
    at, lines = 0, []
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    lines.append((len(text), ""))
    levels: list[str] = []
    label, skip = "", -1
    for number, ((at, line), (_, below)) in enumerate(pairwise(lines)):
        if found := _LABEL.match(line):
            label = found[1].strip("`")
        if number <= skip or not line.strip() or line[:1].isspace():
            continue
        over = _UNDERLINE.match(line)
        if over and number + 2 < len(lines) and _UNDERLINE.match(lines[number + 2][1]):
            title, style, body, skip = below, f"{over[1]}{over[1]}", number + 2, number + 2
        elif (under := _UNDERLINE.match(below)) and len(below.rstrip()) >= len(line.rstrip()) - 1:
            title, style, body, skip = line, under[1], number + 1, number + 1
        else:
            continue
        if not over and _UNDERLINE.match(line):
            continue
        if not title.strip() or title.lstrip().startswith(".. "):
            continue
        if style not in levels:
            levels.append(style)
        end = min(lines[body][0] + len(lines[body][1]) + 1, len(text))
        heading = without_markup(title)
        yield _Mark(at, end, heading, levels.index(style) + 1, label or slug(heading))
        label = ""


def _rst_links(text: str) -> Iterator[Link]:
    for found in _ROLE.finditer(text):
        name = (found[3] or found[2]).strip().lstrip("~")
        href = f"{name}.rst" if found[1].endswith("doc") else f"#{name}"
        yield Link(found.start(), found.end(), found[2].strip() if found[3] else "", href)
    for found in _EXTERNAL.finditer(text):
        yield Link(found.start(), found.end(), found[1], found[2])


def _python(text: str) -> Iterator[_Mark]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

    def visit(nodes: list[ast.stmt], within: str, level: int) -> Iterator[_Mark]:
        for node in nodes:
            if isinstance(node, kinds):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                name = f"{within}{node.name}"
                # No heading: the name of a function is no question.
                yield _Mark(starts[first - 1], starts[node.lineno], "", level, name, node)
                if isinstance(node, ast.ClassDef):
                    yield from visit(node.body, f"{name}.", level + 1)

    yield from visit(tree.body, "", 1)


def _cells(text: str) -> str:
    """The cells of a notebook as Markdown, code between fences."""
    try:
        cells = json.loads(text)["cells"]
        found = [(one["cell_type"], "".join(one["source"])) for one in cells]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return "\n\n".join(
        f"```python\n{source}\n```" if kind == "code" else source
        for kind, source in found
        if source.strip() and kind in ("code", "markdown")
    )


_SILENT = frozenset({"script", "style", "nav", "header", "footer", "aside", "template", "svg"})
_BREAKS = words_in(
    "p div li ul ol pre table tr section article main dl dt dd blockquote details br hr"
)
_HEADS = {**{f"h{n}": n for n in range(1, 7)}, "summary": 7}


class _Page(HTMLParser):
    """Gathers the text of a page, its headings and its links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.size = 0
        self.marks: list[_Mark] = []
        self.links: list[Link] = []
        self._silent: list[str] = []
        self._head: tuple[str, int, int, str] | None = None
        self._link: tuple[int, int, str] | None = None
        self._anchor = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag in _SILENT:
            self._silent.append(tag)
        if self._silent:
            return
        if tag in _HEADS:
            self._say("\n\n")
            self._head = (tag, self.size, len(self.parts), about.get("id") or self._anchor)
        elif tag in _BREAKS:
            self._say("\n" if tag in ("br", "li", "tr") else "\n\n")
        if tag == "a" and about.get("href"):
            self._link = (self.size, len(self.parts), about["href"] or "")
        self._anchor = about.get("id") or (about.get("name") if tag == "a" else "") or ""

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
            return
        if self._head and tag == self._head[0]:
            _, start, part, anchor = self._head
            heading = " ".join("".join(self.parts[part:]).replace("¶", "").split())
            self._say("\n")
            anchor = anchor or slug(heading)
            line = self.getpos()[0]
            self.marks.append(_Mark(start, self.size, heading, _HEADS[tag], anchor, line=line))
            self._head = None
        elif tag in _BREAKS:
            self._say("\n")
        if tag == "a" and self._link:
            start, part, href = self._link
            words = " ".join("".join(self.parts[part:]).split())
            self.links.append(Link(start, self.size, words, href))
            self._link = None

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._say(re.sub(r"[ \t\n]+", " ", data))

    def _say(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text)


def _of_html(file: TextFile) -> TextDocument:
    page = _Page()
    page.feed(file.text)
    page.close()
    text = "".join(page.parts)
    sections = _between(tuple(page.marks), len(text))
    return TextDocument(file.name, file.kind, text, sections, tuple(page.links))
