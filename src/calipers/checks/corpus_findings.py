"""Findings about the targets of a ground truth, checked against a corpus."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from calipers.checks import catalogue
from calipers.checks.evidence import ENOUGH, ENOUGH_OF_SPAN, Chunks, CorpusEvidence, Row
from calipers.checks.ground_truth import target_name
from calipers.checks.similar import SimilarTexts, word_shingles
from calipers.io.corpus import Corpus
from calipers.model.health import EXAMPLES, Example, HealthFinding
from calipers.words import plural


def corpus_findings(evidence: CorpusEvidence) -> Iterator[HealthFinding]:
    """Every finding about relevant targets; other targets may be absent from the corpus."""
    rows: dict[str, list[Row]] = {"id": [], "quote": [], "span": []}
    for row in evidence.targets.iter_rows(named=True):
        if row["grade"] > 0:
            rows[evidence.way(row)].append(row)
    yield from _about_ids(evidence, rows["id"])
    placed, found = _about_spans(evidence, rows["span"], rows["quote"])
    yield from found
    yield from _about_chunks(evidence, rows["quote"], placed)
    yield _ambiguous(evidence, rows["quote"])


def unplaced_spans(evidence: CorpusEvidence) -> list[str]:
    """A note about spans that cannot be checked because chunks have no offsets."""
    count = sum(
        evidence.way(row) == "span"
        and row["document"] in evidence.spans.reach
        and not evidence.knows_places(row)
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
    seen = evidence.items.seen
    absent = [row for row in rows if not seen[str(row["item"])]]
    shown = ", ".join(repr(one) for one in evidence.items.sample)
    detail = f"Ids of the corpus look like {shown}."
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
        (Example(target=one, detail=plural(seen[one], "chunk")) for one in several),
        count=len(several),
        of=len(evidence.items.items),
    )


def _about_spans(
    evidence: CorpusEvidence, rows: list[Row], quotes: list[Row]
) -> tuple[list[Row], list[HealthFinding]]:
    """The spans that can be checked, and the findings about the others.

    Targets that were looked up by quote may have spans, too: a span in a document that is not in
    the corpus is lost, even if the quote is found in another document.
    """
    reach = evidence.spans.reach
    unknown = [row for row in rows if row["document"] not in reach]
    if evidence.documents_known:
        with_spans = [row for row in quotes if row["start"] is not None]
        unknown += [row for row in with_spans if row["document"] not in reach]
        rows = [*rows, *with_spans]
    placed: list[Row] = []
    beyond: list[Example] = []
    moved: list[Example] = []
    for row in (row for row in rows if evidence.way(row) == "span" and evidence.knows_places(row)):
        end = reach[str(row["document"])]
        if int(str(row["end"])) > end:
            beyond.append(_example(row, f"the document ends at {end}"))
            continue
        placed.append(row)
        there = evidence.span_sightings(row).moved
        if there is not None:
            moved.append(_example(row, f"there stands {there!r}"))
    of = len(rows)
    return placed, [
        HealthFinding.of_kind(
            catalogue.UNKNOWN_DOCUMENT, map(_example, unknown), count=len(unknown), of=of
        ),
        HealthFinding.of_kind(catalogue.BEYOND_DOCUMENT, beyond, count=len(beyond), of=of),
        HealthFinding.of_kind(catalogue.MOVED, moved, count=len(moved), of=of),
    ]


def _about_chunks(
    evidence: CorpusEvidence, quotes: list[Row], spans: list[Row]
) -> Iterator[HealthFinding]:
    """Findings about evidence that no single chunk contains: absent, or split over several."""
    absent: list[Example] = []
    split: list[Example] = []
    lost: set[object] = set()
    shares = [(row, _quote_share(evidence, row), ENOUGH) for row in quotes]
    shares += [(row, _span_share(evidence, row), ENOUGH_OF_SPAN) for row in spans]
    for row, share, enough in shares:
        if share is None:
            continue
        if share >= enough:
            split.append(_example(row, f"chunks hold at least {share:.0%} of it together"))
        else:
            known = f"chunks hold {share:.0%} of it" if share else "no part of it was found"
            absent.append(_example(row, known))
            lost.add(row["query"])
    of = len(quotes) + len(spans)
    detail = f"{plural(len(lost), 'query', 'queries')} cannot be won in full."
    yield HealthFinding.of_kind(
        catalogue.IN_NO_CHUNK, absent, count=len(absent), of=of, detail=detail
    )
    yield HealthFinding.of_kind(catalogue.SPLIT, split, count=len(split), of=of)


def _quote_share(evidence: CorpusEvidence, row: Row) -> float | None:
    """The share of a quote that chunks contain together; None if one contains all of it."""
    seen = evidence.sightings(row)
    return None if seen.chunks else seen.share(len(str(row["plain"])))


def _span_share(evidence: CorpusEvidence, row: Row) -> float | None:
    """The share of a span that chunks cover together; None if one covers enough of it."""
    seen = evidence.span_sightings(row)
    start, end = int(str(row["start"])), int(str(row["end"]))
    return None if seen.holders else seen.share(start, end)


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
        examples.append(_example(row, f"in {where}, such as {', '.join(map(repr, seen.holders))}"))
    return HealthFinding.of_kind(catalogue.AMBIGUOUS, examples, count=len(examples), of=len(quotes))


CONCENTRATED = 0.1
"""Targets are concentrated below this share of the documents that random chunks would reach."""


def concentrated(evidence: CorpusEvidence) -> HealthFinding:
    """Whether targets are in far fewer documents than as many random chunks would be.

    Documents are counted by Kish's effective number.
    """
    named = [evidence.document_of[held[0]] for _, held in evidence.held if held]
    counts = pl.Series(named, dtype=pl.String).value_counts(sort=True)
    chunks = np.unique(np.concatenate(evidence.documents), return_counts=True)[1]
    n, shares = len(named), chunks / chunks.sum()
    reached = n**2 / max(1, int((counts["count"] ** 2).sum()))
    expected = 1 / (float((shares**2).sum()) * (n - 1) / n + 1 / n) if n else 0.0
    half = int((counts["count"].cum_sum() < n / 2).sum()) + 1
    most = counts.row(0) if n else ("", 0)
    return HealthFinding.of_kind(
        catalogue.CONCENTRATED,
        [Example(target=most[0], detail=f"{most[1]:,} of {n:,} targets")],
        count=half if n > 1 and reached < CONCENTRATED * expected else 0,
        of=len(chunks),
        detail=f"Half of the targets stand in {plural(half, 'document')}. They are spread as over "
        f"{reached:,.0f} documents; drawn at random it would be {expected:,.0f}.",
    )


SIMILAR_CHUNKS = 0.8
"""The share of common five-word shingles from which two chunks are near-duplicates."""


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of one query."""

    items: set[str]
    quotes: set[str]

    def hold(self, chunk: str, text: str) -> bool:
        """Whether the chunk is labelled, by its id or by a quote in it."""
        return chunk in self.items or any(quote in text for quote in self.quotes)


def near_copies(evidence: CorpusEvidence, corpus: Corpus) -> HealthFinding:
    """Find unlabelled near-duplicates of relevant chunks, in a second pass over the corpus."""
    labels, wanted = _labels(evidence)
    names = sorted(wanted)
    texts = pl.Series([evidence.texts[name] for name in names], dtype=pl.String)
    index = SimilarTexts.of([word_shingles(texts, np.arange(len(names)))], SIMILAR_CHUNKS)
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
    """The labels of each query, and the queries for which each chunk is relevant."""
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
