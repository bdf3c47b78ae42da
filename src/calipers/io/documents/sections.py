"""The sections of a document: a small splitter for each kind of file.

Written by hand: a section is a heading, where it starts and where it ends. A parser of all of
Markdown would be a dependency for what a few patterns say.
"""

import ast
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

from calipers.frozen import dataclass
from calipers.io.documents.page import Page
from calipers.io.documents.parts import Link, Section, slug

LONGEST_CHUNK = 1_500
"""Sections that are longer, in characters, are cut between paragraphs."""

SHORT = 50_000
"""Characters up to which lines are counted anew; an index of the lines would stay in memory."""


@dataclass(frozen=True)
class TextDocument:
    """A document: its name in the folder, its text, its sections and its links."""

    name: str
    kind: str
    text: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()
    named: str = ""
    """The title that the file itself has, where it is not a heading."""

    @cached_property
    def _lines(self) -> list[int]:
        return [found.end() for found in re.finditer("\n", self.text)]

    def line(self, at: int) -> int:
        """The line of a character in the file, from 1; in HTML that of its heading.

        In a PDF the page of its heading.
        """
        known = self.section_at(at).line if self.kind in ("html", "pdf") else 0
        if known or len(self.text) < SHORT:
            return known or self.text.count("\n", 0, at) + 1
        return bisect_right(self._lines, at) + 1

    def section_at(self, at: int) -> Section:
        """The section that holds a character."""
        return self.sections[
            bisect_right(self.sections, at, key=lambda section: section.start) - 1
        ]

    @cached_property
    def title(self) -> str:
        """The heading of the whole document: its first, unless that is one of many of its kind."""
        if self.named:
            return self.named
        headed = [section for section in self.sections if section.heading]
        if self.kind == "python" or not headed:
            return ""
        first = headed[0]
        others = sum(section.level <= first.level for section in headed[1:])
        return first.heading if not others or (first.level == 1 and others < 2) else ""

    @cached_property
    def _parents(self) -> dict[int, Section]:
        """The section that each section stands under, by where it starts."""
        parents: dict[int, Section] = {}
        above: list[Section] = []
        for section in self.sections:
            if not section.level:
                continue
            while above and above[-1].level >= section.level:
                above.pop()
            if above:
                parents[section.start] = above[-1]
            above.append(section)
        return parents

    def parent(self, section: Section) -> Section | None:
        """The section that a section stands under; None for those at the top."""
        return self._parents.get(section.start)

    @cached_property
    def by_anchor(self) -> dict[str, Section]:
        """The sections that links can name; of two with one name the first."""
        return {
            section.anchor.lower(): section
            for section in reversed(self.sections)
            if section.anchor
        }

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each chunk: a section, or a part of a long one.

        A heading without a text of its own goes with what follows it.
        """
        start: int | None = None
        for section in self.sections:
            start = section.start if start is None else start
            if not self.text[section.body : section.end].strip():
                continue
            while section.end - start > LONGEST_CHUNK:
                least = start + LONGEST_CHUNK // 3
                most = start + LONGEST_CHUNK
                found = (
                    self.text.rfind(mark, least, most) for mark in ("\n\n", "\n", " ")
                )
                cut = next((at for at in found if at > 0), most)
                yield start, cut
                start = cut
            if self.text[start : section.end].strip():
                yield start, section.end
            start = None


def as_document(
    name: str, kind: str, text: str, sections: Iterable[Section] = (), named: str = ""
) -> TextDocument:
    """A file with its sections and links; sections and title of a PDF are known already."""
    links: Iterable[Link] = ()
    if kind == "html":
        page = Page.of(text)
        text = "".join(page.parts)
        sections = page.sections
        links = page.links
    elif kind == "python":
        sections = _python(text)
    elif kind == "rst":
        sections = _rst(text)
        links = _rst_links(text)
    elif kind in ("markdown", "notebook"):
        text = _cells(text) if kind == "notebook" else text
        named = named or _title_in_front(text)
        sections = _markdown(text)
        links = _markdown_links(text)
    listed = list(sections)
    if not listed or listed[0].start > 0:
        listed.insert(0, Section("", 0, 0))
    ends = [*(one.start for one in listed[1:]), len(text)]
    whole = (_ending(one, end) for one, end in zip(listed, ends, strict=True))
    return TextDocument(name, kind, text, tuple(whole), tuple(links), named)


def _ending(part: Section, end: int) -> Section:
    """A section with its end; ``replace`` is slow for each heading of a folder."""
    return Section(**{**vars(part), "end": end})


_FENCE = re.compile(r"^ {0,3}(```+|~~~+)(.*)$", re.MULTILINE)
# Both begin with the break before a line: a letter that can be looked for at once.
_HEAD = re.compile(
    r"\n {0,3}(?=[#=-])(?:(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?|=+|-+)[ \t]*(?=\n|\Z)"
)
_ATTRIBUTES = re.compile(
    r"\s*(?:\{/\*\s*(?P<mdx>[\w-]+)\s*\*/\}|\{:?\s*(?:#(?P<anchor>[\w-]+)|[.:]|docsify-)[^}]{0,200}\}"
    r"|(?<=\s):(?:id=(?P<id>[\w-]+)|\w+=\S+)|<!--.{0,200}?-->)\s*$"
)
"""What site builders write behind a heading: {#name}, {/*name*/}, :id=name, {docsify-ignore}."""
_FRONT = re.compile(r"\A(---|\+\+\+)\n.*?\n\1[ \t]*\n", re.DOTALL)


_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*([\"']?)(\S.*?)\1[ \t]*$", re.MULTILINE)


def _title_in_front(text: str) -> str:
    r"""The title that site builders read above a page; empty without one.

    >>> _title_in_front('---\ntitle: "Asset modules"\n---\n\n## Inlining\n')
    'Asset modules'
    """
    front = _FRONT.match(text)
    title = _FRONT_TITLE.search(front[0]) if front else None
    return without_markup(title[2]) if title and len(title[2]) <= 120 else ""


def code_in(text: str) -> list[tuple[int, int]]:
    r"""Start and end of each part of a text that is code between fences, or stands above a page.

    >>> code_in("a\n```\nb\n```\nc")
    [(2, 11)]
    """
    front = _FRONT.match(text) if text.startswith(("---", "+++")) else None
    parts = [(0, front.end())] if front else []
    if "```" not in text and "~~~" not in text:
        return parts
    fence = ""
    start = 0
    for found in _FENCE.finditer(text):
        if not fence and "`" not in found[2]:
            fence = found[1]
            start = found.start()
        elif (
            fence and found[1].startswith(fence) and not found[0].strip().strip(fence[0])
        ):
            fence = ""
            parts.append((start, found.end()))
    return [*parts, (start, len(text) + 1)] if fence else parts


def lines_of(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the start and the text of each line, and whether it is code between fences."""
    at = 0
    end = len(text)
    parts = iter(code_in(text))
    start, stop = next(parts, (end + 2, end + 2))
    while at <= end:
        after = text.find("\n", at)
        after = end if after < 0 else after
        while at >= stop:
            start, stop = next(parts, (end + 2, end + 2))
        yield at, text[at:after], start <= at
        at = after + 1


def _markdown(text: str) -> Iterator[Section]:
    parts = code_in(text)
    starts = [start for start, _ in parts]
    last = 0
    """Where the last heading ended, or code: no paragraph reaches above that."""
    for found in _HEAD.finditer(f"\n{text}"):
        at = found.start()  # a line begins here, after the break that was put before it
        if parts and (before := bisect_right(starts, at)) and at < parts[before - 1][1]:
            last = max(last, min(parts[before - 1][1] + 1, len(text)))
            continue
        end = min(found.end(), len(text))
        if found[1]:
            start = at
            raw = found[2] or ""
            level = len(found[1])
        else:
            if parts and (before := bisect_right(starts, at)):
                last = max(last, parts[before - 1][1] + 1)
            start = _paragraph(text, last, at)
            if start < 0:
                continue
            raw = text[start : text.index("\n", start)]
            level = 1 if "=" in found[0] else 2
        raw, named = _without_attributes(raw)
        heading = without_markup(raw)
        yield Section(heading, start, end, named or slug(heading), level=level)
        last = end


def _paragraph(text: str, first: int, end: int) -> int:
    """Where the paragraph begins whose last line ends before ``end``; -1 where there is none."""
    start = -1
    while end > first:
        end = text.rfind("\n", first, end - 1) + 1 or first
        line = text[end : text.index("\n", end)]
        plain = line.strip()
        if not plain:
            break
        if line[:1] not in (" ", "\t") and plain[0] not in "|>-*+<!":
            start = end
    return start


def _without_attributes(heading: str) -> tuple[str, str]:
    """A heading without what a site builder reads behind it, and the anchor that stands there.

    >>> _without_attributes("Themes :id=themes"), _without_attributes("Setup {docsify-ignore}")
    (('Themes', 'themes'), ('Setup', ''))
    """
    anchor = ""
    if heading.isascii() and heading[-1:].isalpha() and " :" not in heading:
        return heading, ""  # most headings
    while (found := _ATTRIBUTES.search(heading)) is not None:
        anchor = anchor or found["anchor"] or found["id"] or found["mdx"] or ""
        heading = heading[: found.start()]
    return heading, anchor


# Every length has an end: a file of open brackets must not take hours. Each pattern stands behind
# marks without which it matches nothing, as few of them stand in one text.
_INLINE = (
    (("![",), re.compile(r"!\[[^\]]{0,300}\]\([^)]{0,300}\)"), ""),
    (("}`",), re.compile(r"\{[\w:.-]{1,40}\}(?=`[^`])"), ":role:"),
    (
        ("](", "]["),
        re.compile(r"\[([^\]]{0,300})\](?:\([^)]{0,300}\)|\[[^\]]{0,300}\])"),
        r"\1",
    ),
    (
        (":`",),
        re.compile(r":[\w:]{1,40}:`~?([^`<]{1,300}?)(?:\s*<[^`]{0,300}>)?`"),
        r"\1",
    ),
    ((">`_",), re.compile(r"`([^`<]{1,300}?)\s*<[^`]{0,300}>`__?"), r"\1"),
    (("<",), re.compile(r"(`+[^`]*`+)|(?<!\\)<[^>]{1,1000}>"), r"\1"),
    (("`",), re.compile(r"`+([^`]*)`+"), r"\1"),
    (("**", "__"), re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1"), r"\2"),
    (
        ("*", "_"),
        re.compile(r"(?<![\w*])[*_](?=\S)(.{1,300}?)(?<=\S)[*_](?![\w*])"),
        r"\1",
    ),
    (("\\",), re.compile(r"\\([\\`*_{}\[\]()#+.!|<>-])"), r"\1"),
    ((":",), re.compile(r":[a-z0-9_+-]{1,40}:(?=\s|$)"), ""),
)
_MARKED = re.compile(r"[`*_\[<\\]|:\w")


def without_markup(text: str) -> str:
    """A line without the marks of Markdown, MyST and reStructuredText.

    >>> without_markup("**Use** `pip` to [install](a.md) :ref:`it <x>`")
    'Use pip to install it'
    >>> without_markup("`<body>` is <b>read</b> again")
    '<body> is read again'
    >>> without_markup(r"The \\<body> of a page")
    'The <body> of a page'
    >>> without_markup("Run {ref}`a rule <rules>` and {py:func}`retry`")
    'Run a rule and retry'
    >>> without_markup("pkgconf [![a badge](a.svg)](https://b.example/c)")
    'pkgconf'
    """
    if _MARKED.search(text):
        for marks, pattern, instead in _INLINE:
            if any(mark in text for mark in marks):
                text = pattern.sub(instead, text)
    return " ".join(text.split())


# What begins with a letter is looked for at once; that none is an image is asked of the few found.
_LINKED = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]{0,300}\]){1,300})\]\(\s*<?(\{[{%][^)}]{1,300}[%}]\}|[^)\s>]{1,1000})>?"
    r"(?:\s+[\"'][^)]{0,300})?\)"
)
_REFERENCED = re.compile(r"\[([^\[\]]{1,300})\]\[([^\]]{0,300})\]")
_DEFINED = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?(\S+?)>?(?:\s+.*)?$", re.MULTILINE)


def _markdown_links(text: str) -> Iterator[Link]:
    for found in _no_images(_LINKED, text) if "](" in text else ():
        yield Link(found.start(), found.end(), without_markup(found[1]), found[2])
    if "]:" not in text:
        return
    where = {found[1].lower(): found[2] for found in _DEFINED.finditer(text)}
    for found in _no_images(_REFERENCED, text):
        if href := where.get((found[2] or found[1]).lower()):
            yield Link(found.start(), found.end(), without_markup(found[1]), href)


def _no_images(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield where a pattern is found that begins with a bracket, without a mark before it."""
    at = 0
    while (found := pattern.search(text, at)) is not None:
        is_image = found.start() > 0 and text[found.start() - 1] == "!"
        at = found.start() + 1 if is_image else found.end()
        if not is_image:
            yield found


_TITLE = re.compile(
    r"^(?:([^\w\s]|_)\1{2,}[ \t]*\n[ \t]*)?(\S[^\n]*)\n(([^\w\s]|_)\4{2,})[ \t]*$",
    re.MULTILINE,
)
_LABEL = re.compile(r"^\.\. _([^:\n]+):[ \t]*$", re.MULTILINE)
_ROLE = re.compile(
    r":(ref|doc|std:ref|std:doc):`([^`<]{0,300}?)\s*(?:<([^>`]{1,300})>)?`"
)
_EXTERNAL = re.compile(r"`([^`<]{1,300}?)\s*<([^>`]{1,300})>`__?")


_SUBSTITUTION = re.compile(r"\|[\w-]{1,60}\|\s*")
"""An image or a text that reStructuredText puts in place of |name|."""


def _rst(text: str) -> Iterator[Section]:
    end = 0
    levels: list[tuple[bool, str]] = []
    for found in _TITLE.finditer(text):
        title = found[2].rstrip()
        if (
            len(found[3]) < len(title) - 1
            or not re.search(r"\w", title)
            or title[:3] == ".. "
        ):
            continue
        labels = _LABEL.findall(text, end, found.start())
        end = min(found.end() + 1, len(text))
        heading = without_markup(_SUBSTITUTION.sub("", title))
        # The order in which adornments come up is their order.
        adornment = bool(found[1]), found[3][0]
        if adornment not in levels:
            levels.append(adornment)
        anchor = labels[-1].strip("`") if labels else slug(heading)
        level = 1 + levels.index(adornment)
        yield Section(heading, found.start(), end, anchor, level=level)


def _rst_links(text: str) -> Iterator[Link]:
    for found in _ROLE.finditer(text):
        name = (found[3] or found[2]).strip().lstrip("~")
        href = f"{name}.rst" if found[1].endswith("doc") else f"#{name}"
        yield Link(found.start(), found.end(), found[2].strip() if found[3] else "", href)
    for found in _EXTERNAL.finditer(text):
        yield Link(found.start(), found.end(), found[1], found[2])


def _python(text: str) -> Iterator[Section]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    starts = [0, *(found.end() for found in re.finditer("\n", text)), len(text)]

    def visit(nodes: list[ast.stmt], within: str) -> Iterator[Section]:
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                name = f"{within}{node.name}"
                # No heading: the name of a function is no question.
                yield Section("", starts[first - 1], starts[node.lineno], name, node=node)
                if isinstance(node, ast.ClassDef):
                    yield from visit(node.body, f"{name}.")

    yield from visit(tree.body, "")


def _cells(text: str) -> str:
    """The cells of a notebook as Markdown, code between fences."""
    try:
        cells = json.loads(text)["cells"]
        found = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return "\n\n".join(
        f"```python\n{source}\n```" if kind == "code" else source
        for kind, source in found
        if source.strip() and kind in ("code", "markdown")
    )
