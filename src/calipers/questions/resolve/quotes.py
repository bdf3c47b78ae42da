"""Where quotes stand in the documents of a corpus, in characters of the original text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from calipers.errors import InvalidInput
from calipers.match.locate import QuoteFinder, locate
from calipers.questions.resolve.result import Located, QuotePlace, Wanted
from calipers.text import normalise

MOST_PLACES = 1_000
"""Places of one quote that are told apart; further ones are not looked at."""


@dataclass(eq=False)
class _Search:
    """One pass over a corpus."""

    finder: QuoteFinder
    name: str
    places: dict[int, dict[QuotePlace, None]] = field(default_factory=lambda: defaultdict(dict))
    """By the number of the quote, in order of appearance, each once: chunks may overlap."""
    documents: set[str] = field(default_factory=set)
    """All that the corpus has."""
    _unplaced: set[str] = field(default_factory=set)

    def add(self, batch: pl.DataFrame) -> None:
        documents: list[str] = batch["document"].to_list()
        self.documents.update(documents)
        starts: list[int] = self._starts(batch)
        for number, quote, start, end in locate(batch["text"].to_list(), self.finder):
            found = self.places[quote]
            if len(found) < MOST_PLACES:
                from_ = starts[number]
                found[QuotePlace(documents[number], from_ + start, from_ + end)] = None

    def _starts(self, batch: pl.DataFrame) -> list[int]:
        """Where each text begins in its document: at 0 where it is the whole of it."""
        for document in batch.filter(pl.col("start").is_null())["document"]:
            if document in self._unplaced:
                raise InvalidInput(
                    f"Quotes cannot be placed in {self.name}: the document {document!r} comes in "
                    "several chunks that do not say where they begin; give the whole documents, "
                    "or a column 'start' with the first character of each chunk."
                )
            self._unplaced.add(document)
        return batch["start"].fill_null(0).to_list()


def resolve_quotes(
    wanted: Sequence[Wanted], batches: Iterable[pl.DataFrame], name: str
) -> Iterator[Located]:
    """Every quote with its places, in the order asked for.

    >>> corpus = pl.DataFrame({"document": ["a.md"], "text": ["It is\\na lock."], "start": [0]})
    >>> [found] = resolve_quotes([Wanted("q", "is a lock")], [corpus], "corpus")
    >>> found.places
    (QuotePlace(document='a.md', start=3, end=12),)
    """
    plain = [normalise(one.quote) for one in wanted]
    for one, quote in zip(wanted, plain, strict=True):
        if not quote:
            raise InvalidInput(
                f"A quote is empty: query {one.query!r} has the quote {one.quote!r}; a quote is a "
                "passage of the text that should be found. Write it, or remove the target."
            )
    distinct = tuple(dict.fromkeys(plain))
    number = {quote: n for n, quote in enumerate(distinct)}
    search = _Search(QuoteFinder(distinct), name)
    for batch in batches:
        search.add(batch)
    for one, quote in zip(wanted, plain, strict=True):
        places, named = search.places.get(number[quote], {}), one.document
        yield Located(
            one,
            tuple(place for place in places if named is None or place.document == named),
            unknown_document=named is not None and named not in search.documents,
            elsewhere=tuple(place for place in places if named not in (None, place.document)),
        )
