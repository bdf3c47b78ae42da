"""What must be known of a language to make questions: data in languages.toml, and which it is."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cache
from pathlib import Path

from calipers.frozen import dataclass
from calipers.names import words_in

LINK = "\x00"
"""Stands for the link in its sentence."""
USUAL = "en"
"""The language of a text that does not say."""
_SAMPLE = 2_000
"""Characters of a document from which its language is told."""
_HAN = r"㐀-䶿一-鿿豈-﫿"
_HIRAGANA = r"ぁ-ゟ"
_KATAKANA = r"゠-ヿㇰ-ㇿｦ-ﾟ"
_HANGUL = r"가-힣"
HAN = re.compile(f"[{_HAN}]")
_KANA = re.compile(f"[{_HIRAGANA}{_KATAKANA}]")
_SCRIPTS = {
    "ja": _KANA,
    "zh": HAN,
    "ru": re.compile(r"[а-яё]", re.IGNORECASE),
}
"""Letters that tell a language alone, in the order in which they are looked for."""
_UNSPACED = ("zh", "ja")
"""The languages in which words have no beginning that could be seen."""
_END = r"(?!\w)"
_WORD = re.compile(r"[^\W\d_]+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LETTERS_PER_SIGN = ((HAN, 2.0), (re.compile(f"[{_HIRAGANA}{_KATAKANA}{_HANGUL}]"), 1.0))
"""What a sign says beyond one letter of the Latin alphabet: 医 says what three letters say."""
UNSPACED = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}]+")
"""A run of signs of a script that writes no spaces between words."""
_RUN = re.compile(f"[{_HAN}]+|[{_KATAKANA}]+")


@dataclass(frozen=True)
class Language:
    """The words of one language."""

    stop: frozenset[str]
    context: frozenset[str]
    generic: frozenset[str]
    vague: frozenset[str]
    counted: frozenset[str]
    unasked: frozenset[str]
    see: frozenset[str]
    docs: frozenset[str]
    announces: tuple[tuple[str, re.Pattern[str]], ...]
    """Patterns, each behind letters without which it matches nothing."""
    details: re.Pattern[str]
    turns: re.Pattern[str]
    goes_on: re.Pattern[str]
    links: tuple[re.Pattern[str], ...] = field(default=())
    compounds: bool = False


@cache
def languages() -> dict[str, Language]:
    """The languages that are known, by their code."""
    file = Path(__file__).with_name("languages.toml")
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    known = {}
    for code, entry in table.items():
        patterns = [pattern.replace("{link}", LINK) for pattern in entry["links"]]
        known[code] = Language(
            stop=frozenset(words_in(entry["stop"])),
            context=frozenset(words_in(entry["context"])),
            generic=frozenset(words_in(entry["generic"])),
            vague=frozenset(_with_parts(words_in(entry["vague"]))),
            counted=frozenset(words_in(entry["counted"])),
            unasked=frozenset(words_in(entry["unasked"])),
            see=frozenset(words_in(entry["see"])),
            docs=frozenset(words_in(entry["docs"])),
            announces=(
                *_patterns(entry["announces"], "" if code in _UNSPACED else r"\b"),
                *_patterns(entry["opens"], "^"),
            ),
            details=_anywhere(entry["details"], code),
            turns=_beginning(entry["turns"], code),
            goes_on=_beginning(entry["goes-on"], code),
            links=tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns),
            compounds=entry.get("compounds", False),
        )
    return known


def _beginning(patterns: Iterable[str], code: str) -> re.Pattern[str]:
    """How a sentence of a language begins, by one of these."""
    return re.compile(rf"(?:{'|'.join(patterns)}){'' if code in _UNSPACED else _END}")


def _anywhere(patterns: Iterable[str], code: str) -> re.Pattern[str]:
    """One of these anywhere in a sentence of a language, where a word begins."""
    return re.compile(("" if code in _UNSPACED else r"\b") + f"(?:{'|'.join(patterns)})")


def _patterns(
    patterns: Iterable[str], before: str
) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield patterns with what stands before each, and the letters that each must find."""
    for pattern in patterns:
        always = _MAYBE.sub("\0", pattern).split("\0")
        yield max(always, key=len), re.compile(before + pattern)


_MAYBE = re.compile(
    r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]|\\.|\.|[^()\[\]\\.](?=[?*{]))(?:[?*+]|\{[^}]*\})*|[$^]"
)
"""What stands for one of several letters in a pattern, or for none."""


def _with_parts(words: Iterable[str]) -> Iterator[str]:
    """Yield words, and the pairs of signs that those without spaces are cut into."""
    for word in words:
        yield word
        if HAN.match(word):
            yield from words_without_spaces(word)


Announcements = dict[str, list[tuple[str, re.Pattern[str]]]]
"""Patterns of what announces, by language, each behind letters without which it matches nothing."""


def announcements(text: str, language: str = USUAL) -> Announcements:
    """What may announce in a text, by the letters that stand in it."""
    lower = text.lower()
    known = languages()
    return {
        code: [
            (always, pattern)
            for always, pattern in known[code].announces
            if always in lower
        ]
        for code in {USUAL, language}
    }


