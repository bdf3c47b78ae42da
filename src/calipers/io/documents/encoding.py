"""The text of bytes: as they say themselves, as UTF-8, or by the script that they must be in."""

import re
from collections.abc import Callable
from typing import NamedTuple

_DECLARED = re.compile(
    rb"(?:charset|encoding|coding)[=:]\s*[\"']?([A-Za-z0-9_.:-]{2,30})"
)
_KANA = re.compile("[ぁ-ヿ]")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile("[一-鿿]")
_CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
_FREQUENT = re.compile("[оеаинтслвр]")
"""The letters that make up most of a Russian text; a wrong encoding turns them into others."""


MOSTLY = 10
"""With so many times as many whole signs as broken ones a text is UTF-8 with a damage."""


class Decoded(NamedTuple):
    """The text of a file, None if it is binary, and the encoding if it had to be guessed."""

    text: str | None
    guess: str = ""


def decoded(content: bytes) -> Decoded:
    """The text of a file.

    >>> decoded(b"caf\\xe9")
    Decoded(text='café', guess='Windows-1252')
    >>> decoded("é".encode("utf-16")), decoded(b"\\x00\\x01")
    (Decoded(text='é', guess=''), Decoded(text=None, guess=''))
    >>> decoded("病假申请的流程".encode("gb2312")).guess
    'GB 18030'
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Decoded(_lines(content.decode("utf-16", errors="replace")))
    if b"\x00" in content[:4096]:
        return Decoded(None)
    try:
        return Decoded(_lines(content.decode("utf-8-sig")))
    except UnicodeDecodeError:
        pass
    named = _DECLARED.search(content[:1024])
    if named is not None:
        try:
            return Decoded(_lines(content.decode(named[1].decode())))
        except (LookupError, UnicodeDecodeError):
            pass
    text = content.decode("utf-8", errors="replace")
    whole = sum(sign > "\x7f" for sign in text)
    if whole > MOSTLY * text.count("\ufffd"):
        return Decoded(_lines(text), "damaged UTF-8")
    text, guess = _guessed(content)
    return Decoded(_lines(text), guess)


def _lines(text: str) -> str:
    """A text whose lines end alike."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _share(script: re.Pattern[str]) -> Callable[[str], float]:
    """The share of letters beyond ASCII that are of a script."""

    def of(text: str) -> float:
        others = [sign for sign in text if ord(sign) > 127 and sign.isalpha()]
        return len(script.findall(text)) / max(len(others), 1)

    return of


_GUESSES: tuple[tuple[str, str, Callable[[str], float], float], ...] = (
    ("EUC-JP", "euc_jp", _share(_KANA), 0.2),
    ("Shift JIS", "cp932", _share(_KANA), 0.2),
    ("EUC-KR", "euc_kr", _share(_HANGUL), 0.7),
    ("GB 18030", "gb2312", _share(_HAN), 0.9),
    ("Big5", "big5", _share(_HAN), 0.9),
    ("Windows-1251", "cp1251", _share(_CYRILLIC), 0.95),
    ("KOI8-R", "koi8-r", _share(_CYRILLIC), 0.95),
    ("ISO 8859-5", "iso8859-5", _share(_CYRILLIC), 0.95),
    ("CP866", "cp866", _share(_CYRILLIC), 0.95),
)
"""The name, the codec, what its letters must be, and how many of them."""
_CYRILLIC_CODECS = ("cp1251", "koi8-r", "iso8859-5", "cp866")
"""Any text of one of them is letters in the others, too."""


def _guessed(content: bytes) -> tuple[str, str]:
    """The text by the first encoding whose letters are of its script, else Windows-1252."""
    sample = content[:20_000]
    high = sum(byte > 127 for byte in sample)
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 128)
    cyrillic = max(_CYRILLIC_CODECS, key=lambda codec: _frequent(sample, codec))
    for name, codec, share, least in _GUESSES:
        # One accent in a text of Latin letters is no Cyrillic.
        if codec in _CYRILLIC_CODECS and (codec != cyrillic or high < letters):
            continue
        try:
            text = content.decode("gb18030" if codec == "gb2312" else codec)
            sample.decode(
                codec, errors="strict" if len(content) <= len(sample) else "ignore"
            )
        except UnicodeDecodeError:
            continue
        if share(text[:20_000]) >= least and high > 1:
            return text, name
    return content.decode("cp1252", errors="replace"), "Windows-1252"


def _frequent(sample: bytes, codec: str) -> int:
    """How many frequent letters of Russian bytes hold, if they are of this encoding."""
    return len(_FREQUENT.findall(sample.decode(codec, errors="replace")))
