"""The text of an HTML page, its headings and its links, without navigation, header and footer."""

import re
from html.parser import HTMLParser

from calipers.io.documents.parts import Link, Section, slug

_SILENT = {
    "script",
    "style",
    "nav",
    "header",
    "footer",
    "aside",
    "template",
    "svg",
    "select",
}
_BOXES = {"div", "ul", "ol", "table", "section", "p", "span", "dl"}
"""Elements that may hold navigation, by their class, id or role."""
_AROUND = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation|-panel|header|footer)?|side-?bars?|menu|bread-?crumbs?|"
    r"footer|site-header|page-header|toc|toctree-wrapper|table-of-contents|localtoc|globaltoc|"
    r"related|pagination|pager|prev-next|prevnext|skip-?link|cookie\S*|search-?box)(?:$|[\s_-])"
    r"|^header$|^contents$",
    re.IGNORECASE,
)
_ROLES = {"navigation", "banner", "contentinfo", "search", "complementary", "doc-toc"}
_MAIN = re.compile(r"<main[\s>]|role=[\"']?main\b", re.IGNORECASE)
_EMPTY = {
    "br",
    "hr",
    "img",
    "input",
    "meta",
    "link",
    "wbr",
    "col",
    "area",
    "base",
    "embed",
}
_LINES = {"br", "li", "tr"}
_MARKS = {"li": "- ", "tr": "| ", "dt": "- "}
"""What stands before a line that is no prose, as in Markdown."""
_BREAKS = _LINES | {
    *(
        "p",
        "div",
        "ul",
        "ol",
        "pre",
        "table",
        "section",
        "article",
        "main",
        "dl",
        "dt",
        "dd",
    ),
    *("blockquote", "details", "hr"),
}
_SUBHEADING = re.compile(r"(?:^|\s)(?:sub)+heading(?:$|\s)")
"""The class of a heading of Texinfo that its section holds, with the level of that section."""
_HEADS = {"h1", "h2", "h3", "h4", "h5", "h6", "summary"}


class Page(HTMLParser):
    """Gathers the text of a page, its headings and its links."""

    def __init__(self, has_main: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.size = 0
        self.sections: list[Section] = []
        self.links: list[Link] = []
        self._silent: list[str] = []
        """The element that is not read, with the elements of the same name inside of it."""
        self._main: list[str] = []
        """The main part, once it is open, with the elements of the same name inside of it."""
        self._has_main = has_main
        self._open: dict[str, tuple[int, int, str]] = {}
        """Where the heading and the link that are open begin, and their anchor or address."""
        self._anchor = ""
        self._is_below = False
        """Whether the heading that is open stands below others of its level."""

    @classmethod
    def of(cls, text: str) -> "Page":
        """Read a page; where it says which part is the main one, only that."""
        page = cls(_MAIN.search(text) is not None)
        page.feed(text)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        about = {name: value or "" for name, value in attrs}
        is_inside = bool(self._main) and tag == self._main[0]
        if is_inside or (
            not self._main and (tag == "main" or about.get("role") == "main")
        ):
            self._main.append(tag)
        if self._silent:
            if tag == self._silent[0]:
                self._silent.append(tag)
            return
        if tag not in _EMPTY and self._is_around(tag, about):
            self._silent.append(tag)
            return
        if not self._is_read:
            return
        if tag in _HEADS | _BREAKS:
            self._say("\n" if tag in _LINES else "\n\n")
            self._say("\n```\n" if tag == "pre" else _MARKS.get(tag, ""))
        if tag in _HEADS:
            self._open[tag] = self.size, len(self.parts), about.get("id") or self._anchor
            self._is_below = _SUBHEADING.search(about.get("class", "")) is not None
        elif tag == "a" and about.get("href"):
            self._open[tag] = self.size, len(self.parts), about["href"]
        self._anchor = about.get("id") or (
            about.get("name", "") if tag == "a" else self._anchor
        )

    @property
    def _is_read(self) -> bool:
        """Whether what comes now belongs to the text."""
        return not self._silent and (bool(self._main) or not self._has_main)

    def _is_around(self, tag: str, about: dict[str, str]) -> bool:
        """Whether an element is navigation, a header or a footer, and no text."""
        if tag in ("header", "aside") and self._main:
            return tag == "aside"  # the header of an article holds its title
        if tag in _SILENT or about.get("role") in _ROLES:
            return True
        named = any(_AROUND.search(about.get(name, "")) for name in ("class", "id"))
        return tag in _BOXES and named

    def handle_endtag(self, tag: str) -> None:
        """End an element; a heading or a link is known now."""
        if self._main and tag == self._main[0]:
            self._main.pop()
        if self._silent:
            if tag == self._silent[0]:
                self._silent.pop()
            return
        start, part, named = self._open.pop(tag, (-1, 0, ""))
        words = " ".join("".join(self.parts[part:]).split()) if start >= 0 else ""
        if tag == "pre":
            self._say("\n```")
        if tag in _HEADS | _BREAKS:
            self._say("\n")
        if start >= 0 and tag == "a":
            self.links.append(Link(start, self.size, words, named))
        elif start >= 0:
            heading = words.replace("¶", "").strip()
            level = int(tag[1]) + self._is_below if tag != "summary" else 0
            line = self.getpos()[0]
            anchor = named or slug(heading)
            self.sections.append(
                Section(heading, start, self.size, anchor, line=line, level=level)
            )
            self._anchor = ""

    def handle_data(self, data: str) -> None:
        """Add a text."""
        if self._is_read:
            self._say(re.sub(r"[ \t\n]+", " ", data))

    def _say(self, text: str) -> None:
        if self._is_read:
            self.parts.append(text)
            self.size += len(text)
