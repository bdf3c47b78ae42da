"""Headings as questions: the text below a heading answers it.

They find a broken index; they cannot tell two good retrievers apart. A heading that says little
alone, or that several sections answer, is joined with the title of its page.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import zip_longest

from calipers.io.documents.parts import Section
from calipers.io.documents.sections import TextDocument
from calipers.names import words_in
from calipers.questions.begin.candidates import (
    Candidate,
    content_words,
    how_many_words,
    is_question,
    needs_context,
    plain_heading,
    why_unfit,
)
from calipers.questions.begin.languages import UNSPACED, USUAL, goes_on, languages
from calipers.questions.begin.library import Library, stems
from calipers.questions.begin.target import PARTLY, find_target

FEW_WORDS = 4
"""Below this many words a heading is joined with what it stands under."""
TELLING_WORDS = 3
"""Below this many words even a title that says little is joined."""
NEW_WORDS = 3
"""Words that a target has and its question has not, at least."""
BEGINNING = 80
"""Letters of a target in which these words are looked for first."""
LEAST_ALIKE = 2
"""Words of a heading that stand in another one, at least, for both to say nearly the same."""
ALIKE_IN_PAIRS = 0.75
"""The share of its pairs of signs, in scripts without spaces; of words it is all of them."""
_VERSION = re.compile(
    r"\bv?\d+\.\d+|^\W*\d|\b(?:19|20)\d\d\b|\bversion \d", re.IGNORECASE
)
_CODE = re.compile(
    r"^\W*[\w.:/\-]+\(.*\)\W*$|^\W*[\w\-]+(?:[._/:]\w+)+\W*$|^\W*--?\w|\s--\w|[{}<>=]"
)
_SIGNATURE = re.compile(
    r"```"
    r"|(?=.*(?:[;*&=]|::|<.*>|\b(?:const|void|static|virtual|template|unsigned|public|private)\b))"
    r".*\w\(.*\)(?:\W|\b(?:const|noexcept|override|final)\b)*$"
    r"|[\w.]+\(\s*\w+\??:\s.*\)(?:\s*(?::|->).*)?$"
)
"""A declaration of C++ or Java, or a call with the types of its parameters."""
_OF_SIGNATURES = ("(", "```")
"""Marks of which one stands in every signature."""
_LOGS = frozenset(
    words_in(
        "changelog changes history news release-notes release_notes releases summary _sidebar "
        "code_of_conduct code-of-conduct coc contributing contribute contribution "
        "how_to_contribute hacking "
        "license licence copying copyright authors contributors credits upgrading "
        "exercise exercises homework "
        "whatsnew whats_new roadmap todo agents claude 404 500 search genindex modindex py-modindex"
    )
)
_BUILD = re.compile(r",?\s+[Vv]?\d+\.\d\S*[~+]\S*.*$")
"""The name of a build behind the title of a manual."""
_STEP = re.compile(
    r"\W*(?:(?:step|schritt|étape|paso|passo|passaggio|etapa|stap|шаг|步骤|ステップ|手順)"
    r"\s*[#№]?\s*[\d一二三四五六七八九十]|第[\d一二三四五六七八九十]+步)",
    re.IGNORECASE,
)
"""How the heading of a step of several begins."""
_WORDS = re.compile(r"\b[a-z]+\b")
_COUNTED = re.compile(r"^(\w+?)[\s#-]*(?:\d+|[IVX]+|[A-Z]|[一二三四五六七八九十]+)$")
"""One word with a number or a letter behind it."""
_GREETING = re.compile(
    r"(?:welcome|willkommen|bienvenue|bienvenid[oa]s?|benvenut[oiae]|welkom|bem-vind[oa]s?"
    r"|добро пожаловать|欢迎|歡迎|ようこそ)(?:\b|(?<=[迎そ]))"
    r"|(?:open|file|report|submit|create|raise|search) (?:(?:an?|the|your|new) )*"
    r"(?:issues?|bugs?)\b"
    r"|(?:other|more|further|weitere[rsn]?|andere|autres?|otr[oa]s|altr[ie]|outr[oa]s)\b|其他|其它|その他"
    r"|(?:and|but|thank(?:s| you)|join (?:us|our|the)|danke|vielen dank|merci|感谢|谢谢)\b"
    r"|(?:see|siehe|voir|véase|vedi|veja|zie)\s|.{1,40}\breadme(?:\.\w+)?$"
    r"|.{0,40}\b(?:gnu|apache|mit|bsd|creative commons)\b.{0,40}\blicen[cs]e$",
    re.IGNORECASE,
)
"""A greeting, the name of a licence or of a first page, what leads elsewhere, or what is beside."""
CODE = "a version, a number or code"
STEP = "a step, which the others go on with"
SEVERAL = "several sections answer it"
IN_PARTS = "its parts answer it, below their own headings"


def from_headings(library: Library) -> Iterator[Candidate]:
    """Yield each heading as a question, or with why it is none; what answers it is found later."""
    for document in library.documents:
        if document.kind == "python" or is_log(document.name):
            continue
        language = library.language(document)
        twins = _twins(document)
        for section, following in zip_longest(document.sections, document.sections[1:]):
            heading = plain_heading(section.heading)
            if not heading:
                continue
            question, reason = _asked(heading, section, document, library)
            if _STEP.match(section.heading):
                reason = reason or STEP
            if not reason and twins and _place_of(section, document) in twins:
                reason = SEVERAL
            yield Candidate(
                question,
                "headings",
                document.name,
                document.line(section.start),
                unfit=reason,
                heading=heading,
                language=language,
                find=partial(_answered, library, document, section, following),
            )


def _place_of(section: Section, document: TextDocument) -> tuple[str, str]:
    """A heading of a page and the one that it stands under, as a reader tells them apart."""
    above = document.parent(section)
    headings = (above.heading if above else "", section.heading)
    first, second = (plain_heading(heading).lower() for heading in headings)
    return first, second


def _twins(document: TextDocument) -> set[tuple[str, str]]:
    """The headings that stand several times under the same one, each time above a text."""
    heads = [plain_heading(section.heading).lower() for section in document.sections]
    if len({*heads}) == len(heads):
        return set()
    places = Counter(
        _place_of(section, document)
        for section in document.sections
        if document.text[section.body : section.end].strip()
    )
    return {place for place, count in places.items() if count > 1}


def _answered(
    library: Library,
    document: TextDocument,
    section: Section,
    following: Section | None,
    candidate: Candidate,
) -> Candidate:
    """A heading that may be asked, with the text below it or why that is no answer."""
    is_title = section.heading == library.title_of(document)
    is_above = has_parts(section, following)
    if not is_title and is_above and _is_one_paragraph(section, document):
        return replace(candidate, unfit=IN_PARTS, find=None)
    answer = find_target(document, section.body, section.end, candidate.language)
    reason = answer.unfit
    if _is_filler(answer.quote):
        reason = "filler text"
    elif answer.quote and not _says_more(
        answer.quote, candidate.question, candidate.language
    ):
        reason = "the text below it says no more"
    return replace(
        candidate,
        quotes=answer.quotes,
        unfit=reason,
        share=answer.share
        * (PARTLY if is_above or _is_alike(section, document, candidate.language) else 1),
        find=None,
    )


def _is_alike(section: Section, document: TextDocument, language: str) -> bool:
    """Whether another heading of a page says nearly the same, above a text of its own."""
    own = stems(content_words(plain_heading(section.heading), language))
    # Two words in another order are other pairs of signs where they join.
    share = ALIKE_IN_PAIRS if UNSPACED.search(section.heading) else 1
    for other in document.sections:
        if other is section or not document.text[other.body : other.end].strip():
            continue
        words = stems(content_words(plain_heading(other.heading), language))
        least = min(len(own), len(words))
        if least >= LEAST_ALIKE and len(own & words) >= share * least:
            return True
    return False


def has_parts(section: Section, following: Section | None) -> bool:
    """Whether a section stands above the headings of its parts."""
    return following is not None and 0 < section.level < following.level


def _is_one_paragraph(section: Section, document: TextDocument) -> bool:
    """Whether a section is one paragraph, without boxes and anchors."""
    text = _ASIDE.sub("", document.text[section.body : section.end]).strip()
    return "\n\n" not in text


_ASIDE = re.compile(r"<a\b[^>]{0,200}>\s*</a>|^[ \t]*>.*$", re.MULTILINE)
"""What a link leads to, without words, and a line of a box."""


def _is_filler(quote: str) -> bool:
    """Whether a text is the Latin that stands for one, or says that it is not written yet."""
    return (
        _UNWRITTEN.search(quote) is not None
        or len(_FILLER & set(quote.lower().replace(".", "").split())) >= 2
    )


_UNWRITTEN = re.compile(r"\b(?:FIXME|TODO|TBD|XXX)\b")
_FILLER = frozenset(
    words_in(
        "lorem ipsum dolor amet consectetur adipiscing elit vestibulum pellentesque vivamus donec "
        "commodo lobortis ullamcorper sagittis vehicula facilisis nulla morbi sodales bibendum"
    )
)


def _says_more(quote: str, question: str, language: str) -> bool:
    """Whether a text has words that the heading above it has not."""
    known = languages()[language]
    own = stems(
        [*content_words(question, language), *re.findall(r"[^\W_]+", question.lower())]
    )
    # Mostly the beginning of a text has such words, and the rest need not be read.
    return any(
        how_many_words(stems(content_words(text, language)) - own - known.vague, language)
        >= NEW_WORDS
        for text in (quote[:BEGINNING].rpartition(" ")[0], quote)
    )


def _asked(
    heading: str, section: Section, document: TextDocument, library: Library
) -> tuple[str, str]:
    """A heading as a question, with what it stands under if it needs that; and why it is none."""
    language = library.language(document)
    reason = why_no_question(heading, language)
    if not reason and library.is_usual(section.heading):
        reason = "the name of a part of many pages"
    if reason:
        return heading, reason
    words = set(content_words(heading, language))
    known = languages()[language]
    unasked = words & known.unasked
    if unasked:
        title = set(content_words(document.title, language))
        if words - title - unasked <= known.generic:
            return heading, "the usual name of a part"
    count = how_many_words(words - known.vague, language)
    project = set(content_words(library.title_of(document), language))
    is_whole = not library.is_collection or project <= words
    says_enough = count >= FEW_WORDS and is_whole and not library.is_several(words)
    if count >= FEW_WORDS and library.pages_with(heading) > 1:
        return heading, SEVERAL
    if says_enough and (
        library.is_front(document)
        or len(stems(words) & stems(project)) >= max(1, len(project) / 2)
        or (is_question(heading) and _says_little(document.title, language))
    ):
        return heading, ""
    contexts = [*_contexts(section, document, library, language)]
    joined = _joined(heading, contexts, language, library)
    if joined:
        return joined, ""
    if says_enough or (count >= 2 and is_whole and not library.is_several(words)):
        return heading, ""
    if document.title != section.heading:
        # Several pages have such a title, but perhaps only one of them has such a section.
        joined = _joined(heading, [plain_heading(document.title)], language, library)
    if joined:
        return joined, ""
    return heading, SEVERAL if count >= 2 else "fewer than two words that say something"


def _joined(
    heading: str, contexts: Iterable[str], language: str, library: Library
) -> str:
    """A heading with the first of what it stands under that tells it apart; else empty."""
    words = set(content_words(heading, language))
    for above in contexts:
        more = set(content_words(above, language))
        is_weak = above == library.title or _says_little(above, language)
        says = more - languages()[language].vague - words
        # A letter of an index is no title.
        if all(len(word) == 1 and word.isalpha() for word in says):
            continue
        # Many pages may have such a title, so it tells no section apart.
        telling = words if is_weak else words | more
        question = f"{above}: {heading}"
        if not library.is_several(telling) and not why_unfit(question, language):
            return question
    return ""


def _contexts(
    section: Section, document: TextDocument, library: Library, language: str
) -> Iterator[str]:
    """Yield what a heading stands under: page and heading above, each alone, the whole library.

    Of a page whose title says little alone, the two headings above, or the library's title before
    it; at last that title.
    """
    title = plain_heading(library.title_of(document)) or library.file_title(document)
    words = stems(content_words(plain_heading(section.heading), language))
    # What a heading says itself need not stand before it.
    path = [
        heading
        for heading in _path(section, document, library, language)
        if not stems(content_words(heading, language)) <= words
    ]
    if title == plain_heading(section.heading):
        title = ""
    title = _BUILD.sub("", title)
    general = ""
    if title and _says_little(title, language):
        general, title = title, ""
        if len(path) > 1:
            yield f"{path[-2]}, {path[-1]}"
        elif library.title and general != library.title:
            yield ", ".join([f"{library.title} {general}", *path])
    elif title and path:
        own = stems(content_words(title, language))
        is_said = own <= stems(content_words(path[-1], language))
        yield path[-1] if is_said else f"{title}, {path[-1]}"
    if title:
        yield title
    yield from path[-1:]
    if library.title:
        yield library.title
    if general and how_many_words(words, language) < TELLING_WORDS:
        yield general


def _path(
    section: Section, document: TextDocument, library: Library, language: str
) -> Iterator[str]:
    """Yield the headings between a page's title and a section, without most that say little."""
    above: list[Section] = []
    while parent := document.parent(above[-1] if above else section):
        above.append(parent)
    title = library.title_of(document)
    for parent in reversed(above):
        heading = plain_heading(parent.heading)
        if parent.heading in (title, document.title) or library.is_usual(parent.heading):
            continue
        # Even a usual name of a part tells which part it is: the one above stays.
        if parent is above[0] or not _says_little(heading, language):
            yield heading


