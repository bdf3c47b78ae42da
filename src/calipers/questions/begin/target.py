"""The target of a question: how the part of a document begins that answers it."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from calipers.frozen import dataclass
from calipers.io.documents.parts import Link
from calipers.io.documents.sections import TextDocument, code_in, without_markup
from calipers.questions.begin.candidates import (
    LONGEST_QUOTE,
    SHORTEST_QUOTE,
    WORD,
    cut_short,
    sentences,
)
from calipers.questions.begin.languages import (
    announcements,
    announces,
    goes_on,
    languages,
    leads_to_details,
    points_back,
    reading_length,
    turns,
)
from calipers.questions.begin.paragraphs import NO_PROSE, blocks

NO_PROSE_FIRST = "no paragraph that answers it stands first below it"
ONLY_LEADS = "its text only leads up to an answer, or elsewhere"
GOES_ON = "its text goes on with what stands above it"
NOTICE = "a copyright notice stands first below it"
GLUED = "its words stand without blanks in the PDF"
STOPS_SHORT = "what answers it stands below its text: a table, or too long"

ENOUGH_ALONE = 250
"""Letters of a text from which on it may answer without the code or the table below it."""
LEAST_LISTED = 150
"""Letters that a list has at least to be a target."""
AFTER_SCENE = 100
"""Letters that a target has at least behind a first sentence that only announces."""
BESIDE_LINK = 150
"""Letters that a target has at least beside a sentence that leads elsewhere."""
PARTLY = 0.4
"""What the share of its section counts where a target stops before code or inside of a list."""
MOSTLY = 0.5
"""The share of its letters that a target has at most that announce or lead elsewhere."""
MOSTLY_LINKS = 0.6
"""The share of its letters from which on links are all that a target has."""
MUCH_LINKED = 0.4
"""The same of a target of one sentence with one link, which says little beside that."""
BESIDE_LINKS = 100
"""Letters of sentences without a link below which a target with links may only lead elsewhere."""
FAR = 1_500
"""Characters behind the first paragraph in which the rest of a target is looked for."""
BOX = ":::"
"""How a box begins and ends."""
_WITH_CODE = ("markdown", "notebook", "rst")
"""Kinds of documents whose code and tables stand in a chunk as they stand in the file."""


@dataclass(frozen=True)
class Target:
    """How a part of a document begins, or why that is no answer."""

    quote: str = ""
    unfit: str = ""
    """Why it is no answer; empty if it may be one."""
    share: float = 1.0
    """How much of its section it holds, by which it is likely to hold the answer."""

    @property
    def quotes(self) -> tuple[str, ...]:
        """The words that answer; none where there is no answer."""
        return (self.quote,) if self.quote else ()


class _Unit(NamedTuple):
    """A sentence, an entry of a list, or a whole block of code or a table."""

    text: str
    is_block: bool = False


_BLOCK = re.compile(
    r"^(?:[ \t]*(?:```|~~~|[-*+] |\d+[.)] |\||\+[-=]{2,}|[=-]{3,} +[=-]{3,}"
    r"|\.\. (?:code|math|(?:list-|csv-)?table)|\$\$|\\\[|\S.*::$)|    [ \t]*\S)",
    re.MULTILINE,
)
"""How code, a list or a table begins."""
_ENTRY = re.compile(r"[-*+–]\s|•|(?:\d{1,2}|#)[.)]\s|\d{1,2}[．）、]|[①-⑳]")
_LISTED = re.compile(r"[-*+] (?!\[[ xX]\])|\d{1,2}[.)] ")
"""How a list begins, and not one of what is to be done."""
_ENTRIES = re.compile(r"\n(?=\s*(?:[-*+•–]\s|(?:\d{1,2}|#)[.)．）]\s))")
"""How an entry of a list begins, and where the next one does."""
_FENCED = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_GLUED = re.compile(r"[A-Za-zÀ-ɏ]{30,}")
"""Words between which a PDF has no blanks; next to no word of a language is so long."""
_HYPHEN = re.compile(r"\w+[-\u00ad\u2010]\n")
_ENDED = re.compile(r"[.!?。！？．…।؟۔][\W_]*$")
"""How a sentence ends that is one."""
_UNMARKED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Scripts that write no sign at the end of a sentence: Thai, Lao, Burmese, Khmer."""
_INTRODUCES = re.compile(r"[:：]\W*$")
"""How a sentence ends that only introduces what follows it."""
_DIRECTIVE = re.compile(
    r"\.\. (?:code|sourcecode|prompt|parsed-literal|highlight|console)"
)
"""How code begins in reStructuredText."""
_NEXT_ANSWERS = re.compile(
    r"(?:\s*<!--.{0,300}?-->)*\s*(?:\n[ \t]*(?:```|~~~|\||\$\$|\\\[|\+[-=]{2,}"
    r"|<(?:pre|table)\b|<div[^>]*>\s*<table\b"
    r"|\.\. (?:code|sourcecode|prompt|parsed-literal|literalinclude|math|(?:list-|csv-)?table)"
    r"|[=-]{3,} +[=-]{3,}|\{% (?:highlight|raw))"
    r"|\n[ \t]*\n(?: {4}|\t)[ \t]*(?![ \t]*(?:[-*+]|\d+[.)])[ \t])\S)",
    re.DOTALL,
)
"""Code, a formula or a table."""
_NOTICE = re.compile(
    r"\W*(?:copyright\b.{0,30}?(?:©|\(c\)|\b(?:19|20)\d\d\b)|(?:©|\(c\))\s*(?:19|20)\d\d\b"
    r"|版权(?:所有|归)|著作权归|著作権者?は)",
    re.IGNORECASE,
)
"""How a notice of copyright begins, in most languages in English."""
_ONLY_CODE = re.compile(r"(`+)[^`\n]+\1\W?")
"""A paragraph that is a line of code."""
_NEXT_ENTRY = re.compile(rf"\s*\n[ \t]*(?:{_ENTRY.pattern})")


