"""How time and memory grow with the rows: grouped, in random order, through Spark.

``python -m bench.scale 10000000`` makes a run of so many rows (50 for each query), measures it in
processes of their own, and prints a table. A hundred million rows need 8 GB of disk. Ten million
queries whose scores are written: ``python -m bench.scale 50000000 --depth 5 --targets 1 --cases
per-query,per-query-mixed``. The cases of docs/scale.md: ``--cases table --repeat 3``.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from bench.measure import calipers, processor_seconds

PER_FILE = 5_000_000
METRICS = "recall@10,ndcg@10,mrr"
TABLE = (
    *("grouped", "grouped-large", "mixed-500MB", "html", "save", "sweep", "floor", "diagnose"),
    *("misses", "gate", "compare", "changes", "audit"),
)
"""The cases of the table in docs/scale.md."""


def make(folder: Path, rows: int, depth: int, targets: int) -> None:
    """A ground truth, a run in the order of its queries, and the same rows in random order."""
    queries = rows // depth
    draw = np.random.default_rng(16)
    wanted = draw.integers(0, 10**6, (queries, targets)) + np.arange(targets) * 10**6
    truth = pl.DataFrame(
        {"query": np.repeat(np.arange(queries), targets), "item": wanted.ravel(), "grade": 1.0}
    ).select(_id("q", "query"), _id("d", "item"), "grade")
    spots = draw.permutation(rows)
    # Row groups as polars writes them, and as others do: few, of many rows.
    sizes = {"": 250_000, "-large": PER_FILE}
    with ExitStack() as open_files:
        writers: dict[str, pq.ParquetWriter] = {}
        for start in range(0, rows, PER_FILE):
            end = min(start + PER_FILE, rows)
            for order, places in (("grouped", np.arange(start, end)), ("mixed", spots[start:end])):
                results = _results(places, wanted, depth).to_arrow()
                for size, group in sizes.items():
                    name = order + size
                    if name not in writers:
                        made = pq.ParquetWriter(_run(folder, name), results.schema)
                        writers[name] = open_files.enter_context(made)
                    writers[name].write_table(results, row_group_size=group)
    # Last: where it is, everything is.
    truth.write_parquet(folder / "truth.parquet")


def _run(folder: Path, name: str) -> str:
    return str(folder / f"{name}.parquet")


def _results(places: np.ndarray, wanted: np.ndarray, depth: int) -> pl.DataFrame:
    query, rank = places // depth, places % depth
    item = (places * 2654435761) % 10**6
    # Every third query finds its first target, at a rank of its own.
    hit = (query % 3 == 0) & (rank == query % depth)
    item = np.where(hit, wanted[query, 0], item)
    frame = pl.DataFrame({"query": query, "item": item, "score": 1.0 / (1.0 + rank)})
    return frame.select(_id("q", "query"), _id("d", "item"), "score")


def _id(letter: str, name: str) -> pl.Expr:
    return (pl.lit(letter) + pl.col(name).cast(pl.String)).alias(name)


@dataclass
class Cost:
    """What one command took."""

    seconds: float = 0.0
    processor: float = 0.0
    memory: float = 0.0

    def or_better(self, other: "Cost") -> "Cost":
        """The less time of two runs, and the more memory."""
        return Cost(
            min(self.seconds, other.seconds),
            min(self.processor, other.processor),
            max(self.memory, other.memory),
        )


def measure(command: list[str]) -> Cost:
    """What a command and its processes took."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    cost, processor, begun = Cost(), dict[int, float](), time.perf_counter()
    while process.poll() is None:
        family = _family(process.pid)
        # Nobody waits for the workers of Spark, so each is looked at while it runs.
        processor |= {one: seconds for one in family if (seconds := processor_seconds(one))}
        cost.memory = max(cost.memory, sum(map(_resident, family)))
        time.sleep(0.05)
    if process.returncode:
        said = process.stderr.read().decode() if process.stderr else ""
        raise SystemExit(said[-2000:])
    cost.seconds, cost.processor = time.perf_counter() - begun, sum(processor.values())
    return cost


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


