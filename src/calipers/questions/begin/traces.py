"""Unique questions from traces, with labels from clicks."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar

from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.io.files.probe import Probe
from calipers.io.formats.traces import NO_CALLS, NoCalls, RetrieverCall
from calipers.io.formats.ubi import Behaviour, Ubi, read_traces
from calipers.model.document import Document, Lines, Note
from calipers.model.fact import Fact, joined, named, sentence
from calipers.model.labels import JUDGED_BY
from calipers.model.result import HasRows, Plain
from calipers.present.escape import printable
from calipers.text import normalise

JUDGE = "machine:clicks"
"""Who gave these labels: no person looked at a text."""
NOTE = (
    "Clicks are biased: people click what stands high, and never what was not shown. About thirty "
    "labels by people correct them: `calipers labels sample`."
)


@dataclass(frozen=True)
class TracedQuestion:
    """One question, however often it was asked."""

    id: str
    query: str
    asked: int
    """The number of traces with it."""
    tags: Mapping[str, str]
    retrieved: tuple[Mapping[str, Any], ...]
    """All results that were returned for it, each once."""
    ground_truth: Mapping[str, float] | None = None
    """The grade of each result by clicks, where these were recorded."""

    def record(self) -> dict[str, Any]:
        """The question as a record that ``draft`` takes as a run."""
        tags = {**self.tags, "asked": str(self.asked)}
        made = {
            "id": self.id,
            "query": self.query,
            "tags": tags,
            "retrieved": [*self.retrieved],
        }
        if self.ground_truth is not None:
            tags |= {"source": "clicks", JUDGED_BY: JUDGE}
            made["ground_truth"] = dict(self.ground_truth)
        return made


@dataclass(frozen=True, repr=False)
class TracedQuestions(Plain, HasRows):
    """A sample of the questions in traces, ready to be judged."""

    shown_by: ClassVar[str] = "calipers.questions.begin.traces"

    questions: tuple[TracedQuestion, ...]
    traces: int
    """Requests that were read."""
    unique: int
    """Unique questions among them."""
    notes: tuple[str, ...] = ()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the questions as JSON lines, for ``draft`` and for ``retrieve``."""
        from calipers.io.records.entries import write_records

        write_records([question.record() for question in self.questions], str(path))


def calls_in(
    files: Iterable[tuple[str, Probe]],
) -> tuple[list[tuple[str, RetrieverCall]], list[str]]:
    """The calls in some files of traces, each with its source, and notes on files without any.

    Where no file has a call, the first one is refused.
    """
    calls: list[tuple[str, RetrieverCall]] = []
    without: list[tuple[Probe, NoCalls]] = []
    for source, file in files:
        try:
            calls += [(source, call) for call in read_traces(file)]
        except NoCalls as error:
            without.append((file, error))
    if without and not calls:
        raise without[0][1]
    notes: list[str] = [
        sentence(
            "{file.text} has no retrieval span and was passed over.",
            file=named(file.name),
        )
        for file, _ in without
    ]
    return calls, notes


def sample_traces(
    calls: Iterable[tuple[str, RetrieverCall]],
    n: int | None = None,
    seed: int = 0,
    behaviour: Behaviour | None = None,
) -> TracedQuestions:
    """Sample n unique questions (default: all) from calls, each paired with its source.

    The clicks in ``behaviour`` grade the results.
    """
    if n is not None:
        check_number("The number of questions", n, whole=True, least=1)
    askings: dict[str, list[tuple[str, RetrieverCall]]] = {}
    for source, call in calls:
        askings.setdefault(_key(call.question), []).append((source, call))
    if not askings:
        if behaviour is not None and (behaviour.clicked or behaviour.others):
            raise InvalidInput(Ubi.without_calls)
        raise InvalidInput(NO_CALLS)
    found = [_question(key, several) for key, several in askings.items()]
    chosen = found
    many = len(found)
    if n is not None:
        drawn = random.Random(seed).sample(range(many), min(n, many))  # noqa: S311 - no secret
        chosen = [found[at] for at in sorted(drawn)]
    notes = []
    if behaviour is not None and behaviour.clicked:
        grades = grades_by_clicks(behaviour, _key)
        chosen = [
            replace(one, ground_truth=grades.get(_key(one.query))) for one in chosen
        ]
        notes.append(NOTE)
    elif behaviour is not None and behaviour.others:
        actions = ", ".join(
            f"{name} ({many:,})" for name, many in behaviour.others.items()
        )
        notes.append(
            f"No event is a click, so there are no labels; the events are {actions}."
        )
    total = sum(map(len, askings.values()))
    return TracedQuestions(tuple(chosen), total, len(found), tuple(notes))


