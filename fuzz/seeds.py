"""Valid files: one of every form that can be written or is kept among the data of the tests."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMS = Path(__file__).parent.parent / "tests" / "data" / "formats"
SEARCH = """def search(query: str, k: int) -> list[str]:
    return [f"d{i}" for i in range(k)]


def stepping(step: int):
    return lambda query, k: [f"d{i * step}" for i in range(k)]
"""
TOML = """metrics = "recall@3,mrr"
k = [1, 3]
missing = "zero"
store = "history.db"

[weights]
"recall@3" = 0.5

[gate]
require = ["recall@3 >= 0.1"]
tolerance = 0.1
"""
GRID = """ground-truth = "evals.jsonl"
metrics = "recall@3"

[grid]
k = 3

[grid.params]
step = [1, 2]

[grid.retrievers.plain]
make = "search.py:stepping"
"""


@dataclass(frozen=True)
class Seeds:
    """What a case begins with."""

    common: dict[str, bytes]
    """Files that commands and calls read, there in every case of options and calls."""
    forms: dict[str, bytes]
    """One valid file of every form, by the name it has on disk."""
    typed: dict[str, bytes]
    """Tables of Arrow and Parquet in which one column has an odd type."""


def write_seeds(folder: Path) -> None:
    """Everything, in a folder; this uses the table library, so it runs in a process of its own."""
    import os

    import calipers
    from calipers.errors import CalipersError
    from calipers.io.registry import built_in, writers

    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for name in ("common", "forms", "typed"):
        Path(name).mkdir()
    _write_typed(Path("typed"))
    _write_common(Path("common"))
    os.chdir("common")
    pair = calipers.read("evals.jsonl")
    scores = calipers.evaluate(pair, metrics="recall@3,mrr")
    for day in (1, 2):
        calipers.save(
            scores,
            "nightly",
            tags={"night": f"{day}"},
            ground_truth=pair.ground_truth,
            run=pair.run,
            store="history.db",
            now=datetime(2026, 1, day, 6, tzinfo=UTC),
        )
    calipers.gate_save("evals.jsonl", to="main.json", metrics="recall@3,mrr")
    calipers.retrieve("search.py:search", "evals.jsonl", k=3, output="run.jsonl")
    calipers.labels_pool("pool", ["evals.jsonl"], depth=3, store="history.db")
    os.chdir("..")
    for name, writer in writers(built_in()).items():
        ending = next(iter(writer.output.endings), ".json")
        try:
            calipers.convert("common/evals.jsonl", f"forms/{name}{ending}", to=name)
        except CalipersError:
            continue  # a form of one part alone; the data of the tests has it
    for path in sorted(FORMS.iterdir()):
        if path.is_file():
            Path("forms", path.name).write_bytes(path.read_bytes())


def read_seeds(folder: Path) -> Seeds:
    """What :func:`write_seeds` wrote."""
    common, forms, typed = (
        {
            path.name: path.read_bytes()
            for path in sorted((folder / name).iterdir())
            if path.is_file()
        }
        for name in ("common", "forms", "typed")
    )
    return Seeds(common, forms, typed)


def _write_typed(folder: Path) -> None:
    """A table for every odd type and every column that could have it, with rows and without."""
    from datetime import date, time, timedelta
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    usual: dict[str, Any] = {
        "query": pa.array(["q1", "q2"]),
        "item": pa.array(["d1", "d2"]),
        "score": pa.array([0.5, 0.25]),
        "retrieved": pa.array([["d1"], ["d2"]]),
        "ground_truth": pa.array([["d1"], ["d3"]]),
    }
    odd: dict[str, Any] = {
        "decimal256": pa.array([Decimal(1), None], pa.decimal256(50, 3)),
        "decimal128": pa.array([Decimal(1), Decimal(2)], pa.decimal128(20, 1)),
        "int8": pa.array([1, None], pa.int8()),
        "uint64": pa.array([2**64 - 1, 0], pa.uint64()),
        "float16": pa.array([0.5, float("nan")], pa.float16()),
        "bool": pa.array([True, None]),
        "null": pa.nulls(2),
        "date": pa.array([date(2026, 1, 1), None]),
        "time": pa.array([time(1), None]),
        "duration": pa.array([timedelta(1), None]),
        "timestamp": pa.array([1, 2], pa.timestamp("ns", "Europe/Berlin")),
        "binary": pa.array([b"\xff", b"d1"]),
        "large_text": pa.array(["d1", "d2"], pa.large_string()),
        "dictionary": pa.array(["d1", "d2"]).dictionary_encode(),
        "map": pa.array([[("d1", 1)], []], pa.map_(pa.string(), pa.int64())),
        "struct": pa.array([{"id": "d1"}, None]),
        "numbers": pa.array([[1, None], []], pa.list_(pa.int64())),
        "fixed": pa.array([["d1", "d2"], None], pa.list_(pa.string(), 2)),
        "structs": pa.array([[{"id": "d1", "score": None}], None]),
        "nested": pa.array([[["d1"]], [[]]]),
        "dates": pa.array([[date(2026, 1, 1)], None]),
    }
    wide, long = ("query", "retrieved", "ground_truth"), ("query", "item", "score")
    for kind, column in odd.items():
        for shape in (wide, long):
            for name in shape:
                table = pa.table({one: column if one == name else usual[one] for one in shape})
                stem = f"{kind}-{name}-{len(table.column_names)}-{shape is wide:d}"
                pa.feather.write_feather(
                    table, folder / f"{stem}.arrow", compression="uncompressed"
                )
                try:
                    pa.parquet.write_table(table, folder / f"{stem}.parquet")
                    pa.parquet.write_table(table.slice(0, 0), folder / f"{stem}-empty.parquet")
                except pa.ArrowException:
                    continue  # not every type of Arrow is one of Parquet


def small_records(n: int) -> list[dict[str, Any]]:
    """Records whose queries find some of what they should, at different ranks."""
    return [
        {
            "id": f"q{i}",
            "query": f"question number {i}",
            "retrieved": [
                {"id": f"d{(i * 7 + j) % 20}", "text": f"text {(i * 7 + j) % 20}"} for j in range(5)
            ],
            "ground_truth": {f"d{(i * 7 + i % 5) % 20}": 1, f"d{(i * 3) % 20}": 2},
            "tags": {"type": "odd" if i % 2 else "even"},
        }
        for i in range(n)
    ]


def _write_common(folder: Path) -> None:
    records = small_records(8)
    turned = [{**one, "retrieved": one["retrieved"][::-1]} for one in records]
    chunks = [{"id": f"d{i}", "text": f"text {i}"} for i in range(20)]
    labels = [
        {"query_id": f"q{i}", "query": "Who?", "item": f"d{i}", "grade": i % 3, "judge": "anna"}
        for i in range(6)
    ]
    others = [{**one, "judge": "bo", "grade": 1} for one in labels]
    quoted = [{"query": "What is the GIL?", "ground_truth": [{"quote": "text 7"}]}]
    for name, rows in (
        ("evals", records),
        ("turned", turned),
        ("chunks", chunks),
        ("anna", labels),
        ("bo", others),
        ("quoted", quoted),
    ):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    (folder / "search.py").write_text(SEARCH)
    (folder / "calipers.toml").write_text(TOML)
    (folder / "grid.toml").write_text(GRID)
    (folder / "map.csv").write_text("from,to\n" + "".join(f"d{i},d{i}\n" for i in range(20)))
