"""Ten small inputs with everything that real data has, made by a seed."""

import random
from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
WORDS = [f"{a}{b}" for a in ("lo", "mi", "ra", "tes", "vun") for b in ("ck", "ver", "dal", "som")]
LENGTH = 80
"""The characters of a chunk."""


def _chunks(draw: random.Random, n: int = 40) -> dict[str, Record]:
    """Chunks of documents, by id; the words of one are not repeated in another."""
    found = {}
    for i in range(n):
        text = " ".join([*draw.choices(WORDS, k=10), f"end{i}"])
        start = LENGTH * (i % 4)
        place = {"document": f"doc{i // 4}.md", "start": start, "end": start + LENGTH}
        found[f"c{i}"] = {"id": f"c{i}", "text": text, **place}
    return found


def _records(
    seed: int, n: int, target: Callable[[random.Random, Record, int], Record], depth: int = 12
) -> list[Record]:
    """Questions with targets made of chunks, and what a retriever returned for them.

    One has no target, one no result, and some lists hold an item twice or equal scores.
    """
    draw = random.Random(seed)
    chunks = _chunks(draw)
    records = []
    for q in range(n):
        wanted = draw.sample(sorted(chunks), draw.choice((1, 1, 2, 3)))
        found = draw.sample(sorted(chunks), draw.randint(4, depth))
        for one in wanted:
            if one not in found and draw.random() < 0.6:
                found[draw.randrange(len(found))] = one
        if q % 6 == 4:
            found.insert(3, found[0])
        scores = sorted((draw.choice((0.9, 0.7, 0.5, 0.4, 0.2)) for _ in found), reverse=True)
        records.append(
            {
                "id": f"q{q}",
                "query": " ".join(["How is", *draw.sample(WORDS, 2 + q % 5), f"with {q}?"]),
                "tags": {"type": ("fact", "list", "why")[q % 3], "intent": f"i{q // 2}"},
                "ground_truth": [target(draw, chunks[one], at) for at, one in enumerate(wanted)],
                "retrieved": [
                    {**chunks[one], "score": score}
                    for one, score in zip(found, scores, strict=True)
                ],
            }
        )
    records[5]["ground_truth"] = []
    records[8]["retrieved"] = []
    return records


def _graded(draw: random.Random, chunk: Record, at: int) -> Record:
    return {"id": chunk["id"], "grade": draw.choice((1, 1, 2, 3))}


def _quoted(draw: random.Random, chunk: Record, at: int) -> Record:
    first = draw.randrange(4)
    return {"quote": " ".join(chunk["text"].split()[first:]), "grade": 1 + at % 2}


def _span(draw: random.Random, chunk: Record, at: int) -> Record:
    first = draw.randrange(60)
    start = chunk["start"] + first
    # Some reach into the next chunk.
    return {"document": chunk["document"], "start": start, "end": start + 30}


def _grouped(draw: random.Random, chunk: Record, at: int) -> Record:
    return {"id": chunk["id"], "grade": 1} | ({"group": "either"} if at < 2 else {})


def _plain(draw: random.Random, chunk: Record, at: int) -> Record:
    return {"id": chunk["id"], "grade": 1}


def _of_calls() -> list[Record]:
    records = _records(6, 18, _graded)
    for one in records:
        one["retrieved"] = [{**r, "call": 1 + j // 3} for j, r in enumerate(one["retrieved"])]
    return records


def _with_errors() -> list[Record]:
    records = _records(7, 24, _graded)
    for at, one in enumerate(records):
        one["latency_ms"] = 10.5 + at * at % 17
        if at % 7 == 3:
            one |= {"retrieved": [], "error": "timeout"}
    return records


def altered(records: list[Record]) -> list[Record]:
    """Another retriever: some lists turned, some cut, some without an item that was found."""
    found = []
    for at, one in enumerate(records):
        returned = one["retrieved"]
        if at % 3 == 0:
            returned = [
                {**r, "score": old["score"]}
                for r, old in zip(returned[::-1], returned, strict=True)
            ]
        elif at % 3 == 1:
            returned = returned[1:]
        if "call" in (returned or [{}])[0]:
            returned = sorted(returned, key=lambda r: r["call"])
        found.append({**one, "retrieved": returned})
    return found


INPUTS: dict[str, Callable[[], list[Record]]] = {
    "ids": lambda: _records(1, 24, _graded),
    "quotes": lambda: _records(2, 16, _quoted),
    "spans": lambda: _records(3, 16, _span),
    "groups": lambda: _records(4, 18, _grouped),
    "tags": lambda: _records(5, 27, _plain),
    "calls": _of_calls,
    "errors": _with_errors,
    "table": lambda: _records(8, 18, _graded),
    "live": lambda: _records(9, 14, _graded),
    "baseline": lambda: _records(10, 30, _graded),
}
"""The records of an input, by its name."""


def corpus(records: list[Record]) -> list[Record]:
    """Every chunk that was returned but some, so that these are missing from the index."""
    found = {r["id"]: r for one in records for r in one["retrieved"]}
    names = ("id", "text", "document", "start", "end")
    return [{name: found[key][name] for name in names} for key in sorted(found)[3:]]
