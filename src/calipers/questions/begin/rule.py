"""Questions from documents: made, filtered, drawn and measured."""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from calipers.engines.scoring import compute
from calipers.errors import InvalidInput
from calipers.io.corpus import Corpus
from calipers.io.documents.corpus import corpus_of, read_documents
from calipers.io.documents.sections import TextDocument
from calipers.io.documents.walk import PassedOver
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
    is_fit,
)
from calipers.questions.begin.docstrings import from_docstrings
from calipers.questions.begin.faq import from_faq
from calipers.questions.begin.headings import from_headings
from calipers.questions.begin.history import from_history
from calipers.questions.begin.links import from_links
from calipers.questions.begin.model import Rejected, passages, tokens_of, written
from calipers.questions.begin.result import DEPTH, FirstQuestions, LeftOut, SourceCount
from calipers.statistics.clusters import exact_mean
from calipers.statistics.queries_needed import fewest_queries
from calipers.statistics.score_interval import mean_interval
from calipers.text import normalise
from calipers.words import did_you_mean

MAKERS: dict[str, Callable[[Sequence[TextDocument], Path], Iterator[Candidate]]] = {
    "faq": lambda documents, _: from_faq(documents),
    "links": lambda documents, _: from_links(documents),
    "headings": lambda documents, _: from_headings(documents),
    "docstrings": lambda documents, _: from_docstrings(documents),
    "history": from_history,
}
UNFIT = "too few words, too many, or no words at all"
TWICE = "asked in several places"
NO_ANSWER = "no paragraph answers it"
NOT_ALONE = "the target stands in several places"


def make(folder: str | os.PathLike[str], settings: Mapping[str, Any]) -> FirstQuestions:
    """The questions of a folder, and what word matching finds of their targets."""
    place = Path(folder)
    wanted = _sources(settings["sources"])
    passed = PassedOver()
    documents = read_documents(place, passed, settings["progress"])
    dropped: Counter[str] = Counter()
    most, seed = settings["questions"], settings["seed"]
    texts = [normalise(one.text) for one in documents]
    rejected: list[Rejected] = []
    made = {}
    if settings["endpoint"] is not None:
        some, rejected = _by_model(documents, texts, settings)
        made[some[0].source] = some
        dropped.update(one.reason for one in rejected)
        wanted = [] if settings["sources"] is None else wanted
    made |= {name: _unique(MAKERS[name](documents, place), dropped) for name in wanted}
    drawn = _drawn(made, texts, most, seed, dropped)
    if not drawn:
        raise InvalidInput(
            f"No question could be made: none of the {len(documents):,} documents in {place} has a "
            "heading with a text below it, a question with its answer or a sentence with a link "
            "to another section. Let a model write some: --endpoint URL --model NAME."
        )
    records = tuple(map(record, drawn))
    corpus = corpus_of(documents, str(place))
    truth = load_ground_truth([*records])
    in_first, at_top, chunks = _measured(truth, corpus)
    defined = in_first[~np.isnan(in_first)]
    return FirstQuestions(
        folder=str(folder),
        documents=len(documents),
        chunks=chunks,
        records=records,
        sources=tuple(_counted(drawn, made, in_first, at_top)),
        recall=exact_mean(defined),
        interval=mean_interval(defined, 0.95),
        audit=_audited(truth, corpus),
        rejected=tuple(rejected),
        dropped=tuple(LeftOut(reason, n) for reason, n in sorted(dropped.items())),
        passed_over=tuple(
            LeftOut(reason, n, tuple(passed.examples[reason]))
            for reason, n in sorted(passed.counts.items())
        ),
    )


def _sources(given: list[str] | None) -> list[str]:
    for one in given or ():
        if one not in SOURCES:
            raise InvalidInput(
                f"There is no source {one!r:.40}; the sources are {', '.join(SOURCES)}."
                f"{did_you_mean(one, SOURCES)}"
            )
    return [one for one in SOURCES if one in (given or BY_DEFAULT)]


def _by_model(
    documents: Sequence[TextDocument], texts: Sequence[str], settings: Mapping[str, Any]
) -> tuple[list[Candidate], list[Rejected]]:
    """The questions of a model, after the caller agreed to what it takes to ask it."""
    seed = settings["seed"]
    chosen = passages(
        documents,
        settings["questions"],
        lambda name, start: hashlib.sha256(msgspec.json.encode([seed, name, start])).digest(),
    )
    if not chosen:
        raise InvalidInput("No passage is long enough to write a question from.")
    if settings["agree"] is not None:
        settings["agree"](len(chosen), tokens_of(chosen))
    asking = {name: settings[name] for name in ("endpoint", "model", "key_env", "cache")}
    return written(chosen, texts, **asking)


