"""Questions from documents: made, filtered, drawn and measured."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.engines.scoring import compute
from calipers.errors import InvalidInput
from calipers.io.corpus import Corpus
from calipers.io.documents.sections import TextDocument
from calipers.io.documents.walk import PassedOver, corpus_of, read_documents, texts_of
from calipers.io.load import load_ground_truth
from calipers.live.word_matching import WordIndex
from calipers.match.locate import QuoteFinder
from calipers.match.pair import match_pair
from calipers.measures import parse
from calipers.model.arrays import Floats
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import MACHINE
from calipers.questions.audit import rule as audit
from calipers.questions.begin.candidates import (
    BY_DEFAULT,
    SHORTEST_QUOTE,
    SOURCES,
    Candidate,
    content_words,
    in_turns,
    place,
    sentences,
    why_unfit,
)
from calipers.questions.begin.docstrings import from_docstrings
from calipers.questions.begin.faq import from_faq
from calipers.questions.begin.headings import from_headings
from calipers.questions.begin.history import from_history
from calipers.questions.begin.languages import reading_length
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

TWICE = "asked in several places"
UNSURE = "its target is less than three quarters of its section, and others are enough"
NOT_NEEDED = "not looked at, as enough others were found"
SURE = 0.75
"""The share of its section from which on a target is likely to hold the answer."""
ENOUGH = ((0.5, 30), (0.2, 15), (0, 10))
"""How many questions are enough to ask none whose target holds less, from these shares on."""
MOST_AGAIN = 0.5
"""The share of a target that may stand elsewhere as well, sentence by sentence."""
EXAMPLES = 3
Places = list[TextDocument]
"""The documents in which a quote stands, one for each place; of several places the first two."""
SEVERAL = 2
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
    by_source |= _by_source(Library(documents), where, sources, account)
    drawn, holders = _drawn(
        by_source, documents, settings.questions, settings.seed, account
    )
    names = [*by_source]
    # What was not drawn is not needed any more; the index takes its memory.
    del by_source
    size = len(documents)
    if not drawn:
        raise InvalidInput(
            f"No question could be made {_why_none(account, size, where, names)}. Let a model "
            "write some: --endpoint URL --model NAME."
        )
    records = tuple(map(_record, drawn))
    truth = load_ground_truth([*records])
    k = settings.k or DEPTH
    corpus = corpus_of(documents, str(where))
    index = WordIndex.of(corpus, texts=texts_of(documents), queries=truth.queries["text"])
    in_first, at_top = _measured(truth, index, k)
    defined = in_first[~np.isnan(in_first)]
    return FirstQuestions(
        folder=str(folder),
        documents=size,
        chunks=index.chunks.height,
        records=records,
        k=k,
        sources=tuple(_counted(drawn, names, in_first, at_top)),
        recall=exact_mean(defined),
        interval=mean_interval(defined, 0.95),
        audit=_audited(truth, corpus_of(holders, str(where)) if holders else None),
        rejected=tuple(rejected),
        considered=len(drawn) + account.total(),
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


def _drawn(
    by_source: dict[str, list[Candidate]],
    documents: Sequence[TextDocument],
    most: int,
    seed: int,
    dropped: Counter[str],
) -> tuple[list[Candidate], list[TextDocument]]:
    """As many from each source as there are, and within it from as many documents as possible.

    With the documents that hold a target, of which no other document holds any.
    """
    drawn: dict[str, Candidate] = {}
    holding: set[str] = set()
    asked: set[tuple[str, ...]] = set()
    """The targets of links: several sentences that lead to one place ask the same."""
    account: Counter[str] = Counter()
    # Chosen questions are likely: few candidates more than that are read and looked for.
    turns = _looked_for(_in_order(by_source, seed, account), documents, 2 * most)
    rest = NOT_NEEDED
    for candidate, places in turns:
        if len(drawn) == most:
            break
        if not _is_sure(candidate) and len(drawn) >= _enough(candidate):
            rest = UNSURE
            break
        if candidate.question.lower() in drawn or candidate.quotes in asked:
            account[TWICE] += 1
        elif any(len(places_of_quote) != 1 for places_of_quote in places):
            account["the target stands in several places"] += 1
        else:
            drawn[candidate.question.lower()] = candidate
            holding.update(place.name for (place,) in places)
            if candidate.source == "links":
                asked.add(candidate.quotes)
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
    return chosen, [document for document in documents if document.name in holding]


def _in_order(
    by_source: dict[str, list[Candidate]], seed: int, account: Counter[str]
) -> Iterator[Candidate]:
    """Yield what may be asked in the order in which it is, those last that may not be answered.

    What answers a candidate is found when its turn comes; where nothing does, it is counted.
    """
    unsure: list[Candidate] = []

    def at(candidate: Candidate) -> bytes:
        about = candidate.source, candidate.document, candidate.question, candidate.line
        return place(seed, *about)

    def taken(candidate: Candidate) -> Candidate | None:
        answered = candidate.answered()
        if answered.unfit:
            account[answered.unfit] += 1
        elif _is_sure(answered):
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


def _looked_for(
    turns: Iterator[Candidate], documents: Sequence[TextDocument], many: int
) -> Iterator[tuple[Candidate, list[Places]]]:
    """Yield candidates, each with the places of each of its quotes in all documents.

    Each time as many as before are looked for, and as many again: where a folder holds many copies,
    to go through all the text for each of them would take minutes.
    """
    places: dict[str, Places] = {}
    while coming := [*islice(turns, many)]:
        texts = {
            text
            for candidate in coming
            for quote in candidate.quotes
            for text in (quote, *_long_sentences(quote))
        }
        places |= _places_of(texts - places.keys(), documents)
        for candidate in coming:
            yield candidate, [_places(quote, places) for quote in candidate.quotes]
        many *= 2


def _places(quote: str, known: dict[str, Places]) -> Places:
    """Where a target stands; nowhere for certain where most of its sentences stand elsewhere."""
    parts = _long_sentences(quote)
    again = sum(len(part) for part in parts if len(known[part]) > 1)
    return known[quote] if again <= MOST_AGAIN * len(quote) else []


def _long_sentences(quote: str) -> list[str]:
    """The sentences of a target that are as long as one alone would have to be."""
    return [part for part in sentences(quote) if reading_length(part) >= SHORTEST_QUOTE]


def _is_sure(candidate: Candidate) -> bool:
    """Whether a target is so much of its section that it is likely to hold the answer."""
    return candidate.share >= SURE


def _enough(candidate: Candidate) -> int:
    """How many questions are enough not to ask this one, which may not be answered."""
    return next(enough for least, enough in ENOUGH if candidate.share >= least)


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


AT_ONCE = 500
"""Documents whose texts are searched together."""


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
