"""Results of records beyond the memory allowed: the same numbers, sentences and notes from disk."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import CalipersError, InvalidInput, WriteFailed
from calipers.io import build
from calipers.io.build import MemoryBudget
from calipers.io.files import spill
from calipers.io.files.spill import ScratchFile
from calipers.io.formats import table
from calipers.io.load import load
from calipers.io.records import explode
from calipers.model.run import Run

ID = st.sampled_from(["a", "b", "c", "d", "é", 7])
RESULT = st.one_of(
    ID,
    st.fixed_dictionaries(
        {"id": ID},
        optional={
            "score": st.sampled_from([0.5, 1.0, -2.0, 3]),
            "tokens": st.integers(0, 9),
            "text": st.sampled_from(["short", "a long text " * 9, "another long text " * 9]),
            "document": ID,
        },
    ),
    st.fixed_dictionaries(
        {"document": ID}, optional={"start": st.integers(0, 4), "end": st.integers(3, 9)}
    ),
)
CALLED = st.fixed_dictionaries({"id": ID, "call": st.integers(1, 3)})
LISTS = st.sampled_from([RESULT, ID, CALLED]).flatmap(lambda one: st.lists(one, max_size=5))
SCORED = st.dictionaries(ID.map(str), st.sampled_from([0.5, 1.0, 2.5]), max_size=4)
TRUTH = st.one_of(
    st.dictionaries(ID.map(str), st.sampled_from([0, 1, 2.5]), max_size=3),
    st.lists(
        st.fixed_dictionaries({"document": ID, "start": st.just(1), "end": st.just(5)}), max_size=1
    ),
)


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Records of one file; some of them are refused."""
    listed = draw(st.sampled_from([LISTS, SCORED, st.lists(ID, max_size=5), LISTS | SCORED]))
    extra = {
        "tags": st.just({"type": "x"}),
        "latency_ms": st.just(5.0),
        "error": st.just("timed out"),
        "stages": st.fixed_dictionaries({"candidates": st.lists(ID, max_size=4)}),
        "id": st.sampled_from(["q0", "a query whose id is rather long"]),
    }
    record = st.fixed_dictionaries({"retrieved": listed, "ground_truth": TRUTH}, optional=extra)
    found: list[dict[str, Any]] = draw(st.lists(record, min_size=3, max_size=12))
    if any(ends_early(result) for one in found for result in one["retrieved"]):
        for one in found:
            one.pop("id", None)  # of two faults either may be named first
    return [{"query": f"q{i}", **one} for i, one in enumerate(found)]


def ends_early(result: Any) -> bool:
    return isinstance(result, dict) and result.get("end", 9) < result.get("start", 0)