def _unique(found: Iterable[Candidate], dropped: Counter[str]) -> list[Candidate]:
    """The candidates that ask something, without those that several places answer."""
    by_words: dict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for one in found:
        if is_fit(one.question):
            by_words[tuple(sorted(set(content_words(one.question))))].append(one)
        else:
            dropped[UNFIT] += 1
    kept = []
    for same in by_words.values():
        # The same words lead to several places, or several sentences to the same one.
        if len({(one.target, one.section and one.section[1].start) for one in same}) == 1:
            kept.append(same[0])
            dropped[TWICE] += len(same) - 1
        else:
            dropped[TWICE] += len(same)
    return kept


def _drawn(
    made: dict[str, list[Candidate]],
    texts: Sequence[str],
    most: int,
    seed: int,
    dropped: Counter[str],
) -> list[Candidate]:
    """As many from each source as there are, and within it from as many documents as possible."""
    waiting = {name: iter(_stratified(some, seed)) for name, some in made.items()}
    found: list[Candidate] = []
    asked: set[str] = set()
    while waiting and len(found) < most:
        for name in list(waiting):
            one = _next_fit(waiting[name], texts, asked, dropped)
            if one is None:
                del waiting[name]
            elif len(found) < most:
                found.append(one)
                asked.add(one.question.lower())
    order = {name: number for number, name in enumerate(made)}
    return sorted(found, key=lambda one: (order[one.source], one.document, one.line))


def _next_fit(
    waiting: Iterator[Candidate], texts: Sequence[str], asked: set[str], dropped: Counter[str]
) -> Candidate | None:
    for waits in waiting:
        one = waits.answered()
        if one is None:
            dropped[NO_ANSWER] += 1
        elif one.question.lower() in asked:
            dropped[TWICE] += 1
        elif not all(_stands_once(normalise(quote), texts) for quote in one.quotes):
            dropped[NOT_ALONE] += 1
        else:
            return one
    return None


def _stands_once(quote: str, texts: Sequence[str]) -> bool:
    seen = 0
    for text in texts:
        at = text.find(quote)
        if at >= 0:
            seen += 1 + (text.find(quote, at + 1) >= 0)
        if seen > 1:
            return False
    return seen == 1


def _stratified(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """In random order, one of each document before the second of any."""
    rank: Counter[str] = Counter()
    turns = []
    for one in sorted(candidates, key=lambda one: _place(one, seed)):
        rank[one.target] += 1
        turns.append((rank[one.target], _place(one, seed), one))
    return [one for _, _, one in sorted(turns, key=lambda turn: turn[:2])]


def _place(one: Candidate, seed: int) -> bytes:
    # A hash, not a generator: the draw does not depend on the order of the documents.
    return hashlib.sha256(
        msgspec.json.encode([seed, one.source, one.document, one.question, one.line])
    ).digest()


def record(one: Candidate) -> dict[str, Any]:
    """A question as a record, with where it came from as tags."""
    name = hashlib.sha256(msgspec.json.encode([one.source, one.document, one.question]))
    several = len(one.quotes) > 1
    made: dict[str, Any] = {
        "id": f"{one.source.removeprefix(MACHINE)}-{name.hexdigest()[:8]}",
        "query": one.question,
        "tags": {
            "source": one.source,
            "file": one.document,
            "line": one.line,
            **({"style": one.style} if one.style else {}),
        },
        "ground_truth": [
            {"quote": quote, "group": "any"} if several else {"quote": quote}
            for quote in one.quotes
        ],
    }
    if one.excluded is not None:
        made["excluded"] = [{"quote": one.excluded}]
    return made


def _measured(truth: GroundTruth, corpus: Corpus) -> tuple[Any, Any, int]:
    """Recall in the first results and at the top, of each question, and how many chunks."""
    index = WordIndex.of(corpus, with_texts=True)
    # Beyond the depth: what is excluded makes room.
    run = index.run(truth.queries.select("query", "text"), 2 * DEPTH)
    pair = match_pair(truth, run)
    values = [compute(pair.matches, parse(f"recall@{k}"), pair.policy)[:, 0] for k in (DEPTH, 1)]
    return values[0], values[1], index.chunks.height


def _counted(
    drawn: Sequence[Candidate], made: dict[str, list[Candidate]], in_first: Any, at_top: Any
) -> Iterator[SourceCount]:
    for name, candidates in made.items():
        mine = np.array([one.source == name for one in drawn])
        if mine.any():
            yield SourceCount(
                name,
                int(mine.sum()),
                len({one.target for one in drawn if one.source == name}),
                len(candidates),
                exact_mean(in_first[mine & ~np.isnan(in_first)]),
                exact_mean(at_top[mine & ~np.isnan(at_top)]),
            )


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
