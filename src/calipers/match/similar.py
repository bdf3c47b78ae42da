"""Where a text is most similar to a quote, and which parts of the quote are unchanged there.

A short stretch of the quote that the text has too (a seed) is grown to both sides as far
as the two agree. Stretches that keep their distance from each other are a place, and the
place where most of the quote stands is the similar one; what lies between its stretches
is compared letter by letter. Comparing the whole texts at once would not do: where only a
part of the quote is there, the best overall alignment prefers single letters scattered
over everything to that part.

A few letters of any quote stand in any text. So a part of the quote counts where it is
enough by itself, or where the text ends before the quote does: the rest may stand in the
next text. Many texts that each have a word of it do not hold it together.

A text that repeats itself has as many stretches as letters, each as long as the text: how
far they are grown, and how much of a gap is compared at a time, is bounded, so that the
time grows with the length of the two and not with its square.
"""

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from calipers.errors import MissingExtra
from calipers.match.cover import Piece
from calipers.match.locate import Hit, Seed
from calipers.version import pip_install

ANCHOR = 4
"""A stretch has at least this many characters: shorter ones are found everywhere by
chance."""
SHORT = 16
"""Below this length a quote has seeds of only ``ANCHOR`` characters."""
SEED = 8
LONGEST = 12
"""Characters of a seed are a third of the quote within these: more than most words
have."""
PLACES = 8
"""How many places of a text are compared, those with the longest stretches."""
BY_CHANCE = 4
"""Around a place with less than one in so many characters of the quote, nothing is
compared."""

GROWN = 1000
"""Stretches are grown by at most so many times the length of the quote in all."""
GAP = 2000
"""Characters of a gap that are compared at a time; longer gaps are compared in parts."""

Block = tuple[int, int, int]
"""A stretch that both have: start in the quote, start in the text, length."""


