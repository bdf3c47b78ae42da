"""calipers eval --per-query of very many queries: the same answers, written as they come."""

from typing import Any

import polars as pl
import pytest

from calipers.engines import in_blocks
from calipers.engines.in_blocks import measure
from tests.command import calipers_command, refused
from tests.contracts.test_engines import made_tables

MANY = "calipers.engines.in_blocks.MANY_QUERIES"


@pytest.fixture
def files(tmp_path):
    tables = made_tables()
    number = tables.truth["query"].str.slice(1).cast(pl.Int64)
    truth = tables.truth.with_columns(
        (number % 3).cast(pl.String).alias("tag.land"), (number % 40).alias("tag.cell")
    )
    truth.with_columns(pl.col("tag.cell").cast(pl.String)).write_parquet(tmp_path / "truth.parquet")
    write_run(tmp_path, tables.run)
    return tmp_path


def write_run(folder, run) -> None:
    (folder / "run").mkdir(exist_ok=True)
    for i, part in enumerate(run.iter_slices(run.height // 3 + 1)):
        part.write_parquet(folder / "run" / f"part-{i}.parquet")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    usual = in_blocks.evaluate_in_blocks.__kwdefaults__
    monkeypatch.setattr(in_blocks.evaluate_in_blocks, "__kwdefaults__", {**usual, "rows": 50})


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(MANY, 1)


def common(files) -> list[Any]:
    return ["eval", "-g", files / "truth.parquet", "-r", files / "run"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--by", "lnad"), "no tag 'lnad'; they can be cut by land, cell"),
        (("--by", "length"), "cannot be cut by length"),
        (("--by", "land", "--primary", "mrr@3"), "primary metric 'mrr@3'"),
        (("--unknown", "error"), "unknown=error forbids it"),
        (("--ties", "error"), "ties=error all scores of a query must differ"),
        (("--confidence", "2"), "confidence of the intervals is 2.0"),
        (("-m", "iou@3"), "were not matched by span"),
    ],
)
def test_what_is_refused_leaves_no_file(files, monkeypatch, options, sentence):
    said = []
    for many in (10**6, 1):
        monkeypatch.setattr(MANY, many)
        printed = calipers_command(*common(files), "--per-query", files / "s.parquet", *options)
        assert (printed.code, printed.out) == (2, "")
        said.append(" ".join(printed.err.split()))
    assert said[0] == said[1]
    assert sentence in said[1]
    assert {one.name for one in files.iterdir()} == {"truth.parquet", "run"}


def test_nothing_in_common_is_said_and_leaves_no_file(files, few_are_many):
    write_run(files, made_tables().run.with_columns(pl.format("doc {}", "item").alias("item")))
    said = refused(*common(files), "--per-query", files / "scores.parquet")
    assert "no item id in common" in said
    assert {one.name for one in files.iterdir()} == {"truth.parquet", "run"}


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (ValueError("x"), 70)])
def test_what_stops_the_measuring_leaves_the_old_file(
    files, monkeypatch, few_are_many, error, code
):
    (files / "scores.parquet").write_text("as it was")
    calls = []

    def stops(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 3:
            raise error
        return measure(*given)

    monkeypatch.setattr(in_blocks, "measure", stops)
    done = calipers_command(*common(files), "--per-query", files / "scores.parquet")
    assert (done.code, done.out) == (code, "")
    assert (files / "scores.parquet").read_text() == "as it was"
    assert {one.name for one in files.iterdir()} == {"truth.parquet", "run", "scores.parquet"}
