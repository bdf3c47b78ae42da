"""Inputs made from a seed, kept in a folder for temporary files so that they are made once."""

import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal
from uuid import UUID

import numpy as np
import polars as pl

CACHE = Path(tempfile.gettempdir()) / "calipers-bench"
VERSION = 2
"""Part of every file name: a change of what is made here must raise it."""

CORPUS = 8_841_823
"""Items in the corpus. A prime, so that steps of any width reach different items."""
JUDGED = 3
USUAL_DEPTH = 40.0
QUERIES_AT_ONCE = 2_000

Order = Literal["sorted", "unsorted", "ungrouped"]


@dataclass(frozen=True)
class Files:
    """A pair of TREC files."""

    ground_truth: Path
    run: Path

    @property
    def megabytes(self) -> int:
        """The size of the run."""
        return round(self.run.stat().st_size / 1e6)


def trec_files(
    queries: int, depth: int, order: Order = "sorted", *, prefix: str = "", seed: int = 1
) -> Files:
    """A run of `queries` × `depth` results and its judgements.

    "unsorted" mixes the rows within each query, "ungrouped" those of the whole file. `prefix`
    makes the ids longer.
    """
    CACHE.mkdir(exist_ok=True)
    stem = CACHE / f"v{VERSION}-{prefix}{queries}x{depth}-{seed}"
    files = Files(stem.with_suffix(".qrels"), stem.with_suffix(f".{order}.run"))
    if not (files.ground_truth.exists() and files.run.exists()):
        _write(files, queries, depth, order, prefix, seed)
    # Read once, so that every tool finds the file in memory.
    files.run.read_bytes()
    return files


IDS = {
    "whole numbers": str,
    "UUIDs": lambda n: str(UUID(int=(n * 0x9E3779B97F4A7C15F39CC0605CEDC835) % (1 << 128))),
    "long paths": lambda n: (
        f"handbook/part-{n % 97}/a-page-of-some-length-{n % 9973}.html#chunk-{n}"
    ),
    "no ASCII": lambda n: f"straße-{n}-größe",
    "Japanese": lambda n: f"文書-{n}-の章",
}
"""What ids look like: a figure that holds for one kind of them is not a figure."""


def mappings(
    queries: int, depth: int, seed: int = 1, *, ids: str = "whole numbers", mixed: bool = False
) -> Path:
    """The same as two mappings of query to {item: number}, in a JSON file.

    The items of a query come from the highest score down, or ``mixed``.
    """
    CACHE.mkdir(exist_ok=True)
    kind = f"{ids.replace(' ', '-')}{'-mixed' * mixed}"
    path = CACHE / f"v{VERSION}-{queries}x{depth}-{seed}-{kind}.json"
    if not path.exists():
        results, judged = (
            frame.with_columns(item=pl.Series(map(IDS[ids], frame["item"].to_list())))
            for frame in _made(np.random.default_rng(seed), 0, queries, depth)
        )
        if mixed:
            results = results.sample(fraction=1.0, shuffle=True, seed=seed)
            results = results.sort("query", maintain_order=True)
        content = {
            "ground_truth": _nested(judged.with_columns(pl.col("grade").cast(pl.Int64)), "grade"),
            "run": _nested(results, "score"),
        }
        path.write_text(json.dumps(content))
    return path


def _nested(frame: pl.DataFrame, number: str) -> dict[str, dict[str, float]]:
    whole: dict[str, dict[str, float]] = {}
    for query, item, value in frame.select("query", "item", number).iter_rows():
        whole.setdefault(str(query), {})[str(item)] = value
    return whole


def _write(files: Files, queries: int, depth: int, order: Order, prefix: str, seed: int) -> None:
    longer = pl.format(f"{prefix}{{}}", pl.col("item"))
    # Mixing draws from a stream of its own, so that all orders hold the same rows.
    random, mixing = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    parts: list[pl.DataFrame] = []
    with files.run.open("wb") as run, files.ground_truth.open("wb") as ground_truth:
        for first in range(0, queries, QUERIES_AT_ONCE):
            count = min(QUERIES_AT_ONCE, queries - first)
            results, judged = (
                frame.with_columns(item=longer) if prefix else frame
                for frame in _made(random, first, count, depth)
            )
            _append(
                judged.select("query", zero=pl.lit(0), item="item", grade="grade"), ground_truth
            )
            if order == "ungrouped":
                parts.append(results)
            else:
                if order == "unsorted":
                    results = results.with_columns(by=pl.Series(mixing.random(results.height)))
                    results = results.sort("query", "by")
                _append_run(results, run)
        if parts:
            whole = pl.concat(parts)
            _append_run(whole[mixing.permutation(whole.height)], run)


def _append_run(results: pl.DataFrame, file: BinaryIO) -> None:
    columns = ("query", "Q0", "item", "rank", "score", "tag")
    _append(results.with_columns(Q0=pl.lit("Q0"), tag=pl.lit("made")).select(columns), file)


def _append(frame: pl.DataFrame, file: BinaryIO) -> None:
    frame.write_csv(file, include_header=False, separator=" ", float_precision=6)


def _made(
    random: np.random.Generator, first: int, queries: int, depth: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Results and judgements of some queries."""
    query = 100_000 + 7 * np.arange(first, first + queries)
    step = random.integers(1, CORPUS, queries)[:, np.newaxis]
    offset = random.integers(0, CORPUS, queries)[:, np.newaxis]
    rank = np.arange(depth)[np.newaxis, :]
    score = -np.sort(-30 * random.random((queries, depth)), axis=1)
    results = pl.DataFrame(
        {
            "query": np.repeat(query, depth),
            "item": ((step * rank + offset) % CORPUS).ravel(),
            "rank": np.tile(np.arange(1, depth + 1), queries),
            "score": score.ravel().round(6),
        }
    )
    # Most judged items stand high, some low, some were not retrieved; one at least is relevant.
    place = random.exponential(min(USUAL_DEPTH, depth / 4), (queries, JUDGED)).astype(np.int64)
    place = np.where(random.random((queries, JUDGED)) < 0.2, depth + place, place)
    grade = random.integers(0, 4, (queries, JUDGED))
    grade[:, 0] = np.maximum(grade[:, 0], 1)
    judged = pl.DataFrame(
        {
            "query": np.repeat(query, JUDGED),
            "item": ((step * place + offset) % CORPUS).ravel(),
            "grade": grade.ravel(),
        }
    ).unique(["query", "item"], keep="first", maintain_order=True)
    return results, judged


_VOCABULARY = ["".join(random.Random(n).choices("etaoinshrdlu", k=2 + n % 8)) for n in range(9_000)]


def words(n: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(_VOCABULARY, k=n))


def records(n: int, seed: int = 0, depth: int = 10) -> Iterator[dict[str, Any]]:
    """Records by id: two targets a query, most of them found."""
    chosen = random.Random(seed)
    for query in range(n):
        others = [f"d{chosen.randrange(10 * n)}-{query}" for _ in range(depth)]
        found = [f"t{query}-{i}" for i in range(2) if chosen.random() < 0.7]
        for item in found:
            others[chosen.randrange(depth)] = item
        yield {
            "query": f"question {query}",
            "retrieved": [
                {"id": item, "score": -float(rank)}
                for rank, item in enumerate(dict.fromkeys(others))
            ],
            "ground_truth": [f"t{query}-{i}" for i in range(2)],
            "tags": {"kind": f"kind {query % 5}"},
        }
