"""Corpora that grow: an index is built on a part of a corpus, and what `grow` says is compared with
what the index of the whole finds.

The texts are Python's own language reference, which every Python carries, and made ones. Each
index is built anew on its part: BM25 counts its documents again, and vectors of words are compared
by their cosine.
"""

# mypy: disable-error-code="misc"

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

import calipers
from calipers.measures import parse
from calipers.model.arrays import Ints
from calipers.questions.grow.result import Growth
from calipers.questions.grow.rule import Asked, grow_pair
from simulations.rates import Rate
from simulations.shapes import SEED, Floats, Generator

DEPTH = 50
KS = (5, 10, 20)
FAR = 0.08
"""A printed value this far off is a bad one."""
LEAST_COVERED = 0.89
LARGEST_ERROR = 0.04
LARGEST_BEYOND = 0.05
LARGEST_BIAS = 0.02
MOST_FAR = 0.02
Engine = Literal["BM25", "vectors"]
QUESTIONS = 300
CHUNKS = 4_000


@dataclass(frozen=True, eq=False)
class Collection:
    """Chunks as counts of words, what is asked, and the chunk that each question wants."""

    counts: Floats
    """How often each chunk (row) has each word (column)."""
    document: Ints
    """The document of each chunk."""
    asked: Floats
    """How often each question (row) has each word."""
    target: Ints

    @property
    def size(self) -> int:
        """The number of chunks."""
        return len(self.counts)


def ranking(collection: Collection, engine: Engine, question: int, kept: Ints) -> Ints:
    """The chunks of an index over some of them, best first."""
    scores = _bm25(collection, question, kept)
    if engine == "vectors":
        asked = collection.asked[question] @ _embedding(collection.counts.shape[1])
        scores = _vectors(collection)[kept] @ asked
    return kept[np.argsort(-scores, kind="stable")]


def _bm25(collection: Collection, question: int, kept: Ints) -> Floats:
    words = np.flatnonzero(collection.asked[question])
    often = collection.counts[np.ix_(kept, words)]
    holding = (often > 0).sum(axis=0)
    weight = np.log1p((kept.size - holding + 0.5) / (holding + 0.5))
    length = _lengths(collection)[kept]
    delay = 1.5 * (0.25 + 0.75 * length / length.mean())
    scores: Floats = (often / (often + delay[:, None])) @ weight
    return scores


@cache
def _lengths(collection: Collection) -> Floats:
    return collection.counts.sum(axis=1)


@cache
def _embedding(words: int) -> Floats:
    return np.random.default_rng([SEED, 61]).standard_normal((words, 64))


@cache
def _vectors(collection: Collection) -> Floats:
    holding = np.maximum((collection.counts > 0).sum(axis=0), 1)
    weighted = np.log1p(collection.counts) * np.log(1 + collection.size / holding)
    vectors: Floats = weighted @ _embedding(collection.counts.shape[1])
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _questions(counts: Floats, targets: Ints, noise: float, rng: Generator) -> Floats:
    """Some words of each target, the rare ones more often, and words of other chunks."""
    rare = np.log(1 + len(counts) / np.maximum((counts > 0).sum(axis=0), 1))
    asked = np.zeros((targets.size, counts.shape[1]))
    for row, target in enumerate(targets):
        own = (counts[target] > 0) * rare
        words = rng.choice(own.size, 4, p=own / own.sum())
        other = (counts[rng.integers(len(counts))] > 0) * rare
        strange = rng.choice(other.size, 4, p=other / other.sum())
        asked[row, np.where(rng.random(4) < noise, strange, words)] += 1.0
    return asked


@cache
def reference() -> Collection:
    """Python's language reference in pieces of about 350 characters, each a document."""
    from examples.demo.corpus import chunks

    words = [re.findall(r"[a-z_]{2,}", one.text.lower()) for one in chunks(350)]
    known = sorted({word for one in words for word in one})
    place = {word: at for at, word in enumerate(known)}
    counts = np.zeros((len(words), len(known)))
    for row, one in enumerate(words):
        for word, often in Counter(one).items():
            counts[row, place[word]] = often
    rng = np.random.default_rng([SEED, 62])
    long = np.flatnonzero((counts > 0).sum(axis=1) >= 12)
    targets = rng.choice(long, QUESTIONS, replace=False)
    return Collection(
        counts, np.arange(len(counts)), _questions(counts, targets, 0.4, rng), targets
    )