def find_target(
    document: TextDocument, start: int, end: int, language: str = "en"
) -> Target:
    """How a part of a document begins, cut at the end of a sentence or of a block.

    A short first paragraph often only sets the scene, so what follows it belongs to the target:
    paragraphs, entries of lists and, where chunks hold them as they stand, whole blocks of code and
    tables, up to the letters that a quote may have. What stands below code, a table or a shorter
    paragraph is no answer: those are. Nor is a text that only leads elsewhere or to what the target
    has no room for, that goes on with what stands above it, or that only asks.
    """
    first = next(
        (block for block in blocks(document, start, end) if block.is_prose), None
    )
    if (
        first is None
        or not first.is_long
        or _ENTRY.match(first.text)
        or _BLOCK.search(document.text[start : first.at])
        or document.text[start : first.at].count(BOX) % 2  # a remark in a box
    ):
        return _whole_list(document, start, end, language)
    text = first.text
    if document.kind == "pdf" and not re.match(r"[^\W_a-zà-ÿ]|[\"'“«「(]", text):
        # The rest of a line whose beginning stood out, or an entry of a list.
        return Target(unfit=NO_PROSE_FIRST)
    if document.kind == "pdf" and (broken := _HYPHEN.search(text)):
        # Whether a word goes on after the hyphen is not known: end before it.
        text = text[: broken.start()].rpartition(".")[0]
        text = f"{text}."
    units = [_Unit(part) for part in sentences(" ".join(text.split()))]
    ends = (_ENDED, _INTRODUCES, _UNMARKED)
    if len(units) == 1 and not any(pattern.search(text) for pattern in ends):
        return Target(unfit=NO_PROSE_FIRST)
    if goes_on(units[0].text, language):
        return Target(unfit=GOES_ON)
    if _NOTICE.match(units[0].text):
        return Target(unfit=NOTICE)
    if text == first.text:
        after_first = first.at + len(text)
        rest = document.text[after_first : min(end, after_first + FAR)]
        units += _following(rest, document.kind)
    links = [
        link
        for link in document.links
        if first.at <= link.start < min(end, first.at + len(text) + FAR)
    ]
    return _of_units(units, document, (first.at, end), links, language)


