"""The text of a PDF, and its headings: its outline, or lines in a larger or bolder type.

pypdf is an extra. Lines that stand at the edge of many pages are headers and footers, and no text.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.frozen import dataclass
from calipers.io.documents.parts import CAPTION, Section

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

LARGER = 1.12
"""How much larger than the text a heading is, at least."""
MOST_LETTERS = 120
"""Letters of a heading at most."""
PAGES_PER_ENTRY = 3
"""An outline with fewer entries names chapters, and no sections."""
EDGE = 2
"""Lines at the top and at the bottom of a page that may be header or footer."""
REPEATED = 3
"""On so many pages a line at the edge is no text."""
_NUMBERED = re.compile(
    r"^(?:(?i:chapter|part|appendix|annex|kapitel|teil)\s+)?(?:\d+|[A-Z](?=\.))(?:\.\d+)*[.:)]*\s+"
)
_APPENDIX = re.compile(r"^(?i:appendix|annexe?|anhang|apéndice)\s+(?=[A-Z]\s)")
"""What stands before the letter of an appendix on its page, but not in the outline."""
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\d*\s*$")


@dataclass(frozen=True)
class Line:
    """A line of a page."""

    text: str
    size: float
    """The size of its type, of most of its letters."""
    bold: bool


@dataclass(frozen=True)
class Entry:
    """An entry of the outline."""

    title: str
    page: int
    level: int


def text_of_pdf(path: Path) -> tuple[str, list[Section], str]:
    """The text of a PDF, a form feed between its pages, its sections and its title.

    ImportError without pypdf; a damaged file may raise anything.
    """
    from pypdf import PdfReader

    # What it logs of a damaged file is counted, and is not for the terminal.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    reader = PdfReader(path)
    pages = _without_edges([_lines(page) for page in reader.pages])
    entries = list(_outline(reader))
    by_type = _by_type(pages)
    heads = by_type
    if entries:
        heads = _by_outline(pages, entries)
        if len(heads) * PAGES_PER_ENTRY < len(pages):
            # It names chapters only: a line in a larger type begins a section as well.
            known = {head[:2] for head in heads}
            heads = sorted([*heads, *(head for head in by_type if head[:2] not in known)])
    return *_joined(pages, heads), _title(reader)


def _title(reader: "PdfReader") -> str:
    """The title that the file has, if it is one and no file name."""
    known = reader.metadata
    title = "" if known is None else " ".join(str(known.title or "").split())
    is_title = " " in title and not re.search(
        r"\.\w{2,4}$|untitled|microsoft word", title, re.I
    )
    return title if is_title and len(title) <= MOST_LETTERS else ""


_Piece = tuple[str, float, bool]
"""A text, the size of its type, and whether it is bold."""


def _read(page: "PageObject", change: "_Gaps | None" = None) -> tuple[str, list[_Piece]]:
    """The text of a page, and its pieces with their type."""
    pieces: list[_Piece] = []

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        # The matrices scale the type: many files write size 1 and scale it.
        scale = abs(tm[3] or tm[1]) * abs(cm[3] or cm[1])
        name = str((font or {}).get("/BaseFont", "")).lower()
        pieces.append((text, round(size * scale, 1), "bold" in name or "black" in name))

    whole = page.extract_text(visitor_text=visit, visitor_operand_before=change) or ""
    return whole, pieces


def _lines(page: "PageObject") -> list[Line]:
    """The lines of a page, each with the size of its type."""
    whole, pieces = _read(page)
    if (joined := _letters_in_a_row(whole)) > 0:
        spaced, others = _read(page, _Gaps(page))
        if _letters_in_a_row(spaced) < joined:
            whole, pieces = spaced, others
    sizes = [(size, bold) for text, size, bold in pieces for _ in text]
    if len(sizes) != len(whole):
        # The visitor may leave out what the page joins; then the type of a line is not known.
        return [*_matched(whole, pieces)]
    lines = []
    at = 0
    for text in whole.split("\n"):
        type_of = Counter(sizes[at : at + len(text)]).most_common(1)
        size, bold = type_of[0][0] if type_of else (0.0, False)
        lines.append(Line(text.strip(), size, bold))
        at += len(text) + 1
    return lines


_LONG_RUN = re.compile("[a-zß-öø-ÿ]{22,}")
"""Letters in a row of which a page has few, unless the blanks between words are missing."""
_GAP = -180
"""A move to the right, in thousandths of the type's size, that a reader sees as a blank."""


