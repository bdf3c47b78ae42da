"""Where a text is most like a quote, and what of the quote stands there unchanged.

A short stretch of the quote that the text has too (a seed) is grown to both sides as far as the
two agree. The stretches around the longest one that keep their distance from each other are the
similar place; what lies between two of them is compared letter by letter. Comparing the whole
texts at once would not do: where only a part of the quote is there, the best overall alignment
prefers single letters scattered over everything to that part.
"""

from itertools import pairwise
from typing import Any

from calipers.errors import MissingExtra
from calipers.match.cover import Piece

ANCHOR = 4
"""A stretch has at least this many characters: shorter ones are found everywhere by chance."""
SEED = 8
"""Characters of a long quote that must stand unchanged somewhere for a close look."""
SHORT = 64
"""Up to this length a quote gets seeds of only ``ANCHOR`` characters."""
OCCURRENCES = 16
"""How many places of one seed are looked at; more means a text that repeats itself."""

Block = tuple[int, int, int]
"""Start in the quote, start in the text, length."""


def seeds_of(quote: str) -> list[tuple[int, str]]:
    """The seeds of a quote, each with its place.

    >>> seeds_of("a lock for")
    [(0, 'a lo'), (4, 'ck f')]
    """
    step = ANCHOR if len(quote) <= SHORT else SEED
    return [(at, quote[at : at + step]) for at in range(0, len(quote) - step + 1, step)]


def similar_stretches(quote: str, seeds: list[tuple[int, str]], text: str) -> list[Piece]:
    """The stretches of the quote that stand unchanged in the most similar place of the text.

    >>> quote = "the lock is held by one thread"
    >>> similar_stretches(quote, seeds_of(quote), "so the lokc is held by one")
    [(0, 6), (8, 23)]
    """
    fuzzy = fuzzy_library()
    blocks = _chain(_grown(quote, seeds, text), slack=SEED + len(quote) // 10)
    if not blocks:
        return []
    stretches = [(at, at + length) for at, _, length in blocks]
    for quote_part, text_part, at in _gaps(quote, text, blocks):
        for block in fuzzy.distance.Levenshtein.opcodes(quote_part, text_part):
            if block.tag == "equal" and block.src_end - block.src_start >= ANCHOR:
                stretches.append((at + block.src_start, at + block.src_end))
    return sorted(stretches)


def _grown(quote: str, seeds: list[tuple[int, str]], text: str) -> list[Block]:
    blocks: list[Block] = []
    reached: dict[int, int] = {}
    for at, seed in seeds:
        there = text.find(seed)
        for _ in range(OCCURRENCES):
            if there < 0:
                break
            distance = there - at
            if reached.get(distance, -1) < at:
                begin, end = _grow(quote, text, at, at + len(seed), distance)
                reached[distance] = end
                blocks.append((begin, begin + distance, end - begin))
            there = text.find(seed, there + 1)
    return blocks


def _grow(quote: str, text: str, begin: int, end: int, distance: int) -> Piece:
    while begin and begin + distance and quote[begin - 1] == text[begin + distance - 1]:
        begin -= 1
    last = min(len(quote), len(text) - distance)
    while end < last and quote[end] == text[end + distance]:
        end += 1
    return begin, end


def _chain(blocks: list[Block], slack: int) -> list[Block]:
    """The longest block and those before and after it at about the same distance, in order."""
    if not blocks:
        return []
    core = max(blocks, key=lambda block: (block[2], -block[0], -block[1]))
    chain = [core]
    near = [b for b in blocks if abs((b[1] - b[0]) - (core[1] - core[0])) <= slack]
    for block in sorted(near, key=lambda block: -block[2]):
        if all(_follows(one, block) or _follows(block, one) for one in chain):
            chain.append(block)
    return sorted(chain)


def _follows(first: Block, second: Block) -> bool:
    return first[0] + first[2] <= second[0] and first[1] + first[2] <= second[1]


def _gaps(quote: str, text: str, blocks: list[Block]) -> list[tuple[str, str, int]]:
    """What lies before, between and after the blocks on both sides, and where in the quote."""
    at, there, _ = blocks[0]
    before = min(at, there)
    gaps = [(quote[at - before : at], text[there - before : there], at - before)]
    for (at, there, length), (next_at, next_there, _) in pairwise(blocks):
        gaps.append((quote[at + length : next_at], text[there + length : next_there], at + length))
    at, there, length = blocks[-1]
    after = min(len(quote) - at - length, len(text) - there - length)
    at, there = at + length, there + length
    gaps.append((quote[at : at + after], text[there : there + after], at))
    return [gap for gap in gaps if len(gap[0]) >= ANCHOR <= len(gap[1])]


def fuzzy_library() -> Any:
    """The library for tolerant comparison, or the command that installs it."""
    try:
        import rapidfuzz
        import rapidfuzz.distance
    except ImportError:
        raise MissingExtra(
            "Tolerant matching by quote needs the library rapidfuzz, which is not installed; "
            "run pip install 'calipers[text]', or match exactly with --match quote."
        ) from None
    return rapidfuzz
