"""Is this ground truth fit to measure with, and which differences can it detect?"""

import math
from dataclasses import field, replace
from typing import Any

import numpy as np
import polars as pl

from calipers.checks import catalogue, ground_truth
from calipers.checks.corpus_findings import (
    corpus_findings,
    near_copies,
    unplaced_spans,
)
from calipers.checks.evidence import CorpusEvidence
from calipers.checks.ground_truth import asked
from calipers.engines.scoring import compute
from calipers.errors import CalipersError
from calipers.frozen import dataclass
from calipers.io.corpus import Corpus
from calipers.live.word_matching import WordIndex
from calipers.match.choose import as_quotes
from calipers.match.pair import match_pair
from calipers.measures import parse
from calipers.model.arrays import Floats
from calipers.model.claim import Claim, cannot_show
from calipers.model.fact import Fact, Sentence, joined, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import DistantQuestion, Health, HealthFinding
from calipers.model.matched import Matched
from calipers.model.matching import Matching, parse_matching
from calipers.model.slicing import units_of
from calipers.questions.audit.real_questions import furthest
from calipers.statistics.clusters import exact_mean
from calipers.statistics.queries_needed import fewest_queries
from calipers.statistics.queries_to_detect import usual_queries_to_detect
from calipers.statistics.score_interval import mean_interval
from calipers.words import plural

WORDS_FIND = 5
"""The cut-off at which word matching is measured."""
EASY = 0.9
"""From this score of word matching on, a set is too easy to rank retrievers."""
ENOUGH = 96
"""From so many queries on, the 95% interval of a mean reaches at most 0.1 to either side."""

CHECKS = (
    ground_truth.without_ground_truth,
    ground_truth.duplicates,
)
"""What can be checked without a corpus."""


@dataclass(frozen=True)
class _Known:
    """What a corpus and real questions add to the checks of the ground truth alone."""

    notes: list[str]
    findings: list[HealthFinding] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def audit(
    truth: GroundTruth,
    corpus: Corpus | None = None,
    *,
    real: list[str] | None = None,
    match: str | None = None,
) -> Health:
    """Return every problem of a ground truth, by itself and against a corpus.

    ``real``: questions to compare with.
    """
    texts = asked(truth)
    known = _Known(list(truth.notes))
    if (
        match is not None
        and parse_matching(match).kind == "quote"
        and truth.kinds == {"item"}
    ):
        truth = as_quotes(truth)
    if corpus is not None:
        _match_words(truth, texts, corpus, match, known)
    ground_truth.check_spans(truth)
    alike, different = ground_truth.near_duplicates(truth)
    found = [*(check(truth) for check in CHECKS), alike, *known.findings, _too_few(truth)]
    facts: dict[str, Any] = {
        "queries": truth.queries.height,
        "different_queries": different,
        "targets": truth.targets.height,
        "relevant": int((truth.targets["grade"] > 0).sum()),
    }
    passages = ground_truth.quotes_by_query(truth)
    if corpus is not None:
        evidence = _evidence(truth, corpus, known.notes)
        found += [*corpus_findings(evidence), near_copies(evidence, corpus)]
        for query, held in evidence.held:
            passages.setdefault(query, []).extend(evidence.texts[one] for one in held)
        facts["chunks"] = evidence.chunks
    found.append(ground_truth.copied_wording(asked(truth), passages))
    checked = {one.kind for one in found}
    names = [kind.name for kind in catalogue.KINDS if kind in checked]
    to_add: list[DistantQuestion] = []
    if real:
        middle, to_add = furthest(list(texts.values()), real)
        known.facts["real_questions"] = {"asked": len(real), "median_distance": middle}
        known.notes.append(
            f"Half of {plural(len(real), 'real question')} are {middle:.2f} or further from the "
            "nearest one here (0: the same words, 1: none in common)."
        )
    health = Health.of(found, {**facts, **known.facts}, known.notes, names)
    return replace(health, claim=_claim(health, truth), to_add=tuple(to_add))