def _whole_list(document: TextDocument, start: int, end: int, language: str) -> Target:
    """A list as a target, with a line above it and what follows: only if that is all there is.

    What is a part of such a section stops before the rest of it, so it is no target.
    """
    text = document.text[start:end]
    at = start + len(text) - len(text.lstrip())
    stop = start + len(text.rstrip())
    text = document.text[at:stop]
    lead = text.partition("\n")[0]
    is_list = _LISTED.match(text) is not None or _INTRODUCES.search(lead) is not None
    if (
        document.kind not in _WITH_CODE
        or not is_list
        or not LEAST_LISTED <= reading_length(text) <= LONGEST_QUOTE
    ):
        return Target(unfit=NO_PROSE_FIRST)
    units = _following(f"{text}\n", document.kind)
    if _where_ends(document.text, at, units) < stop or goes_on(lead, language):
        return Target(unfit=NO_PROSE_FIRST)
    links = [link for link in document.links if at <= link.start < stop]
    whole = _of_units(units, document, (at, stop), links, language)
    is_sure = not whole.unfit and whole.share > PARTLY
    return whole if is_sure else Target(unfit=whole.unfit or NO_PROSE_FIRST)


def _of_units(
    units: list[_Unit],
    document: TextDocument,
    place: tuple[int, int],
    linked: list[Link],
    language: str,
) -> Target:
    """The target that begins with some units, which stand in a document from there to there."""
    links = [" ".join(document.text[link.start : link.end].split()) for link in linked]
    kept = _fitting(units)
    after = next(iter(units[len(kept) :]), _Unit("")).text
    stops_short = False
    # What leads to something that has no room in the target answers nothing alone.
    while kept and not kept[-1].is_block and _INTRODUCES.search(kept[-1].text):
        after = kept.pop().text
        stops_short = True
    letters = _letters_that_answer(kept, links, language)
    if not letters:
        return Target(unfit=STOPS_SHORT if stops_short else ONLY_LEADS)
    last = kept[-1]
    if not last.is_block and (
        turns(after, language)
        or (
            announces(last.text, language)
            and not _leads_elsewhere(last.text, links, language)
        )
    ):
        return Target(unfit=ONLY_LEADS)
    at, end = place
    stop = _where_ends(document.text, at, kept)
    rest = document.text[stop:end]
    stops_short = stops_short or (
        not last.is_block and _NEXT_ANSWERS.match(rest) is not None
    )
    if stops_short and letters < ENOUGH_ALONE:
        return Target(unfit=STOPS_SHORT)
    quote = " ".join(document.text[at:stop].split())
    if document.kind == "pdf" and _GLUED.search(quote):
        return Target(unfit=GLUED)
    is_cut = len(kept) == 1 and reading_length(quote) > LONGEST_QUOTE
    whole = sum(reading_length(without_markup(unit.text)) for unit in kept)
    inside = [reading_length(link.words) for link in linked if link.start < stop]
    # One sentence with one link says little beside it; with several it may name what it lists.
    most = MUCH_LINKED if len(kept) == len(inside) == 1 else MOSTLY_LINKS
    if sum(inside) > most * whole:
        return Target(unfit=ONLY_LEADS)
    is_linked = [any(link in unit.text for link in links) for unit in kept]
    beside = sum(
        reading_length(without_markup(unit.text))
        for unit, has_link in zip(kept, is_linked, strict=True)
        if not has_link
    )
    is_partly = (
        stops_short
        or (any(is_linked) and beside < BESIDE_LINKS)
        or (len(kept) > 1 and _ONLY_LINK.fullmatch(last.text) is not None)
        or is_cut
        or letters < MOSTLY * whole
        or _NEXT_ENTRY.match(rest) is not None
        # What has its details elsewhere is likely to be answered there as well.
        or any(
            leads_to_details(unit.text, language)
            or _leads_elsewhere(unit.text, links, language)
            for unit in kept
            if not unit.is_block
        )
    )
    share = (PARTLY if is_partly else 1) * (stop - at) / max(1, end - at)
    return Target(cut_short(quote) if is_cut else quote, share=share)


