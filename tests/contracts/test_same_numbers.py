"""The same rows in any order, form or number of threads: the same to the last bit."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from tests.contracts.pairs import answers, as_text
from tests.contracts.recorded_inputs import INPUTS, altered

ROOT = Path(__file__).parents[2]
FORMS = (".jsonl", ".csv", ".trec", ".mixed")
LEFT_OUT = ("settings", "policy", "fingerprints", "notes", "audit", "warnings")
"""What tells of the form: how equal scores are ordered depends on it, for one."""


def write(folder: Path, records: list[dict[str, Any]], name: str, *, plain: bool) -> None:
    """A run in one file in order, and in every form in no order; plain: ids and scores alone."""
    rows = [
        {"query": one["id"], "item": found["id"], **({} if plain else found), "score": score}
        for one in records
        # No two scores are equal: files order those differently.
        for score, found in zip(range(99, 0, -1), one["retrieved"], strict=False)
    ]
    for row in rows:
        row.pop("id", None)
    run = pl.DataFrame(rows, infer_schema_length=None)
    run.write_parquet(folder / f"{name}.parquet")
    mixed = run.sample(fraction=1.0, shuffle=True, seed=3)
    mixed.write_csv(folder / f"{name}.csv")
    mixed.write_ndjson(folder / f"{name}.jsonl")
    lines = (f"{one['query']} Q0 {one['item']} 0 {one['score']} run\n" for one in mixed.to_dicts())
    (folder / f"{name}.trec").write_text("".join(lines))
    mixed.write_parquet(folder / f"{name}.mixed")


@pytest.fixture(scope="module", params=("ids", "quotes", "spans"))
def data(request: Any, tmp_path_factory: Any) -> tuple[Path, dict[str, Any]]:
    """A folder with two runs in every form, and what is answered of them in order."""
    folder = tmp_path_factory.mktemp(request.param)
    records = INPUTS[request.param]()
    truth = [{k: one[k] for k in ("id", "query", "tags", "ground_truth")} for one in records]
    random.Random(3).shuffle(truth)
    (folder / "truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in truth))
    for name, lists in (("old", records), ("new", altered(records))):
        write(folder, lists, name, plain=request.param == "ids")
    return folder, answered(folder, ".parquet")


def answered(folder: Path, form: str) -> dict[str, Any]:
    """What every question says of both runs, without what tells of their form."""
    runs = [f"{folder}/{name}{form}" for name in ("old", "new")]
    one, other = (calipers.read(ground_truth=folder / "truth.jsonl", run=run) for run in runs)
    said = as_text(answers(one, other))
    for run in runs:
        said = said.replace(run, "RUN")
    found: dict[str, Any] = _numbers(json.loads(said))
    return found


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbers(one) for name, one in value.items() if name not in LEFT_OUT}
    return [_numbers(one) for one in value] if isinstance(value, list) else value


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    assert sum(isinstance(answer, dict) for answer in expected.values()) > 8, "few are refused"
    for name, answer in expected.items():
        assert found[name] == answer, name


def test_in_any_order_of_rows_and_any_form(data: Any, monkeypatch: Any) -> None:
    folder, expected = data
    monkeypatch.setattr("calipers.questions.shown_results.ROWS_AT_ONCE", 5)
    for form in FORMS if folder.name.startswith("ids") else (".mixed",):
        same(answered(folder, form), expected)


@pytest.mark.parametrize("data", ["ids"], indirect=True)
def test_with_one_thread(data: Any) -> None:
    folder, expected = data
    code = "import sys; from tests.contracts.test_same_numbers import *; "
    code += "print(json.dumps(answered(Path(sys.argv[1]), '.parquet')))"
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", code, folder],
        env={**os.environ, "POLARS_MAX_THREADS": "1", "PYTHONPATH": paths},
        capture_output=True,
        check=True,
    )
    same(json.loads(done.stdout), expected)
