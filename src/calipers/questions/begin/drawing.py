"""Which candidates are asked: the surest, of as many documents as possible."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, zip_longest
from operator import attrgetter

from calipers.frozen import dataclass
from calipers.io.corpus import Corpus
from calipers.io.documents.sections import TextDocument
from calipers.live.word_matching import WordIndex
from calipers.match.locate import QuoteFinder
from calipers.model.labels import MACHINE
from calipers.questions.begin.candidates import (
    SHORTEST_QUOTE,
    Candidate,
    in_turns,
    place,
    sentences,
)
from calipers.questions.begin.elsewhere import MOST, MUCH, Passages
from calipers.questions.begin.languages import reading_length
from calipers.questions.begin.library import Library
from calipers.questions.begin.target import PARTLY
from calipers.text import normalise

TWICE = "asked in several places"
IN_PLACES = "the target stands in several places"
UNSURE = "its target is a part of its section, and enough others are surer"
ELSEWHERE = "another passage says much of its target, and others are enough"
NOT_NEEDED = "not looked at, as enough others were found"
NOT_REACHED = "not looked at, after thirty times as many as are wanted"
SURE = 0.75
"""The share of its section from which on a target is likely to hold the answer."""
ENOUGH = ((SURE, 30), (0.5, 20), (0.2, 10), (0, 5))
"""How many questions are enough to ask none whose target holds less, from these shares on."""
MOST_AGAIN = 0.5
"""The share of a target that may stand elsewhere as well, sentence by sentence."""
LIKELIER = 0.3
"""What counts as said elsewhere where another heading says half of what this one does."""
LIKELIER_SHORT = 0.15
"""The same where a target is short."""
SHORT = 150
"""Letters below which a target is short."""
SEVERAL = 2
AT_ONCE = 500
"""Documents whose texts are searched together."""
Places = list[TextDocument]
"""The documents in which a quote stands, one for each place; of several places the first two."""


@dataclass(frozen=True)
class Drawn:
    """What is asked, with what was learnt of the documents on the way."""

    candidates: list[Candidate]
    holders: list[TextDocument]
    """The documents that hold a target, of which no other document holds any."""
    index: WordIndex | None
    """An index of all documents with the words of every question; None where nothing was drawn."""


@dataclass(frozen=True, eq=False)
class _LookedFor:
    """A candidate whose answer is known, as it stands among all documents."""

    candidate: Candidate
    places: list[Places]
    """Those of each of its quotes."""
    elsewhere: float
    """The share of its target's words that another passage says, and more where that is likely."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether another passage is likely to answer as well."""
        return self.elsewhere >= MUCH

    @property
    def is_sure(self) -> bool:
        """Whether the target alone is likely to hold the answer."""
        return self.candidate.share >= SURE and not self.is_elsewhere

    @property
    def enough(self) -> int:
        """How many questions are enough not to ask this one, where it is not sure."""
        share = min(self.candidate.share, SURE)
        if self.elsewhere >= MOST:
            share = min(share, PARTLY)
        return next(enough for least, enough in ENOUGH if share >= least)


