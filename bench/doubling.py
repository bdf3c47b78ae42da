"""Every question with an input and with twice as much: what takes over 2.6 times as long fails.

Processor time in one process, of the answer and of what its command prints; what is measured is a
ratio, so it means something on a busy machine, too. A ratio that is too high is measured again.
"""

import gc
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import calipers
from bench.rows import Row

MOST = 2.6
SURE, TIMES = 2.3, 3
"""Above this ratio both are measured again, and the best of so many counts."""
ENOUGH = 0.15
"""Seconds below which a ratio of a quick run says little."""

Work = Callable[[], object]
Make = Callable[[int, Path], Work]


def rows(quick: bool = False) -> list[Row]:
    """One row for each question and shape of its input."""
    return [_row(name, make, n // 4 if quick else n, quick) for name, (make, n) in _cases()]


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
    begun = time.process_time()
    answer = work()
    str(answer)  # what the command prints
    return time.process_time() - begun


def _cases() -> Iterator[tuple[str, tuple[Make, int]]]:
    """Name, how to make the work of a size, and the size: of queries, unless the name says."""
    yield "read records", (lambda n, _: lambda: calipers.read(list(_records(n))), 4_000)
    for form in ("csv", "jsonl", "trec"):
        yield f"eval, a row per result: {form}", (_rows_of(form), 10_000)
    yield "eval", (_of_pair(calipers.evaluate), 20_000)
    yield (
        "eval --by",
        (_of_pair(lambda pair: calipers.slices(calipers.evaluate(pair), "kind")), 8_000),
    )
    yield "eval --bounds", (_of_pair(calipers.bounds), 1_000)
    yield "eval --html", (_of_pair(lambda pair: calipers.report(pair).to_html()), 1_000)
    yield "eval, levels", (_of_pair(calipers.levels, documents=True), 4_000)
    yield "eval --calls", (_of_pair(calipers.calls, calls=True), 4_000)
    yield "eval, results of one query", (_one_query, 40_000)
    yield "eval, quotes", (_quotes("quote"), 1_000)
    yield "eval, tolerant quotes", (_quotes("quote(min=0.8)"), 500)
    yield "eval, quotes and chunks of one query", (_many_quotes("quote"), 2_000)
    yield "eval, tolerant quotes and chunks of one query", (_many_quotes("quote(min=0.8)"), 1_000)
    yield "eval, characters of a tolerant quote that repeats itself", (_repetitive, 20_000)
    yield "eval, spans", (_spans, 3_000)
    yield "eval, spans of one document", (_spans_of_one, 8_000)
    yield "sweep", (_of_pair(calipers.sweep), 8_000)
    yield "sweep --floor", (_of_pair(calipers.floor), 4_000)
    yield "diagnose", (_of_pair(calipers.diagnose), 4_000)
    yield "misses", (_of_pair(calipers.misses), 8_000)
    yield "misses --corpus, unknown ids", (_misses_in_corpus("id"), 20_000)
    yield "misses --corpus, unknown quotes", (_misses_in_corpus("quote"), 2_000)
    yield "misses --corpus, unknown tolerant quotes", (_misses_in_corpus("quote(min=0.8)"), 500)
    yield (
        "compare",
        (_of_runs(lambda runs, truth: calipers.compare(runs, ground_truth=truth)), 8_000),
    )
    yield "compare --changes", (_of_runs(lambda runs, _: calipers.diff(*runs.values())), 4_000)
    yield "compare --changes, results of one query", (_changes_of_one, 10_000)
    yield "plan", (_of_runs(_planned), 4_000)
    yield "grid", (_grid, 1_000)
    yield "confirm", (_confirm, 4_000)
    yield "explain, queries and chunks", (_explain, 4_000)
    yield "gate", (_gate, 8_000)
    yield "audit", (lambda n, _: lambda: calipers.audit(_truth(n), run=list(_records(n))), 2_000)
    yield "audit --corpus", (_audit_corpus, 2_000)
    yield (
        "labels draft",
        (_of_runs(lambda runs, _: calipers.labels_draft(list(runs.values()))), 2_000),
    )
    yield "labels sample", (_sample, 4_000)
    yield "labels agreement", (_agreement, 2_000)
    yield "convert", (_convert, 4_000)
    yield "convert --resolve", (_resolve, 2_000)
    yield "seal", (lambda n, place: lambda: _sealed(n, place), 4_000)
    yield (
        "history trend, evaluations",
        (_history(lambda s: calipers.history_trend("n", store=s, last=10_000)), 50),
    )
    yield (
        "history alarm, evaluations",
        (_history(lambda s: calipers.history_alarm("n", store=s)), 50),
    )


_VOCABULARY = ["".join(random.Random(n).choices("etaoinshrdlu", k=2 + n % 8)) for n in range(9_000)]


def _words(n: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(_VOCABULARY, k=n))


def _records(n: int, seed: int = 0, depth: int = 10) -> Iterator[dict[str, Any]]:
    """Records by id: two targets a query, most of them found."""
    chosen = random.Random(seed)
    for query in range(n):
        others = [f"d{chosen.randrange(10 * n)}-{query}" for _ in range(depth)]
        found = [f"t{query}-{i}" for i in range(2) if chosen.random() < 0.7]
        for item in found:
            others[chosen.randrange(depth)] = item
        yield {
            "query": f"question {query}",
            "retrieved": [
                {"id": item, "score": -float(rank)}
                for rank, item in enumerate(dict.fromkeys(others))
            ],
            "ground_truth": [f"t{query}-{i}" for i in range(2)],
            "tags": {"kind": f"kind {query % 5}"},
        }


def _truth(n: int) -> list[dict[str, Any]]:
    return [{key: one[key] for key in ("query", "ground_truth", "tags")} for one in _records(n)]


def _of_pair(ask: Callable[[Any], object], *, documents: bool = False, calls: bool = False) -> Make:
    def make(n: int, _: Path) -> Work:
        some = list(_records(n))
        for record in some if calls else ():
            for rank, result in enumerate(record["retrieved"]):
                result["call"] = 1 + rank // 4
        if documents:
            for record in some:
                for result in record["retrieved"]:
                    result["document"] = result["id"].partition("-")[0]
                record["ground_truth"] = [
                    {"id": one, "document": one.partition("-")[0]} for one in record["ground_truth"]
                ]
        pair = calipers.read(some)
        return lambda: ask(pair)

    return make


def _of_runs(ask: Callable[[dict[str, Any], Any], object]) -> Make:
    def make(n: int, _: Path) -> Work:
        runs = {
            f"run {seed}": [_without(one, "ground_truth") for one in _records(n, seed)]
            for seed in (1, 2)
        }
        truth = _truth(n)
        return lambda: ask(runs, truth)

    return make


def _planned(runs: dict[str, Any], truth: Any) -> object:
    return calipers.plan(runs, ground_truth=truth, difference=0.05)


def _without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def _rows_of(form: str) -> Make:
    def make(n: int, place: Path) -> Work:
        lines = ["query,item,rank,score"] if form == "csv" else []
        for query in range(n):
            for rank in range(1, 11):
                item, score = f"d{query * 7 % 1000}-{rank}", 1 / rank
                row = {"query": f"q{query}", "item": item, "rank": rank, "score": score}
                lines.append(
                    {
                        "csv": f"q{query},{item},{rank},{score}",
                        "trec": f"q{query} Q0 {item} {rank} {score} x",
                        "jsonl": json.dumps(row),
                    }[form]
                )
        file = place / f"run.{form}"
        file.write_text("\n".join(lines) + "\n")
        truth = {f"q{query}": {f"d{query * 7 % 1000}-3": 1} for query in range(n)}
        return lambda: calipers.evaluate(ground_truth=truth, run=file)

    return make


def _one_query(n: int, _: Path) -> Work:
    run = [{"query": "q", "retrieved": [f"d{i}" for i in range(n)]}]
    truth = [{"query": "q", "ground_truth": [f"d{i}" for i in range(0, n, 2)]}]
    return lambda: calipers.evaluate(ground_truth=truth, run=run, k=n)


def _quotes(match: str) -> Make:
    def make(n: int, _: Path) -> Work:
        some = []
        for query in range(n):
            chunks = [_words(60, 10 * query + i) for i in range(5)]
            quotes = [" ".join(chunk.split()[10:22]) for chunk in chunks[:2]]
            some.append(
                {
                    "query": f"q{query}",
                    "retrieved": [{"id": str(i), "text": text} for i, text in enumerate(chunks)],
                    "ground_truth": [{"quote": quote} for quote in quotes],
                }
            )
        return lambda: calipers.evaluate(some, match=match)

    return make


def _many_quotes(match: str) -> Make:
    def make(n: int, _: Path) -> Work:
        chunks = [_words(40, i) for i in range(n)]
        # A third stands in a chunk, a third is split over two, a third is nowhere.
        quotes = [
            " ".join(chunk.split()[5:12])
            if i % 3 == 0
            else f"{' '.join(chunk.split()[-4:])} {' '.join(chunks[(i + 1) % n].split()[:4])}"
            if i % 3 == 1
            else _words(8, 10**6 + i)
            for i, chunk in enumerate(chunks)
        ]
        some = {
            "query": "q",
            "retrieved": [
                {"id": str(i), "text": text, "document": f"d{i // 20}"}
                for i, text in enumerate(chunks)
            ],
            "ground_truth": [{"quote": quote} for quote in quotes],
        }
        return lambda: calipers.evaluate([some], match=match)

    return make


def _repetitive(n: int, _: Path) -> Work:
    text = "the lock is held by one thread. " * (n // 32)
    some = {
        "query": "q",
        "retrieved": [{"id": "1", "text": text}, {"id": "2", "text": "| yes | no " * (n // 11)}],
        "ground_truth": [{"quote": f"{text} and then"}, {"quote": "| yes | yes | no " * (n // 17)}],
    }
    return lambda: calipers.evaluate([some], match="quote(min=0.8)")


def _spans(n: int, _: Path) -> Work:
    some = [
        {
            "query": f"q{query}",
            "retrieved": [
                {"id": str(i), "document": "d", "start": 40 * i, "end": 40 * i + 50}
                for i in range(10)
            ],
            "ground_truth": [
                {"document": "d", "start": 90 * i, "end": 90 * i + 30} for i in (0, 2)
            ],
        }
        for query in range(n)
    ]
    return lambda: calipers.evaluate(some, metrics="recall@5,iou@5,span_recall@5")


def _spans_of_one(n: int, _: Path) -> Work:
    spans = [{"document": "d", "start": 40 * i, "end": 40 * i + 50} for i in range(n)]
    random.Random(0).shuffle(spans)
    wanted = [
        {"document": "d", "start": 0, "end": 40 * n},
        *({"document": "d", "start": 40 * i + 20, "end": 40 * i + 70} for i in range(n)),
    ]
    some = [{"query": "q", "retrieved": spans, "ground_truth": wanted}]
    return lambda: calipers.evaluate(some, metrics="recall@5,iou@5,span_recall@5")


def _misses_in_corpus(match: str) -> Make:
    def make(n: int, place: Path) -> Work:
        corpus = place / "corpus.csv"
        texts = [_words(20, i) for i in range(n)]
        lines = (f"c{i},d{i // 10},{text}" for i, text in enumerate(texts))
        corpus.write_text("\n".join(("id,document,text", *lines)))
        some = [
            {
                "query": f"q{i}",
                "retrieved": [{"id": f"c{i}", "text": texts[i]}],
                "ground_truth": [f"x{i}"] if match == "id" else [{"quote": _words(8, 10**6 + i)}],
            }
            for i in range(n)
        ]
        pair = calipers.read(some, match=match, nothing_in_common="zero")
        return lambda: calipers.misses(pair, corpus=corpus)

    return make


def _changes_of_one(n: int, _: Path) -> Work:
    old = [f"d{i}" for i in range(n)]
    new = random.Random(0).sample(old, n)
    runs = [[{"query": "q", "retrieved": some}] for some in (old, new)]
    return lambda: calipers.diff(*runs, k=n)


_SEARCH = """
def make(best):
    return lambda query, k: [f"t{query.split()[1]}-{i}" for i in range(best)] + ["other"]
"""
_GRID = """
ground-truth = "truth.jsonl"
[grid]
output = "runs"
[grid.retrievers.found]
make = "{place}/search.py:make"
params = {{best = [1, 2]}}
"""


def _grid(n: int, place: Path) -> Work:
    calipers.convert(_truth(n), place / "truth.jsonl")
    (place / "search.py").write_text(_SEARCH)
    (place / "calipers.toml").write_text(_GRID.format(place=place))
    return lambda: calipers.grid(place / "calipers.toml", restart=True)


def _confirm(n: int, place: Path) -> Work:
    calipers.seal(_truth(n), output=place / "all")
    new, old = (list(_records(n, seed)) for seed in (1, 2))
    ledger = place / "all.ledger.jsonl"
    unasked = ledger.read_bytes()

    def work() -> object:
        ledger.write_bytes(unasked)  # else the answer is the one that was given before
        return calipers.confirm(new, old, sealed=place / "all.sealed.jsonl")

    return work


def _explain(n: int, _: Path) -> Work:
    truth, corpus = _truth(n), {f"t{i}-0": _words(20, i) for i in range(n)}
    return lambda: calipers.explain(
        f"question {n // 2}",
        retriever=lambda query, k: ["a", "b"],
        ground_truth=truth,
        corpus=corpus,
    )


def _sample(n: int, place: Path) -> Work:
    truth, run, store = _truth(n), list(_records(n, 1)), place / "history.db"

    def work() -> object:
        store.unlink(missing_ok=True)
        return calipers.labels_sample({"a": run}, ground_truth=truth, store=store)

    return work


def _gate(n: int, place: Path) -> Work:
    calipers.gate_save(list(_records(n, 1)), to=place / "baseline.json")
    pair = calipers.read(list(_records(n, 2)))
    return lambda: calipers.gate(pair, baseline=place / "baseline.json")


def _audit_corpus(n: int, place: Path) -> Work:
    corpus = {f"t{i}-{j}": _words(20, 2 * i + j) for i in range(n) for j in range(2)}
    truth = _truth(n)
    return lambda: calipers.audit(truth, corpus=corpus)


def _agreement(n: int, place: Path) -> Work:
    chosen = random.Random(0)
    files = [place / "ann.csv", place / "bob.csv"]
    for file in files:
        rows = (
            f"q{i},question {i},d{j},text,{chosen.randrange(3)}" for i in range(n) for j in range(3)
        )
        file.write_text("\n".join(("query_id,query,item,text,grade", *rows)))
    return lambda: calipers.labels_agreement(files)


def _convert(n: int, place: Path) -> Work:
    some = list(_records(n))

    def work() -> object:
        (place / "all.jsonl").unlink(missing_ok=True)
        return calipers.convert(some, place / "all.jsonl")

    return work


def _resolve(n: int, _: Path) -> Work:
    corpus = {f"d{i}": _words(60, i) for i in range(n)}
    truth = [
        {"query": f"q{i}", "ground_truth": [{"quote": " ".join(text.split()[9:20])}]}
        for i, text in enumerate(corpus.values())
    ]
    return lambda: calipers.resolve(truth, corpus)


def _sealed(n: int, place: Path) -> object:
    for file in place.iterdir():
        file.unlink()
    return calipers.seal(_truth(n), output=place / "sealed.json")


def _history(ask: Callable[[Path], object]) -> Make:
    def make(n: int, place: Path) -> Work:
        store = place / "history.db"
        first = datetime(2026, 1, 1, tzinfo=UTC)
        for number in range(n):
            scores = calipers.evaluate(list(_records(40, number)))
            calipers.save(scores, "n", store=store, now=first + timedelta(hours=number))
        return lambda: ask(store)

    return make
