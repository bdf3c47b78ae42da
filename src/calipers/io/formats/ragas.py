"""ragas: single-turn samples with contexts as texts, ids, or both.

Before 0.2 its samples called the question ``question`` and the texts ``contexts``. In an
evaluation the contexts are what was retrieved; in a generated test set they are what the
question was made from, which is what should be found. ``ground_truth`` is an answer in both.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from calipers.io.files.write import opened
from calipers.io.format import EachRow, Output, Parts
from calipers.io.formats.llama_index import is_labelled
from calipers.io.records.entries import Entry, Remarks, entries, note_filled
from calipers.io.records.records import (
    At,
    Id,
    Record,
    Result,
    Target,
    each,
    results,
    side_by_side,
    targets,
)
from calipers.names import words_in

RETRIEVED = ("retrieved_contexts", "retrieved_context_ids")
REFERENCE = ("reference_contexts", "reference_context_ids")


class Sample(msgspec.Struct):
    """One sample; the answers in it are not about retrieval."""

    user_input: str
    retrieved_contexts: list[str] | None = None
    retrieved_context_ids: list[Id] | None = None
    reference_contexts: list[str] | None = None
    reference_context_ids: list[Id] | None = None


def _reference(row: Sample) -> tuple[list[str] | None, list[Id] | None]:
    """What should be found, as texts, as ids, or both.

    Lists of different length name the same evidence twice, in two ways that cannot be told
    together: counting both would double it. The ids are taken where the results have ids.
    """
    texts, ids = row.reference_contexts, row.reference_context_ids
    if texts is None or ids is None or len(texts) == len(ids):
        return texts, ids
    return (None, ids) if row.retrieved_context_ids is not None else (texts, None)


class Ragas(EachRow):
    """Samples of ragas from 0.2 on."""

    name = "ragas"
    title = "ragas samples"
    row = Sample
    example = '{"user_input": …, "retrieved_contexts": […], "reference_contexts": […]}'
    results_field = "retrieved_contexts"
    truth_field = "reference_contexts"
    why_left_out = (
        "Texts and ids of the references differ in number and cannot be paired; the kind that the "
        "results have is taken."
    )
    outputs = (
        Output(
            "ragas",
            "ragas samples",
            frozenset(
                words_in(
                    "targets quotes targets_without_id query_texts texts results "
                    "results_without_id queries_without_targets queries_without_results"
                )
            ),
            fits=(".jsonl", ".ndjson"),
        ),
    )

    def recognise(self, keys: frozenset[str]) -> bool:
        """Any of the names that ragas alone uses."""
        return bool(keys & {"user_input", *RETRIEVED, *REFERENCE}) and not is_labelled(keys)

    def record(self, row: Sample, at: At) -> Record:
        """A row as a record."""
        retrieved = side_by_side(row.retrieved_contexts, row.retrieved_context_ids, at, RETRIEVED)
        texts, ids = _reference(row)
        reference = side_by_side(texts, ids, at, REFERENCE)
        return Record(row.user_input, retrieved=results(retrieved), ground_truth=targets(reference))

    def left_out(self, row: Sample) -> tuple[str, ...]:
        """The list that a sample has and its record has not."""
        have = (row.reference_contexts, row.reference_context_ids)
        return tuple(
            name
            for name, given, kept in zip(REFERENCE, have, _reference(row), strict=True)
            if given is not None and kept is None
        )

    def write(self, output: Output, parts: Parts, path: Path, remarks: Remarks) -> list[Path]:
        """One sample per line."""
        del output  # there is one
        filled: Counter[str] = Counter()
        with opened(path) as file:
            for part in parts:
                for entry in entries(part, filled):
                    file.write(msgspec.json.encode(_sample(entry, remarks)) + b"\n")
        note_filled(filled, remarks)
        return [path]


def _sample(entry: Entry, remarks: Remarks) -> dict[str, Any]:
    """One query as a sample; only relevant targets, as ragas knows no others."""
    found: dict[str, Any] = {"user_input": entry.text or entry.query}
    if entry.results is not None:
        found |= _contexts(entry.results, "text", "retrieved", remarks)
    if entry.targets is not None:
        relevant = [row for row in entry.targets if row["grade"] > 0]
        found |= _contexts(relevant, "quote", "reference", remarks)
    return found


def _contexts(rows: list[dict[str, Any]], text: str, part: str, remarks: Remarks) -> dict[str, Any]:
    """Texts, ids or both: a list is written only where every row has its place in it."""
    held = [row for row in rows if text in row or "item" in row]
    if not (_all_have(held, text) or _all_have(held, "item")):
        held = [row for row in held if text in row]
    kind = "Results" if part == "retrieved" else "Targets"
    remarks.add(
        f"{kind} with neither the text nor the id that the others of their query have, left out: "
        "{n}.",
        len(rows) - len(held),
    )
    found: dict[str, Any] = {}
    if not held or _all_have(held, text):
        found[f"{part}_contexts"] = [row[text] for row in held]
    if held and _all_have(held, "item"):
        found[f"{part}_context_ids"] = [row["item"] for row in held]
    return found


def _all_have(rows: list[dict[str, Any]], key: str) -> bool:
    return all(key in row for row in rows)


BESIDE = frozenset({"question", "answer", "ground_truths", "evolution_type"})
OUR_NAMES = frozenset({"query", "retrieved"})
OF_TEST_SETS = "evolution_type"


class OldSample(msgspec.Struct):
    """One question with its texts; the answers are not about retrieval."""

    question: str
    contexts: list[str] | None = None


class Generated(OldSample):
    """One question of a test set, and how it was made."""

    evolution_type: str | None = None


def is_old(keys: frozenset[str]) -> bool:
    """Whether a sample with these keys is of the old kind, of an evaluation or of a test set."""
    return "contexts" in keys and bool(keys & BESIDE) and not keys & OUR_NAMES


class OldRagas(EachRow):
    """Samples of an evaluation."""

    name = "ragas_old"
    title = "samples of ragas before 0.2"
    row = OldSample
    example = '{"question": …, "contexts": […]}'
    results_field = "contexts"
    no_truth = "'ground_truth' of ragas is an answer in words, not what should be found"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``contexts`` beside the question or an answer, of an evaluation."""
        return is_old(keys) and OF_TEST_SETS not in keys

    def record(self, row: OldSample, _: At) -> Record:
        """A row as a record."""
        retrieved = each(lambda text: Result(text=text), row.contexts)
        return Record(row.question, retrieved=retrieved)


class RagasTestSet(EachRow):
    """Samples of a generated test set."""

    name = "ragas_test_set"
    title = "a test set of ragas before 0.2"
    row = Generated
    example = '{"question": …, "contexts": […], "evolution_type": …}'
    truth_field = "contexts"

    def recognise(self, keys: frozenset[str]) -> bool:
        """The same of a test set."""
        return is_old(keys) and OF_TEST_SETS in keys

    def record(self, row: Generated, _: At) -> Record:
        """A row as a record."""
        truth = each(lambda text: Target(quote=text), row.contexts)
        return Record(row.question, ground_truth=truth, tags={OF_TEST_SETS: row.evolution_type})
