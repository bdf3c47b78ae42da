"""One small result of every kind that shows itself."""

import json
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import calipers
from calipers.labels.result import Exported, PoolChanged
from calipers.live.result import MachineLabels, RetrievalReport, WrittenQuestions
from calipers.store.result import Logged
from tests.reports import records, reversed_records

TRACES = Path(__file__).parents[1] / "data" / "formats" / "langsmith.jsonl"
NASTY = "<script>\x1b[31m\u202eevil"
_MARK = [""]


@contextmanager
def hostile() -> Iterator[None]:
    """Inside, every text and tag of the records carries what should steer a terminal or a page."""
    _MARK[0] = NASTY
    try:
        yield
    finally:
        _MARK[0] = ""


def _made(source: Callable[[], list[dict[str, Any]]] = records) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(json.dumps(source()))
    for record in made:
        if _MARK[0]:
            record["query"] = f"{record['query']} {NASTY}"
            record["tags"] = {"type": NASTY + record.get("tags", {}).get("type", "")}
    return made


@cache
def _saved(_: str) -> None:
    # An alarm wants some nights for reference.
    for source in (*[records] * 6, reversed_records):
        calipers.save(calipers.evaluate(_made(source)), "nightly", store="history.db")


def _in_history(make: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Any:
        _saved(_MARK[0])
        return make()

    return made


def _grid(planned: bool) -> Any:
    Path("questions.jsonl").write_text(
        "".join(json.dumps({"query": q, "ground_truth": ["a"]}) + "\n" for q in "qrstuvw")
    )
    Path("found.py").write_text(
        "def first(query, k):\n    return ['a']\n\n\ndef none(query, k):\n    return ['b', 'a']\n"
    )
    Path("calipers.toml").write_text(
        'ground-truth = "questions.jsonl"\n[grid]\nk = 2\n'
        '[grid.retrievers.one]\nsearch = "found:first"\n'
        '[grid.retrievers.two]\nsearch = "found:none"\n'
    )
    return calipers.plan_grid("calipers.toml") if planned else calipers.grid("calipers.toml")


def _agreement() -> Any:
    for judge in ("anna", "bo"):
        lines = "".join(f"{q},a,{(judge == 'bo') * i % 2},{judge}\n" for i, q in enumerate("qrst"))
        Path(f"{judge}.csv").write_text("query_id,item,grade,judge\n" + lines)
    return calipers.labels_agreement(["anna.csv", "bo.csv"])


def _resolution() -> Any:
    truth = [{"query": "q", "ground_truth": [{"quote": "the lock is held"}]}]
    return calipers.resolve(truth, {"d": "Here the lock is held."})


def _calls() -> list[dict[str, Any]]:
    found = [{"id": "a", "call": 1}, {"id": "x", "call": 1}, {"id": "b", "call": 2}]
    return [{"query": f"q {_MARK[0]}", "ground_truth": ["a", "b"], "retrieved": found}]


def _corrected() -> Any:
    run = {query: ["a", "b"] for query in "qrstuvwxyz"}
    people = {query: {"ab"[i % 2]: 1} for i, query in enumerate("qrstuv")}
    machine = {query: {"a": 1} for query in run}
    return calipers.corrected(
        ground_truth=machine, run=run, people=people, sampled="at-random", metrics="mrr"
    )


def _scored() -> list[dict[str, Any]]:
    return [
        {
            "query": f"q{i} {_MARK[0]}",
            "retrieved": [{"id": "a", "score": 0.8 if i % 4 else 0.3}],
            "ground_truth": ["a"] if i % 4 else [],
        }
        for i in range(60)
    ]


def _retrieved() -> Any:
    return calipers.retrieve(lambda query, k: ["a", "b"], ["q", "r"], k=2)


def _run() -> str:
    Path("run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in _made()))
    return "run.jsonl"


def _pool() -> Any:
    name = "first" if not Path("pools.db").exists() else "second"
    return calipers.labels_pool(name, {"one": _made()}, store="pools.db")


@cache
def _opened(_: str) -> None:
    _pool()


def _after_pool(make: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Any:
        _opened(_MARK[0])
        return make()

    return made


def _imported() -> Any:
    calipers.labels_draft(_run(), k=1).write("label.csv")
    return calipers.labels_import("first", ["label.csv"], store="pools.db")


def _labelled() -> Any:
    rows = calipers.labels_draft(_run(), k=1).rows
    return MachineLabels(tuple(row.judged("machine:m", 1.0) for row in rows), "machine:m", 0, ASKED)


ASKED = RetrievalReport(
    "chat", 1, 30, 30, {}, None, 30, 0, 1.0, {"count": 0, "warm_up_count": 0}, 0, 0, 0, 0
)


def _sample() -> Any:
    run = {f"q{i} {_MARK[0]}": [f"d{i}", "x"] for i in range(40)}
    machine = [{"query": query, "ground_truth": [found[0]]} for query, found in run.items()]
    asked: dict[str, Any] = {"metric": "hit_rate@1", "until": 0.2, "store": "sampled.db"}
    return calipers.labels_sample({"run": run}, ground_truth=machine, **asked)


def _sealed() -> Any:
    truth = {f"q{i}": ["a"] for i in range(50)}
    return calipers.seal(truth, output=f"sealed{len(list(Path().glob('sealed*')))}")


def _confirmed() -> Any:
    truth = {f"q{i}": ["a"] for i in range(50)}
    old = {query: ["b", "a"] if i % 2 else ["a"] for i, query in enumerate(truth)}
    return calipers.confirm(old, truth, sealed=_sealed().files["sealed"], metric="recall@1")


def _baseline() -> Any:
    return calipers.gate_save(_made(), to="main.json", metrics="recall@5,mrr")


MAKERS: dict[str, Callable[[], Any]] = {
    "Agreement": _agreement,
    "Alarm": _in_history(lambda: calipers.history_alarm("nightly", store="history.db")),
    "Baseline": _baseline,
    "CallTable": lambda: calipers.calls(_calls()),
    "Checked": _in_history(lambda: calipers.history_check("history.db")),
    "Comparison": lambda: calipers.compare(
        {f"old{_MARK[0]}": _made(), "new": _made(reversed_records)}
    ),
    "Confirmation": _confirmed,
    "Conversion": lambda: calipers.convert(_made(), "evals.trec"),
    "Copied": _in_history(lambda: calipers.history_copy("copy.db", store="history.db")),
    "CorrectedScores": _corrected,
    "Desk": _pool,
    "Diagnosis": lambda: calipers.diagnose(_made()),
    "Diff": lambda: calipers.diff(_made(), _made(reversed_records), by="length"),
    "Draft": lambda: calipers.labels_draft(_run(), k=2),
    "Evaluation": lambda: calipers.save(calipers.evaluate(_made()), "nightly", store="own.db"),
    "Explanation": lambda: calipers.explain(
        f"Why {_MARK[0]}?",
        retriever=lambda query, k: [{"id": f"a{_MARK[0]}", "text": _MARK[0]}],
        ground_truth=[{"query": f"Why {_MARK[0]}?", "ground_truth": [f"a{_MARK[0]}", "b"]}],
    ),
    "Exported": lambda: Exported((f"gt {_MARK[0]}.jsonl",), "ours", 2, 3, 1, 1, "0123456789abcdef"),
    "Floor": lambda: calipers.floor(_scored()),
    "Grid": lambda: _grid(planned=False),
    "Health": lambda: calipers.audit(_made()),
    "History": _in_history(lambda: calipers.history(store="history.db")),
    "Imported": _after_pool(_imported),
    "Levels": lambda: calipers.levels(_made(), at="evidence,chunk"),
    "LiveRun": _retrieved,
    "Logged": lambda: Logged("abc123", f"nightly {_MARK[0]}"),
    "MachineLabels": _labelled,
    "Matched": lambda: calipers.read(_made()),
    "MetricList": calipers.metrics,
    "Misses": lambda: calipers.misses(_made(), k=3),
    "Planned": lambda: _grid(planned=True),
    "PoolChanged": _after_pool(lambda: PoolChanged(f"first {_MARK[0]}", "close", 3)),
    "PoolList": _after_pool(lambda: calipers.labels_list("pools.db")),
    "Pruned": _in_history(lambda: calipers.history_prune(store="history.db", keep=2, dry_run=True)),
    "QueryPlan": lambda: calipers.plan(
        {"old": _made(), "new": _made(reversed_records)}, difference=0.1, primary="mrr"
    ),
    "Report": lambda: calipers.report(_made()),
    "Resolution": _resolution,
    "RuleList": calipers.rules,
    "SampleState": _sample,
    "Scores": lambda: calipers.evaluate(_made()),
    "Sealed": _sealed,
    "Shown": _in_history(lambda: calipers.history_show("@nightly", store="history.db")),
    "Slices": lambda: calipers.slices(calipers.evaluate(_made()), "type"),
    "Sweep": lambda: calipers.sweep(_made()),
    "TracedQuestions": lambda: calipers.labels_traces(TRACES),
    "Trend": _in_history(lambda: calipers.history_trend("nightly", store="history.db")),
    "Verdict": lambda: calipers.gate(_made(), require="recall@5 >= 0.9"),
    "WrittenQuestions": lambda: WrittenQuestions(({"query": "q"},), "machine:m", 1, 0, {}, ASKED),
}
"""By the name of the class."""


@cache
def _folder(mark: str) -> str:
    return mkdtemp(prefix="calipers-results-")


@cache
def _result(kind: str, mark: str) -> Any:
    with chdir(_folder(mark)):
        return MAKERS[kind]()


def made(kind: str) -> Any:
    """The result of that kind, made once: results are frozen."""
    return _result(kind, _MARK[0])
