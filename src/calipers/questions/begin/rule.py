"""Questions from documents: made, filtered, drawn and measured."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.engines.scoring import compute
from calipers.errors import InvalidInput
from calipers.io.corpus import Corpus
from calipers.io.documents.walk import PassedOver, corpus_of, read_documents
from calipers.io.load import load_ground_truth
from calipers.live.word_matching import WordIndex
from calipers.match.pair import match_pair
from calipers.measures import parse
from calipers.model.arrays import Floats
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import MACHINE
from calipers.questions.audit import rule as audit
from calipers.questions.begin.candidates import (
    BY_DEFAULT,
    SOURCES,
    Candidate,
    content_words,
    place,
    why_unfit,
)
from calipers.questions.begin.docstrings import from_docstrings
from calipers.questions.begin.drawing import TWICE, Drawing
from calipers.questions.begin.faq import from_faq
from calipers.questions.begin.headings import from_headings
from calipers.questions.begin.history import from_history
from calipers.questions.begin.library import Library
from calipers.questions.begin.links import from_links
from calipers.questions.begin.model import Rejected, written
from calipers.questions.begin.result import DEPTH, FirstQuestions, LeftOut, SourceCount
from calipers.statistics.clusters import exact_mean
from calipers.statistics.queries_needed import fewest_queries
from calipers.statistics.score_interval import mean_interval
from calipers.text import normalise
from calipers.words import did_you_mean, plural

if TYPE_CHECKING:
    from calipers.questions.begin.settings import FirstQuestionsSettings

EXAMPLES = 3
LOOKED_FOR = {
    "faq": "question with its answer",
    "links": "sentence with a link to another section",
    "headings": "heading with a text below it",
    "docstrings": "function or class with a docstring",
    "history": "small commit of code",
}
"""What each source makes questions from, in the words of an error."""
REASONS = 3
"""Reasons that an error names."""


def make(
    folder: str | os.PathLike[str], settings: "FirstQuestionsSettings"
) -> FirstQuestions:
    """The questions of a folder, and what word matching finds of their targets."""
    where = Path(folder)
    sources = _checked_sources(settings.sources)
    passed: PassedOver = {}
    documents = read_documents(where, passed, settings.progress)
    account: Counter[str] = Counter()
    rejected: list[Rejected] = []
    by_source: dict[str, list[Candidate]] = {}
    if settings.endpoint is not None:
        texts = [normalise(document.text) for document in documents]
        kept, rejected = written(documents, texts, settings)
        del texts
        by_source[kept[0].source] = kept
        account.update(refusal.reason for refusal in rejected)
        sources = sources or []
    library = Library(documents)
    by_source |= _by_source(library, where, sources, account)
    corpus = corpus_of(documents, str(where))
    drawing = Drawing(library, corpus, settings.questions, settings.seed)
    drawn = drawing.draw(by_source, account)
    names = [*by_source]
    size = len(documents)
    index = drawn.index
    if index is None:
        raise InvalidInput(
            f"No question could be made {_why_none(account, size, where, names)}. Let a model "
            "write some: --endpoint URL --model NAME."
        )
    records = tuple(map(_record, drawn.candidates))
    truth = load_ground_truth([*records])
    k = settings.k or DEPTH
    in_first, at_top = _measured(truth, index, k)
    defined = in_first[~np.isnan(in_first)]
    return FirstQuestions(
        folder=str(folder),
        documents=size,
        chunks=index.chunks.height,
        records=records,
        k=k,
        sources=tuple(_counted(drawn.candidates, names, in_first, at_top)),
        recall=exact_mean(defined),
        interval=mean_interval(defined, 0.95),
        audit=_audited(
            truth, corpus_of(drawn.holders, str(where)) if drawn.holders else None
        ),
        rejected=tuple(rejected),
        considered=len(drawn.candidates) + account.total(),
        dropped=tuple(LeftOut(reason, count) for reason, count in account.most_common()),
        passed_over=tuple(
            LeftOut(reason, len(names), tuple(names[:EXAMPLES]))
            for reason, names in sorted(passed.items())
        ),
    )


def _checked_sources(names: list[str] | None) -> list[str] | None:
    """The sources that were named; one that does not exist is refused."""
    for name in names or ():
        if name not in SOURCES:
            raise InvalidInput(
                f"There is no source {name!r:.40}; the sources are {', '.join(SOURCES)}."
                f"{did_you_mean(name, SOURCES)}"
            )
    return names


def _why_none(
    account: Counter[str], documents: int, folder: Path, sources: Iterable[str]
) -> str:
    """What there was to ask and why it was left out, or that there was nothing."""
    of = f"of the {plural(documents, 'document')} in {folder}"
    considered = account.total()
    if not considered:
        *some, last = (f"no {LOOKED_FOR.get(name, name)}" for name in sources)
        missing = f"{', '.join(some)} and {last}" if some else last
        return f"{of}: there is {missing}"
    most = account.most_common(REASONS)
    reasons = [f"{count:,} {reason}" for reason, count in most]
    if rest := considered - sum(count for _, count in most):
        reasons.append(f"{rest:,} for other reasons")
    was = "was" if considered == 1 else "were"
    what = plural(considered, "heading, link or other", "headings, links and others")
    return f"{of}: {what} {was} left out ({'; '.join(reasons)})"


def _by_source(
    library: Library, folder: Path, sources: list[str] | None, account: Counter[str]
) -> dict[str, list[Candidate]]:
    """The candidates of each source that may be asked; the others are counted by reason."""
    makers: dict[str, Callable[[Library], Iterator[Candidate]]] = {
        "faq": from_faq,
        "links": from_links,
        "headings": from_headings,
        "docstrings": from_docstrings,
        "history": partial(from_history, folder=folder),
    }
    chosen = BY_DEFAULT if sources is None else sources
    return {
        name: _unique(makers[name](library), account)
        for name in SOURCES
        if name in chosen
    }


def _unique(candidates: Iterable[Candidate], account: Counter[str]) -> list[Candidate]:
    """The candidates that ask something, without those that several places answer."""
    by_words: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        reason = candidate.unfit or why_unfit(candidate.question, candidate.language)
        if reason:
            account[reason] += 1
            continue
        words = content_words(candidate.question, candidate.language)
        by_words[" ".join(sorted({*words}))].append(candidate)
    kept = []
    for same in by_words.values():
        if len(same) == 1:
            kept += same
            continue
        answered = [candidate.answered() for candidate in same]
        account.update(candidate.unfit for candidate in answered if candidate.unfit)
        fit = [candidate for candidate in answered if not candidate.unfit]
        # The same words lead to several places, or several sentences to the same one.
        stays = fit[:1] if len({candidate.quotes for candidate in fit}) == 1 else []
        kept += stays
        if len(fit) > len(stays):
            account[TWICE] += len(fit) - len(stays)
    return kept


def _record(candidate: Candidate) -> dict[str, Any]:
    """A question as a record, with where it came from as tags."""
    name = place(candidate.source, candidate.document, candidate.question).hex()[:8]
    group = {"group": "any"} if len(candidate.quotes) > 1 else {}
    tags = {
        "source": candidate.source,
        "file": candidate.document,
        "line": candidate.line,
    }
    return {
        "id": f"{candidate.source.removeprefix(MACHINE)}-{name}",
        "query": candidate.question,
        "tags": {**tags, **({"style": candidate.style} if candidate.style else {})},
        "ground_truth": [{"quote": quote, **group} for quote in candidate.quotes],
        **({"excluded": [{"quote": candidate.excluded}]} if candidate.excluded else {}),
    }


def _measured(truth: GroundTruth, index: WordIndex, k: int) -> tuple[Floats, Floats]:
    """Recall in the first k results and at the top, of each question."""
    # Beyond the depth: what is excluded makes room.
    run = index.run(truth.queries.select("query", "text"), 2 * k)
    pair = match_pair(truth, run)
    values = [
        compute(pair.matches, parse(f"recall@{at}"), pair.policy)[:, 0] for at in (k, 1)
    ]
    return values[0], values[1]


def _counted(
    drawn: Sequence[Candidate],
    sources: Iterable[str],
    in_first: Floats,
    at_top: Floats,
) -> Iterator[SourceCount]:
    """Yield what each source gave: questions, documents, and how many word matching finds."""
    defined = ~np.isnan(in_first)
    for name in sources:
        mine = np.array([candidate.source == name for candidate in drawn])
        if mine.any():
            documents = {
                candidate.target or candidate.document
                for candidate in drawn
                if candidate.source == name
            }
            shares = (exact_mean(values[mine & defined]) for values in (in_first, at_top))
            yield SourceCount(name, int(mine.sum()), len(documents), *shares)


def _audited(truth: GroundTruth, corpus: Corpus | None) -> dict[str, Any]:
    """What an audit counts of the new set and the documents that hold its targets."""
    health = audit.audit(truth, corpus=corpus)
    counts = {finding.kind.name: finding.count for finding in health.findings}
    different = health.facts["different_queries"]
    return {
        "copied": counts.get("copied_wording", 0),
        "near_identical": counts.get("near_duplicate_queries", 0),
        "ambiguous": counts.get("ambiguous_quote", 0),
        "detects": fewest_queries(0.05) / different if different else None,
    }
