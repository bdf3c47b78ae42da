"""What `diagnose` takes beside `eval` on a million rows, where nothing is wrong and where much is.

``python -m bench cures`` makes 20,000 queries with 50 results each: healthy, with every list
reversed, with a prefix before 40 % of the ids, and healthy with UUIDs and with addresses as ids.
Both commands run in turn, each in a process of its own; the peer is `eval`, so a ratio of 0.5 means
twice its time.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from bench.measure import Measured, Row, calipers, compared, measure

ALONE = True
DEPTH = 50
QUERIES = 20_000
TARGETS = 2
TIMES = 3
SEED = 55


def rows(*, quick: bool = False) -> list[Row]:
    """One row for each world."""
    queries = QUERIES // 100 if quick else QUERIES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        worlds = make(folder, queries)
        return [_row(folder, world, queries) for world in worlds]


def make(folder: Path, queries: int) -> list[str]:
    """Write the ground truth and a run for each world; the names of the worlds."""
    rng = np.random.default_rng(SEED)
    results = rng.integers(0, 10**6, (queries, DEPTH))
    targets = rng.integers(0, 10**6, (queries, TARGETS)) + 10**6 * np.arange(1, 1 + TARGETS)
    for at in range(TARGETS):
        is_found = rng.random(queries) < 0.85
        place = np.minimum(rng.exponential(2.0, queries).astype(int) * TARGETS + at, DEPTH - 1)
        results[is_found, place[is_found]] = targets[is_found, at]
    truth = _table(targets)
    healthy = _table(results).with_columns(
        score=pl.Series(np.tile(1.0 / np.arange(1, DEPTH + 1), queries))
    )
    is_prefixed = pl.Series(rng.random(healthy.height) < 0.4)
    prefixed = pl.when(is_prefixed).then(pl.format("idx2:{}", "item")).otherwise("item")
    worlds = {
        "healthy": (truth, healthy),
        "reversed": (truth, healthy.with_columns(_table(results[:, ::-1])["item"])),
        "40% with a prefix": (truth, healthy.with_columns(prefixed.alias("item"))),
        "UUIDs": (_as_uuids(truth), _as_uuids(healthy)),
        "addresses": (_as_addresses(truth), _as_addresses(healthy)),
    }
    for name, (wanted, run) in worlds.items():
        wanted.write_parquet(folder / f"{name}, truth.parquet")
        run.write_parquet(folder / f"{name}.parquet")
    return list(worlds)


def _as_uuids(table: pl.DataFrame) -> pl.DataFrame:
    """The same items under names of 32 hexadecimal digits in five groups."""
    texts = [_digits(table["item"], seed) for seed in (1, 2)]
    both = pl.DataFrame({"one": texts[0], "two": texts[1]})
    groups = (("one", 0, 8), ("one", 8, 4), ("one", 12, 4), ("two", 0, 4), ("two", 4, 12))
    parts = [pl.col(name).str.slice(start, length) for name, start, length in groups]
    return table.with_columns(both.select(item=pl.concat_str(parts, separator="-")))


def _digits(names: pl.Series, seed: int) -> list[str]:
    """Sixteen hexadecimal digits for each name."""
    return [f"{value:016x}" for value in names.hash(seed).to_list()]


def _as_addresses(table: pl.DataFrame) -> pl.DataFrame:
    """The same items as pages of a site."""
    return table.with_columns(pl.format("https://docs.example.org/guide/{}", "item").alias("item"))


def _table(items: np.ndarray) -> pl.DataFrame:
    """One row for each item of each query."""
    queries, width = items.shape
    rows = pl.DataFrame({"query": np.repeat(np.arange(queries), width), "item": items.ravel()})
    return rows.select(
        pl.format("q{}", "query").alias("query"), pl.format("d{}", "item").alias("item")
    )


def _row(folder: Path, world: str, queries: int) -> Row:
    """Both commands in turn, the quickest of each."""
    pair = ["-g", str(folder / f"{world}, truth.parquet"), "-r", str(folder / f"{world}.parquet")]
    best: dict[str, Measured] = {}
    for _ in range(TIMES):
        for name in ("eval", "diagnose"):
            now = measure(calipers(name, *pair), times=1)
            best[name] = _better(best.get(name, now), now)
    ours = best["diagnose"]
    peer = best["eval"]
    note = ""
    if ours.cpu_seconds and peer.cpu_seconds and ours.memory_mb and peer.memory_mb:
        note = (
            f"{ours.cpu_seconds / peer.cpu_seconds:.2f} times the processor time of eval, "
            f"{ours.memory_mb / peer.memory_mb:.2f} times its memory"
        )
    return compared(f"diagnose, {world}", f"{queries * DEPTH:,} rows", ours, "eval", peer, note)


def _better(one: Measured, other: Measured) -> Measured:
    """The run that took less processor time, with the higher peak of memory."""
    quicker = min(one, other, key=lambda run: run.cpu_seconds or float("inf"))
    return replace(quicker, memory_mb=max(one.memory_mb or 0.0, other.memory_mb or 0.0))
