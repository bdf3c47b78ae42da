"""Bytes made wrong in the ways that files go wrong, and in the ways that people try."""

import re
from collections.abc import Callable
from random import Random

_WORDS = rb"""
null true {} [] "" NaN -1 0 1e30 1e400 -0.0 99999999999999999999 9223372036854775807 \ud800
, ; " ' { [ } ] =1+1 {'a','b'} ../../x #
"""
TOKENS = (
    *_WORDS.split(),
    *(b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\x1b[31m"),
    *(b"\r", b"\r\n", b"\t", b"\n\n", b" ", b"'" * 9, b"a" * 70_000, b"7" * 5000),
    *(b"[" * 900 + b"]" * 900, b"[" * 1500, b'{"a":' * 1200),
)
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[A-Za-z_]+')
_LARGEST = 1 << 20


def mutated(content: bytes, random: Random) -> bytes:
    """The content with one to three changes; never above a megabyte."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        content = random.choice(MUTATORS)(content, random)
    return content[:_LARGEST]


def _span(content: bytes, random: Random) -> tuple[int, int]:
    start = random.randint(0, len(content))
    return start, min(len(content), start + random.choice((0, 1, 1, 2, 8, 64, 1000)))


def _replace(content: bytes, random: Random) -> bytes:
    start, stop = _span(content, random)
    return content[:start] + random.choice(TOKENS) + content[stop:]


def _value(content: bytes, random: Random) -> bytes:
    """A whole value of JSON, or a whole word, replaced."""
    found = list(_VALUE.finditer(content[:20_000]))
    if not found:
        return _replace(content, random)
    one = random.choice(found)
    return content[: one.start()] + random.choice(TOKENS) + content[one.end() :]


def _swap_values(content: bytes, random: Random) -> bytes:
    found = list(_VALUE.finditer(content[:20_000]))
    if len(found) < 2:
        return content
    one, other = sorted(random.sample(found, 2), key=lambda match: match.start())
    between = content[one.end() : other.start()]
    return content[: one.start()] + other[0] + between + one[0] + content[other.end() :]


def _flip(content: bytes, random: Random) -> bytes:
    if not content:
        return b"\x00"
    at = random.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1 :]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randint(0, len(content))]


def _repeat(content: bytes, random: Random) -> bytes:
    start, stop = _span(content, random)
    return content[:stop] + content[start:stop] * random.choice((1, 2, 50)) + content[stop:]


def _lines(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    one = random.randrange(len(lines))
    what = random.choice(("repeat", "drop", "shuffle", "turn"))
    if what == "repeat":
        lines.insert(one, lines[random.randrange(len(lines))])
    elif what == "drop":
        del lines[one]
    elif what == "shuffle":
        random.shuffle(lines)
    else:
        return content.replace(b"\n", random.choice((b"\r", b"\r\n", b"")))
    return b"\n".join(lines)


MUTATORS: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_replace, _value, _value, _value, _swap_values, _flip, _flip, _cut, _repeat, _lines),
)
