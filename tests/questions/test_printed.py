"""What people read first: the default answer of each question, in cases judged by eye.

The texts stand in ``tests/data/printed``, to be read in one sitting; ``CALIPERS_WRITE_PRINTED=1``
writes them anew.
"""

from pathlib import Path
from typing import Any

import pytest

import calipers
from tests.contracts.test_voice import kept, problems_of


def run(hits: int, n: int, rank: int = 1, first: int = 0) -> dict[str, list[str]]:
    """A run that finds the target of so many queries, from the first on, at a rank."""
    found = ["x"] * (rank - 1) + ["a"]
    missed = ["x", "y"]
    return {f"q{i:03}": found if first <= i < first + hits else missed for i in range(n)}


def truth(n: int) -> dict[str, list[str]]:
    return {f"q{i:03}": ["a"] for i in range(n)}


def compared(before: Any, after: Any, n: int, **more: Any) -> Any:
    systems = {"bm25": before, "hybrid": after, **more}
    return calipers.compare(systems, truth(n), metrics="recall@10,ndcg@10")


def gated(before: Any, after: Any, n: int, **how: Any) -> Any:
    calipers.gate_save(ground_truth=truth(n), run=before, to="main.json", metrics="recall@10")
    return calipers.gate(ground_truth=truth(n), run=after, baseline="main.json", **how)


def data(hits: int, n: int, rank: int = 1) -> dict[str, Any]:
    return {"ground_truth": truth(n), "run": run(hits, n, rank)}


CASES: dict[str, Any] = {
    "compare: all won": lambda: compared(run(1, 30), run(30, 30), 30),
    "compare: one lost": lambda: compared(run(42, 42), run(41, 42), 42),
    "compare: nothing changed": lambda: compared(run(9, 30), run(9, 30), 30),
    "compare: mixed": lambda: compared(run(10, 20), run(10, 20, first=10), 20),
    "compare: ranked worse": lambda: compared(run(30, 30), run(30, 30, rank=4), 30),
    "compare: three queries": lambda: compared(run(1, 3), run(3, 3), 3),
    "compare: one query": lambda: compared(run(1, 1, 3), run(1, 1), 1),
    "compare: three systems": lambda: compared(run(20, 42), run(24, 42), 42, large=run(42, 42)),
    "gate: collapse": lambda: gated(run(80, 80), run(20, 80), 80),
    "gate: better": lambda: gated(run(190, 200), run(200, 200), 200),
    "gate: mixed": lambda: gated(run(10, 20), run(10, 20, first=10), 20),
    "gate: condition": lambda: calipers.gate(**data(40, 80), require="recall@10 >= 0.85"),
    "gate: conditions hold": lambda: calipers.gate(
        **data(80, 80), require=["recall@10 >= 0.85", "mrr >= 0.5"]
    ),
    "eval: perfect": lambda: calipers.evaluate(**data(30, 30), k=[1, 10]),
    "eval: nothing found": lambda: calipers.evaluate(
        **data(0, 30), k=[1, 10], nothing_in_common="zero"
    ),
    "sweep: thirty questions": lambda: calipers.sweep(**data(20, 30, 3)),
    "diagnose: perfect": lambda: calipers.diagnose(**data(40, 40)),
    "diagnose: ranked low": lambda: calipers.diagnose(**data(40, 40, 7)),
    "misses": lambda: calipers.misses(**data(25, 40), k=10),
    "audit": lambda: calipers.audit(truth(30)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_default_answer(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = str(CASES[name]())
    assert not problems_of(text), text
    assert kept(f"{text}\n", name.replace(": ", "-").replace(" ", "-"))