def seed_size(quote: str) -> int:
    """How many consecutive characters of the quote a text must have to be compared.

    >>> [seed_size("a" * n) for n in (10, 20, 30, 500)]
    [4, 8, 10, 12]
    """
    return ANCHOR if len(quote) < SHORT else min(max(SEED, len(quote) // 3), LONGEST)


def seeds_of(quote: str) -> list[Seed]:
    """The seeds of a quote with their positions: all its stretches, unless the quote is short.

    >>> seeds_of("a lock for")
    [(0, 'a lo'), (4, 'ck f')]
    """
    size = seed_size(quote)
    step = ANCHOR if size < SEED else 1
    return [(at, quote[at : at + size]) for at in range(0, len(quote) - size + 1, step)]


def similar_stretches(
    quote: str, hits: Sequence[Hit], text: str, needed: int
) -> list[Piece]:
    """The stretches of the quote that are unchanged at the most similar place of the text.

    Only places count that have ``needed`` characters without spaces, or run over its
    edge.

    >>> from calipers.match.locate import Shelf
    >>> quote, text = "the lock is held by one thread", "so the lokc is held by one"
    >>> similar_stretches(quote, Shelf([text]).hits(seeds_of(quote))[0], text, 20)
    [(0, 6), (8, 23)]
    """

    def without_spaces(stretches: list[Piece]) -> int:
        return sum(end - start - quote.count(" ", start, end) for start, end in stretches)

    best: list[Piece] = []
    most = 0
    # At equal size the place with the longest stretch, which comes first.
    for blocks in _places(_grown(quote, hits, text), slack=SEED + len(quote) // 10):
        stretches = _stretches(quote, text, blocks)
        letters = without_spaces(stretches)
        if letters > most and (letters >= needed or _runs_over(quote, text, blocks)):
            best = stretches
            most = letters
    return best


def _runs_over(quote: str, text: str, blocks: list[Block]) -> bool:
    """Whether the quote would begin before the text or end after it."""
    (at, there, _) = blocks[0]
    (last_at, last_there, _) = blocks[-1]
    return there < at or len(quote) - last_at > len(text) - last_there


def _stretches(quote: str, text: str, blocks: list[Block]) -> list[Piece]:
    """The unchanged parts at a place: its blocks, and matches between and around them."""
    stretches = [(at, at + length) for at, _, length in blocks]
    around = BY_CHANCE * sum(length for _, _, length in blocks) >= len(quote)
    for quote_part, text_part, at in _gaps(quote, text, blocks, around=around):
        for block in fuzzy_library().distance.Levenshtein.opcodes(quote_part, text_part):
            if block.tag == "equal" and block.src_end - block.src_start >= ANCHOR:
                stretches.append((at + block.src_start, at + block.src_end))
    return sorted(stretches)


def _grown(quote: str, hits: Sequence[Hit], text: str) -> list[Block]:
    blocks: list[Block] = []
    reached: dict[int, int] = {}
    left = GROWN * len(quote)
    for at, there, length in hits:
        distance = there - at
        if reached.get(distance, -1) < at:
            before = after = 0
            if left > 0:
                before, after = _around(quote, text, at, there, length)
                left -= before + after
            reached[distance] = at + length + after
            blocks.append((at - before, there - before, before + length + after))
    return blocks


def _around(quote: str, text: str, at: int, there: int, length: int) -> tuple[int, int]:
    """How many characters agree before a stretch, and how many after it."""

    def agree_before(low: int, high: int) -> bool:
        return quote[at - high : at - low] == text[there - high : there - low]

    def agree_after(low: int, high: int) -> bool:
        return quote[end + low : end + high] == text[behind + low : behind + high]

    end = at + length
    behind = there + length
    after = min(len(quote) - end, len(text) - behind)
    return _agreeing(min(at, there), agree_before), _agreeing(after, agree_after)


_AT_ONCE = 16
"""Characters that are compared first; twice as many follow as long as they agree."""


def _agreeing(most: int, agree: Callable[[int, int], bool]) -> int:
    """How many of at most so many characters agree, counted from the first.

    Whole stretches are compared, since a step for each character takes twenty times as long.

    >>> _agreeing(40, lambda low, high: high <= 37), _agreeing(40, lambda low, high: True)
    (37, 40)
    """
    low = 0
    size = _AT_ONCE
    while low < most and agree(low, min(low + size, most)):
        low = min(low + size, most)
        size *= 2
    high = min(low + size, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if agree(low, middle) else (low, middle)
    return low


def _places(blocks: list[Block], slack: int) -> Iterator[list[Block]]:
    """Places, each a block and those before and after it at about the same offset.

    The longest block makes the first one, the longest that is in no place yet the next.
    """
    if len(blocks) == 1:
        yield blocks
        return
    longest_first = sorted(blocks, key=lambda block: (-block[2], block[0], block[1]))
    placed: set[Block] = set()
    places = 0
    for core in longest_first:
        if core in placed:
            continue
        distance = core[1] - core[0]
        place = [core]
        for block in longest_first:
            if abs(block[1] - block[0] - distance) <= slack:
                # The blocks of a place are in order: one that fits its neighbours fits
                # all.
                at = bisect(place, block)
                if (not at or _follows(place[at - 1], block)) and (
                    at == len(place) or _follows(block, place[at])
                ):
                    place.insert(at, block)
        placed.update(place)
        yield place
        places += 1
        if places == PLACES:
            return


def _follows(first: Block, second: Block) -> bool:
    return first[0] + first[2] <= second[0] and first[1] + first[2] <= second[1]


def _gaps(
    quote: str, text: str, blocks: list[Block], *, around: bool
) -> list[tuple[str, str, int]]:
    """What lies between the blocks on both sides, and around them, and where in the quote."""
    gaps = []
    for (at, there, length), (next_at, next_there, _) in pairwise(blocks):
        gaps.append(
            (quote[at + length : next_at], text[there + length : next_there], at + length)
        )
    if around:
        at, there, _ = blocks[0]
        before = min(at, there)
        gaps.append((quote[at - before : at], text[there - before : there], at - before))
        at, there, length = blocks[-1]
        after = min(len(quote) - at - length, len(text) - there - length)
        at = at + length
        there = there + length
        gaps.append((quote[at : at + after], text[there : there + after], at))
    return [
        (part, other, at + begin)
        for ours, theirs, at in gaps
        for begin in range(0, len(ours), GAP)
        if len(part := ours[begin : begin + GAP]) >= ANCHOR
        and len(other := theirs[begin : begin + GAP]) >= ANCHOR
    ]


def fuzzy_library() -> Any:
    """The library for tolerant comparison, or an error with the command that installs it."""
    try:
        import rapidfuzz
        import rapidfuzz.distance
    except ImportError:
        raise MissingExtra(
            "Tolerant matching by quote needs the library rapidfuzz, which is not "
            f"installed; run {pip_install('text')}, or match exactly with --match quote."
        ) from None
    return rapidfuzz