@dataclass(frozen=True, eq=False)
class Drawing:
    """Draws from the candidates of some documents."""

    library: Library
    corpus: Corpus
    """Its documents as passages."""
    most: int
    seed: int

    @cached_property
    def _passages(self) -> Passages:
        """The passages by their words, which are read once and only where a target is asked."""
        return Passages.of(self.corpus, self.library.documents)

    def draw(
        self, by_source: Mapping[str, list[Candidate]], dropped: Counter[str]
    ) -> Drawn:
        """As many from each source as there are, within it from as many documents."""
        drawn: dict[str, Candidate] = {}
        holding: set[str] = set()
        asked: set[tuple[str, ...]] = set()
        """The targets of links: several sentences that lead to one place ask the same."""
        account: Counter[str] = Counter()
        turns = self._looked_for(self._in_order(by_source, account))
        rest = NOT_NEEDED
        for looked in _surest_first(turns):
            candidate = looked.candidate
            if len(drawn) == self.most:
                break
            if not looked.is_sure and len(drawn) >= looked.enough:
                # What comes later may be less sure for another reason, and is no surer.
                if looked.is_elsewhere:
                    account[ELSEWHERE] += 1
                    continue
                rest = UNSURE
                break
            if candidate.question.lower() in drawn or candidate.quotes in asked:
                account[TWICE] += 1
            elif any(len(places) != 1 for places in looked.places):
                account[IN_PLACES] += 1
            else:
                drawn[candidate.question.lower()] = candidate
                holding.update(holder.name for (holder,) in looked.places)
                if candidate.source == "links":
                    asked.add(candidate.quotes)
        else:
            rest = NOT_REACHED
        left = sum(map(len, by_source.values())) - len(drawn) - account.total()
        dropped.update(account)
        if left:
            dropped[rest] += left
        order = list(by_source)
        chosen = sorted(
            drawn.values(),
            key=lambda candidate: (
                order.index(candidate.source),
                candidate.document,
                candidate.line,
            ),
        )
        holders = [
            document for document in self.library.documents if document.name in holding
        ]
        return Drawn(chosen, holders, self._passages.index if drawn else None)

    def _in_order(
        self, by_source: Mapping[str, list[Candidate]], account: Counter[str]
    ) -> Iterator[Candidate]:
        """Yield what may be asked in the order in which it is, those last that may not be answered.

        What answers a candidate is found when its turn comes; where nothing does, it is counted.
        """
        unsure: list[Candidate] = []

        def at(candidate: Candidate) -> bytes:
            about = candidate.source, candidate.document, candidate.question
            return place(self.seed, *about, candidate.line)

        def taken(candidate: Candidate) -> Candidate | None:
            answered = candidate.answered()
            if answered.unfit:
                account[answered.unfit] += 1
            elif answered.share >= SURE:
                return answered
            else:
                unsure.append(answered)
            return None

        ordered = [
            in_turns(
                some, lambda candidate: candidate.target or candidate.document, at, taken
            )
            for some in by_source.values()
        ]
        # One of each source, then the next of each; a source that has no more leaves its
        # turns.
        yield from filter(None, chain.from_iterable(zip_longest(*ordered)))
        yield from sorted(unsure, key=lambda candidate: (-candidate.share, at(candidate)))

    def _looked_for(self, turns: Iterator[Candidate]) -> Iterator[_LookedFor]:
        """Yield candidates as they stand among all documents.

        Each time as many as before are looked for, and as many again: where a folder holds many
        copies, to go through all the text for each of them would take minutes. Chosen questions are
        likely: few candidates more than that are looked for.
        """
        many = 2 * self.most
        # 2, 4, 8 and 16 times as many: of so many copies the rest is no better.
        last = many << 3
        places: dict[str, Places] = {}
        while many <= last and (coming := [*islice(turns, many)]):
            texts = {
                text
                for candidate in coming
                for quote in candidate.quotes
                for text in (quote, *_long_sentences(quote))
            }
            places |= _places_of(texts - places.keys(), self.library.documents)
            standing = [_places_of_quotes(candidate, places) for candidate in coming]
            alone = [
                all(len(of_quote) == 1 for of_quote in of_all) for of_all in standing
            ]
            for candidate, of_all, is_alone in zip(coming, standing, alone, strict=True):
                elsewhere = self._elsewhere(candidate) if is_alone else 0.0
                yield _LookedFor(candidate, of_all, elsewhere)
            many *= 2

    def _elsewhere(self, candidate: Candidate) -> float:
        """What other passages say of a target; of a model's questions that was asked before."""
        if candidate.source.startswith(MACHINE):
            return 0.0
        share = self._passages.said_elsewhere(candidate)
        if candidate.heading:
            where = candidate.document, candidate.line
            share += LIKELIER * self.library.is_shared(candidate.heading, *where)
        letters = sum(map(reading_length, candidate.quotes))
        return share + LIKELIER_SHORT * (letters < SHORT)


def _surest_first(turns: Iterable[_LookedFor]) -> Iterator[_LookedFor]:
    """Yield those whose target no other passage says before those of which one says much.

    Both before what is less than most of its section.
    """
    later: list[_LookedFor] = []
    by_share = attrgetter("elsewhere")
    for looked in turns:
        if looked.candidate.share < SURE:
            yield from sorted(later, key=by_share)
            later.clear()
            yield looked
        elif looked.is_elsewhere:
            later.append(looked)
        else:
            yield looked
    yield from sorted(later, key=by_share)


def _places_of_quotes(candidate: Candidate, known: Mapping[str, Places]) -> list[Places]:
    """Where each quote of a candidate stands."""
    return [_places(quote, known) for quote in candidate.quotes]


def _places(quote: str, known: Mapping[str, Places]) -> Places:
    """Where a target stands; nowhere for certain where most of its sentences stand elsewhere."""
    parts = _long_sentences(quote)
    again = sum(len(part) for part in parts if len(known[part]) > 1)
    return known[quote] if again <= MOST_AGAIN * len(quote) else []


def _long_sentences(quote: str) -> list[str]:
    """The sentences of a target that are as long as one alone would have to be."""
    return [part for part in sentences(quote) if reading_length(part) >= SHORTEST_QUOTE]


def _places_of(
    quotes: Iterable[str], documents: Sequence[TextDocument]
) -> dict[str, Places]:
    """Where each quote stands in all the documents together; all are looked for at once."""
    plain = {quote: normalise(quote) for quote in quotes}
    finder = QuoteFinder(tuple(dict.fromkeys(plain.values())))
    places: list[Places] = [[] for _ in finder.quotes]
    for first in range(0, len(documents), AT_ONCE):
        some = documents[first : first + AT_ONCE]
        texts = [normalise(document.text) for document in some]
        for number, quote, _ in finder.find(texts):
            if len(places[quote]) < SEVERAL:
                places[quote].append(some[number])
    by_quote = dict(zip(finder.quotes, places, strict=True))
    return {quote: by_quote[normal] for quote, normal in plain.items()}