def _answerable(truth: GroundTruth) -> pl.Series:
    """Which queries have a target; no mean holds the others.

    Where only returned rows were judged, a query without one is a query that found nothing.
    """
    if truth.only_returned:
        return pl.repeat(True, truth.queries.height, eager=True)
    relevant = truth.targets.filter(pl.col("grade") > 0)["query"]
    return truth.queries["query"].is_in(relevant.unique().implode())


def _too_few(truth: GroundTruth) -> HealthFinding:
    """Whether the interval of a mean over these queries would be too wide."""
    n = int(_answerable(truth).sum())
    count = plural(n, "query", "queries")
    detail = f"{count} with a target: an interval takes at least two."
    # Half of the queries succeed: no share has a wider interval.
    values = (np.arange(n) % 2).astype(np.float64)
    if (interval := mean_interval(values, 0.95)) is not None:
        detail = (
            f"Over {count} a hit rate of {values.mean():.2f} would have a 95% interval of "
            f"{interval.low:.3f}–{interval.high:.3f}. About {ENOUGH} queries bring it to ±0.1."
        )
    return HealthFinding.of_kind(
        catalogue.TOO_FEW_QUERIES, count=n if n < ENOUGH else 0, detail=detail
    )


def _evidence(truth: GroundTruth, corpus: Corpus, notes: list[str]) -> CorpusEvidence:
    """Look up every target in the corpus; ids that look like text are taken as quotes."""
    evidence = CorpusEvidence.of(truth, corpus)
    unknown = truth.kinds == {"item"} and not evidence.items
    if unknown and truth.targets["item"].str.contains(r"\s").all():
        evidence = CorpusEvidence.of(as_quotes(truth), corpus)
        notes.append(
            "No target is the id of a chunk, and all read like texts, so they were taken as "
            'quotes; write them as {"quote": "…"} to make that plain.'
        )
    notes += unplaced_spans(evidence)
    return evidence


def _recall(pair: Matched, metric: str) -> Floats:
    return compute(pair.matches, parse(metric), pair.policy)[:, 0]


def _match_words(
    truth: GroundTruth,
    texts: dict[str, str],
    corpus: Corpus,
    match: str | None,
    known: _Known,
) -> None:
    """Measure what plain word matching and chance find."""
    if not texts:
        known.notes.append(
            "The ground truth gives the ids of its queries and not their texts, so nothing is said "
            "about their wording and what word matching finds; add the text of each query."
        )
        return
    wanted = pl.DataFrame({"query": list(texts), "text": list(texts.values())})
    # An id that contains a space may be a quote in the wrong field.
    plain = (
        truth.kinds == {"item"} and not truth.targets["item"].str.contains(r"\s").any()
    )
    by_id = match is None or parse_matching(match).kind == "id"
    index = WordIndex.of(corpus, with_texts=not (plain and by_id), queries=wanted["text"])
    run = index.run(wanted)
    chunks = index.chunks.height
    try:
        pair = match_pair(truth, run, Matching(match=match))
    except CalipersError as error:
        known.notes.append(f"What word matching finds could not be scored. {error}")
        return
    found = _recall(pair, f"recall@{WORDS_FIND}")
    found = found[
        ~np.isnan(found)
        & pair.ground_truth.queries["query"].is_in(list(texts)).to_numpy()
    ]
    if not found.size:
        return
    reached = exact_mean(found)
    chance = min(1.0, WORDS_FIND / chunks)
    won = int((found == 1.0).sum())
    known.facts["word_matching"] = {
        "metric": f"recall@{WORDS_FIND}",
        "mean": reached,
        "chance": chance,
        "queries": found.size,
        "won": won,
    }
    known.findings.append(
        HealthFinding.of_kind(
            catalogue.WORD_MATCHING,
            count=won if reached >= EASY else 0,
            of=found.size,
            detail=f"recall@{WORDS_FIND} is {reached:.3f} by word matching and {chance:.3f} by "
            f"chance among {plural(chunks, 'chunk')}.",
        )
    )


