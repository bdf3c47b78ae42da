"""Every question with an input and with twice as much: what takes over 2.6 times as long fails.

Processor time in one process, of the answer and of what its command prints; what is measured is a
ratio, so it means something on a busy machine, too. A ratio that is too high is measured again.
Questions that wait for others (a model that judges or writes, a browser) have no row.
"""

import gc
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import calipers
from bench import doubled
from bench.doubled import Make, Work
from bench.rows import Row

MOST = 2.6
SURE, TIMES = 2.3, 5
"""Above this ratio both are measured again, and the best of so many counts."""
ENOUGH = 0.15
"""Seconds below which a ratio of a quick run says little."""


def rows(quick: bool = False, only: str = "") -> list[Row]:
    """One row for each question and shape of its input, or for those whose name has ``only``."""
    return [
        _row(name, make, n // 4 if quick else n, quick)
        for name, (make, n) in _cases()
        if only in name
    ]


def _row(name: str, make: Make, n: int, quick: bool) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / one for one in ("once", "twice")]
        for place in places:
            place.mkdir()
        once, twice = make(n, places[0]), make(2 * n, places[1])
        _seconds(once)  # what is imported and compiled on the first call is not the input
        best = [_seconds(once), _seconds(twice)]
        for _ in range(TIMES - 1):
            if best[1] > SURE * best[0]:
                best = [min(best[0], _seconds(once)), min(best[1], _seconds(twice))]
    ratio = best[1] / best[0]
    failed = ratio > MOST and not (quick and best[0] < ENOUGH)
    return {
        "row": name,
        "input": f"{2 * n:,}",
        "ours_seconds": best[1],
        "peer": f"{n:,}",
        "peer_seconds": best[0],
        "ratio": ratio,
        "note": f"over {MOST}: grows faster than the input" if failed else "",
        "failed": failed,
    }


def _seconds(work: Work) -> float:
    gc.collect()
    gc.freeze()  # else what was made for other rows is looked at again and again
    begun = time.process_time()
    answer = work()
    str(answer)  # what the command prints
    spent = time.process_time() - begun
    gc.unfreeze()
    return spent


def _cases() -> Iterator[tuple[str, tuple[Make, int]]]:
    """Name, how to make the work of a size, and the size: of queries, unless the name says."""
    yield "read records", (lambda n, _: lambda: calipers.read(list(doubled.records(n))), 4_000)
    for form in ("csv", "jsonl", "trec"):
        yield f"eval, a row per result: {form}", (doubled.rows_of(form), 10_000)
    yield "eval", (doubled.of_pair(calipers.evaluate), 20_000)
    yield (
        "eval --by",
        (doubled.of_pair(lambda pair: calipers.slices(calipers.evaluate(pair), "kind")), 8_000),
    )
    yield "eval --html", (doubled.of_pair(lambda pair: calipers.report(pair).to_html()), 1_000)
    yield "eval, levels", (doubled.of_pair(calipers.levels, documents=True), 4_000)
    yield "eval --calls", (doubled.of_pair(calipers.calls, calls=True), 4_000)
    yield "eval --corrected-by", (doubled.people, 4_000)
    yield (
        "eval, results and targets of one query",
        (doubled.one_query(lambda data, n: calipers.evaluate(**data, k=n)), 40_000),
    )
    yield "eval, quotes", (doubled.quotes("quote"), 1_000)
    yield "eval, tolerant quotes", (doubled.quotes("quote(min=0.8)"), 500)
    yield "eval, quotes and chunks of one query", (doubled.many_quotes("quote"), 2_000)
    yield (
        "eval, tolerant quotes and chunks of one query",
        (doubled.many_quotes("quote(min=0.8)"), 1_000),
    )
    yield (
        "eval, quotes and chunks of one query, no documents",
        (doubled.many_quotes("quote", documents=False), 2_000),
    )
    yield (
        "eval, tolerant quotes and chunks of one query, no documents",
        (doubled.many_quotes("quote(min=0.8)", documents=False), 1_000),
    )
    yield "eval, characters of a tolerant quote that repeats itself", (doubled.repetitive, 20_000)
    yield "eval, spans", (doubled.spans, 3_000)
    yield "eval, spans of one document", (doubled.spans_of_one, 8_000)
    yield "sweep", (doubled.of_pair(calipers.sweep), 8_000)
    yield (
        "sweep, results of one query",
        (doubled.one_query(lambda data, n: calipers.sweep(**data, k=n)), 4_000),
    )
    yield "sweep --floor", (doubled.of_pair(calipers.floor), 4_000)
    yield "diagnose", (doubled.of_pair(calipers.diagnose), 4_000)
    yield (
        "diagnose, results of one query",
        (doubled.one_query(lambda data, n: calipers.diagnose(**data, k=n)), 10_000),
    )
    yield (
        "misses, results of one query",
        (doubled.one_query(lambda data, n: calipers.misses(**data, k=n // 2)), 10_000),
    )
    yield "misses", (doubled.of_pair(calipers.misses), 8_000)
    yield "misses --corpus, unknown ids", (doubled.misses_in_corpus("id"), 20_000)
    yield "misses --corpus, unknown quotes", (doubled.misses_in_corpus("quote"), 2_000)
    yield (
        "misses --corpus, unknown tolerant quotes",
        (doubled.misses_in_corpus("quote(min=0.8)"), 500),
    )
    yield (
        "compare",
        (doubled.of_runs(lambda runs, truth: calipers.compare(runs, ground_truth=truth)), 8_000),
    )
    yield "compare, pairs of runs (each is tested)", (doubled.pairs_of_runs, 190)
    yield (
        "compare --changes",
        (doubled.of_runs(lambda runs, _: calipers.diff(*runs.values())), 4_000),
    )
    yield "compare --changes, results of one query", (doubled.changes_of_one, 10_000)
    yield "plan", (doubled.of_runs(doubled.planned), 4_000)
    yield "grid", (doubled.grid, 1_000)
    yield "confirm", (doubled.confirm, 4_000)
    yield "retrieve", (doubled.asked, 4_000)
    yield "explain, queries and chunks", (doubled.explain, 4_000)
    yield "gate save", (doubled.kept, 8_000)
    yield "gate", (doubled.gate, 8_000)
    yield (
        "audit",
        (
            lambda n, _: lambda: calipers.audit(doubled.truths(n), run=list(doubled.records(n))),
            2_000,
        ),
    )
    yield "audit --corpus", (doubled.audit_corpus, 2_000)
    yield (
        "labels draft",
        (doubled.of_runs(lambda runs, _: calipers.labels_draft(list(runs.values()))), 2_000),
    )
    yield "labels traces", (doubled.traces, 4_000)
    yield "labels import and export", (doubled.pool, 1_000)
    yield "labels sample", (doubled.sample, 4_000)
    yield "labels agreement", (doubled.agreement, 2_000)
    yield "convert", (doubled.convert, 4_000)
    yield "convert --resolve", (doubled.resolve, 2_000)
    yield "seal", (lambda n, place: lambda: doubled.sealed(n, place), 4_000)
    yield (
        "history trend, evaluations",
        (doubled.history(lambda s: calipers.history_trend("n", store=s, last=10_000)), 50),
    )
    yield (
        "history alarm, evaluations",
        (doubled.history(lambda s: calipers.history_alarm("n", store=s)), 50),
    )
    for name, ask in (
        ("list", lambda store: calipers.history(store=store)),
        ("show", lambda store: calipers.history_show("n", store=store)),
        ("check", lambda store: calipers.history_check(store=store)),
    ):
        yield f"history {name}, evaluations", (doubled.history(ask), 50)
