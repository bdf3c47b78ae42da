"""What driving a live retriever costs: time per question, and memory."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import Measured, Row, compared, measure, quickest

LIMIT = 50
"""Microseconds per question that the driver may add to a function in the same process."""
RESULTS = 20
WORKERS = 8
DRIVEN = """
import calipers
items = [f"chunk-{{i}}" for i in range({results})]
run = calipers.retrieve(lambda query, k: items, {questions!r}, k={results}, output={output!r})
"""


def rows(quick: bool = False) -> list[Row]:
    """A function that costs nothing, and many questions."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return [
            _overhead(place, 5_000 if quick else 50_000, scored=False),
            _overhead(place, 5_000 if quick else 50_000, scored=True),
            _memory(place, 10_000 if quick else 100_000),
        ]


def _overhead(place: Path, n: int, *, scored: bool) -> Row:
    from calipers.live.retrieve import retrieve_to_report

    ids = [f"chunk-{i}" for i in range(RESULTS)]
    pairs = [(item, 1 - i / RESULTS) for i, item in enumerate(ids)]
    questions = [f"question number {i}" for i in range(n)]

    def search(query: str, k: int) -> list[Any]:
        return pairs if scored else ids

    def driven() -> None:
        retrieve_to_report(
            search, questions, k=RESULTS, output=place / "run.jsonl", restart=True, workers=WORKERS
        )

    def by_hand() -> None:
        with (place / "hand.jsonl").open("w") as file:
            for question in questions:
                found = search(question, RESULTS)
                kept = [{"id": one[0], "score": one[1]} if scored else {"id": one} for one in found]
                file.write(json.dumps({"query": question, "retrieved": kept}) + "\n")
                file.flush()

    ours, theirs = quickest(driven), quickest(by_hand)
    wall, cpu = ((seconds or 0) / n * 1e6 for seconds in (ours.seconds, ours.cpu_seconds))
    note = f"{wall:.0f} µs per question, {cpu:.0f} of them computing; limit {LIMIT}"
    given = f"{n:,} × {RESULTS} {'(id, score)' if scored else 'ids'}, {WORKERS} workers, a file"
    return compared("driver", given, ours, "a loop that writes the lines", theirs, note)


def _memory(place: Path, n: int) -> Row:
    """From a file to a file: a list would be the memory of the caller."""

    def driven(questions: int) -> Measured:
        asked, output = place / f"asked-{questions}.jsonl", place / f"run-{questions}.jsonl"
        with asked.open("w") as file:
            file.writelines(f'{{"query": "question number {i}"}}\n' for i in range(questions))
        code = DRIVEN.format(results=RESULTS, questions=str(asked), output=str(output))
        return measure([sys.executable, "-c", code], times=1)

    few, many = driven(n // 10), driven(n)
    size = (place / f"run-{n}.jsonl").stat().st_size / 1e6
    each = ((many.memory_mb or 0) - (few.memory_mb or 0)) * 1e6 / (n - n // 10)
    note = f"the run is {size:.0f} MB; {each:.0f} bytes per question"
    given = f"{n:,} questions of a file"
    return compared("memory", given, many, f"{n // 10:,} questions", few, note)