def _letters_in_a_row(text: str) -> int:
    """How many letters stand in runs that are too long for words."""
    return sum(map(len, _LONG_RUN.findall(text)))


class _Gaps:
    """Puts a blank where a line of text moves on by as much as one.

    pypdf takes half of a font's usual width for the least gap. Where the font has no blank of its
    own, that is wider than the gaps between words.
    """

    def __init__(self, page: "PageObject") -> None:
        resources = page.get("/Resources", {})
        self.fonts = resources.get_object().get("/Font", {}) if resources else {}
        self.usual = 0.0
        """What pypdf takes for the width of a blank."""

    def __call__(self, operator: bytes, operands: list[Any], *_matrices: Any) -> None:
        if operator == b"Tf" and operands:
            self.usual = self._usual_width(operands[0])
        if operator != b"TJ" or not self.usual or not operands:
            return
        if not isinstance(operands[0], list):
            return
        spaced: list[Any] = []
        for piece in operands[0]:
            is_gap = isinstance(piece, int | float) and piece <= _GAP
            # The width of the added blank is taken back: what follows stays in its place.
            spaced += [" ", piece + self.usual] if is_gap else [piece]
        operands[0][:] = spaced

    def _usual_width(self, name: str) -> float:
        font = self.fonts.get(name, {})
        below = font.get_object().get("/DescendantFonts") if font else None
        if not below:
            return 0.0
        return float(below.get_object()[0].get_object().get("/DW", 1000))


def _matched(whole: str, pieces: Sequence[_Piece]) -> Iterator[Line]:
    """Yield the lines of a page with the type of the piece that holds their beginning."""
    known: dict[str, tuple[float, bool]] = {}
    for text, size, bold in pieces:
        for part in text.split("\n"):
            if part.strip():
                known.setdefault(part.strip()[:20], (size, bold))
    for text in whole.split("\n"):
        plain = text.strip()
        yield Line(plain, *known.get(plain[:20], (0.0, False)))


