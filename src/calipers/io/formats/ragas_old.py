"""ragas before 0.2: its samples called the question ``question`` and the texts ``contexts``.

In an evaluation the contexts are what was retrieved; in a generated test set they are what the
question was made from, which is what should be found. ``ground_truth`` is an answer in both.
"""

import msgspec

from calipers.io.records import Id, Record, Result, Target
from calipers.io.rows import At, RowFormat, each

BESIDE = frozenset({"question", "answer", "ground_truths", "evolution_type"})
OUR_NAMES = frozenset({"query", "retrieved"})
OF_TEST_SETS = "evolution_type"


class Sample(msgspec.Struct):
    """One question with its texts; the answers are not about retrieval."""

    question: str
    contexts: list[str] | None = None


class Generated(Sample):
    """One question of a test set, and how it was made."""

    evolution_type: str | None = None


def recognise(keys: frozenset[str]) -> bool:
    """``contexts`` beside the question or an answer, of an evaluation."""
    return _is_old(keys) and OF_TEST_SETS not in keys


def recognise_test_set(keys: frozenset[str]) -> bool:
    """The same of a test set."""
    return _is_old(keys) and OF_TEST_SETS in keys


def _is_old(keys: frozenset[str]) -> bool:
    return "contexts" in keys and bool(keys & BESIDE) and not keys & OUR_NAMES


def _evaluated(row: Sample, _: At) -> Record:
    retrieved: list[Id | Result] | None = None
    if row.contexts is not None:
        retrieved = [Result(text=text) for text in row.contexts]
    return Record(row.question, retrieved=retrieved)


def _generated(row: Generated, _: At) -> Record:
    truth: list[Id | Target] | None = None
    if row.contexts is not None:
        truth = [Target(quote=text) for text in row.contexts]
    return Record(row.question, ground_truth=truth, tags={OF_TEST_SETS: row.evolution_type})


FORM = RowFormat(
    name="ragas_old",
    title="samples of ragas before 0.2",
    recognise=recognise,
    row=Sample,
    records=each(_evaluated),
    example='{"question": …, "contexts": […]}',
    kept=frozenset(Sample.__struct_fields__),
    fields={"retrieved": "contexts"},
    no_truth="'ground_truth' of ragas is an answer in words, not what should be found",
)

TEST_SET = RowFormat(
    name="ragas_test_set",
    title="a test set of ragas before 0.2",
    recognise=recognise_test_set,
    row=Generated,
    records=each(_generated),
    example='{"question": …, "contexts": […], "evolution_type": …}',
    kept=frozenset(Generated.__struct_fields__),
    fields={"ground_truth": "contexts"},
)
