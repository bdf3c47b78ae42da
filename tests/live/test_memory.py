"""Questions are in memory, their results are not."""

import tracemalloc
from pathlib import Path

from calipers.live.driver import Limits
from calipers.live.retrieve import retrieve_to_report
from calipers.live.run_file import ExistingRun

FEW, MANY = 300, 1_500
BYTES_PER_QUESTION = 600
"""A question as an object has some 300 bytes, and its results thousands."""


def peaks(folder: Path, n: int) -> list[int]:
    """The most bytes in use by a run, and by one that goes on with it when it is finished."""
    questions, output = folder / f"{n}.jsonl", folder / f"run-{n}.jsonl"
    questions.write_text("".join(f'{{"query": "question {i}"}}\n' for i in range(n)))
    items = [f"item-{i}" for i in range(20)]
    found = []
    for goes_on in (False, True):
        tracemalloc.start()
        report = retrieve_to_report(
            lambda query, k: items,
            questions,
            k=20,
            output=output,
            limits=Limits(2),
            wish=ExistingRun(restart=not goes_on, retry_errors=goes_on),
        )
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.answered == n
    return found


def test_results_are_not_kept_in_memory_at_first_and_when_going_on(tmp_path: Path) -> None:
    peaks(tmp_path, 100)  # what is loaded once is loaded here
    first, second = (
        many - few for few, many in zip(peaks(tmp_path, FEW), peaks(tmp_path, MANY), strict=True)
    )
    assert max(first, second) < BYTES_PER_QUESTION * (MANY - FEW)
