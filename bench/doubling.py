"""Every question with an input and with twice as much: what takes over 2.6 times as long fails.

Processor time in one process, of the answer and of what its command prints; what is measured is a
ratio, so it means something on a busy machine, too. A ratio that is too high is measured again.
Questions that wait for others (a model that judges or writes, a browser) have no row.
"""

import gc
import json
import math
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import calipers
from bench.inputs import records, words
from bench.measure import Measured, Row, compared
from calipers.questions.history.settings import HistorySettings
from calipers.questions.history.site import write_site

MOST = 2.6
SURE, TIMES = 2.3, 5
"""Above this ratio both are measured again, and the best of so many counts."""
ENOUGH = 0.15
"""Seconds below which a ratio of a quick run says little."""

Work = Callable[[], object]
Make = Callable[[int, Path], Work]


def rows(quick: bool = False, only: str = "") -> list[Row]:
    """One row for each question and shape of its input, or for those whose name has ``only``."""
    return [
        _row(name, make, n // 4 if quick else n, quick) for name, make, n in CASES if only in name
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
    note = f"over {MOST}: grows faster than the input" if failed else ""
    row = compared(name, f"{2 * n:,}", Measured(best[1]), f"{n:,}", Measured(best[0]), note)
    return {**row, "ratio": ratio, "failed": failed}


def _seconds(work: Work) -> float:
    gc.collect()
    gc.freeze()  # else what was made for other rows is looked at again and again
    begun = time.process_time()
    answer = work()
    str(answer)  # what the command prints
    spent = time.process_time() - begun
    gc.unfreeze()
    return spent


# Inputs: of each question what it is asked, of any size


def truths(n: int) -> list[dict[str, Any]]:
    return [{key: one[key] for key in ("query", "ground_truth", "tags")} for one in records(n)]


def of_pair(ask: Callable[[Any], object], *, documents: bool = False, calls: bool = False) -> Make:
    def make(n: int, _: Path) -> Work:
        some = list(records(n))
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


def geometric_ranks(n: int, _: Path) -> Work:
    """A sweep of lists of a hundred, in which most k lose some queries."""
    draw = random.Random(7)
    run = {f"q{one}": [f"d{rank}" for rank in range(100)] for one in range(n)}
    truth = {query: [f"d{min(int(draw.expovariate(0.08)), 99)}"] for query in run}
    pair = calipers.read(ground_truth=truth, run=run)
    return lambda: calipers.sweep(pair)


def of_runs(ask: Callable[[dict[str, Any], Any], object]) -> Make:
    def make(n: int, _: Path) -> Work:
        runs = {
            f"run {seed}": [_without(one, "ground_truth") for one in records(n, seed)]
            for seed in (1, 2)
        }
        truth = truths(n)
        return lambda: ask(runs, truth)

    return make


def pairs_of_runs(n: int, _: Path) -> Work:
    """So many runs that there are about n pairs of them."""
    runs = {
        f"run {seed}": [_without(one, "ground_truth") for one in records(50, seed)]
        for seed in range(round(math.sqrt(2 * n) + 0.5))
    }
    return lambda: calipers.compare(runs, ground_truth=truths(50))


def people(n: int, _: Path) -> Work:
    pair, judged = calipers.read(list(records(n))), truths(n)[: n // 4]
    return lambda: calipers.corrected(pair, people=judged, sampled="at-random")


def _without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def rows_of(form: str) -> Make:
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


def one_query(ask: Callable[..., object], part: int = 1) -> Make:
    def make(n: int, _: Path) -> Work:
        run = [{"query": "q", "retrieved": [f"d{i}" for i in range(n)]}]
        truth = [{"query": "q", "ground_truth": [f"d{i}" for i in range(0, n, 2)]}]
        return lambda: ask(ground_truth=truth, run=run, k=n // part)

    return make


def quotes(match: str) -> Make:
    def make(n: int, _: Path) -> Work:
        some = []
        for query in range(n):
            chunks = [words(60, 10 * query + i) for i in range(5)]
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


def many_quotes(match: str) -> Make:
    def make(n: int, _: Path) -> Work:
        chunks = [words(40, i) for i in range(n)]
        # A third stands in a chunk, a third is split over two, a third is nowhere.
        quotes = [
            " ".join(chunk.split()[5:12])
            if i % 3 == 0
            else f"{' '.join(chunk.split()[-4:])} {' '.join(chunks[(i + 1) % n].split()[:4])}"
            if i % 3 == 1
            else words(8, 10**6 + i)
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


def repetitive(n: int, _: Path) -> Work:
    text = "the lock is held by one thread. " * (n // 32)
    some = {
        "query": "q",
        "retrieved": [{"id": "1", "text": text}, {"id": "2", "text": "| yes | no " * (n // 11)}],
        "ground_truth": [{"quote": f"{text} and then"}, {"quote": "| yes | yes | no " * (n // 17)}],
    }
    return lambda: calipers.evaluate([some], match="quote(min=0.8)")


def spans(n: int, _: Path) -> Work:
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


def spans_of_one(n: int, _: Path) -> Work:
    spans = [{"document": "d", "start": 40 * i, "end": 40 * i + 50} for i in range(n)]
    random.Random(0).shuffle(spans)
    wanted = [
        {"document": "d", "start": 0, "end": 40 * n},
        *({"document": "d", "start": 40 * i + 20, "end": 40 * i + 70} for i in range(n)),
    ]
    some = [{"query": "q", "retrieved": spans, "ground_truth": wanted}]
    return lambda: calipers.evaluate(some, metrics="recall@5,iou@5,span_recall@5")


def misses_in_corpus(match: str) -> Make:
    def make(n: int, place: Path) -> Work:
        corpus = place / "corpus.csv"
        texts = [words(20, i) for i in range(n)]
        lines = (f"c{i},d{i // 10},{text}" for i, text in enumerate(texts))
        corpus.write_text("\n".join(("id,document,text", *lines)))
        some = [
            {
                "query": f"q{i}",
                "retrieved": [{"id": f"c{i}", "text": texts[i]}],
                "ground_truth": [f"x{i}"] if match == "id" else [{"quote": words(8, 10**6 + i)}],
            }
            for i in range(n)
        ]
        pair = calipers.read(some, match=match, nothing_in_common="zero")
        return lambda: calipers.misses(pair, corpus=corpus)

    return make


def changes_of_one(n: int, _: Path) -> Work:
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


def grid(n: int, place: Path) -> Work:
    calipers.convert(truths(n), place / "truth.jsonl")
    (place / "search.py").write_text(_SEARCH)
    (place / "calipers.toml").write_text(_GRID.format(place=place))
    return lambda: calipers.grid(place / "calipers.toml", restart=True)


def confirm(n: int, place: Path) -> Work:
    calipers.seal(truths(n), output=place / "all")
    new, old = (list(records(n, seed)) for seed in (1, 2))
    ledger = place / "all.ledger.jsonl"
    unasked = ledger.read_bytes()

    def work() -> object:
        ledger.write_bytes(unasked)  # else the answer is the one that was given before
        return calipers.confirm(new, old, sealed=place / "all.sealed.jsonl")

    return work


def _two(query: str, k: int) -> list[str]:
    return ["a", "b"]


def explain(n: int, _: Path) -> Work:
    truth, corpus = truths(n), {f"t{i}-0": words(20, i) for i in range(n)}
    return lambda: calipers.explain(
        f"question {n // 2}",
        retriever=_two,
        ground_truth=truth,
        corpus=corpus,
    )


def sample(n: int, place: Path) -> Work:
    truth, run, store = truths(n), list(records(n, 1)), place / "history.db"

    def work() -> object:
        store.unlink(missing_ok=True)
        return calipers.labels_sample({"a": run}, ground_truth=truth, store=store)

    return work


def kept(n: int, place: Path) -> Work:
    pair = calipers.read(list(records(n)))
    return lambda: calipers.gate_save(pair, to=place / f"{len(list(place.iterdir()))}.json")


def traces(n: int, place: Path) -> Work:
    file = place / "traces.jsonl"
    spans = (
        {
            "id": f"r{number}",
            "trace_id": f"r{number}",
            "run_type": "retriever",
            "name": "search",
            "inputs": {"query": f"question {number // 2}"},
            "outputs": {
                "documents": [
                    {"page_content": f"text {rank}", "metadata": {"id": f"d{number % 9}-{rank}"}}
                    for rank in range(5)
                ]
            },
            "start_time": "2026-01-02T03:04:05",
            "end_time": "2026-01-02T03:04:06",
        }
        for number in range(n)
    )
    file.write_text("".join(json.dumps(span) + "\n" for span in spans))
    return lambda: calipers.labels_traces(file)


def pool(n: int, place: Path) -> Work:
    """A pool is opened, labels come in, and its ground truth goes out."""
    run, store, labels = list(records(n)), place / "pool.db", place / "labels.csv"
    rows = (
        f"question {query},{one['id']},{at % 3},anna"
        for query, record in enumerate(run)
        for at, one in enumerate(record["retrieved"][:3])
    )
    labels.write_text("\n".join(("query_id,item,grade,judge", *rows)))

    def work() -> object:
        store.unlink(missing_ok=True)
        calipers.labels_pool("p", {"a": run}, store=store, depth=3)
        calipers.labels_import("p", labels, store=store)
        return calipers.labels_export("p", place / "all.jsonl", store=store, overwrite=True)

    return work


def gate(n: int, place: Path) -> Work:
    calipers.gate_save(list(records(n, 1)), to=place / "baseline.json")
    pair = calipers.read(list(records(n, 2)))
    return lambda: calipers.gate(pair, baseline=place / "baseline.json")


def audit_corpus(n: int, place: Path) -> Work:
    corpus = {f"t{i}-{j}": words(20, 2 * i + j) for i in range(n) for j in range(2)}
    truth = truths(n)
    return lambda: calipers.audit(truth, corpus=corpus)


def audit_alike(n: int, _: Path) -> Work:
    """Questions of one template, with a few near duplicates each."""
    draw = random.Random(7)
    # As many words as keeps the texts that share one the same, however many questions.
    parts = [words(1, i) for i in range(n // 20)]
    truth = [
        {
            "query": f"What is the {draw.choice(parts)} of {draw.choice(parts)} in {i}?",
            "ground_truth": [f"d{i // 3}"],
        }
        for i in range(n)
    ]
    return lambda: calipers.audit(truth)


def agreement(n: int, place: Path) -> Work:
    chosen = random.Random(0)
    files = [place / "ann.csv", place / "bob.csv"]
    for file in files:
        rows = (
            f"q{i},question {i},d{j},text,{chosen.randrange(3)}" for i in range(n) for j in range(3)
        )
        file.write_text("\n".join(("query_id,query,item,text,grade", *rows)))
    return lambda: calipers.labels_export(files)


def convert(n: int, place: Path) -> Work:
    some = list(records(n))

    def work() -> object:
        (place / "all.jsonl").unlink(missing_ok=True)
        return calipers.convert(some, place / "all.jsonl")

    return work


def resolve(n: int, _: Path) -> Work:
    corpus = {f"d{i}": words(60, i) for i in range(n)}
    truth = [
        {"query": f"q{i}", "ground_truth": [{"quote": " ".join(text.split()[9:20])}]}
        for i, text in enumerate(corpus.values())
    ]
    return lambda: calipers.resolve(truth, corpus)


def sealed(n: int, place: Path) -> object:
    for file in place.iterdir():
        file.unlink()
    return calipers.seal(truths(n), output=place / "sealed.json")


def history(ask: Callable[[Path], object]) -> Make:
    def make(n: int, place: Path) -> Work:
        store = place / "history.db"
        store.write_bytes(_evaluations(n))
        return lambda: ask(store)

    return make


def site(n: int, place: Path) -> Work:
    """The static site of a history, which is written anew each time."""
    store = place / "history.db"
    store.write_bytes(_evaluations(n))
    folder = place / "site"

    def write() -> object:
        if folder.exists():
            shutil.rmtree(folder)
        listed = calipers.history(store=store, last=n)
        return write_site(listed, folder, HistorySettings(store=store, last=n))

    return write


@cache
def _evaluations(n: int) -> bytes:
    """A history of so many evaluations."""
    first = datetime(2026, 1, 1, tzinfo=UTC)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "history.db"
        for number in range(n):
            scores = calipers.evaluate(list(records(40, number)))
            calipers.save(scores, "n", store=store, now=first + timedelta(hours=number))
        return store.read_bytes()


CASES: tuple[tuple[str, Make, int], ...] = (
    ("read records", lambda n, _: lambda: calipers.read(list(records(n))), 4_000),
    ("eval, a row per result: csv", rows_of("csv"), 10_000),
    ("eval, a row per result: jsonl", rows_of("jsonl"), 10_000),
    ("eval, a row per result: trec", rows_of("trec"), 10_000),
    ("eval", of_pair(calipers.evaluate), 20_000),
    ("eval --by", of_pair(lambda pair: calipers.slices(calipers.evaluate(pair), "kind")), 8_000),
    ("eval --html", of_pair(lambda pair: calipers.report(pair).to_html()), 1_000),
    ("eval, levels", of_pair(calipers.levels, documents=True), 4_000),
    ("eval --calls", of_pair(calipers.calls, calls=True), 4_000),
    ("eval --corrected-by", people, 4_000),
    ("eval, results and targets of one query", one_query(calipers.evaluate), 40_000),
    ("eval, quotes", quotes("quote"), 1_000),
    ("eval, tolerant quotes", quotes("quote(min=0.8)"), 500),
    ("eval, quotes and chunks of one query", many_quotes("quote"), 2_000),
    ("eval, tolerant quotes and chunks of one query", many_quotes("quote(min=0.8)"), 1_000),
    ("eval, characters of a tolerant quote that repeats itself", repetitive, 20_000),
    ("eval, spans", spans, 3_000),
    ("eval, spans of one document", spans_of_one, 8_000),
    ("sweep", of_pair(calipers.sweep), 8_000),
    ("sweep, ranks that fall off slowly", geometric_ranks, 2_000),
    ("sweep, results of one query", one_query(calipers.sweep), 4_000),
    ("sweep --floor", of_pair(calipers.floor), 4_000),
    ("diagnose", of_pair(calipers.diagnose), 4_000),
    ("diagnose, results of one query", one_query(calipers.diagnose), 10_000),
    ("misses, results of one query", one_query(calipers.misses, part=2), 10_000),
    ("misses", of_pair(calipers.misses), 8_000),
    ("misses --corpus, unknown ids", misses_in_corpus("id"), 20_000),
    ("misses --corpus, unknown quotes", misses_in_corpus("quote"), 2_000),
    ("misses --corpus, unknown tolerant quotes", misses_in_corpus("quote(min=0.8)"), 500),
    ("compare", of_runs(lambda runs, truth: calipers.compare(runs, ground_truth=truth)), 8_000),
    ("compare, pairs of runs (each is tested)", pairs_of_runs, 190),
    ("compare --changes", of_runs(lambda runs, _: calipers.diff(*runs.values())), 4_000),
    ("compare --changes, results of one query", changes_of_one, 10_000),
    ("fuse", of_runs(lambda runs, g: calipers.fuse(runs, g, metrics="ndcg@10")), 1_000),
    ("plan", of_runs(lambda runs, g: calipers.plan(runs, ground_truth=g, difference=0.05)), 4_000),
    ("grid", grid, 1_000),
    ("confirm", confirm, 4_000),
    ("retrieve", lambda n, _: lambda: calipers.retrieve(_two, truths(n)), 4_000),
    ("explain, queries and chunks", explain, 4_000),
    ("gate save", kept, 8_000),
    ("gate", gate, 8_000),
    ("audit", lambda n, _: lambda: calipers.audit(truths(n)), 2_000),
    ("audit, questions that resemble each other", audit_alike, 5_000),
    ("audit --corpus", audit_corpus, 2_000),
    ("labels draft", of_runs(lambda runs, _: calipers.labels_draft(list(runs.values()))), 2_000),
    ("labels traces", traces, 4_000),
    ("labels import and export", pool, 1_000),
    ("labels sample", sample, 4_000),
    ("labels export", agreement, 2_000),
    ("convert", convert, 4_000),
    ("convert --resolve", resolve, 2_000),
    ("seal", lambda n, place: lambda: sealed(n, place), 4_000),
    (
        "history trend, evaluations",
        history(lambda s: calipers.history_trend("n", store=s, last=10_000)),
        50,
    ),
    ("history alarm, evaluations", history(lambda s: calipers.history_alarm("n", store=s)), 50),
    ("history list, evaluations", history(lambda s: calipers.history(store=s)), 50),
    ("history --html, evaluations", site, 25),
    ("history show, evaluations", history(lambda s: calipers.history_show("n", store=s)), 50),
)
"""Name, how to make the work of a size, and the size: of queries, unless the name says."""
