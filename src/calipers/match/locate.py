"""Find many quotes in many texts at once.

All quotes are searched by their first few characters in one pass over a text
(Aho-Corasick, from polars); where those occur, the rest is compared. So the time hardly
grows with the number of quotes, and a long quote costs no more than a short one.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cache, cached_property
from itertools import islice

import polars as pl

from calipers.frozen import dataclass
from calipers.text import BETWEEN_CJK, FORMS, normalise, plain_form

_WHITE = re.compile(r"\s+")
_NOT_ASCII_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")

Change = tuple[int, int, str]
"""A range of a text, by start and end, and its replacement."""


@dataclass(frozen=True, eq=False)
class _Step:
    """The ranges that one rewriting changed; all other characters were copied."""

    after_start: list[int] = field(default_factory=list)
    after_end: list[int] = field(default_factory=list)
    before_start: list[int] = field(default_factory=list)
    before_end: list[int] = field(default_factory=list)

    def before(self, at: int) -> tuple[int, int]:
        """The range in the old text of a character of the new one."""
        first = bisect_right(self.after_end, at)
        if first < len(self.after_start) and self.after_start[first] <= at:
            return self.before_start[first], self.before_end[first]
        if not first:
            return at, at + 1
        place = at - self.after_end[first - 1] + self.before_end[first - 1]
        return place, place + 1


@dataclass(frozen=True, eq=False)
class MappedText:
    """A text normalised by ``calipers.text.normalise``, with a map back to the original."""

    text: str
    steps: tuple[_Step, ...]
    """The rewritings, the last one first."""

    @classmethod
    def of(cls, original: str) -> "MappedText":
        """The normalised text of an original, with its map.

        >>> mapped = MappedText.of("Anna\\r\\n  Pa\\u0301vlovna")
        >>> mapped.text[5:8], mapped.span(5, 8)
        ('Páv', (8, 12))
        """
        text = original
        steps = []
        for changes in (
            _without_invisible,
            _composed,
            _unbroken,
            _plain,
            _composed,
            _one_space,
        ):
            text, step = _rewritten(text, changes(text))
            steps.append(step)
        return cls(text, tuple(reversed(steps)))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the original behind ``text[start:end]``, which is not empty.

        A letter that was composed from several characters counts whole, and what is
        invisible between two letters belongs to the span; what is invisible before or
        after does not.
        """
        last = end - 1
        for step in self.steps:
            start = step.before(start)[0]
            last = step.before(last)[1] - 1
        return start, last + 1


def _rewritten(text: str, changes: Iterable[Change]) -> tuple[str, _Step]:
    step = _Step()
    parts: list[str] = []
    copied = length = 0
    for start, end, new in changes:
        parts += (text[copied:start], new)
        length += start - copied
        step.after_start.append(length)
        length += len(new)
        step.after_end.append(length)
        step.before_start.append(start)
        step.before_end.append(end)
        copied = end
    return "".join((*parts, text[copied:])), step


def _without_invisible(text: str) -> Iterator[Change]:
    if text.isascii():
        return
    invisible = "".join(character for character in set(text) if _is_invisible(character))
    if invisible:
        for match in re.finditer(f"[{re.escape(invisible)}]+", text):
            yield match.start(), match.end(), ""


@cache
def _is_invisible(character: str) -> bool:
    """Whether normalising drops the character, by calling it, so that the list is in one place."""
    return normalise(f"a{character}a") == "aa"


def _unbroken(text: str) -> Iterator[Change]:
    """Remove white space between characters of scripts that have none."""
    if not text.isascii():
        for white in re.finditer(BETWEEN_CJK, text):
            yield white.start(), white.end(), ""


def _plain(text: str) -> Iterator[Change]:
    """Replace ligatures and full-width forms by letters."""
    if not text.isascii():
        for form in re.finditer(FORMS, text):
            yield form.start(), form.end(), plain_form(form[0])


def _composed(text: str) -> Iterator[Change]:
    if unicodedata.is_normalized("NFC", text):
        return
    # An ASCII character never composes with the one before it, so runs are handled one by
    # one.
    for run in _NOT_ASCII_RUN.finditer(text):
        if not unicodedata.is_normalized("NFC", run[0]):
            for start, end in _clusters(run[0]):
                new = unicodedata.normalize("NFC", run[0][start:end])
                if new != run[0][start:end]:
                    yield run.start() + start, run.start() + end, new


def _clusters(run: str) -> list[tuple[int, int]]:
    """Cut the run into parts that compose separately."""
    starts = [0]
    for at in range(1, len(run)):
        if not unicodedata.combining(run[at]) and _stay_apart(
            run[starts[-1] : at], run[at]
        ):
            starts.append(at)
    cut = list(zip(starts, (*starts[1:], len(run)), strict=True))
    apart = "".join(unicodedata.normalize("NFC", run[start:end]) for start, end in cut)
    # A few Tibetan signs begin with a mark although they count as letters: better one
    # large cluster than a wrong one.
    return cut if apart == unicodedata.normalize("NFC", run) else [(0, len(run))]


def _stay_apart(left: str, right: str) -> bool:
    together = unicodedata.normalize("NFC", left + right)
    return together == unicodedata.normalize("NFC", left) + unicodedata.normalize(
        "NFC", right
    )


def _one_space(text: str) -> Iterator[Change]:
    for white in _WHITE.finditer(text):
        at_edge = white.start() == 0 or white.end() == len(text)
        new = "" if at_edge else " "
        if white[0] != new:
            yield white.start(), white.end(), new


SEED = 16
"""How many first characters of a quote are searched for."""


