"""One small result of every kind that shows itself."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import calipers
from tests.reports import records, reversed_records

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


def _saved() -> None:
    # An alarm wants some nights for reference.
    for source in (*[records] * 6, reversed_records):
        calipers.save(calipers.evaluate(_made(source)), "nightly", store="history.db")


def _in_history(make: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Any:
        _saved()
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


MAKERS: dict[str, Callable[[], Any]] = {
    "Agreement": _agreement,
    "Alarm": _in_history(lambda: calipers.history_alarm("nightly", store="history.db")),
    "Bounds": lambda: calipers.bounds(_made()),
    "CallTable": lambda: calipers.calls(_calls()),
    "Comparison": lambda: calipers.compare(
        {f"old{_MARK[0]}": _made(), "new": _made(reversed_records)}
    ),
    "CorrectedScores": _corrected,
    "Diagnosis": lambda: calipers.diagnose(_made()),
    "Diff": lambda: calipers.diff(_made(), _made(reversed_records), by="length"),
    "Floor": lambda: calipers.floor(_scored()),
    "Grid": lambda: _grid(planned=False),
    "Health": lambda: calipers.audit(_made()),
    "History": _in_history(lambda: calipers.history(store="history.db")),
    "Levels": lambda: calipers.levels(_made(), at="evidence,chunk"),
    "Misses": lambda: calipers.misses(_made(), k=3),
    "Planned": lambda: _grid(planned=True),
    "QueryPlan": lambda: calipers.plan(
        {"old": _made(), "new": _made(reversed_records)}, difference=0.1, primary="mrr"
    ),
    "Report": lambda: calipers.report(_made()),
    "Resolution": _resolution,
    "Scores": lambda: calipers.evaluate(_made()),
    "Shown": _in_history(lambda: calipers.history_show("@nightly", store="history.db")),
    "Slices": lambda: calipers.slices(calipers.evaluate(_made()), "type"),
    "Sweep": lambda: calipers.sweep(_made()),
    "Trend": _in_history(lambda: calipers.history_trend("nightly", store="history.db")),
    "Verdict": lambda: calipers.gate(_made(), require="recall@5 >= 0.9"),
}
"""By the name of the class."""
