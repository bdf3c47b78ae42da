"""The same content has the same fingerprint, whatever brought it; other content has another."""

import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.model.fingerprint import (
    DigestSum,
    RankingFingerprint,
    fingerprint_settings,
    suspected_duplicates,
)
from tests.questions.samples import write_lines
from tests.strategies import World, worlds

TRUTH: dict[str, dict[str, float]] = {
    "q1": {"a": 3, "b": 0, "é": 0.5},
    "q2": {"c": 1, "a": -1},
}
RUN: dict[str, dict[str, float]] = {
    "q1": {"a": 0.9, "x": 0.5, "é": 0.25},
    "q2": {"y": 12.5, "c": 1e-3},
}
# Written down so that no change of a library, and none of ours, moves them unnoticed.
GOLDEN = {
    "ground_truth": "1dc7922f210cd38316fbf31936448114",
    "run": "406668da129765ddf21f723bc9a2e2b2",
}


def prints(ground_truth: Any, run: Any, **settings: Any) -> dict[str, str]:
    scores = calipers.evaluate(ground_truth=ground_truth, run=run, metrics="mrr", **settings)
    return dict(scores.fingerprints)


def contents(given_as: dict[str, str]) -> dict[str, str]:
    return {name: given_as[name] for name in ("ground_truth", "run")}


def test_golden() -> None:
    assert contents(prints(TRUTH, RUN)) == GOLDEN


def test_golden_by_hand() -> None:
    """The canonical form, written out: anybody can compute a fingerprint without Calipers."""
    field, row = "\x1f", "\x1e"
    lines = []
    for query, grades in TRUTH.items():
        for item, grade in grades.items():
            bits = struct.unpack("<q", struct.pack("<d", grade))[0]
            lines.append(field.join([query, str(bits), item]))
    columns = field.join(["query", "grade", "item"])
    text = row.join([str(len(lines)), columns, *sorted(lines, key=str.encode)])
    assert hashlib.sha256(text.encode()).hexdigest()[:32] == GOLDEN["ground_truth"]

    sums = [0, 0]
    for query, scores in RUN.items():
        ranking = sorted(scores, key=lambda item: -scores[item])
        digest = hashlib.sha256(f"{query}{field}{row.join(ranking)}".encode()).digest()
        sums = [
            (a + b) % 2**64 for a, b in zip(sums, struct.unpack("<QQ", digest[:16]), strict=True)
        ]
    assert hashlib.sha256(f"{len(RUN)}:{sums}".encode()).hexdigest()[:32] == GOLDEN["run"]


def rows(mapping: dict[str, dict[str, float]], number: str) -> list[dict[str, Any]]:
    return [
        {"query": query, "item": item, number: value}
        for query, items in mapping.items()
        for item, value in items.items()
    ]


def records() -> list[dict[str, Any]]:
    return [{"query": q, "retrieved": list(RUN[q]), "ground_truth": TRUTH[q]} for q in TRUTH]


def test_neither_the_format_nor_objects_in_memory_make_other_content(tmp_path: Path) -> None:
    frames = pl.DataFrame(rows(TRUTH, "grade")), pl.DataFrame(rows(RUN, "score"))
    files = tmp_path / "truth.parquet", tmp_path / "run.arrow"
    frames[0].write_parquet(files[0])
    frames[1].write_ipc(files[1])
    lines = tmp_path / "evals.jsonl"
    write_lines(lines, records())
    ranked = {query: list(items) for query, items in RUN.items()}
    for pair in (frames, files, (lines, lines), (records(), records()), (TRUTH, ranked)):
        assert contents(prints(*pair)) == GOLDEN


@given(worlds, st.randoms())
def test_the_order_of_rows_does_not_matter(world: World, random) -> None:
    run = {q: [(item, -float(i)) for i, (item, _) in enumerate(r)] for q, r in world.run.items()}
    straight = World(world.truth, run)
    truth_rows = [(q, list(items.items())) for q, items in world.truth.items()]
    run_rows = [(q, list(r)) for q, r in run.items()]
    for _, several in [*truth_rows, *run_rows]:
        random.shuffle(several)
    random.shuffle(truth_rows)
    random.shuffle(run_rows)
    mixed = World({q: dict(items) for q, items in truth_rows}, dict(run_rows))
    one, other = (prints(w.ground_truth_value(), w.run_value()) for w in (straight, mixed))
    assert one == other


