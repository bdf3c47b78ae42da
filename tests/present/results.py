"""One small result of every kind that shows itself: of each sample, and what no sample returns."""

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from functools import cache, partial
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest import mock

import calipers
from calipers.live.result import MachineLabels, RetrievalReport
from calipers.operations import OPERATIONS
from calipers.questions.report.curve import recall_curve
from fuzz.seeds import small_records
from tests.questions.live_samples import LIVE_SAMPLES
from tests.questions.samples import RECORDS, SAMPLES, Sample

NASTY = "<script>\x1b[31m\u202eevil"
_MARK = [""]
HOSTILE = [
    {
        **one,
        "query": f"{NASTY} {one['query']}",
        "retrieved": [{**found, "text": f"{found['text']} {NASTY}"} for found in one["retrieved"]],
        "tags": {"type": NASTY + one["tags"]["type"]},
    }
    for one in small_records(len(RECORDS))
]


@contextmanager
def hostile() -> Iterator[None]:
    """Inside, every text and tag of the records carries what should steer a terminal or a page."""
    _MARK[0] = NASTY
    try:
        with mock.patch("tests.questions.samples.RECORDS", HOSTILE):
            yield
    finally:
        _MARK[0] = ""


ASKED = RetrievalReport("chat", 1, 30, 30, {}, None, 30, 0, 1.0, {"count": 0}, 0, 0, 0)


def _labelled() -> Any:
    rows = calipers.labels_draft("evals.jsonl", k=1).rows
    return MachineLabels(tuple(row.judged("machine:m", 1.0) for row in rows), "machine:m", 0, ASKED)


def _agreement() -> Any:
    for judge, step in (("anna", 3), ("bo", 4)):
        rows = "".join(f"q{i} {_MARK[0]},a,{i % step % 2},{judge}\n" for i in range(12))
        Path(f"{judge}.csv").write_text("query_id,item,grade,judge\n" + rows)
    return calipers.labels_export(["anna.csv", "bo.csv"]).agreement


def _kind_of(name: str) -> str:
    """The class that an operation returns, as it is declared; the first of several."""
    declared = str(signature(OPERATIONS[name].function).return_annotation).partition("|")[0]
    return declared.strip("' ").rpartition(".")[2]


def _switch() -> Any:
    old, new = f"old{_MARK[0]}", "new"
    runs = {old: {"Which one?": ["a", "b"]}, new: {"Which one?": ["c", "a"]}}
    return calipers.labels_pool("switch", runs, changed=True, depth=2, store="pools.db").switch()


_sample = partial(Sample, arguments=())
MAKERS: dict[str, Sample] = {
    **{_kind_of(name): one for name, one in {**SAMPLES, **LIVE_SAMPLES}.items()},
    "Agreement": _sample(_agreement),
    "Comparison": _sample(
        lambda: calipers.compare({f"old{_MARK[0]}": "evals.jsonl", "new": "turned.jsonl"})
    ),
    "PoolSession": _sample(
        lambda: calipers.labels_pool("first", ["evals.jsonl"], store="pools.db")
    ),
    "Evaluation": _sample(
        lambda: calipers.save(calipers.evaluate("evals.jsonl"), "nightly", store="own.db")
    ),
    "LiveRun": _sample(lambda: calipers.retrieve(lambda query, k: ["a", "b"], ["q", "r"], k=2)),
    "MachineLabels": _sample(_labelled),
    "Matched": _sample(lambda: calipers.read("evals.jsonl")),
    "RecallCurve": _sample(lambda: recall_curve(calipers.read("evals.jsonl"))),
    "Report": _sample(lambda: calipers.report("evals.jsonl")),
    "Switch": _sample(_switch),
}
"""By the name of the class."""


@cache
def _result(kind: str, _: str) -> Any:
    with chdir(mkdtemp(prefix="calipers-results-")):
        MAKERS[kind].prepare()
        return MAKERS[kind].call()


def made(kind: str) -> Any:
    """The result of that kind, made once: results are frozen."""
    return _result(kind, _MARK[0])
