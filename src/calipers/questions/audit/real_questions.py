"""How far the questions of a ground truth are from those that users really asked."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from calipers.checks.similar import plain_words
from calipers.errors import InvalidInput
from calipers.io.formats.ubi import read_traces
from calipers.io.records.entries import write_records
from calipers.live.questions import read_questions
from calipers.model.health import DistantQuestion, Health

MOST_TO_ADD = 10
SAME = 0.05
"""A question nearer than this to one that is there already adds nothing."""


def real_questions(value: object) -> list[str]:
    """The questions of traces, or of a file or list of questions."""
    if isinstance(value, str | os.PathLike):
        try:
            if found := [call.question for call in read_traces(value)]:
                return found
        except InvalidInput:
            if Path(value).is_fifo():  # it cannot be read twice
                raise
    elif isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return list(value)
    return [question.text for question in read_questions(value)]


def furthest(asked: list[str], real: list[str]) -> tuple[float, list[DistantQuestion]]:
    """The median distance of a real question, and the furthest, each unlike those before it.

    The distance is 1 minus the cosine of the words, rare words counting more. Of questions at the
    same distance the one that was asked most often comes first.
    """
    often = Counter(" ".join(text.split()) for text in real)
    texts = [text for text, _ in often.most_common()]
    words = [
        plain_word.split()
        for plain_word in plain_words(pl.Series([*asked, *texts], dtype=pl.String))
    ]
    counts = Counter(word for one in words for word in set(one))
    number = {
        word: at
        for at, word in enumerate({w for word in words[: len(asked)] for w in word})
    }

    def weigh(one: list[str]) -> dict[str, float]:
        found = {word: float(np.log1p(len(words) / counts[word])) for word in one}
        length = np.sqrt(sum(weight**2 for weight in found.values()))
        return {word: weight / length for word, weight in found.items()}

    vectors = [weigh(word) for word in words]
    table = np.zeros((len(number), len(asked)))
    for at, vector in enumerate(vectors[: len(asked)]):
        for word, weight in vector.items():
            table[number[word], at] = weight
    likeness = np.zeros(len(texts))
    nearest = np.full(len(texts), -1)
    for at, vector in enumerate(vectors[len(asked) :]):
        known = [
            (number[word], weight) for word, weight in vector.items() if word in number
        ]
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
            DistantQuestion(
                texts[at], often[texts[at]], round(1 - float(likeness[at]), 6), here
            )
        )
        for other, vector in enumerate(vectors[len(asked) :]):
            same = sum(weight * vector.get(word, 0.0) for word, weight in mine.items())
            closest[other] = max(closest[other], same)
        closest[at] = 1.0
    middle = float(np.median(np.repeat(1 - likeness, [often[text] for text in texts])))
    return round(middle, 6), sorted(chosen, key=lambda one: (-one.distance, -one.asked))


def write_to_add(health: Health, path: str) -> None:
    """Write the questions to add as JSON lines, to be answered and labelled."""
    made = [
        {"query": one.query, "tags": {"asked": str(one.asked)}} for one in health.to_add
    ]
    write_records(made, path)
