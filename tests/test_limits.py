"""Small files that would take much: refused before anything is built, each with its sentence."""

import csv
import errno
import io
import sys
import time
from pathlib import Path

import pytest

import calipers
from calipers.errors import CalipersError, InvalidInput, as_sentence
from tests.command import refused

DEEP = "[" * 800 + "]" * 800
DEEPER = "[" * 1500 + "]" * 1500
TRUTH = {"q1": ["a"]}


def _peak() -> int:
    resource = pytest.importorskip("resource")
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) << 10


@pytest.mark.parametrize("role", ["run", "ground_truth"])
@pytest.mark.parametrize("inner", [DEEP, f'{{"a": {DEEP}}}', f'["a", {DEEP}]'])
def test_lists_inside_lists_cost_nothing(inner: str, role: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(f'{{"q1": {inner}}}')
    before = _peak()
    run, truth = (path, TRUTH) if role == "run" else (TRUTH, path)
    with pytest.raises(InvalidInput):
        calipers.evaluate(run=run, ground_truth=truth)
    assert _peak() - before < 200 << 20


DEEP_FILES = {
    "list.json": f'[{{"query": {DEEPER}}}]',
    "lines.jsonl": f'{{"query": "q", "retrieved": {DEEPER}}}\n' * 2,
    "unknown.jsonl": f'{{"query": "q", "x": {DEEPER}, "retrieved": ["a"]}}\n' * 2,
    "mapping.json": f'{{"q": {DEEPER}}}',
    "llama.json": f'{{"queries": {{}}, "relevant_docs": {DEEPER}}}',
    "spans.jsonl": f'{{"attributes": {DEEPER}, "span_kind": "RETRIEVER"}}\n' * 2,
    "table.csv": f'query,retrieved\nq,"{DEEPER}"\n',
    "result.json": f'{{"schema": 1, "calipers": "0", "summaries": {DEEPER}}}',
}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(("eval", name) for name in DEEP_FILES),
        ("audit", "mapping.json"),
        ("compare", "lines.jsonl"),
        ("convert", "table.csv"),
    ],
)
def test_nesting_without_end_has_its_sentence(command: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(DEEP_FILES[name])
    further = {"compare": [path], "convert": [tmp_path / "out.jsonl"]}.get(command, [])
    assert "Error" in refused(command, path, *further)
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_header_of_thousands_of_names(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(12_000)) + "\n" + "," * 11_999 + "\n")
    before = _peak()
    assert "columns" in refused("eval", path)
    assert _peak() - before < 300 << 20


def test_a_cell_above_128_kb(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([("query", "item", "grade"), ("q", "x" * 200_000, "much"), ("q", "b", "1")])
    path.write_text(text.getvalue())
    with pytest.raises(CalipersError):
        calipers.evaluate(ground_truth=path, run={"q": ["b"]})


def test_refusing_many_slices_takes_no_time() -> None:
    records = [
        {"query": f"{i}", "retrieved": ["a"], "ground_truth": ["a"], "tags": {"t": f"{i}"}}
        for i in range(20_000)
    ]
    scores = calipers.evaluate(records, metrics="recall@1")
    start = time.process_time()
    with pytest.raises(InvalidInput, match="20000 different values"):
        calipers.slices(scores, "t")
    # Quadratic, it took minutes.
    assert time.process_time() - start < 20


def test_a_command_that_never_ends_its_line(tmp_path: Path) -> None:
    before = _peak()
    program = tmp_path / "zeros.py"
    program.write_text("import sys\nwhile True: sys.stdout.write('0' * 65536)\n")
    with pytest.raises(CalipersError, match="longer than 64 MB"):
        calipers.retrieve(f"cmd:{sys.executable} {program}", ["Who?"], retries=0)
    assert _peak() - before < 400 << 20


def test_a_system_that_gives_no_memory_is_a_sentence() -> None:
    assert "not enough memory" in str(as_sentence(OSError(errno.ENOMEM, "Cannot allocate memory")))


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("can't start new thread"),
        ImportError("libx.so: failed to map segment from shared object"),
    ],
)
def test_what_else_little_address_space_raises_is_the_same_sentence(error: Exception) -> None:
    assert "not enough memory" in str(as_sentence(error))


def test_another_error_of_these_kinds_stays_a_fault() -> None:
    assert as_sentence(RuntimeError("dictionary changed size")) is None
    assert as_sentence(ImportError("No module named 'x'")) is None