def cases(folder: Path, output: Path) -> dict[str, list[str]]:
    """What is measured, each as the arguments of the command; ``-large``: large row groups.

    What they write goes to the folder ``output``.
    """
    truth = ["-g", str(folder / "truth.parquet")]
    pair = [*truth, "-r", _run(folder, "grouped")]
    two = [_run(folder, name) for name in ("grouped", "grouped-large")]
    common = ["eval", "-g", str(folder / "truth.parquet"), "-m", METRICS]
    written = ("grouped", "mixed", "grouped-large", "mixed-large")
    run = {name: [*common, "-r", _run(folder, name)] for name in written}
    memory = ["--memory", "2GB"]
    return {
        "grouped": run["grouped"],
        "grouped-large": run["grouped-large"],
        "mixed": [*run["mixed"], *memory],
        "mixed-large": [*run["mixed-large"], *memory],
        **{question: [question, *pair] for question in ("sweep", "diagnose", "misses")},
        "floor": ["sweep", "--floor", *pair],
        "html": ["eval", *pair, "--html", str(output / "page.html")],
        "save": ["eval", *pair, "--save", "n", "--store", str(output / "history.db")],
        "mixed-500MB": [*run["mixed"], "--memory", "500MB"],
        "gate": ["gate", *pair, "--require", "recall@10 > 0"],
        "compare": ["compare", *two, *truth],
        "changes": ["compare", "--changes", *two],
        "audit": ["audit", str(folder / "truth.parquet")],
        "convert": ["convert", _run(folder, "grouped"), str(output / "run.jsonl")],
        "per-query": [*run["grouped"], "--per-query", str(output / "scores.parquet")],
        "per-query-mixed": [*run["mixed"], *memory, "--per-query", str(output / "scores.parquet")],
    }


_BY_SPARK = """
import sys, calipers
from pyspark.sql import SparkSession
truth, run, metrics, memory = sys.argv[1:]
made = SparkSession.builder.master("local[2]").config("spark.driver.memory", memory)
spark = made.config("spark.ui.enabled", "false").getOrCreate()
tables = {"ground_truth": spark.read.parquet(truth), "run": spark.read.parquet(run)}
print(calipers.evaluate(**tables, metrics=metrics))
"""


def by_spark(folder: Path, memory: str) -> list[str]:
    """The whole program that measures the run in random order with Spark."""
    files = (str(folder / "truth.parquet"), _run(folder, "mixed"))
    return [sys.executable, "-c", _BY_SPARK, *files, METRICS, memory]


def main() -> None:
    """Print seconds and memory of the cases asked for."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("rows", type=lambda text: int(float(text)), nargs="?", default=10**7)
    asked.add_argument(
        "--cases",
        default="grouped,grouped-large,mixed,mixed-large",
        help=f"also per-query,per-query-mixed,spark,convert, or table: {','.join(TABLE)}",
    )
    asked.add_argument("--depth", type=int, default=50, help="the results of each query")
    asked.add_argument("--targets", type=int, default=2, help="the targets of each query")
    asked.add_argument("--repeat", type=int, default=1)
    asked.add_argument("--spark-memory", default="2g", help="the memory of Spark's driver")
    asked.add_argument("--folder", type=Path, help="make the files here, and leave them")
    given = asked.parse_args()
    output = Path(tempfile.mkdtemp(prefix="calipers-scale-"))
    folder = given.folder or output / "input"
    try:
        if not (folder / "truth.parquet").is_file():
            folder.mkdir(exist_ok=True)
            make(folder, given.rows, given.depth, given.targets)
        wanted = given.cases.replace("table", ",".join(TABLE)).split(",")
        print(f"{given.rows:,} rows, {given.rows // given.depth:,} queries")
        os.environ.setdefault("TMPDIR", str(output))
        known = {name: calipers(*one) for name, one in cases(folder, output).items()}
        known["spark"] = by_spark(folder, given.spark_memory)
        found: dict[str, Cost] = {}
        for name in wanted * given.repeat:
            one = measure(known[name])
            found[name] = one.or_better(found.get(name, one))
            print(f"{name} …", file=sys.stderr, flush=True)
        print("| case | time | processor | memory |\n|---|---|---|---|")
        for title, one in found.items():
            print(
                f"| {title} | {one.seconds:.1f} s | {one.processor:.1f} s | {one.memory:,.0f} MB |"
            )
    finally:
        shutil.rmtree(output)


if __name__ == "__main__":
    main()
