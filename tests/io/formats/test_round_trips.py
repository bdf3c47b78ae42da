"""From our form to another and back: what the other form can hold is the same again."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers import Run, convert
from calipers.io.formats.trec import encoded
from calipers.io.load import load
from calipers.io.registry import built_in
from calipers.io.tables.columns import Columns
from calipers.io.tables.lines import ENCODED
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from tests.io.formats.datasets import PLAIN_TARGETS, SAFE_ID, TARGETS, records

EXAMPLES = 2 * settings().max_examples
"""Over all the endings together."""
LOSSLESS = [".jsonl", ".json", ".jsonl.gz", ".csv", ".tsv", ".csv.gz", ".parquet"]


@contextmanager
def converted(rows: Any, name: str, to: str | None = None, **inputs: Any) -> Iterator[Path]:
    """The rows written in another form, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        convert(rows, path, to=to, **inputs)
        yield path


def truth_of(value: Any, role: Role = "both") -> GroundTruth:
    found = load(value, role).ground_truth
    assert found is not None
    return found


def facts(dataset: Dataset) -> dict[str, Any]:
    """Everything a dataset holds, as plain values."""
    truth, run = dataset.ground_truth, dataset.run
    found: dict[str, Any] = {}
    if truth is not None:
        found["fingerprint"] = truth.fingerprint
        found["texts"] = truth.queries.rows()
        found["tags"] = _tags(truth)
    if run is not None:
        assert run.queries is not None
        found["results"] = _rows(run)
        found["queries"] = run.queries.rows()
        found["stages"] = {name: _rows(stage) for name, stage in run.stages.items()}
    return found


def _tags(truth: GroundTruth) -> dict[str, list[Any]]:
    """Tags by query; a tag that no query has is none."""
    return {
        name: column.to_list()
        for name, column in sorted(truth.tags.items())
        if column.null_count() < len(column)
    }


def _rows(run: Run) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in row.items() if value is not None}
        for row in run.frame.to_dicts()
    ]


@given(
    st.sampled_from(LOSSLESS), st.one_of(records(), records(targets=None), records(results=None))
)
@settings(max_examples=EXAMPLES)
def test_forms_that_hold_everything(suffix, rows):
    before = load(rows, "both")
    with converted(rows, f"out{suffix}") as path:
        assert facts(load(path, "both")) == facts(before)


@given(records(targets=PLAIN_TARGETS, results=SAFE_ID, ids=SAFE_ID))
def test_trec_holds_ids_grades_and_the_order(rows):
    before = load(rows, "both")
    assert before.ground_truth is not None
    assert before.run is not None
    targets, results = before.ground_truth.targets, before.run.frame
    if not targets.height or not results.height:
        return
    with converted(rows, "out.qrels") as path:
        truth = truth_of(path)
        convert(rows, path.with_suffix(".run"))
        run = load(path.with_suffix(".run"), "both").run
        assert run is not None
        assert truth.fingerprint == GroundTruth.from_targets(targets).fingerprint
        assert (
            run.frame.select("query", "rank", "item").rows()
            == results.select("query", "rank", "item").rows()
        )


@given(records(targets=TARGETS, results=None))
def test_ids_with_blanks_reach_trec_as_in_a_web_address(rows):
    targets = truth_of(rows).targets.drop_nulls("item")
    if not targets.height:
        return
    with converted(rows, "out.qrels") as path:
        lines = [line.split(" ") for line in path.read_text().splitlines()]
    rows = targets.select("query", "item", "grade").rows()
    # One file is written in one way, and its second column says which.
    is_encoded = any(map(_is_unsafe, [*targets["query"], *targets["item"]]))
    written = _web if is_encoded else str
    expected = [[written(query), written(item), f"{grade:g}"] for query, item, grade in rows]
    assert [[query, item, grade] for query, _, item, grade in lines] == expected
    assert {subtopic for _, subtopic, *_ in lines} == {ENCODED if is_encoded else "0"}


def _is_unsafe(text: str) -> bool:
    return text[0] == "#" or any(sign in text for sign in "\t\n ")


def _web(text: str) -> str:
    return encoded(text) if _is_unsafe(text) or "%" in text else text


@given(
    st.sampled_from([".csv", ".tsv", ".parquet"]),
    st.dictionaries(
        SAFE_ID, st.dictionaries(SAFE_ID, st.sampled_from([0, 1, 2.5]), min_size=1), min_size=1
    ),
)
def test_a_ground_truth_alone_is_a_long_table(suffix, judged):
    before = truth_of(judged, "ground_truth")
    with converted(None, f"out{suffix}", ground_truth=judged) as path:
        assert truth_of(path, "ground_truth").fingerprint == before.fingerprint


@given(
    st.sampled_from([".csv", ".parquet", ".jsonl", ".run"]),
    st.lists(
        st.tuples(SAFE_ID, SAFE_ID, st.floats(-9, 9)), min_size=1, unique_by=lambda row: row[:2]
    ),
)
def test_a_run_on_its_way_from_a_table_keeps_its_order(suffix, rows):
    """Also where the results of one query stand in several places of the table."""
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    # Drawn numbers may rise down every list, as distances do: say that they are scores.
    scores = {"score": "score"}
    before = load(frame, "run", Columns.of(scores)).run
    assert before is not None
    with converted(None, f"out{suffix}", run=frame, columns=scores) as path:
        after = load(path, "run").run
        assert after is not None
        columns = ["query", "rank", "item"]
        assert after.frame.select(columns).rows() == before.frame.select(columns).rows()


def test_every_writer_is_in_these_tests_or_in_the_list_of_endings():
    tried = {"qrels", "run"}
    outputs = [one for form in built_in() for one in form.outputs]
    by_ending = {one.name for one in outputs if set(one.endings) & set(LOSSLESS)}
    assert {one.name for one in outputs} == tried | by_ending