@contextmanager
def bounded(most: int = 100, many: int = 10**6) -> Iterator[None]:
    """Nearly everything goes to disk, or comes from memory, a few rows at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explode, "RESULTS", 3)
        patch.setattr(build, "_ROWS_AT_ONCE", 4)
        patch.setattr(build, "_MANY", many)
        patch.setattr(build, "_ALWAYS", 0)
        patch.setattr(MemoryBudget, "_most", most)
        yield


ON_DISK: dict[str, int] = {}
IN_BLOCKS = {"most": 10**9, "many": 2}


def facts(run: Run | None) -> Any:
    if run is None:
        return None
    stages = {name: facts(stage) for name, stage in run.stages.items()}
    return (
        run.frame.to_dicts(),
        run.frame.schema,
        run.queries.to_dicts(),
        run.order,
        run.ties,
        run.notes,
        stages,
    )


def outcome(path: Path) -> Any:
    """All that is read from some files and measured of it, or the sentences that refuse it."""
    found: list[Any] = []
    for ask in (
        lambda: facts(load(path, "both").run),
        lambda: calipers.evaluate(calipers.read(path), metrics="recall@2,mrr").to_dict(),
        lambda: calipers.evaluate(path, level="document", metrics="recall@2").to_dict(),
    ):
        try:
            found.append(ask())
        except CalipersError as error:
            found.append(str(error))
    return found


A_DOCUMENT_IN_A_LATER_BLOCK = [
    {"query": "q0", "retrieved": {}, "ground_truth": {}},
    {
        "query": "q1",
        "retrieved": {"b": 0.5, "c": 0.5, "d": 0.5},
        "ground_truth": [{"document": "a", "start": 1, "end": 5}],
    },
    {"query": "q2", "retrieved": {"a": 0.5}, "ground_truth": {}},
]
JUDGED_ARE_THE_RETURNED = [
    {"query": "q0", "retrieved": [], "ground_truth": {}},
    {"query": "q1", "retrieved": ["a", "a", "a"], "ground_truth": {"a": 0}},
    {"query": "q2", "retrieved": ["c", "b"], "ground_truth": {"b": 1, "c": 0}},
]


@settings(max_examples=6)
@given(records(), st.sampled_from([ON_DISK, IN_BLOCKS]))
@example(A_DOCUMENT_IN_A_LATER_BLOCK, ON_DISK)
@example(JUDGED_ARE_THE_RETURNED, ON_DISK)
def test_what_goes_to_disk_or_comes_in_blocks_is_what_would_be_held_in_one(rows, how):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "0.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        held = outcome(path)
        with bounded(**how):
            assert outcome(path) == held


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "evals.jsonl"
    results = [{"id": f"d{j}", "score": j / 9} for j in range(5)]
    record = {"ground_truth": ["d1"], "retrieved": results}
    path.write_text("\n".join(json.dumps({"query": f"q{i}", **record}) for i in range(40)))
    return path


@pytest.mark.parametrize("how", [ON_DISK, IN_BLOCKS])
def test_blocks_come_back_in_their_order_as_often_as_they_are_read(lines, how):
    with bounded(**how):
        run = load(lines, "both").run
    assert not run.in_memory
    frames = list(run.scan())
    assert len(frames) > 5
    expected = [(f"q{i}", f"d{j}", j / 9) for i in range(40) for j in range(5)]
    assert pl.concat(frames).rows() == expected
    assert pl.concat(run.scan()).rows() == expected


@pytest.mark.parametrize("how", [ON_DISK, IN_BLOCKS])
def test_the_lists_of_a_wide_table_go_the_same_way(tmp_path, how, monkeypatch):
    path = tmp_path / "wide.csv"
    rows = "".join(f"q{i},d{i};x; d{i % 3},x;d{i % 5}\n" for i in range(40))
    path.write_text(f"query,retrieved,ground_truth\n{rows}")
    held = outcome(path)
    monkeypatch.setattr(table, "CELLS_AT_ONCE", 3)
    with bounded(**how):
        assert not load(path, "both").run.in_memory
        assert outcome(path) == held


def test_what_is_on_disk_is_not_brought_back_to_be_kept(lines):
    with bounded():
        run = load(lines, "both").run
        pair = calipers.read(lines)
    assert run.kept() is run
    lines.unlink()
    assert calipers.misses(pair, k=1).reasons == {"below_k": 40}


def test_what_fits_needs_no_temporary_file(lines, monkeypatch):
    monkeypatch.setattr(ScratchFile, "write", None)
    with bounded(most=10**6):
        assert load(lines, "both").run.in_memory
    assert load(lines, "both").run.in_memory


def test_a_bad_record_far_behind_is_named_as_ever(lines):
    with lines.open("a") as file:
        file.write('\n\n{"query": "z", "retrieved": [{"score": 1}], "ground_truth": []}\n')
    with bounded(), pytest.raises(InvalidInput, match=r"evals.jsonl:42 \$\.retrieved\[0\]"):
        load(lines, "both")


@pytest.fixture
def small_files(monkeypatch):
    """A limit on the size of files stands for a full disk: the system refuses to write."""
    resource = pytest.importorskip("resource")
    # Modules that are compiled below the limit would stay on the disk, cut short.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_a_sentence_and_nothing_is_left(lines, tmp_path, small_files, monkeypatch):
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temp))
    with bounded(), pytest.raises(WriteFailed) as caught:
        calipers.evaluate(lines)
    assert f"The temporary file in {temp} cannot grow" in str(caught.value)
    assert list(temp.iterdir()) == []


def test_the_memory_reaches_the_records(lines, monkeypatch):
    seen = []
    monkeypatch.setattr(explode, "RESULTS", 3)
    monkeypatch.setattr(build, "_ALWAYS", 0)
    monkeypatch.setattr(build.MemoryBudget, "is_full", property(lambda room: True))
    really_open = spill._open

    def noted():
        seen.append("opened")
        return really_open()

    monkeypatch.setattr(spill, "_open", noted)
    calipers.evaluate(lines, memory="500MB")
    assert seen == ["opened"]
    assert MemoryBudget("512MB")._most == 32 << 20


def test_less_memory_than_any_question_needs_is_refused_in_one_sentence(lines):
    asked = (
        lambda memory: calipers.evaluate(lines, memory=memory),
        lambda memory: calipers.diff(lines, lines, memory=memory),
        lambda memory: calipers.labels_draft([lines], memory=memory),
        lambda memory: calipers.audit(lines, memory=memory),
        lambda memory: calipers.convert(lines, "out.csv", memory=memory),
    )
    for ask in asked:
        for memory in ("10MB", "200MB", "much"):
            with pytest.raises(InvalidInput, match="at least 460MB"):
                ask(memory)