def announces(
    sentence: str, language: str = USUAL, among: Announcements | None = None
) -> bool:
    """Whether a sentence only tells what follows it, or what a part is about.

    >>> announces("This section describes keys."), announces("Keys are kept for a day.")
    (True, False)
    """
    among = announcements(sentence, language) if among is None else among
    text = sentence.lower()
    # Pages that are translated in part have sentences in English.
    codes = {USUAL, language} if language != USUAL and text.isascii() else {language}
    return any(
        always in text and pattern.search(text) is not None
        for code in codes
        for always, pattern in among[code]
    )


def leads_to_details(sentence: str, language: str = USUAL) -> bool:
    """Whether a sentence says where more of what it is about stands.

    >>> leads_to_details("For more information, ask the cook."), leads_to_details("Keys expire.")
    (True, False)
    """
    of = USUAL if sentence.isascii() and language in _SCRIPTS else language
    return languages()[of].details.search(sentence.lower()) is not None


def turns(sentence: str, language: str = USUAL) -> bool:
    """Whether a sentence draws its answer from the one before it, which only led up to that.

    >>> turns("Therefore keys expire."), turns("Keys expire.")
    (True, False)
    """
    of = USUAL if sentence.isascii() and language in _SCRIPTS else language
    return languages()[of].turns.match(sentence.lower().lstrip()) is not None


def goes_on(sentence: str, language: str = USUAL) -> bool:
    """Whether the first sentence of a text goes on with what stands above it.

    >>> goes_on("This time keys are kept."), goes_on("This key is kept.")
    (True, False)
    >>> goes_on("In the example listener above, a key is kept.")
    True
    """
    of = USUAL if sentence.isascii() and language in _SCRIPTS else language
    return languages()[of].goes_on.match(sentence.lower().lstrip()) is not None


def points_back(sentence: str, before: str, language: str = USUAL) -> bool:
    """Whether a sentence begins with what the one before it names.

    >>> points_back("This list is long.", "See the list of keys.")
    True
    >>> points_back("This key is kept.", "See the list."), points_back("List it.", "See the list.")
    (False, False)
    """
    context = languages()[language].context
    text = sentence.lower().lstrip("*_ ")
    if language in _UNSPACED:
        points = max(filter(text.startswith, context), key=len, default="")
        named = text[len(points) : len(points) + 2]
        return points != "" and len(named) == 2 and named in before
    first, second, *_ = *_WORD.findall(text), "", ""
    return first in context and second in _WORD.findall(before.lower())


def is_about_docs(title: str, language: str = USUAL) -> bool:
    """Whether a title is about the documentation itself, not about what that documents.

    >>> is_about_docs("Gauge documentation instructions"), is_about_docs("Gauge")
    (True, False)
    """
    lower = title.lower()
    if language in _UNSPACED and any(
        word in lower for word in languages()[language].docs
    ):
        return True
    words = {*lower.split(), *_WORD.findall(lower)}
    # Pages in another language have titles in English as well.
    return any(not words.isdisjoint(languages()[code].docs) for code in (USUAL, language))


def language_of(text: str) -> str:
    """The code of the language that a text is in; English where nothing tells it.

    >>> language_of("Wie man eine Krankmeldung abgibt und was dann zu tun ist.")
    'de'
    >>> language_of("インストールの方法"), language_of("如何安装插件"), language_of("x = 1")
    ('ja', 'zh', 'en')
    """
    sample = text[:_SAMPLE]
    # Signs such as dashes and quotation marks are of no language.
    others = "" if sample.isascii() else "".join(_NOT_ASCII.findall(sample))
    if sample.count(" the ") > 3 and not any(map(str.isalpha, others)):
        return USUAL  # most documents, at once
    for code, script in _SCRIPTS.items():
        signs = len(script.findall(others))
        # A page of code may hold few words of its own language.
        letters = sum(map(str.isalpha, sample)) if signs else 0
        if letters and signs > 0.05 * letters:
            return code
    counts = {code: 0 for code in languages() if code not in _SCRIPTS}
    spoken = _spoken_in()
    words = [word for word in _WORD.findall(sample.lower()) if word in spoken]
    for word, count in Counter(words).items():
        for code in spoken[word]:
            counts[code] += count
    best = max(counts, key=lambda code: (counts[code], code == USUAL))
    return best if counts[best] > counts[USUAL] else USUAL


@cache
def _spoken_in() -> dict[str, list[str]]:
    """The languages that have each stop word, of those that no script tells."""
    spoken: dict[str, list[str]] = {}
    for code, entry in languages().items():
        for word in entry.stop if code not in _SCRIPTS else ():
            spoken.setdefault(word, []).append(code)
    return spoken


def reading_length(text: str) -> float:
    """The length of a text in letters: a sign that says as much as three letters counts as three.

    >>> reading_length("sick leave"), reading_length("病假申请")
    (10, 12.0)
    """
    if text.isascii():
        return len(text)
    return len(text) + sum(
        more * len(signs.findall(text)) for signs, more in _LETTERS_PER_SIGN
    )


def words_without_spaces(run: str) -> list[str]:
    """The words of a run of Chinese or Japanese signs, as far as they can be told apart.

    A run of Han is cut into pairs of signs, which are mostly words; Katakana is one word; Hiragana
    is mostly grammar and is left out.

    >>> words_without_spaces("ミドルウェアを登録する"), words_without_spaces("安装插件")
    (['ミドルウェア', '登録'], ['安装', '装插', '插件'])
    """
    words: list[str] = []
    for part in _RUN.findall(run):
        if len(part) <= 2 or not HAN.match(part):
            words.append(part)
        else:
            words += [part[at : at + 2] for at in range(len(part) - 1)]
    return words
