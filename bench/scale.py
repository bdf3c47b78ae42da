"""How time and memory grow with the rows: grouped, in random order, and through Spark.

``python -m bench.scale 10000000`` makes a run of so many rows (50 for each query), measures it in
processes of their own, and prints a table. A hundred million rows need 6 GB of disk.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

DEPTH = 50
PER_FILE = 5_000_000
METRICS = "recall@10,ndcg@10,mrr"


def make(folder: Path, rows: int) -> None:
    """A ground truth, a run in the order of its queries, and the same rows in random order."""
    queries = rows // DEPTH
    draw = np.random.default_rng(16)
    wanted = draw.integers(0, 10**6, (queries, 2))
    wanted[:, 1] += 10**6
    pl.DataFrame(
        {"query": np.repeat(np.arange(queries), 2), "item": wanted.ravel(), "grade": 1.0}
    ).select(_id("q", "query"), _id("d", "item"), "grade").write_parquet(folder / "truth.parquet")
    for name in ("grouped", "mixed"):
        (folder / name).mkdir()
    spots = draw.permutation(rows)
    for number, start in enumerate(range(0, rows, PER_FILE)):
        end = min(start + PER_FILE, rows)
        for name, places in (("grouped", np.arange(start, end)), ("mixed", spots[start:end])):
            _results(places, wanted).write_parquet(folder / name / f"part-{number:03}.parquet")


def _results(places: np.ndarray, wanted: np.ndarray) -> pl.DataFrame:
    query, rank = places // DEPTH, places % DEPTH
    item = (places * 2654435761) % 10**6
    # Every third query finds its first target, at a rank of its own.
    hit = (query % 3 == 0) & (rank == query % DEPTH)
    item = np.where(hit, wanted[query, 0], item)
    frame = pl.DataFrame({"query": query, "item": item, "score": 1.0 / (1.0 + rank)})
    return frame.select(_id("q", "query"), _id("d", "item"), "score")


def _id(letter: str, name: str) -> pl.Expr:
    return (pl.lit(letter) + pl.col(name).cast(pl.String)).alias(name)


def measure(arguments: list[str]) -> tuple[float, float]:
    """Seconds and the largest memory in MB of a command, with all the processes it starts."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", "from calipers.cli import main; main()", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    largest = 0.0
    while process.poll() is None:
        largest = max(largest, sum(_resident(one) for one in _family(process.pid)))
        time.sleep(0.05)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(process.stderr.read().decode()[-2000:])
    return seconds, largest


def _family(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    with_spark = "--spark" in sys.argv
    folder = Path(tempfile.mkdtemp(prefix="calipers-scale-"))
    try:
        make(folder, rows)
        common = ["eval", "-g", str(folder / "truth.parquet"), "-m", METRICS]
        cases = {
            "grouped": [*common, "-r", str(folder / "grouped")],
            "in random order, --memory 2GB": [
                *common, "-r", str(folder / "mixed"), "--memory", "2GB", "--temp", str(folder)],
        }  # fmt: skip
        if with_spark:
            cases["Spark local[2]"] = [
                *common,
                "-r",
                str(folder / "mixed"),
                "--engine",
                "spark",
                "--master",
                "local[2]",
            ]
        print(f"{rows:,} rows, {rows // DEPTH:,} queries")
        for name, arguments in cases.items():
            seconds, memory = measure(arguments)
            print(f"{name:32} {seconds:8.1f} s {memory:8.0f} MB", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
