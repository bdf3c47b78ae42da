"""Ten times the questions do not need ten times the memory."""

import tracemalloc
from pathlib import Path

from calipers.live.settings import retrieve

FEW, MANY = 2_000, 8_000
BYTES_PER_QUESTION = 40
"""Three numbers are kept of each; a question as an object has some 300 bytes, and its results
thousands."""
BYTES_WHEN_GOING_ON = 80
"""For a moment, while the lines are matched with the questions."""


def peak(folder: Path, n: int, times: int = 1) -> int:
    questions, output = folder / f"{n}.jsonl", folder / f"run-{n}.jsonl"
    questions.write_text("".join(f'{{"query": "question {i}"}}\n' for i in range(n)))
    items = [f"item-{i}" for i in range(20)]
    found = 0
    for time in range(times):
        tracemalloc.start()
        run = retrieve(
            lambda query, k: items,
            questions,
            k=20,
            output=output,
            workers=2,
            restart=time == 0,
            resume=time > 0,
        )
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert run.report.answered == n
    return found


def grown(folder: Path, times: int) -> int:
    peak(folder, FEW, times)  # what is loaded once is loaded here
    return peak(folder, MANY, times) - peak(folder, FEW, times)


def test_memory_is_flat_over_the_questions(tmp_path: Path) -> None:
    assert grown(tmp_path, times=1) < BYTES_PER_QUESTION * (MANY - FEW)


def test_going_on_with_a_finished_run_is_flat_too(tmp_path: Path) -> None:
    assert grown(tmp_path, times=2) < BYTES_WHEN_GOING_ON * (MANY - FEW)