def _key(question: str) -> str:
    """What questions that are the same have in common."""
    return normalise(question, ignore_case=True)


def _question(key: str, askings: Sequence[tuple[str, RetrieverCall]]) -> TracedQuestion:
    """One question with all results that were returned for it, each once."""
    results: dict[str, dict[str, str]] = {}
    tags: dict[str, str] = {}
    for source, call in askings:
        for result in call.results:
            facts = {name: result.get(name) for name in ("id", "text", "document")}
            plain = {
                name: str(value) for name, value in facts.items() if value is not None
            }
            results.setdefault(next(filter(None, plain.values()), "None"), plain)
        tags["source"] = source
    return TracedQuestion(
        id="t-" + hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()[:12],
        query=askings[0][1].question,
        asked=len(askings),
        tags=tags,
        retrieved=tuple(results.values()),
    )


def grades_by_clicks(
    behaviour: Behaviour, key: Callable[[str], str]
) -> Mapping[str, Mapping[str, float]]:
    """Grade results by clicks over expected clicks, which corrects for the place of a result.

    People click what stands first. A result is therefore compared with what its places usually get:
    the share of searches with a click at each rank, over all questions, says how many clicks it
    could expect. Twice as many, as many and fewer are the grades 3, 2 and 1, with one click added
    to both, so that a single one says little. Without a click it is grade 0 only where at least one
    was to be expected; otherwise nobody has judged it. ``key`` says which questions are the same.
    """
    shown: Counter[int] = Counter()
    clicks: Counter[int] = Counter()
    for search in behaviour.searches:
        clicked = behaviour.clicked.get(search.id, frozenset())
        for rank, item in enumerate(search.hits):
            shown[rank] += 1
            clicks[rank] += item in clicked
    expected: dict[str, Counter[str]] = {}
    counted: dict[str, Counter[str]] = {}
    for search in behaviour.searches:
        question = key(search.question)
        clicked = behaviour.clicked.get(search.id, frozenset())
        hoped, got = (
            each.setdefault(question, Counter()) for each in (expected, counted)
        )
        for rank, item in enumerate(search.hits):
            hoped[item] += clicks[rank] / shown[rank]  # type: ignore[assignment]
            got[item] += item in clicked
    grades: dict[str, dict[str, float]] = {}
    for question, hoped in expected.items():
        got = counted[question]
        grades[question] = {
            item: _grade(got[item], much)
            for item, much in hoped.items()
            if got[item] or much >= 1.0
        }
    return grades


def _grade(clicks: int, expected: float) -> float:
    """The grade of so many clicks where so many were to be expected.

    >>> [_grade(clicks, 2.0) for clicks in (0, 1, 2, 5)]
    [0.0, 1.0, 2.0, 3.0]
    """
    if not clicks:
        return 0.0
    ratio = (clicks + 1) / (expected + 1)
    return 3.0 if ratio >= 2 else 2.0 if ratio >= 1 else 1.0


SHOWN = 5


def document(traced_questions: TracedQuestions) -> Document:
    """How many questions came from how many requests, with a few examples."""
    lines = []
    for one in traced_questions.questions[:SHOWN]:
        about = f"asked {one.asked}×" if one.asked > 1 else "asked once"
        lines.append(f"{printable(one.query, 90)}  ({about})")
    notes = []
    labelled = [
        question.ground_truth
        for question in traced_questions.questions
        if question.ground_truth is not None
    ]
    if labelled:
        none = sum(not one for one in labelled)
        clicked = Fact(about="count", count=len(labelled) - none, text="clicked")
        words = sentence("Clicks label {it.count} of the questions", it=clicked)
        without = sentence(
            "; {it.count} others have no target and do not count in recall",
            it=Fact(about="left out", count=none),
        )
        notes.append(Note("counted", joined(words, without if none else "", ".", by="")))
    notes += [Note("doubt", note) for note in traced_questions.notes]
    many = len(traced_questions.questions)
    first = sentence(
        "{it.count} of {it.of:different question|different questions}, from "
        "{asked.count:asking|askings}.",
        it=Fact(about="count", count=many, of=traced_questions.unique),
        asked=Fact(about="count", count=traced_questions.traces, text="asked"),
    )
    shown = [Lines(lines, f"The first {SHOWN}" if many > SHOWN else "")]
    return Document(
        first, blocks=shown, notes=notes, rows=lambda: traced_questions.questions
    )
