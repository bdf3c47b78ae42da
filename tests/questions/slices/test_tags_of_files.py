"""A slice is cut by what stands in the file: tags of records, and columns of any name."""

import json
import re
from pathlib import Path

import pytest

import calipers
from calipers.errors import InvalidInput
from tests.command import calipers_command

KINDS = ("how", "error", "price")
QUERIES = 24


def _rows() -> list[dict[str, str]]:
    """A row a query; those of one kind fail."""
    return [
        {"query_id": f"q{n}", "query": f"What is number {n}?", "kind": KINDS[n % 3]}
        for n in range(QUERIES)
    ]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Results in which every query but those about prices finds its target first."""
    lines = [
        {"query_id": row["query_id"], "results": ["x" if row["kind"] == "price" else "d"]}
        for row in _rows()
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def _records(row: dict[str, str], shape: str) -> dict[str, object]:
    about = {key: row[key] for key in ("query_id", "query")}
    if shape == "tags":
        return {**about, "relevant": ["d"], "tags": {"kind": row["kind"]}}
    if shape == "metadata":
        return {**about, "relevant": ["d"], "metadata": {"kind": row["kind"], "page": 3}}
    names = (
        ("query_id", "query", "doc_ids") if shape == "column" else ("id", "query", "ground_truth")
    )
    return {**dict(zip(names, (*about.values(), ["d"]), strict=True)), "kind": row["kind"]}


def _written(tmp_path: Path, shape: str, ending: str) -> Path:
    path = tmp_path / f"truth{ending}"
    if ending == ".csv":
        cells = "\n".join(f"{r['query_id']},{r['query']},d,{r['kind']}" for r in _rows())
        path.write_text(f"query_id,query,doc_ids,kind\n{cells}\n")
        return path
    records = [_records(row, shape) for row in _rows()]
    text = json.dumps(records) if ending == ".json" else "\n".join(map(json.dumps, records))
    path.write_text(text)
    return path


FILES = [
    *((shape, ending) for shape in ("tags", "column", "own") for ending in (".json", ".jsonl")),
    ("column", ".csv"),
]


@pytest.mark.parametrize(("shape", "ending"), FILES)
def test_a_column_that_is_named_is_the_tag(
    tmp_path: Path, run: Path, shape: str, ending: str
) -> None:
    truth = _written(tmp_path, shape, ending)
    done = calipers_command("eval", run, "-g", truth, "--by", "kind", "-m", "recall@1")
    assert done.code == 0, done.err
    assert "kind price is worse: recall@1 is 0.000 on 8 queries" in done.out
    where = calipers_command("misses", run, "-g", truth, "--where", "kind=price", "-k", "1")
    assert where.out.startswith("8 of 8 targets")
    gate = ("gate", run, "-g", truth, "--require", "recall@1 >= 0.5 for kind=price")
    assert calipers_command(*gate).code == 1


def test_a_field_inside_of_an_object_is_a_tag_by_its_path(tmp_path: Path, run: Path) -> None:
    truth = _written(tmp_path, "metadata", ".jsonl")
    by = ("--column", "tag=metadata.kind", "--by", "metadata.kind", "-m", "recall@1")
    done = calipers_command("eval", run, "-g", truth, *by)
    assert "metadata.kind price is worse" in done.out, done.err


@pytest.mark.parametrize(
    ("shape", "ending"), [("column", ".json"), ("column", ".csv"), ("own", ".jsonl")]
)
def test_the_hint_is_an_option_that_works(
    tmp_path: Path, run: Path, shape: str, ending: str
) -> None:
    truth = _written(tmp_path, shape, ending)
    said = calipers_command("eval", run, "-g", truth).out
    assert "To slice by kind: --column tag=kind." in " ".join(said.split())
    done = calipers_command("diagnose", run, "-g", truth, "--column", "tag=kind")
    assert done.out.startswith("Queries with kind = price fail"), done.out
    assert "To slice by" not in done.out


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_field_inside_of_an_object_is_proposed_by_its_path(
    tmp_path: Path, run: Path, ending: str
) -> None:
    truth = _written(tmp_path, "metadata", ending)
    said = calipers_command("eval", run, "-g", truth).out
    hint = "To slice by metadata.kind: --column tag=metadata.kind."
    assert hint in " ".join(said.split())
    done = calipers_command("diagnose", run, "-g", truth, "--column", "tag=metadata.kind")
    assert done.out.startswith("Queries with metadata.kind = price fail"), done.out
    records = [_records({**row, "kind": f"kind {n}"}, "metadata") for n, row in enumerate(_rows())]
    truth.write_text("\n".join(map(json.dumps, records)))
    assert "To slice by" not in calipers_command("eval", run, "-g", truth).out


def test_python_is_told_in_python(tmp_path: Path, run: Path) -> None:
    truth = _written(tmp_path, "column", ".csv")
    scores = calipers.evaluate(run=run, ground_truth=truth)
    assert any('columns={"tag": "kind"}' in note for note in scores.recorded.notes)
    with pytest.raises(InvalidInput, match=re.escape('columns={"tag": "NAME"}')):
        calipers.slices(scores, "kind")
    tagged = calipers.evaluate(run=run, ground_truth=truth, columns={"tag": "kind"})
    assert {row.value for row in calipers.slices(tagged, "kind").rows} == {*KINDS}


def test_what_is_no_slice_is_not_proposed(tmp_path: Path, run: Path) -> None:
    rows = "\n".join(f"{r['query_id']},{r['query']},d,author {n}" for n, r in enumerate(_rows()))
    truth = tmp_path / "truth.csv"
    truth.write_text(f"query_id,query,doc_ids,author\n{rows}\n")
    assert "To slice by" not in calipers_command("eval", run, "-g", truth).out


def test_a_field_remains_what_it_is(tmp_path: Path, run: Path) -> None:
    """Who slices by the name of a field, or by what is read off a question, changes no reading."""
    truth = _written(tmp_path, "column", ".csv")
    done = calipers_command("eval", run, "-g", truth, "--by", "doc_ids")
    assert done.code == 2
    assert "The queries have no tag 'doc_ids'" in done.err
    assert calipers_command("eval", run, "-g", truth, "--by", "length").code == 0
