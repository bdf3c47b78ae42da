"""One small call of every operation, from Python and from the command line."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import calipers

RECORDS = [
    {
        "id": f"q{i}",
        "query": f"question number {i}",
        "retrieved": [{"id": f"d{(i * 7 + j) % 20}", "text": f"text {(i * 7 + j) % 20}"}
                      for j in range(5)],
        "ground_truth": {f"d{(i * 7 + i % 5) % 20}": 1, f"d{(i * 3) % 20}": 2},
        "tags": {"type": "odd" if i % 2 else "even"},
    }
    for i in range(16)
]  # fmt: skip


def write_files() -> None:
    """The files that the samples read, in the current folder."""
    lines = "".join(json.dumps(one) + "\n" for one in RECORDS)
    Path("evals.jsonl").write_text(lines)
    turned = [{**one, "retrieved": one["retrieved"][::-1]} for one in RECORDS]
    Path("turned.jsonl").write_text("".join(json.dumps(one) + "\n" for one in turned))
    scored = [
        {**one, "ground_truth": one["ground_truth"] if i % 3 else {},
         "retrieved": [{**r, "score": 1 / (1 + i % 4 + j)} for j, r in enumerate(one["retrieved"])]}
        for i, one in enumerate(RECORDS * 5)
    ]  # fmt: skip
    scored = [{**one, "id": f"q{i}", "query": f"question {i}"} for i, one in enumerate(scored)]
    Path("scored.jsonl").write_text("".join(json.dumps(one) + "\n" for one in scored))
    chunks = [{"id": f"d{i}", "text": f"text {i}"} for i in range(20)]
    Path("chunks.jsonl").write_text("".join(json.dumps(one) + "\n" for one in chunks))


def same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Sample:
    """What an operation returns as plain values, and the arguments of its command."""

    call: Callable[[], Any]
    arguments: tuple[str, ...]
    part: str | None = None
    """The part of the printed JSON that is the operation's, where a command prints more."""
    prepare: Callable[[], None] = write_files
    comparable: Callable[[Any], Any] = same
    """Without what differs between two calls, such as times."""


def without(*names: str) -> Callable[[Any], Any]:
    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(one) for key, one in value.items() if key not in names}
        return [strip(one) for one in value] if isinstance(value, list) else value

    return strip


SAMPLES: dict[str, Sample] = {
    "evaluate": Sample(lambda: calipers.evaluate("evals.jsonl").to_dict(), ("evals.jsonl", "--json")),
    "slices": Sample(
        lambda: calipers.slices(calipers.evaluate("evals.jsonl"), "type").to_dict(),
        ("evals.jsonl", "--by", "type", "--json"), part="slices",
    ),
    "levels": Sample(
        lambda: calipers.levels("evals.jsonl", at="evidence,chunk").to_dict(),
        ("evals.jsonl", "--level", "evidence,chunk", "--json"),
    ),
    "sweep": Sample(lambda: calipers.sweep("evals.jsonl").to_dict(), ("evals.jsonl", "--json")),
    "diagnose": Sample(lambda: calipers.diagnose("evals.jsonl").to_dict(), ("evals.jsonl", "--json")),
    "rules": Sample(lambda: calipers.rules(), ("--rules", "--json")),
    "misses": Sample(
        lambda: calipers.misses("evals.jsonl", k=3, corpus="chunks.jsonl").to_dict(),
        ("evals.jsonl", "-k", "3", "--corpus", "chunks.jsonl", "--json"),
    ),
    "bounds": Sample(
        lambda: calipers.bounds("evals.jsonl", metrics="recall@3").to_dict(),
        ("evals.jsonl", "-m", "recall@3", "--bounds", "--json"), part="bounds",
    ),
    "metrics": Sample(lambda: calipers.metrics(), ("--json",)),
    "compare": Sample(
        lambda: calipers.compare(["evals.jsonl", "turned.jsonl"]).to_dict(),
        ("evals.jsonl", "turned.jsonl", "--json"),
    ),
    "floor": Sample(
        lambda: calipers.floor("scored.jsonl", k=3).to_dict(), ("scored.jsonl", "-k", "3", "--json")
    ),
    "gate": Sample(
        lambda: calipers.gate("evals.jsonl", require="recall@5 >= 0.1").to_dict(),
        ("evals.jsonl", "--require", "recall@5 >= 0.1", "--json"),
    ),
}  # fmt: skip
"""By the name of the operation."""