def _letters_that_answer(kept: list[_Unit], links: list[str], language: str) -> float:
    """The letters of a target that neither announce, nor lead elsewhere, nor ask; 0 if too few."""
    answering = [*_that_answer(kept, links, language)]
    letters = sum(reading_length(without_markup(kept[at].text)) for at in answering)
    least = SHORTEST_QUOTE
    if answering and answering[0] and not any(unit.is_block for unit in kept):
        least = AFTER_SCENE  # what follows an announcement says little without it
    if any(_leads_elsewhere(unit.text, links, language) for unit in kept):
        least = BESIDE_LINK
    return letters if letters >= least else 0


def _where_ends(text: str, at: int, units: Iterable[_Unit]) -> int:
    """Where some units end that begin at a character: after as many letters, blanks aside."""
    left = sum(len(unit.text) - unit.text.count(" ") for unit in units)
    stop = at + left
    while (missing := left - len("".join(text[at:stop].split()))) > 0 and stop < len(
        text
    ):
        stop += missing
    return at + len(text[at:stop].rstrip())


def _following(text: str, kind: str) -> list[_Unit]:
    """What follows a paragraph, up to anything that is no part of a target."""
    units: list[_Unit] = []
    done = 0
    for start, stop in [*code_in(text), (len(text), 0)]:
        is_whole = _add_prose(units, text[done:start], kind)
        # Other programs write no fences around the code of a page, so that it could not be found.
        if not is_whole or not stop or stop > len(text) or kind not in _WITH_CODE:
            break
        units.append(_Unit(" ".join(text[start:stop].split()), is_block=True))
        done = stop
    return units


def _add_prose(units: list[_Unit], text: str, kind: str) -> bool:
    """Add the sentences, entries and indented blocks of a text; whether all of it was added."""
    parts = re.split(r"\n[ \t]*\n", text)
    is_code = False
    """Whether what is indented now is code."""
    for number, block in enumerate(parts):
        plain = block.strip()
        if not plain:
            continue
        if sum(len(unit.text) for unit in units) > LONGEST_QUOTE:
            return False
        is_list = _ENTRY.match(plain) is not None
        is_indented = block.lstrip("\n")[:1].isspace() and kind not in ("html", "pdf")
        if (
            is_indented
            and kind in _WITH_CODE
            and (is_code or _leads_to_code(units, plain))
        ):
            # Blank lines inside of code do not end it.
            together = units.pop().text if is_code else ""
            if number == len(parts) - 1 and len(text) >= FAR:
                return False
            units.append(
                _Unit(f"{together} {' '.join(plain.split())}".strip(), is_block=True)
            )
            is_code = True
            continue
        is_code = False
        if kind == "rst" and _DIRECTIVE.match(plain):
            units.append(_Unit(" ".join(plain.split()), is_block=True))
            is_code = True
            continue
        if kind in _WITH_CODE and _ONLY_CODE.fullmatch(plain):
            units.append(_Unit(plain, is_block=True))
            continue
        if kind in _WITH_CODE and plain.startswith("|") and "\n|" in plain:
            units.append(_Unit(" ".join(plain.split()), is_block=True))
            continue
        if (is_indented and not is_list) or "\n|" in plain or _FENCED.search(block):
            return False
        if not is_list and (NO_PROSE.match(plain) or _ENTRIES.search(block)):
            return False
        if kind == "pdf" and _HYPHEN.search(plain):
            return False
        if is_list:
            units += [_Unit(" ".join(part.split())) for part in _ENTRIES.split(plain)]
        elif _ENDED.search(plain) or _INTRODUCES.search(plain):
            units += [_Unit(part) for part in sentences(" ".join(plain.split()))]
        else:
            return False
    return True


