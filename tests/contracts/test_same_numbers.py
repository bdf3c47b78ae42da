"""The same data in any row order, file format or number of threads: the same to the last bit."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.contracts.answers_of import FOUND_AT, answers

ROOT = Path(__file__).parents[2]
FORMATS = (".jsonl", ".csv", ".parquet", ".trec")


def write(folder: Path, shuffled: random.Random | None = None) -> None:
    truth = [
        {
            "id": f"q{i}",
            "query": "question " * (1 + i % 4) + f"{i}",
            "ground_truth": {"target": 2, f"other{i % 2}": 1},
            "tags": {"type": "odd" if i % 2 else "even", "intent": f"{i // 3}"},
        }
        for i in range(len(FOUND_AT))
    ]
    if shuffled:
        shuffled.shuffle(truth)
    (folder / "truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in truth))
    for name, shift in (("old", 0), ("new", 7)):
        found = [*FOUND_AT[shift:], *FOUND_AT[:shift]]
        lists = {
            f"q{i}": [
                "target" if rank == place else "other1" if rank == 10 else f"x{rank}"
                for rank in range(1, 11)
            ]
            for i, place in enumerate(found)
        }
        rows = [(q, rank, item) for q, items in lists.items() for rank, item in enumerate(items, 1)]
        records = [{"query": q, "retrieved": items} for q, items in lists.items()]
        if shuffled:
            shuffled.shuffle(rows)
            shuffled.shuffle(records)
        table = pl.DataFrame(rows, schema=["query_id", "rank", "item"], orient="row")
        table.write_csv(folder / f"{name}.csv")
        table.write_parquet(folder / f"{name}.parquet")
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        (folder / f"{name}.trec").write_text(
            "".join(f"{q} Q0 {item} {rank} {100 - rank} run\n" for q, rank, item in rows)
        )


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    write(folder)
    return answers(folder, ".jsonl")


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, answer in expected.items():
        assert found[name] == answer, name


@pytest.mark.parametrize("form", FORMATS)
def test_in_any_order_of_rows_and_any_file_format(form, expected, tmp_path):
    write(tmp_path, random.Random(form))
    same(answers(tmp_path, form), expected)


def test_with_one_thread(expected, tmp_path):
    write(tmp_path)
    program = [sys.executable, str(Path(__file__).with_name("answers_of.py")), tmp_path, ".csv"]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    made = subprocess.run(
        program,
        env={**os.environ, "POLARS_MAX_THREADS": "1", "PYTHONPATH": paths},
        capture_output=True,
        check=True,
    )
    same(json.loads(made.stdout), expected)
