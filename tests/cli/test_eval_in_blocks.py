"""calipers eval --per-query of very many queries: the same answers, written as they come."""

import json
from typing import Any

import polars as pl
import pytest

from calipers.engines import in_blocks
from calipers.engines.blocks import measure
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


def printed_both_ways(files, monkeypatch, *options) -> tuple[Any, Any]:
    found = []
    for many, name in ((10**6, "memory"), (1, "blocks")):
        monkeypatch.setattr(MANY, many)
        found.append(
            calipers_command(*common(files), "--per-query", files / f"{name}.parquet", *options)
        )
    return found[0], found[1]


@pytest.mark.parametrize(
    ("options", "is_mixed"),
    [
        (("--by", "land", "--by", "targets"), True),
        (("--csv", "-m", "recall@5,mrr", "--score", "recall@5=2,mrr=1"), False),
        (("--csv", "--by", "land", "--primary", "ndcg@5", "-k", "5"), True),
        (("--explain", "--confidence", "0.8", "--missing", "exclude", "--rel", "2"), False),
        (("--json", "--by", "land", "-k", "3"), True),
    ],
)
def test_what_is_printed_is_the_same(files, monkeypatch, options, is_mixed):
    if is_mixed:
        write_run(files, made_tables().run.sample(fraction=1.0, shuffle=True, seed=7))
    memory, blocks = printed_both_ways(files, monkeypatch, *options)
    assert (blocks.code, blocks.err) == (memory.code, memory.err) == (0, "")
    if "--json" in options:
        ours, theirs = json.loads(blocks.out), json.loads(memory.out)
        for one in (ours, theirs):
            one["per_query"].sort(key=lambda row: row["query"])
        assert (ours, list(ours)) == (theirs, list(theirs))
    else:
        assert blocks.out == memory.out
    tables = [pl.read_parquet(files / f"{name}.parquet") for name in ("memory", "blocks")]
    assert tables[0].sort("query").equals(tables[1].sort("query"))
    # Missing queries come last: so they were measured in blocks.
    assert tables[1]["status"].to_list()[-12:] == ["missing"] * 12
    assert tables[0]["status"].to_list()[-12:] != ["missing"] * 12


@pytest.mark.parametrize(
    ("options", "is_written"),
    [
        (("--markdown", "short.md"), True),
        (("--cluster", "land"), True),
        (("--corrected-by", "truth.parquet", "--sampled", "all"), True),
        (("--level", "all"), False),
    ],
)
def test_what_looks_into_the_pair_is_measured_in_memory(
    files, monkeypatch, few_are_many, options, is_written
):
    monkeypatch.setattr("calipers.engines.in_blocks.evaluate_in_blocks", None)
    monkeypatch.chdir(files)
    done = calipers_command(*common(files), "--per-query", "scores.parquet", *options)
    assert done.code == (0 if is_written else 2), done.err
    assert (files / "scores.parquet").exists() == is_written


def test_other_forms_and_records_are_written_as_before(files, monkeypatch, few_are_many):
    monkeypatch.setattr("calipers.engines.in_blocks.evaluate_in_blocks", None)
    assert calipers_command(*common(files), "--per-query", files / "scores.csv").code == 0
    record = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}
    (files / "evals.jsonl").write_text(json.dumps(record))
    done = calipers_command("eval", files / "evals.jsonl", "--per-query", files / "s.parquet")
    assert done.code == 0, done.err


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
    memory, blocks = printed_both_ways(files, monkeypatch, *options)
    assert (blocks.code, blocks.out) == (2, "")
    assert sentence in " ".join(blocks.err.split())
    assert blocks.err == memory.err
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


@pytest.mark.parametrize(("form", "is_mixed"), [("csv", True), ("jsonl", False), ("trec", True)])
def test_every_form_of_a_large_run(files, monkeypatch, form, is_mixed):
    run = made_tables().run.unique(["query", "item"], maintain_order=True)
    run = run.sample(fraction=1.0, shuffle=True, seed=7) if is_mixed else run
    path = files / f"run.{form}"
    if form == "trec":
        rows = [f"{q} Q0 {d} 0 {score} me\n" for q, d, score in run.iter_rows()]
        path.write_text("".join(rows))
    elif form == "csv":
        run.write_csv(path)
    else:
        run.write_ndjson(path)
    found = []
    for many, name in ((10**6, "memory"), (1, "blocks")):
        monkeypatch.setattr(MANY, many)
        scores = files / f"{name}.parquet"
        done = calipers_command(
            "eval", "-g", files / "truth.parquet", "-r", path, "--json", "--per-query", scores
        )
        assert (done.code, done.err) == (0, "")
        found.append({**json.loads(done.out), "per_query": None})
        assert pl.read_parquet(scores)["status"].to_list()[-1] == (
            "missing" if name == "blocks" else "answered"
        )
    assert found[0] == found[1]