@cache
def made(per_document: int = 1, noise: float = 0.3) -> Collection:
    """Texts of 60 words out of topics; neighbouring chunks of a document share many words."""
    rng = np.random.default_rng([SEED, 63, per_document])
    words = 3_000
    topics = 60
    # Chunks of one document are alike, and come in runs.
    alike = 0.35 if per_document == 1 else 0.7
    common = 1.0 / np.arange(1, words + 1)
    of_topic = rng.dirichlet(0.02 + 2.0 * common / common.sum(), topics)
    rows = []
    for _ in range(CHUNKS // per_document):
        topic = rng.dirichlet(np.full(topics, 0.05)) @ of_topic
        own = rng.dirichlet(np.full(25, 1.0))
        places = rng.choice(words, 25, p=common / common.sum())
        mixed = (0.75 - alike) * topic + 0.25 * common / common.sum()
        np.add.at(mixed, places, alike * own)
        rows += [rng.multinomial(60, mixed / mixed.sum()) for _ in range(per_document)]
    counts = np.array(rows, dtype=np.float64)
    targets = rng.choice(len(counts), QUESTIONS, replace=False)
    asked = _questions(counts, targets, noise, rng)
    return Collection(counts, np.arange(len(counts)) // per_document, asked, targets)


@dataclass(frozen=True)
class Trial:
    """What was said of one part of a corpus, and what the whole finds."""

    said: Growth
    times: float
    true: tuple[float, ...]
    """Recall at each k in the whole."""

    def off(self, at: int) -> float:
        """The projection less the truth."""
        return self.said.growth[at].mean - self.true[at]


Part = Callable[[Collection, Ints, float, Generator], Ints]
"""The chunks of the part that is indexed, for some questions and a growth."""


def random_part(collection: Collection, questions: Ints, m: float, rng: Generator) -> Ints:
    """The documents with targets, and so many others that the whole is m times as large."""
    wanted = np.unique(collection.document[collection.target[questions]])
    others = np.setdiff1d(np.unique(collection.document), wanted)
    size = round((wanted.size + others.size) / m) - wanted.size
    some = rng.choice(others, size, replace=False)
    return np.flatnonzero(np.isin(collection.document, np.concatenate([wanted, some])))


def only_targets(collection: Collection, questions: Ints, _: float, __: Generator) -> Ints:
    """Nothing but the documents of the targets: as people build a small corpus."""
    wanted = collection.document[collection.target[questions]]
    return np.flatnonzero(np.isin(collection.document, wanted))


def trials(
    collection: Collection,
    engine: Engine,
    m: float,
    n: int,
    draws: int,
    *,
    part: Part = random_part,
    documents: bool = False,
    whole: Callable[[Collection, Ints], Collection] | None = None,
) -> Iterator[Trial]:
    """Draw questions and a part of the corpus, and ask `grow` how much the whole will find."""
    for draw in range(draws):
        rng = np.random.default_rng([SEED, 64, draw, n, round(m * 10)])
        questions = rng.choice(QUESTIONS, n, replace=False)
        kept = part(collection, questions, m, rng)
        full = collection if whole is None else whole(collection, questions)
        records = []
        true = np.zeros(len(KS))
        for question in questions.tolist():
            target = int(collection.target[question])
            shown = ranking(collection, engine, question, kept)[:DEPTH]
            place = _place(full, engine, question, target)
            true += [place <= k for k in KS]
            records.append(_record(question, shown, target, collection, documents=documents))
        times = m if part is random_part else full.size / kept.size
        said = grow_pair(calipers.read(records), Asked(parse(f"recall@{_list(KS)}"), (times,)))
        yield Trial(said, times, tuple(true / n))


def _list(ks: Sequence[int]) -> str:
    return ",".join(map(str, ks))


def _place(collection: Collection, engine: Engine, question: int, target: int) -> int:
    """The rank of a target in the whole corpus."""
    order = ranking(collection, engine, question, np.arange(collection.size))
    return int(np.flatnonzero(order == target)[0]) + 1


def _record(
    question: int, shown: Ints, target: int, collection: Collection, *, documents: bool
) -> dict[str, object]:
    results: list[dict[str, str]] = [{"id": f"c{one}"} for one in shown.tolist()]
    if documents:
        for result, one in zip(results, shown.tolist(), strict=True):
            result["document"] = f"d{collection.document[one]}"
    return {"query": f"q{question}", "retrieved": results, "ground_truth": [f"c{target}"]}


def with_copies(collection: Collection, questions: Ints) -> Collection:
    """The corpus with near copies of every target, as old versions are."""
    rng = np.random.default_rng([SEED, 65])
    copies = np.repeat(collection.counts[collection.target[questions]], COPIES, axis=0)
    copies = np.maximum(copies + rng.integers(-1, 2, copies.shape) * (copies > 0), 0)
    counts = np.concatenate([collection.counts, copies])
    return Collection(counts, np.arange(len(counts)), collection.asked, collection.target)


CORPORA: dict[str, tuple[Callable[[], Collection], Engine]] = {
    "language reference, BM25": (reference, "BM25"),
    "language reference, vectors": (reference, "vectors"),
    "made texts, BM25": (made, "BM25"),
    "made texts, vectors": (made, "vectors"),
}


COPIES = 6
"""Near copies of each target, as an index has that keeps old versions."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A way in which a corpus grows."""

    name: str
    n: int
    m: float
    several: Callable[[int], Iterator[Trial]]
    """The trials, for a number of draws."""
    known: bool = False
    """Whether it is known to break the promise."""


def shapes() -> Iterator[Shape]:
    """Parts of a half, a quarter and a tenth, chunks in runs, and what `grow` cannot know."""
    for name, (collection, engine) in CORPORA.items():
        # A tenth of the reference would be little more than the targets.
        for m in (2, 4) if collection is reference else (2, 4, 10):
            yield Shape(
                f"{name}, {m}×",
                100,
                m,
                lambda draws, c=collection, e=engine, m=m: trials(c(), e, m, 100, draws),
            )
    for m in (4, 10):
        yield Shape(
            f"everything found, {m}×",
            100,
            m,
            lambda draws, m=m: trials(made(noise=0.0), "BM25", m, 100, draws),
        )
    for m in (2, 3):
        for documents in (True, False):
            yield Shape(
                f"ten chunks a document, counted by {'document' if documents else 'chunk'}, {m}×",
                100,
                m,
                lambda draws, m=m, documents=documents: trials(
                    made(10), "BM25", m, 100, draws, documents=documents
                ),
                known=not documents,
            )
    yield Shape(
        f"{COPIES} near copies of every target, 2×",
        100,
        2,
        lambda draws: trials(made(), "BM25", 2, 100, draws, whole=with_copies),
        known=True,
    )
    yield Shape(
        "a corpus of targets only, 13×",
        300,
        13,
        lambda draws: trials(made(), "BM25", 13, 300, draws, part=only_targets),
        known=True,
    )


@cache
def _printed(draws: int) -> list[tuple[Shape, Floats, Floats]]:
    """Of each shape: how far off every printed value is, and whether its interval holds."""
    found = []
    for shape in shapes():
        off: list[float] = []
        held: list[float] = []
        for trial in shape.several(draws):
            for at, row in enumerate(trial.said.growth):
                if row.printed:
                    off.append(trial.off(at))
                    held.append(float(row.low <= trial.true[at] <= row.high))
        if off:
            found.append((shape, np.array(off), np.array(held)))
    return found


def covered(draws: int) -> Iterator[Rate]:
    """How often the interval of a printed value holds what the whole corpus finds."""
    for shape, _, held in _printed(draws):
        yield Rate(
            shape.name,
            shape.n,
            float(held.mean()),
            held.size,
            lowest=LEAST_COVERED,
            known=shape.known,
        )


def errors(draws: int) -> Iterator[Rate]:
    """The root mean square error of what is printed, up to four times the corpus; and beyond."""
    for shape, off, _ in _printed(draws):
        rms = float(np.sqrt((off**2).mean()))
        most = LARGEST_ERROR if shape.m <= 4 else LARGEST_BEYOND
        yield Rate(shape.name, shape.n, rms, off.size, highest=most, known=shape.known)


def biases(draws: int) -> Iterator[Rate]:
    """How far off the printed values are on average."""
    for shape, off, _ in _printed(draws):
        bias = float(abs(off.mean()))
        yield Rate(shape.name, shape.n, bias, off.size, highest=LARGEST_BIAS, known=shape.known)


def far_off(draws: int) -> Iterator[Rate]:
    """How many printed values are off by more than 0.08."""
    for shape, off, _ in _printed(draws):
        far = float((abs(off) > FAR).mean())
        yield Rate(shape.name, shape.n, far, off.size, highest=MOST_FAR, known=shape.known)
