"""Every question, every kind of ground truth, every way to read a run: the same answer.

By hand, as it takes minutes: ``pytest -v tests/contracts/equality.py``; on Spark, too, with
``CALIPERS_SPARK=classic`` or ``connect``. The small part of it is in ``test_blocks``,
``test_elsewhere`` and the tests of Spark.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from calipers.model.matched import Matched
from tests.contracts.pairs import answers, as_text, pairs, worse
from tests.engines.spark_frames import FILTERS, frame_of
from tests.io.files.test_remote import _parquet, _put, store  # noqa: F401 - a fixture

pytestmark = FILTERS
DEPTH = 30
"""The results of the longest list."""
BLOCKS = (1, 7, 1_000)
PARTITIONS = (1, 2, 8, 33)
WAYS = (
    *(f"blocks of {n}" for n in BLOCKS),
    "rows in random order",
    "many files",
    "object store",
    *(f"Spark, {n} partitions" for n in PARTITIONS),
)


@cache
def in_memory(name: str) -> dict[str, Any]:
    """What every question says of tables in memory."""
    truth, run, how = pairs()[name]
    both = [calipers.read(ground_truth=truth, run=one, **how) for one in (run, worse(run))]
    return answers(*both)


def written(run: pl.DataFrame, way: str, folder: Path, request: Any) -> Any:
    """The run in files, where the way needs them so."""
    if way == "rows in random order":
        run = run.sample(fraction=1.0, shuffle=True, seed=3)
    parts = [run[start : start + 17] for start in range(0, run.height, 17)]
    if way == "object store":
        address = request.getfixturevalue("store")
        environment = request.getfixturevalue("monkeypatch").setenv
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment(name, "testing")
        environment("AWS_ENDPOINT_URL", address)
        environment("AWS_REGION", "us-east-1")
        environment("AWS_ALLOW_HTTP", "true")
        for number, part in enumerate(parts):
            _put(address, f"bucket/{folder.name}/part-{number:04}.parquet", _parquet(part))
        return f"s3://bucket/{folder.name}/"
    folder.mkdir()
    for number, part in enumerate(parts if way == "many files" else [run]):
        part.write_parquet(folder / f"part-{number:04}.parquet")
    return folder


def read(name: str, way: str, tmp_path: Path, request: Any) -> list[Matched]:
    """A pair and another one with a worse run, both read in one way."""
    truth, run, how = pairs()[name]
    patch = request.getfixturevalue("monkeypatch").setattr
    if way.startswith("Spark"):
        session, n = request.getfixturevalue("session"), int(way.split()[1])
        session.conf.set("spark.sql.shuffle.partitions", str(n))
        mixed = [
            frame_of(session, one.sample(fraction=1.0, shuffle=True, seed=n))
            for one in (truth, run, worse(run))
        ]
        return [calipers.read(ground_truth=mixed[0], run=one, **how) for one in mixed[1:]]
    if way.startswith("blocks"):
        queries = int(way.split()[-1])
        rows = 1 if queries == 1 else queries * DEPTH
        patch("calipers.questions.shown_results.ROWS_AT_ONCE", rows)
        patch("calipers.io.tables.scan.SOME_ROWS", rows)
        patch("calipers.io.tables.scan.STRETCH", 1)
    patch("calipers.questions.inputs.MOST_KEPT", 0)
    truth.write_parquet(tmp_path / "truth.parquet")
    return [
        calipers.read(
            ground_truth=tmp_path / "truth.parquet",
            run=written(one, way, tmp_path / f"{name.replace(' ', '-')}-{number}", request),
            keep=False,
            **how,
        )
        for number, one in enumerate((run, worse(run)))
    ]


@pytest.mark.parametrize("name", pairs())
@pytest.mark.parametrize("way", WAYS)
def test_the_same_answer(way: str, name: str, tmp_path: Path, request: Any) -> None:
    here = in_memory(name)
    there = answers(*read(name, way, tmp_path, request))
    different = {
        question: (plain(answer, way), plain(there[question], way))
        for question, answer in here.items()
        if plain(answer, way) != plain(there[question], way)
    }
    assert not different


def plain(answer: Any, way: str) -> str:
    """An answer as text; of rows in another order, others may be the first unknown queries."""
    text = as_text(answer)
    if way == "rows in random order":
        text = re.sub(r'"unknown_examples": \[[^\]]*\]', "", text)
    return text
