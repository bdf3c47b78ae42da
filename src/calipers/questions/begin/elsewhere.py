"""What other passages say of a target: one that says much of it may answer as well."""

from collections.abc import Iterator, Sequence

import polars as pl

from calipers.frozen import dataclass
from calipers.io.corpus import Corpus
from calipers.io.documents.sections import TextDocument
from calipers.io.documents.walk import texts_of
from calipers.live.word_matching import WordIndex, words_of
from calipers.questions.begin.candidates import Candidate, content_words
from calipers.questions.begin.library import stems

RIVALS = 8
"""Passages with the most words of a target that are read whole."""
MUCH = 0.4
"""The share of a target's words from which on another passage says much of it.

Of 188 questions of twelve folders that were read before there was such a rule, 6 of the 82 below it
were answered elsewhere as well, and 26 of the 106 above it.
"""
MOST = 0.6
"""The same from which on it says nearly all of it."""


@dataclass(frozen=True, eq=False)
class Passages:
    """The passages of a folder, by their words."""

    index: WordIndex

    @classmethod
    def of(cls, corpus: Corpus, documents: Sequence[TextDocument]) -> "Passages":
        """Index a corpus with all of its words: which will be asked for is not known yet."""
        return cls(WordIndex.of(corpus, texts=texts_of(documents)))

    def said_elsewhere(self, candidate: Candidate) -> float:
        """The share of a target's words, with its heading's, that one other passage says."""
        text = " ".join([candidate.heading or candidate.question, *candidate.quotes])
        language = candidate.language
        own = stems(content_words(text, language))
        if not own:
            return 0.0
        words = words_of(pl.Series([text]))["word"].unique(maintain_order=True)
        best, _ = self.index.best(words.to_list(), RIVALS)
        rows = self.index.chunks[best]
        holder = candidate.target or candidate.document
        shares: dict[bool, list[float]] = {True: [], False: []}
        for name, passage in zip(rows["document"], self._texts(rows), strict=True):
            common = stems(content_words(passage, language)) & own
            shares[name == holder].append(len(common) / len(own))
        # Of its own document the best one is the target's own.
        beside = sorted(shares[True])[:-1]
        return max([*beside, *shares[False]], default=0.0)

    def _texts(self, rows: pl.DataFrame) -> Iterator[str]:
        """The texts of some passages."""
        if self.index.texts is not None:
            yield from self.index.texts(rows)