def _shown(truth: GroundTruth) -> Sentence:
    """The differences that the set cannot show; queries of one text count once, as in tests."""
    answerable = _answerable(truth)
    queries = truth.queries.filter(answerable)
    n = queries.height
    units = units_of(queries, {}, None)
    sizes = np.ones(n) if units is None else np.unique(units, return_counts=True)[1]
    few = fewest_queries(0.05)
    # As if the smallest units change, all in one direction.
    least = np.sort(sizes)[:few].sum() / n if len(sizes) >= few else math.inf
    which = "" if answerable.all() else " with a target"
    which += " ({it.count:,} different)" if len(sizes) < n else ""
    return sentence(
        "{it.queries:query|queries}" + which + " {shows}",
        it=Fact(about="count", queries=n, count=len(sizes), text="different"),
        shows=cannot_show(float(least), usual_queries_to_detect()),
    )


def _claim(health: Health, truth: GroundTruth) -> Claim:
    """The differences that the set cannot show, after the most severe problem if there is one."""
    facts = health.facts
    fact = _shown(truth)
    matched, left = _by_words(facts.get("word_matching"))
    parts: list[str | None] = [joined(matched, left, by="; ") if matched else None]
    first = _gravest(health)
    if first is not None:
        parts.insert(0, joined(fact, ".", by=""))
        is_easy = first.kind is catalogue.WORD_MATCHING
        fact = _fact(first)
        if is_easy and matched:
            fact = joined(matched, "this set cannot rank retrievers", by=": ")
            parts[1] = left
    likely = joined(*parts)
    # Nothing is tested here, and a sign is a verdict.
    return Claim(None, joined(fact, ".", by=""), likely or None, _next(health, first))


def _by_words(words: dict[str, Any] | None) -> tuple[Sentence | None, Sentence | None]:
    """What plain word matching finds, and what it leaves to better retrievers."""
    if not words:
        return None, None
    matched = Fact(
        about="mean", value=words["mean"], k=WORDS_FIND, system="word matching"
    )
    left = Fact(
        about="count",
        count=words["queries"] - words["won"],
        of=words["queries"],
        value=words["chance"],
        text="left to better retrievers",
    )
    return (
        sentence(
            "Plain word matching finds {it.value:.0%} in the first {it.k}", it=matched
        ),
        sentence(
            "{it.count} of {it.of} queries are left to better retrievers; chance finds "
            "{it.value:.0%}.",
            it=left,
        ),
    )


def _fact(health_finding: HealthFinding) -> Sentence:
    """A finding as a sentence: the count and what it means."""
    what = health_finding.kind.meaning.partition(". ")[0].rstrip(".")
    count = Fact(
        about="count",
        count=health_finding.count,
        of=health_finding.of,
        text=f"{what[0].lower()}{what[1:]}",
    )
    of = "" if health_finding.of is None else " of {it.of}"
    return sentence(
        "{it.count}" + of + " {kind}: {it.text}",
        it=count,
        kind=health_finding.kind.counts,
    )


def _gravest(health: Health) -> HealthFinding | None:
    """The most severe finding: an error, else a set that is too easy, else what adds noise."""
    severe = [
        finding
        for finding in health.findings
        if finding.severity == "error"
        or (finding.severity == "warning" and finding.kind in catalogue.BLURS)
    ]
    return min(
        severe,
        key=lambda one: (
            one.severity != "error",
            one.kind is not catalogue.WORD_MATCHING,
        ),
        default=None,
    )


def _next(health: Health, first: HealthFinding | None) -> str | None:
    """What to do next: the remedy of the most severe finding, or the input that is missing."""
    if first is not None:
        return first.kind.remedy
    if health.fails("warning"):
        one = health.findings[0]
        # The first line already says that there are too few queries.
        few = one.kind is catalogue.TOO_FEW_QUERIES
        return one.kind.remedy if few else joined(_fact(one), one.kind.remedy, by=". ")
    if "chunks" not in health.facts:
        return "Give --corpus FILE to see what plain word matching finds."
    return None
