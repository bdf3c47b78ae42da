"""How far the questions of a ground truth are from those that users really asked."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from calipers.checks import catalogue
from calipers.checks.similar import plain_words
from calipers.errors import InvalidInput
from calipers.io.formats.ubi import read_traces
from calipers.io.records.entries import write_records
from calipers.live.questions import read_questions
from calipers.model.arrays import Floats, Ints
from calipers.model.health import DistantQuestion, Example, Health, HealthFinding
from calipers.model.slicing import FROM_TEXT, UNTAGGED, labels_of

FEWEST = 20
"""Questions that are needed on both sides."""
FAR = 0.2
"""The share of questions that must differ for a trait to be reported (total variation)."""
ALPHA = 0.01
_DRAWS = 2_000


def real_questions(value: Any) -> list[str]:
    """The questions of traces, or of a file or list of questions."""
    if isinstance(value, str | os.PathLike):
        try:
            if found := [str(record.query) for record in read_traces(value)]:
                return found
        except InvalidInput:
            if Path(value).is_fifo():  # it cannot be read twice
                raise
    elif isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return list(value)
    return [question.text for question in read_questions(value)]


MOST_TO_ADD = 10


def furthest(asked: list[str], real: list[str]) -> list[DistantQuestion]:
    """The real questions that are furthest from all others, each unlike those before it.

    The distance is 1 minus the cosine of the words, rare words counting more. Of questions at the
    same distance the one that was asked most often comes first.
    """
    often = Counter(" ".join(text.split()) for text in real)
    texts = [text for text, _ in often.most_common()]
    words = [one.split() for one in plain_words(pl.Series([*asked, *texts], dtype=pl.String))]
    counts = Counter(word for one in words for word in set(one))
    number = {word: at for at, word in enumerate({w for one in words[: len(asked)] for w in one})}

    def weigh(one: list[str]) -> dict[str, float]:
        found = {word: float(np.log1p(len(words) / counts[word])) for word in one}
        length = np.sqrt(sum(weight**2 for weight in found.values()))
        return {word: weight / length for word, weight in found.items()}

    vectors = [weigh(one) for one in words]
    table = np.zeros((len(number), len(asked)))
    for at, vector in enumerate(vectors[: len(asked)]):
        for word, weight in vector.items():
            table[number[word], at] = weight
    likeness, nearest = np.zeros(len(texts)), np.full(len(texts), -1)
    for at, vector in enumerate(vectors[len(asked) :]):
        known = [(number[word], weight) for word, weight in vector.items() if word in number]
        if known:
            rows, weights = zip(*known, strict=True)
            alike = np.array(weights) @ table[list(rows)]
            likeness[at], nearest[at] = alike.max(), alike.argmax()
    chosen: list[DistantQuestion] = []
    closest = likeness.copy()  # to the questions that are there or chosen
    while len(chosen) < min(MOST_TO_ADD, len(texts)):
        at = int(np.argmin(np.round(closest, 6)))
        if closest[at] > 1 - SAME:
            break
        mine = vectors[len(asked) + at]
        here = None if nearest[at] < 0 else asked[nearest[at]]
        chosen.append(
            DistantQuestion(texts[at], often[texts[at]], round(1 - float(likeness[at]), 6), here)
        )
        for other, vector in enumerate(vectors[len(asked) :]):
            same = sum(weight * vector.get(word, 0.0) for word, weight in mine.items())
            closest[other] = max(closest[other], same)
        closest[at] = 1.0
    return sorted(chosen, key=lambda one: (-one.distance, -one.asked))


def write_to_add(found: Health, path: str) -> None:
    """Write the questions to add as JSON lines, to be answered and labelled."""
    made = [{"query": one.query, "tags": {"asked": str(one.asked)}} for one in found.to_add]
    write_records(made, path)


SAME = 0.05
"""A question nearer than this to one that is there already adds nothing."""


def unlike_real(asked: list[str], real: list[str]) -> HealthFinding | None:
    """The traits in which the questions differ from the real ones by more than chance.

    None where either side has too few to tell.
    """
    if min(len(asked), len(real)) < FEWEST:
        return None
    examples = [one for cut in FROM_TEXT if (one := _by_cut(cut, asked, real))]
    if (one := _by_words(asked, real)) is not None:
        examples.append(one)
    return HealthFinding.of_kind(
        catalogue.UNLIKE_REAL,
        examples,
        count=len(examples),
        of=len(FROM_TEXT) + 1,
        detail=f"{len(asked):,} questions here, {len(real):,} real ones.",
    )


def _by_cut(cut: str, asked: list[str], real: list[str]) -> Example | None:
    texts = pl.DataFrame({"query": "", "text": [*asked, *real]})
    names, codes = np.unique(labels_of(texts, {}, cut).to_numpy(), return_inverse=True)
    ours = np.arange(len(codes)) < len(asked)
    gaps = _gaps(codes, ours, len(names))
    far = np.abs(gaps).sum() / 2
    if far < FAR:
        return None
    rng = np.random.default_rng(0)
    drawn = [
        np.abs(_gaps(codes, rng.permutation(ours), len(names))).sum() / 2 for _ in range(_DRAWS)
    ]
    # One test per trait: alpha is divided among them.
    if (1 + np.sum(np.array(drawn) >= far - 1e-9)) / (1 + _DRAWS) > ALPHA / len(FROM_TEXT):
        return None
    most = int(np.argmax(np.abs(gaps)))
    here, there = (np.mean(codes[side] == most) for side in (ours, ~ours))
    value = "not known" if names[most] == UNTAGGED else names[most]
    return Example(detail=f"{cut}: {value} {here:.0%} here, {there:.0%} in the traces")


def _gaps(codes: Ints, ours: np.ndarray, kinds: int) -> Floats:
    """The share of each kind in the ground truth minus its share in the real questions."""
    here, there = (np.bincount(codes[side], minlength=kinds) for side in (ours, ~ours))
    gaps: Floats = here / here.sum() - there / there.sum()
    return gaps


def _by_words(asked: list[str], real: list[str]) -> Example | None:
    """Compare how much of the real vocabulary our questions cover with what other real ones do."""
    rng = np.random.default_rng(0)
    mixed = [real[place] for place in rng.permutation(len(real))]
    half = len(mixed) // 2
    n = min(len(asked), half)
    if n < FEWEST:
        return None
    some = [asked[place] for place in rng.permutation(len(asked))[:n]]
    wanted = Counter(_words(mixed[half:]))
    ours, theirs = (_known(wanted, _words(texts)) for texts in (some, mixed[:n]))
    if theirs - ours < FAR:
        return None
    return Example(
        detail=f"words: {n:,} questions have {ours:.0%} of the words of real ones; as many real "
        f"ones have {theirs:.0%}"
    )


def _words(texts: list[str]) -> list[str]:
    return plain_words(pl.Series(texts)).str.split(" ").explode().to_list()


def _known(wanted: Counter[str], words: list[str]) -> float:
    known = set(words)
    return sum(often for word, often in wanted.items() if word in known) / wanted.total()
