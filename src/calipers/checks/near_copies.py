"""Chunks that say almost the same as a labelled one and are not labelled themselves."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import polars as pl

from calipers.checks import catalogue
from calipers.checks.chunks import Chunks
from calipers.checks.evidence import CorpusEvidence
from calipers.checks.similar import SimilarTexts, word_shingles
from calipers.io.corpus.read import Corpus
from calipers.model.health import EXAMPLES, Example, HealthFinding

SIMILAR_CHUNKS = 0.8
"""Shared stretches of five words from which two chunks are almost the same."""


@dataclass(frozen=True, eq=False)
class _Labels:
    """What one query has labelled."""

    items: set[str]
    quotes: set[str]

    def hold(self, chunk: str, text: str) -> bool:
        """Whether the chunk is labelled, by its id or by a quote it holds."""
        return chunk in self.items or any(quote in text for quote in self.quotes)


def near_copies(evidence: CorpusEvidence, corpus: Corpus) -> HealthFinding:
    """Unlabelled chunks almost like a relevant one, in a second pass over the corpus."""
    labels, wanted = _labels(evidence)
    names = sorted(wanted)
    texts = pl.Series([evidence.texts[name] for name in names], dtype=pl.String)
    index = SimilarTexts(word_shingles(texts, np.arange(len(names))), SIMILAR_CHUNKS)
    count = 0
    examples: list[Example] = []
    if names:
        for batch in corpus.batches():
            chunks = Chunks(batch)
            shingled = word_shingles(batch["text"], np.arange(batch.height))
            found: set[int] = set()
            for number, owner, similarity in index.find(shingled).iter_rows():
                original, copy = names[owner], chunks.ids[number]
                if copy == original or number in found:
                    continue
                text = chunks.normalised[number]
                query = next((q for q in wanted[original] if not labels[q].hold(copy, text)), None)
                if query is None:
                    continue
                found.add(number)
                if len(examples) < EXAMPLES:
                    detail = f"{copy!r} is {similarity:.0%} like it"
                    examples.append(Example(query, original, detail))
            count += len(found)
    return HealthFinding.of_kind(catalogue.NEAR_COPIES, examples, count=count, of=evidence.chunks)


def _labels(evidence: CorpusEvidence) -> tuple[dict[str, _Labels], dict[str, list[str]]]:
    """What each query has labelled, and the queries for which each chunk is relevant."""
    labels: dict[str, _Labels] = defaultdict(lambda: _Labels(set(), set()))
    wanted: dict[str, list[str]] = defaultdict(list)
    for row in evidence.targets.iter_rows(named=True):
        holders = [one for one in evidence.holders(row) if one in evidence.texts]
        labels[row["query"]].items.update(holders)
        if row["plain"] is not None:
            labels[row["query"]].quotes.add(row["plain"])
        if row["grade"] > 0:
            for holder in holders:
                wanted[holder].append(row["query"])
    return labels, wanted