def _without_edges(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without lines that stand at the edge of many; numbers in them may differ."""

    def plain(line: Line) -> str:
        return re.sub(r"\d+", "#", line.text)

    edges = Counter(
        plain(line)
        for lines in pages
        for line in {*_filled(lines)[:EDGE], *_filled(lines)[-EDGE:]}
    )
    often = {text for text, count in edges.items() if count >= REPEATED and text}
    numbers = {"#", "- # -", "page #", "seite #"} if len(pages) > 1 else set()
    kept = []
    for lines in pages:
        filled = _filled(lines)
        at_edge = {id(line) for line in (*filled[:EDGE], *filled[-EDGE:])}
        kept.append(
            [
                line
                for line in lines
                if id(line) not in at_edge or plain(line) not in often | numbers
            ]
        )
    return kept


def _filled(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line.text]


def _outline(reader: "PdfReader") -> Iterator[Entry]:
    """Yield the entries of the outline that lead to a page."""

    def visit(entries: Any, level: int) -> Iterator[Entry]:
        for entry in entries:
            if isinstance(entry, list):
                yield from visit(entry, level + 1)
                continue
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0:
                yield Entry(" ".join(str(entry.title).split()), page, level)

    yield from visit(reader.outline, 1)


Head = tuple[int, int, int, int, str]
"""The page, the first line and the line after the last of a heading, its level and its text."""


def _by_outline(pages: list[list[Line]], entries: Sequence[Entry]) -> list[Head]:
    """The lines that the outline names, on their pages."""
    heads = set()
    depth = 0
    """The depth to which the entries above this one were found."""
    for entry in entries:
        lines = pages[entry.page] if entry.page < len(pages) else []
        span = _named_lines(lines, _key(entry.title))
        depth = min(depth, entry.level - 1)
        if span is None:
            continue
        # Below an entry that was not found it would stand under the one before that.
        level = entry.level if depth == entry.level - 1 else 1
        depth += depth == entry.level - 1
        title = _NUMBERED.sub("", entry.title) or entry.title
        if _APPENDIX.match(lines[span[0]].text):
            title = re.sub(r"^[A-Z]\s+", "", title)
        heads.add((entry.page, *span, level, title))
    return sorted(heads)


def _named_lines(lines: Sequence[Line], key: str) -> tuple[int, int] | None:
    """The first line and the line after the last that say what an entry says; None without."""
    for at in range(len(lines)):
        # A long heading runs over several lines.
        for end in range(at + 1, min(at + 4, len(lines) + 1)):
            text = " ".join(line.text for line in lines[at:end])
            if key and _key(text) == key and not _LEADERS.search(text):
                return at, end
    return None


def _key(text: str) -> str:
    """A heading as it is compared: without numbers in front, signs and case."""
    bare = _APPENDIX.sub("", _NUMBERED.sub("", text) or text)
    return re.sub(r"[\W_]+", "", bare).lower()


def _by_type(pages: list[list[Line]]) -> list[Head]:
    """Lines in a larger type than the text, or in bold where the text is not."""
    letters: Counter[tuple[float, bool]] = Counter()
    for lines in pages:
        for line in lines:
            letters[line.size, line.bold] += len(line.text)
    if not letters:
        return []
    body, body_bold = letters.most_common(1)[0][0]
    if body <= 0:
        return []
    larger = sorted({size for size, _ in letters if size > LARGER * body}, reverse=True)
    heads: list[Head] = []
    for number, lines in enumerate(pages):
        at = 0
        while at < len(lines):
            line = lines[at]
            end = at + 1
            larger_type = line.size > LARGER * body
            if _is_heading(line, body, body_bold) and (
                larger_type or not _inside_sentence(lines, at)
            ):
                while end < len(lines) and _goes_on(line, lines[end]):
                    end += 1
                text = " ".join(part.text for part in lines[at:end])
                level = (
                    larger.index(line.size) + 1
                    if line.size in larger
                    else len(larger) + 1
                )
                if len(text) <= MOST_LETTERS and not _LEADERS.search(text):
                    heads.append(
                        (number, at, end, level, _NUMBERED.sub("", text) or text)
                    )
            at = end
    return heads


_UNFINISHED = re.compile(
    r"\b(?:a|an|the|of|and|or|to|in|is|are|was|as|with|for|by|called|der|die|das|und|oder|ist|sind)$",
    re.IGNORECASE,
)
"""How a line ends whose sentence goes on."""


def _is_heading(line: Line, body: float, body_bold: bool) -> bool:
    """Whether a line stands out by its type, and is no sentence."""
    if not re.search(r"[^\W\d_]{2}", line.text) or len(line.text) > MOST_LETTERS:
        return False
    if CAPTION.match(line.text):
        return False
    if line.text.endswith((".", ",", ";", "。", "，")) or line.text[0].islower():
        return False
    if _UNFINISHED.search(line.text):
        return False
    # One bold word is more often a name in the text than a heading.
    stands_out = line.bold and not body_bold and line.size >= body and " " in line.text
    return line.size > LARGER * body or stands_out


def _inside_sentence(lines: Sequence[Line], at: int) -> bool:
    """Whether a bold line is a part of a sentence that begins above it or goes on below."""
    before = lines[at - 1].text if at else ""
    after = lines[at + 1].text if at + 1 < len(lines) else ""
    begins_above = before.endswith(",") or bool(_UNFINISHED.search(before))
    return begins_above or after[:1].islower() or after[:1] in ",;)"


def _goes_on(line: Line, after: Line) -> bool:
    """Whether the next line is the rest of a heading."""
    return bool(after.text) and (after.size, after.bold) == (line.size, line.bold)


def _joined(pages: list[list[Line]], heads: Sequence[Head]) -> tuple[str, list[Section]]:
    """The text of all pages, and where its sections begin."""
    named = {(page, at): (end, level, text) for page, at, end, level, text in heads}
    text: list[str] = []
    sections: list[Section] = []
    size = 0
    for number, lines in enumerate(pages):
        skip = 0
        for at, line in enumerate(lines):
            if (number, at) in named and at >= skip:
                end, level, title = named[number, at]
                body = size + 2 + sum(len(part.text) + 1 for part in lines[at:end])
                text.append("\n")
                start = size + 1
                sections.append(Section(title, start, body, level=level, line=number + 1))
                size += 1
                skip = end
            text.append(f"{line.text}\n")
            size += len(line.text) + 1
            if at + 1 == skip:
                text.append("\n")
                size += 1
        text.append("\f")
        size += 1
    whole = "".join(text)
    return whole, sections
