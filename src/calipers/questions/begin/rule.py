"""Questions from documents: made, filtered, drawn and measured."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.engines.scoring import compute
from calipers.errors import InvalidInput
from calipers.io.corpus import Corpus
from calipers.io.documents.sections import TextDocument
from calipers.io.documents.walk import PassedOver, corpus_of, read_documents
from calipers.io.load import load_ground_truth
from calipers.live.word_matching import WordIndex
from calipers.match.pair import match_pair
from calipers.measures import parse
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import MACHINE
from calipers.questions.audit import rule as audit
from calipers.questions.begin.candidates import (
    BY_DEFAULT,
    SOURCES,
    Candidate,
    content_words,
    in_turns,
    is_fit,
    place,
)
from calipers.questions.begin.docstrings import from_docstrings
from calipers.questions.begin.faq import from_faq
from calipers.questions.begin.headings import from_headings
from calipers.questions.begin.history import from_history
from calipers.questions.begin.links import from_links
from calipers.questions.begin.model import Rejected, written
from calipers.questions.begin.result import DEPTH, FirstQuestions, LeftOut, SourceCount
from calipers.statistics.clusters import exact_mean
from calipers.statistics.queries_needed import fewest_queries
from calipers.statistics.score_interval import mean_interval
from calipers.text import normalise
from calipers.words import did_you_mean

if TYPE_CHECKING:
    from calipers.questions.begin.settings import FirstQuestionsSettings

TWICE = "asked in several places"
EXAMPLES = 3


def make(folder: str | os.PathLike[str], settings: "FirstQuestionsSettings") -> FirstQuestions:
    """The questions of a folder, and what word matching finds of their targets."""
    where = Path(folder)
    given = settings.sources
    seed = settings.seed
    for one in given or ():
        if one not in SOURCES:
            raise InvalidInput(
                f"There is no source {one!r:.40}; the sources are {', '.join(SOURCES)}."
                f"{did_you_mean(one, SOURCES)}"
            )
    passed: PassedOver = {}
    documents = read_documents(where, passed, settings.progress)
    texts = [normalise(one.text) for one in documents]
    dropped: Counter[str] = Counter()
    rejected: list[Rejected] = []
    made: dict[str, list[Candidate]] = {}
    if settings.endpoint is not None:
        some, rejected = written(documents, texts, settings)
        made[some[0].source] = some
        dropped.update(one.reason for one in rejected)
        given = given or []
    makers: dict[str, Callable[[Sequence[TextDocument]], Iterator[Candidate]]] = {
        "faq": from_faq,
        "links": from_links,
        "headings": from_headings,
        "docstrings": from_docstrings,
        "history": partial(from_history, folder=where),
    }
    for name in SOURCES:
        if name in (BY_DEFAULT if given is None else given):
            made[name] = _unique(makers[name](documents), dropped)
    drawn = _drawn(made, texts, settings.questions, seed, dropped)
    if not drawn:
        raise InvalidInput(
            f"No question could be made: none of the {len(documents):,} documents in {where} has a "
            "heading with a text below it, a question with its answer or a sentence with a link "
            "to another section. Let a model write some: --endpoint URL --model NAME."
        )
    records = tuple(map(_record, drawn))
    corpus = corpus_of(documents, str(where))
    truth = load_ground_truth([*records])
    k = settings.k or DEPTH
    in_first, at_top, chunks = _measured(truth, corpus, k)
    defined = in_first[~np.isnan(in_first)]
    return FirstQuestions(
        folder=str(folder),
        documents=len(documents),
        chunks=chunks,
        records=records,
        k=k,
        sources=tuple(_counted(drawn, made, in_first, at_top)),
        recall=exact_mean(defined),
        interval=mean_interval(defined, 0.95),
        audit=_audited(truth, corpus),
        rejected=tuple(rejected),
        dropped=tuple(LeftOut(reason, n) for reason, n in sorted(dropped.items())),
        passed_over=tuple(
            LeftOut(reason, len(names), tuple(names[:EXAMPLES]))
            for reason, names in sorted(passed.items())
        ),
    )


def _unique(found: Iterable[Candidate], dropped: Counter[str]) -> list[Candidate]:
    """The candidates that ask something, without those that several places answer."""
    by_words: dict[frozenset[str], list[Candidate]] = defaultdict(list)
    for one in found:
        if not is_fit(one.question):
            dropped["too few words, too many, or no words at all"] += 1
        elif not one.quotes:
            dropped["no paragraph answers it"] += 1
        else:
            by_words[frozenset(content_words(one.question))].append(one)
    kept = []
    for same in by_words.values():
        # The same words lead to several places, or several sentences to the same one.
        stays = same[:1] if len({one.quotes for one in same}) == 1 else []
        kept += stays
        dropped[TWICE] += len(same) - len(stays)
    return kept


def _drawn(
    made: dict[str, list[Candidate]],
    texts: Sequence[str],
    most: int,
    seed: int,
    dropped: Counter[str],
) -> list[Candidate]:
    """As many from each source as there are, and within it from as many documents as possible."""

    def at(one: Candidate) -> bytes:
        return place(seed, one.source, one.document, one.question, one.line)

    ordered = [in_turns(some, lambda one: one.target or one.document, at) for some in made.values()]
    # One of each source, then the next of each; a source that has no more leaves its turns.
    waiting = (one for turn in zip_longest(*ordered) for one in turn if one is not None)
    found: dict[str, Candidate] = {}
    for one in waiting:
        if len(found) == most:
            break
        if one.question.lower() in found:
            dropped[TWICE] += 1
        elif not all(_stands_once(normalise(quote), texts) for quote in one.quotes):
            dropped["the target stands in several places"] += 1
        else:
            found[one.question.lower()] = one
    order = list(made)
    return sorted(found.values(), key=lambda one: (order.index(one.source), one.document, one.line))


def _stands_once(quote: str, texts: Sequence[str]) -> bool:
    seen = 0
    for text in texts:
        if quote in text:
            seen += 1 + (text.find(quote, text.index(quote) + 1) >= 0)
        if seen > 1:
            return False
    return seen == 1


def _record(one: Candidate) -> dict[str, Any]:
    """A question as a record, with where it came from as tags."""
    name = place(one.source, one.document, one.question).hex()[:8]
    group = {"group": "any"} if len(one.quotes) > 1 else {}
    tags = {"source": one.source, "file": one.document, "line": one.line}
    return {
        "id": f"{one.source.removeprefix(MACHINE)}-{name}",
        "query": one.question,
        "tags": {**tags, **({"style": one.style} if one.style else {})},
        "ground_truth": [{"quote": quote, **group} for quote in one.quotes],
        **({"excluded": [{"quote": one.excluded}]} if one.excluded else {}),
    }


def _measured(truth: GroundTruth, corpus: Corpus, k: int) -> tuple[Any, Any, int]:
    """Recall in the first k results and at the top, of each question, and how many chunks."""
    index = WordIndex.of(corpus, with_texts=True)
    # Beyond the depth: what is excluded makes room.
    run = index.run(truth.queries.select("query", "text"), 2 * k)
    pair = match_pair(truth, run)
    values = [compute(pair.matches, parse(f"recall@{at}"), pair.policy)[:, 0] for at in (k, 1)]
    return values[0], values[1], index.chunks.height


def _counted(
    drawn: Sequence[Candidate], sources: Iterable[str], in_first: Any, at_top: Any
) -> Iterator[SourceCount]:
    defined = ~np.isnan(in_first)
    for name in sources:
        mine = np.array([one.source == name for one in drawn])
        if mine.any():
            documents = {one.target or one.document for one in drawn if one.source == name}
            shares = (exact_mean(one[mine & defined]) for one in (in_first, at_top))
            yield SourceCount(name, int(mine.sum()), len(documents), *shares)


def _audited(truth: GroundTruth, corpus: Corpus) -> dict[str, Any]:
    """What an audit counts of the new set."""
    health = audit.audit(truth, corpus=corpus)
    counts = {one.kind.name: one.count for one in health.findings}
    different = health.facts["different_queries"]
    return {
        "copied": counts.get("copied_wording", 0),
        "near_identical": counts.get("near_duplicate_queries", 0),
        "ambiguous": counts.get("ambiguous_quote", 0),
        "detects": fewest_queries(0.05) / different if different else None,
        "standing": health.claim.standing if health.claim else None,
    }