TRUTHS: dict[str, Any] = {
    "another grade": {**TRUTH, "q2": {"c": 2, "a": -1}},
    "a grade hardly different": {**TRUTH, "q2": {"c": 1.0000000000000002, "a": -1}},
    "a judgement less": {**TRUTH, "q2": {"c": 1}},
    "another id": {**TRUTH, "q2": {"c2": 1, "a": -1, "c": 1}},
    "a query more": {**TRUTH, "q3": {}},
    "another query": {"q1": TRUTH["q1"], "q22": TRUTH["q2"]},
    "a judgement in another query": {"q1": {**TRUTH["q1"], "c": 1}, "q2": {"a": -1}},
}
RUNS: dict[str, Any] = {
    "another order": {**RUN, "q2": {"y": 1, "c": 2}},
    "an item more": {**RUN, "q2": {**RUN["q2"], "z": 1e-9}},
    "an item less": {**RUN, "q2": {"c": 1}},
    "a query more": {**RUN, "q3": {"a": 1}},
    "a query less": {"q1": RUN["q1"]},
    "a query without results": {**RUN, "q3": {}},
    "results of another query": {"q1": RUN["q2"], "q2": RUN["q1"]},
    "a separator in an id": {**RUN, "q2": {"y\x1ec": 1}},
    "an escaped separator in an id": {**RUN, "q2": {"y\x1drc": 1}},
    "an id of nothing": {**RUN, "q2": {"\x00": 1}},
    "an empty id": {**RUN, "q2": {"": 1}},
    "two ids in one": {**RUN, "q2": {"y c": 1}},
    "a failed query": [{**records()[0], "error": "timeout"}, records()[1]],
    "failed queries": [{**record, "error": "timeout"} for record in records()],
}


def test_another_ground_truth_has_another_fingerprint() -> None:
    found = {what: prints(truth, RUN) for what, truth in TRUTHS.items()}
    assert {one["run"] for one in found.values()} == {GOLDEN["run"]}
    assert len({GOLDEN["ground_truth"], *(f["ground_truth"] for f in found.values())}) == 8


def test_another_run_has_another_fingerprint() -> None:
    found = {what: prints(TRUTH, run) for what, run in RUNS.items()}
    assert {one["ground_truth"] for one in found.values()} == {GOLDEN["ground_truth"]}
    assert len({GOLDEN["run"], *(f["run"] for f in found.values())}) == len(RUNS) + 1


def test_what_is_asked_of_a_pair_is_in_the_fingerprint_of_the_settings() -> None:
    changes: list[dict[str, Any]] = [{}, {"confidence": 0.9}, {"rel": 2}]
    assert len({prints(TRUTH, RUN, **change)["settings"] for change in changes}) == 3
    assert prints(TRUTH, RUN)["settings"] == prints(TRUTH, RUN)["settings"]


def test_the_order_of_settings_does_not_matter() -> None:
    assert fingerprint_settings({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint_settings(
        {"b": {"d": 3, "c": 2}, "a": 1}
    )
    assert fingerprint_settings(["recall@5", {"rel": None}]) == ("8c5a9dc711f5f6f22b2f36e7153c2c5a")


@pytest.mark.parametrize("in_memory", [True, False])
def test_what_nobody_wants_is_left_out(tmp_path: Path, in_memory: bool) -> None:
    run: Any = RUN
    if not in_memory:
        run = tmp_path / "run.txt"
        lines = (f"{r['query']} Q0 {r['item']} 1 {r['score']} made\n" for r in rows(RUN, "score"))
        run.write_text("".join(lines))
    wanted = prints(TRUTH, run)
    assert contents(wanted) == GOLDEN
    left = prints(TRUTH, run, fingerprints=False)
    assert left == {"settings": wanted["settings"]}


# Few different upper halves, so that hashes collide there without being equal.
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), max_size=50))
def test_rows_of_equal_hashes_are_found_and_no_others(halves):
    some = [(upper << 32) | lower for upper, lower in halves]
    rows = suspected_duplicates(np.array(some, dtype=np.uint64)).tolist()
    assert rows == [row for row, one in enumerate(some) if some.count(one) > 1]


names = st.text("aé\x1e\x1f\x1d\x00\n", max_size=3)


@given(st.lists(st.tuples(names, st.lists(names | st.none(), min_size=1, max_size=4)), min_size=1))
def test_each_ranking_is_hashed_as_if_it_stood_alone(rankings):
    """Against the documented form, written out: no id can pass for a separator."""
    escapes = {"\x1d": "\x1de", "\x1f": "\x1df", "\x1e": "\x1dr", "\x00": "\x1dn"}

    def written(name):
        return "\x00" if name is None else "".join(escapes.get(sign, sign) for sign in name)

    blobs = [
        written(query) + "\x1f" + "\x1e".join(map(written, items)) for query, items in rankings
    ]
    expected = DigestSum()
    expected.add([hashlib.sha256(blob.encode()).digest() for blob in blobs])
    lengths = [len(items) for _, items in rankings]
    joined = [item for _, items in rankings for item in items]
    found = RankingFingerprint()
    found.add(
        pl.Series([query for query, _ in rankings], dtype=pl.String),
        pl.Series(joined, dtype=pl.String),
        np.cumsum([0, *lengths[:-1]]),
    )
    assert found.hexdigest() == expected.hexdigest()
