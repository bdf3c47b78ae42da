"""Findings about the targets of a ground truth, checked against a corpus."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import polars as pl

from calipers.checks import catalogue
from calipers.checks.evidence import CorpusEvidence, Row
from calipers.checks.ground_truth import target_name
from calipers.checks.similar import SimilarTexts, word_shingles
from calipers.io.corpus import Corpus
from calipers.model.health import EXAMPLES, Example, HealthFinding
from calipers.text import normalise
from calipers.words import plural


def corpus_findings(evidence: CorpusEvidence) -> Iterator[HealthFinding]:
    """Every finding about relevant targets; other targets may be absent from the corpus."""
    rows: dict[str, list[Row]] = {"id": [], "quote": [], "span": []}
    for row in evidence.targets.iter_rows(named=True):
        if row["grade"] > 0:
            rows[evidence.way(row)].append(row)
    yield from _about_ids(evidence, rows["id"])
    yield from _about_evidence(evidence, rows["quote"], rows["span"])
    yield _ambiguous(evidence, rows["quote"])


def unplaced_spans(evidence: CorpusEvidence) -> list[str]:
    """A note about spans that cannot be checked because chunks have no offsets."""
    count = sum(
        evidence.way(row) == "span" and row["document"] in evidence.spans.unplaced
        for row in evidence.targets.iter_rows(named=True)
    )
    if not count:
        return []
    return [
        f"{plural(count, 'span')} could not be checked: the corpus does not say where the chunks "
        "of these documents begin (a column 'start')."
    ]


def _example(row: Row, detail: str | None = None) -> Example:
    return Example(str(row["query"]), target_name(row), detail)


def _about_ids(evidence: CorpusEvidence, rows: list[Row]) -> Iterator[HealthFinding]:
    seen = evidence.items
    absent = [row for row in rows if not seen[str(row["item"])]]
    detail = f"Ids of the corpus look like {', '.join(map(repr, evidence.sample))}."
    if absent and all(" " in str(row["item"]) for row in absent):
        detail += ' If the targets are texts, write them as {"quote": "…"}.'
    yield HealthFinding.of_kind(
        catalogue.ID_NOT_IN_CORPUS,
        map(_example, absent),
        count=len(absent),
        of=len(rows),
        detail=detail,
    )
    several = [item for item, count in seen.items() if count > 1]
    yield HealthFinding.of_kind(
        catalogue.REPEATED_ID,
        (
            Example(target=target, detail=plural(seen[target], "chunk"))
            for target in several
        ),
        count=len(several),
        of=evidence.targets["item"].drop_nulls().n_unique(),
    )


def _about_evidence(
    evidence: CorpusEvidence, quotes: list[Row], spans: list[Row]
) -> Iterator[HealthFinding]:
    """Findings about evidence that no single chunk contains, and spans whose text has changed."""
    absent: list[Example] = []
    split: list[Example] = []
    moved: list[Example] = []
    lost: set[object] = set()
    reach = evidence.spans.reach
    for row in [*quotes, *spans]:
        document = row["document"]
        by_span = evidence.way(row) == "span"
        seen = evidence.sightings(row)
        why = None
        names_document = by_span or (
            row["start"] is not None and evidence.documents_known
        )
        if names_document and document not in reach:
            why = "the corpus does not have this document"
        elif by_span and document in evidence.spans.unplaced:
            continue  # a note says so
        elif by_span and int(str(row["end"])) > reach[str(document)]:
            why = f"the document ends at {reach[str(document)]}"
        elif seen.moved is not None:
            moved.append(_example(row, f"there stands {seen.moved!r}"))
        elif not seen.chunks and evidence.is_split(row):
            split.append(_example(row))
        elif not seen.chunks:
            why = "chunks do not hold it, not even together"
        if why:
            absent.append(_example(row, why))
            lost.add(row["query"])
    of = len(quotes) + len(spans)
    detail = f"{plural(len(lost), 'query', 'queries')} cannot be won in full."
    yield HealthFinding.of_kind(
        catalogue.IN_NO_CHUNK, absent, count=len(absent), of=of, detail=detail
    )
    yield HealthFinding.of_kind(catalogue.SPLIT, split, count=len(split), of=of)
    yield HealthFinding.of_kind(catalogue.MOVED, moved, count=len(moved), of=of)


def _ambiguous(evidence: CorpusEvidence, quotes: list[Row]) -> HealthFinding:
    # Without documents, two chunks may simply overlap; three or more are no coincidence.
    most = 1 if evidence.documents_known else 2
    examples = []
    for row in quotes:
        seen = evidence.sightings(row)
        if len(seen.places) <= most and seen.times <= 1:
            continue
        where = plural(seen.chunks, "chunk")
        if evidence.documents_known:
            where += f" of {plural(len(seen.documents), 'document')}"
        if seen.times > 1:
            where += f", up to {seen.times} times in one"
        examples.append(
            _example(row, f"in {where}, such as {', '.join(map(repr, seen.holders))}")
        )
    return HealthFinding.of_kind(
        catalogue.AMBIGUOUS, examples, count=len(examples), of=len(quotes)
    )


SIMILAR_CHUNKS = 0.8
"""The share of common five-word shingles from which two chunks are near-duplicates."""


def near_copies(evidence: CorpusEvidence, corpus: Corpus) -> HealthFinding:
    """Find unlabelled near-duplicates of relevant chunks, in a second pass over the corpus."""
    items, quotes, wanted = _labels(evidence)
    names = sorted(wanted)
    texts = pl.Series([evidence.texts[name] for name in names], dtype=pl.String)
    index = SimilarTexts.of(word_shingles(texts, np.arange(len(names))), SIMILAR_CHUNKS)
    count = 0
    examples: list[Example] = []
    for batch in corpus.batches() if names else ():
        copies: set[int] = set()
        shingled = word_shingles(batch["text"], np.arange(batch.height))
        for number, owner, similarity in index.find(shingled).iter_rows():
            original = names[owner]
            copy = batch["id"][number]
            if copy == original or number in copies:
                continue
            text = normalise(batch["text"][number])
            unlabelled = (
                query
                for query in wanted[original]
                if copy not in items[query]
                and not any(quote in text for quote in quotes[query])
            )
            query = next(unlabelled, None)
            if query is None:
                continue
            copies.add(number)
            if len(examples) < EXAMPLES:
                detail = f"{copy!r} is {similarity:.0%} like it"
                examples.append(Example(query, original, detail))
        count += len(copies)
    return HealthFinding.of_kind(
        catalogue.NEAR_COPIES, examples, count=count, of=evidence.chunks
    )


def _labels(
    evidence: CorpusEvidence,
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, list[str]]]:
    """The labelled chunks and quotes of each query, and the queries that want each chunk."""
    items: dict[str, set[str]] = defaultdict(set)
    quotes: dict[str, set[str]] = defaultdict(set)
    wanted: dict[str, list[str]] = defaultdict(list)
    for row in evidence.targets.iter_rows(named=True):
        holders = [holder for holder in evidence.holders(row) if holder in evidence.texts]
        items[row["query"]].update(holders)
        if row["plain"] is not None:
            quotes[row["query"]].add(row["plain"])
        if row["grade"] > 0:
            for holder in holders:
                wanted[holder].append(row["query"])
    return items, quotes, wanted