@dataclass(frozen=True, eq=False)
class SeedFinder:
    """Finds short strings in texts."""

    seeds: tuple[str, ...]

    @cached_property
    def _patterns(self) -> pl.Expr:
        return pl.lit(pl.Series(self.seeds, dtype=pl.String)).implode()

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Each text, by its number, with each seed that it holds, once.

        >>> sorted(SeedFinder(("ab", "b")).find(["cab", "c", "bb"]))
        [(0, 'ab'), (0, 'b'), (2, 'b')]
        """
        if not self.seeds or not texts:
            return
        frame = pl.DataFrame({"text": texts}, schema={"text": pl.String}).with_row_index(
            "number"
        )
        held = frame.select(
            "number",
            seed=pl.col("text")
            .str.extract_many(self._patterns, overlapping=True)
            .list.unique(),
        )
        yield from held.explode("seed").drop_nulls("seed").iter_rows()


OCCURRENCES = 16
"""How many places of a seed in a text are compared; more means that the text repeats
itself."""

Seed = tuple[int, str]
"""Start in the quote, and its characters there."""
Hit = tuple[int, int, int]
"""A seed that a text has: start in the quote, start in the text, length."""


class Shelf:
    """Normalised texts that are searched for many seeds at once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._found: dict[str, list[tuple[int, int]]] = {}
        self._by_edge: dict[tuple[int, bool], dict[str, list[int]]] = {}

    def beginning_with(self, part: str) -> Sequence[int]:
        """The numbers of the texts that begin with a part.

        >>> Shelf(["so", "a lock", "for locks"]).beginning_with("a l")
        [1]
        """
        return self._with_edge(part, at_end=False)

    def ending_with(self, part: str) -> Sequence[int]:
        """The numbers of the texts that end with a part."""
        return self._with_edge(part, at_end=True)

    def _with_edge(self, part: str, *, at_end: bool) -> Sequence[int]:
        # Many quotes ask for parts of the same few lengths: each text is cut once for each.
        size = len(part)
        if (by_edge := self._by_edge.get((size, at_end))) is None:
            by_edge = self._by_edge[size, at_end] = {}
            for number, text in enumerate(self.texts):
                by_edge.setdefault(text[-size:] if at_end else text[:size], []).append(
                    number
                )
        return by_edge.get(part, ())

    def look_for(self, seeds: Iterable[str]) -> None:
        """Search for these seeds in one pass, so that ``hits`` needs none."""
        new = tuple({seed: None for seed in seeds if seed not in self._found})
        self._found.update((seed, []) for seed in new)
        for number, seed in SeedFinder(new).find(self.texts):
            places = islice(positions(self.texts[number], seed), OCCURRENCES)
            self._found[seed] += [(number, there) for there in places]

    def hits(self, seeds: Sequence[Seed]) -> dict[int, list[Hit]]:
        """By the number of the text, the seeds that it has, in the order of the seeds.

        >>> Shelf(["so", "a lock", "for locks"]).hits([(0, "a lo"), (2, "lock")])
        {1: [(0, 0, 4), (2, 2, 4)], 2: [(2, 4, 4)]}
        """
        self.look_for(seed for _, seed in seeds)
        hits: dict[int, list[Hit]] = {}
        for at, seed in seeds:
            for number, there in self._found[seed]:
                hits.setdefault(number, []).append((at, there, len(seed)))
        return hits


@dataclass(frozen=True, eq=False)
class QuoteFinder:
    """Finds quotes in texts; both are normalised already."""

    quotes: tuple[str, ...]

    @cached_property
    def by_seed(self) -> dict[str, list[int]]:
        """The quotes that begin with each seed, by number."""
        numbers: dict[str, list[int]] = {}
        for number, quote in enumerate(self.quotes):
            if quote:
                numbers.setdefault(quote[:SEED], []).append(number)
        return numbers

    @cached_property
    def _seeds(self) -> SeedFinder:
        return SeedFinder(tuple(self.by_seed))

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """Every occurrence: number of the text, number of the quote, position in the text.

        Occurrences may overlap: "aa" occurs twice in "aaa".

        >>> list(QuoteFinder(("a lock", "is")).find(["this is a lock"]))
        [(0, 1, 2), (0, 1, 5), (0, 0, 8)]
        """
        places = (
            (number, quote, at)
            for number, seed in self._seeds.find(texts)
            for at in positions(texts[number], seed)
            for quote in self.by_seed[seed]
            if texts[number].startswith(self.quotes[quote], at)
        )
        # In order of appearance within a text; texts come in order already.
        yield from sorted(places, key=lambda place: (place[0], place[2], place[1]))


def positions(text: str, part: str) -> Iterator[int]:
    """Every position of a part in a text, overlapping ones too.

    >>> list(positions("aaa", "aa"))
    [0, 1]
    """
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def locate(
    originals: Sequence[str], finder: QuoteFinder
) -> Iterator[tuple[int, int, int, int]]:
    """Every occurrence of every quote in the original texts.

    Number of the text, number of the quote, start and end in characters of the original
    text.

    >>> finder = QuoteFinder((normalise("is a lock"),))
    >>> list(locate(["The GIL  is\\r\\na  lock."], finder))
    [(0, 0, 9, 20)]
    """
    mapped: tuple[int, MappedText] | None = None
    for number, quote, at in finder.find([normalise(text) for text in originals]):
        # The map costs far more than the search, so only texts that hold a quote get one.
        if mapped is None or mapped[0] != number:
            mapped = number, MappedText.of(originals[number])
        start, end = mapped[1].span(at, at + len(finder.quotes[quote]))
        yield number, quote, start, end