def _says_little(title: str, language: str) -> bool:
    """Whether a title tells not what stands below it; one of code does."""
    return why_no_question(title, language) not in ("", CODE)


def is_log(name: str) -> bool:
    """Whether a document lists changes or links, and explains nothing.

    >>> is_log("docs/CHANGELOG.md"), is_log("docs/changes-to-a-table.md")
    (True, False)
    >>> is_log("release/notes_2.7.rst"), is_log("docs/404.html")
    (True, True)
    """
    stem = name.rpartition("/")[2].partition(".")[0].lower()
    folder = re.search(
        r"(?:^|/)(?:release(?:[-_ ]?note)?s?|changelogs?|news|whatsnew)/", name
    )
    # "release_2.7": what changed with a version.
    is_licence = re.search(
        r"^(?:[al]?gpl|g?fdl|copying)|licen[cs]e|copyright"
        r"|release[-_ ]?notes?|change[-_ ]?log|whats?[-_ ]new",
        stem,
    )
    return (
        stem in _LOGS
        or stem.startswith("announc")
        or bool(is_licence or folder or re.search(r"[-_]v?\d+\.\d[^/]*$", name))
    )


@lru_cache(maxsize=1_000)
def why_no_question(heading: str, language: str = "en") -> str:
    """Why a heading asks nothing; empty if it may.

    >>> why_no_question("Getting started"), why_no_question("Retry a failed request")
    ('the usual name of a part', '')
    >>> why_no_question("Option B"), why_no_question("算法二", "zh"), why_no_question("Python 3")
    ('the usual name of a part', 'the usual name of a part', '')
    >>> why_no_question("bool wait(Lock & m) const;"), why_no_question("Wait with std::wait()")
    ('a version, a number or code', '')
    """
    known = languages()[language]
    name = "-".join(re.findall(r"\w+", heading.lower()))
    words = [word for word in content_words(heading, language) if word not in known.vague]
    if name in known.generic or name in languages()["en"].generic or not words:
        return "the usual name of a part"
    # No number ends with a small letter.
    numbered = None if heading[-1:].islower() else _COUNTED.match(heading)
    if numbered and numbered[1].lower() in known.counted:
        return "the usual name of a part"
    if known.generic.issuperset(words) or _GREETING.match(heading):
        return "the usual name of a part"
    # Of letters alone no heading is one of these.
    if not heading.replace(" ", "").isalpha() and (
        _VERSION.search(heading) or _CODE.match(heading)
    ):
        return CODE
    is_signature = any(mark in heading for mark in _OF_SIGNATURES) and (
        _SIGNATURE.match(heading) is not None
    )
    if is_signature and (
        "```" in heading or languages()[USUAL].stop.isdisjoint(_WORDS.findall(heading))
    ):
        return CODE
    if needs_context(heading, language) or goes_on(heading, language):
        return "points to its page"
    # Pages in another language have headings in English as well.
    is_other = language != USUAL and heading.isascii()
    return why_no_question(heading, USUAL) if is_other else ""
