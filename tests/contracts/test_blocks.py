"""Every question over a run in many files, in any order, also in an object store: one answer."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from tests.contracts.pairs import answers, as_text
from tests.contracts.recorded_inputs import INPUTS
from tests.io.files.test_remote import _put, store  # noqa: F401 - a fixture

PART = 17


@pytest.fixture(scope="module", params=("ids", "quotes", "spans"))
def data(request: Any, tmp_path_factory: Any) -> tuple[Path, dict[str, str]]:
    """A folder with a run in one file and in many, and what is answered of the one."""
    folder = tmp_path_factory.mktemp(request.param)
    records = INPUTS[request.param]()
    truth = [{k: one[k] for k in ("id", "query", "tags", "ground_truth")} for one in records]
    (folder / "truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in truth))
    rows = [{"query": one["id"], **found} for one in records for found in one["retrieved"]]
    run = pl.DataFrame(rows, infer_schema_length=None).rename({"id": "item"})
    run.write_parquet(folder / "run.parquet")
    mixed = run.sample(fraction=1.0, shuffle=True, seed=3)
    (folder / "many").mkdir()
    for start in range(0, run.height, PART):
        mixed[start : start + PART].write_parquet(folder / "many" / f"part-{start:04}.parquet")
    return folder, answered(folder, folder / "run.parquet")


def answered(folder: Path, run: Path | str) -> dict[str, str]:
    """What every question says, without the names of files."""
    pair = calipers.read(ground_truth=folder / "truth.jsonl", run=run)
    found = answers(pair, pair).items()
    return {name: as_text(answer).replace(str(run), "RUN") for name, answer in found}


def test_rows_in_any_order_and_many_files(data: Any, monkeypatch: Any) -> None:
    folder, whole = data
    monkeypatch.setattr("calipers.questions.shown_results.ROWS_AT_ONCE", 5)
    assert answered(folder, folder / "many") == whole


def test_an_object_store(data: Any, store: str, monkeypatch: Any) -> None:  # noqa: F811
    folder, whole = data
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", store)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    for part in sorted((folder / "many").iterdir()):
        _put(store, f"bucket/{folder.name}/{part.name}", part.read_bytes())
    assert answered(folder, f"s3://bucket/{folder.name}/") == whole