def _leads_to_code(units: list[_Unit], plain: str) -> bool:
    """Whether what is indented is code: below a sentence, and no entry of a list."""
    return (
        not units or not (units[-1].is_block or _ENTRY.match(units[-1].text))
    ) and not _ENTRY.match(plain)


def _fitting(units: list[_Unit]) -> list[_Unit]:
    """The first of these that fit into a quote; the first alone where it is too long."""
    letters = 0.0
    for number, unit in enumerate(units):
        letters += reading_length(unit.text) + 1
        if letters > LONGEST_QUOTE + 1:
            return units[: max(number, 1)]
    return units[:]


def _that_answer(
    units: Iterable[_Unit], links: Iterable[str], language: str
) -> Iterator[int]:
    """Yield which units neither announce, nor lead elsewhere, nor ask."""
    units = [*units]
    # Few of what is known of a language stands in one text: its sentences are asked for that.
    among = announcements(" ".join(unit.text for unit in units), language)
    elsewhere = ""
    """What says where to read, as long as what follows it is about that."""
    for at, unit in enumerate(units):
        is_about_it = elsewhere != "" and (
            _ADDRESS.match(unit.text) is not None
            or points_back(unit.text, elsewhere, language)
        )
        is_elsewhere = not unit.is_block and (
            is_about_it or _leads_elsewhere(unit.text, links, language)
        )
        elsewhere = f"{elsewhere} {unit.text}" if is_elsewhere else ""
        if unit.is_block or not (
            is_elsewhere
            or unit.text.rstrip("*_").endswith(("?", "？"))
            or _ONLY_LINK.fullmatch(unit.text)
            or announces(unit.text, language, among)
        ):
            yield at


_ONLY_LINK = re.compile(
    r"(?:(?:[-*+•→]|(?:\d{1,2}|#)[.)])\s+)?"
    r"(?:\[[^\]]{1,200}\]\([^)]{1,300}\)(?:\{[^}]{1,200}\})?|:\w+:`[^`]{1,300}`)\W*"
)
"""A sentence or an entry of a list that is nothing but a link."""


def _leads_elsewhere(sentence: str, links: Iterable[str], language: str) -> bool:
    """Whether a sentence says with a link, or the name of a page to read, where to read."""
    if _PAGE.search(sentence) or _HERE.search(sentence):
        return True
    see = languages()[language].see
    if language in ("zh", "ja"):
        says_see = any(word in sentence for word in see)
        begins = sentence.startswith(tuple(see))
    else:
        words = WORD.findall(sentence.lower())
        says_see = not see.isdisjoint(words)
        begins = not see.isdisjoint(words[:1])
    return says_see and (
        any(link in sentence for link in links)
        or _CROSS_REFERENCE.search(sentence) is not None
        or (begins and _REFERENCE.search(sentence) is not None)
    )


_CROSS_REFERENCE = re.compile(
    r":(?:issue|pr|rfc|numref):`|@(?:sec|fig|tbl|lst|eq)-\w|\{(?:ref|doc|numref)\}`|\\ref\{"
    r"|\bREADME\b|\b[\w-]+\.(?:md|rst)\b|\busr/share/doc/"
)
"""A link to a part of a book, in the words of those who make books from Markdown; or the name of a
page that is there to be read."""
_REFERENCE = re.compile(
    r"`[^`\n]{1,200}`__?(?!\w)|(?<![\w`*])[A-Za-z][\w.-]{0,60}_(?=[\s.,;:)])"
)
"""A link of reStructuredText whose address stands elsewhere."""
_PAGE = re.compile(r"\[[^\[\]]{3,80}\], (?:page|Seite|página|pagina) \d", re.IGNORECASE)
"""What Texinfo writes for a link in a PDF."""
_HERE = re.compile(
    r"(?:\[|`)(?:here|hier|ici|aquí|qui|aqui|здесь|тут|这里|此处|这儿|こちら|ここ)(?:\]\(| <)",
    re.IGNORECASE,
)
"""A link of which the sentence says nothing but where it is."""
_ADDRESS = re.compile(r"\W*https?://\S+\s")
"""How a paragraph begins that is about an address."""
