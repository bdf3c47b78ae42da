"""How fast the web app answers, and how much memory its server takes: ``python -m bench.web``.

Two evaluations of 100,000 queries with 20 results each are saved to a history and served by a
process of its own; pages, filters, sorts, opened queries and the comparison of both are asked for
over HTTP, and the agreement of a pool with 5,000 conflicts. A pool of 1,000 queries is then
labelled. Times are at the 95th percentile; what is asked first comes separately, until the page
shows what it is about: one that is still being made says so.
Beside each stands the processor time that the server took on average, which does not grow when
other programs run; and how busy the machine was with them.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import numpy as np

from bench.measure import calipers as command
from bench.measure import processor_seconds

QUERIES, RESULTS, CORPUS, CONFLICTS = 100_000, 20, 500_000, 5_000
TIMES = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--store", help="Keep and reuse this history.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or str(Path(folder) / "history.db")
        if not Path(store).exists():
            # In a process of its own: what saving took is no business of the server.
            code = f"from bench.web import fill; fill({store!r}, {options.queries})"
            subprocess.run([sys.executable, "-c", code], check=True)
        with _served(store) as (process, ask):
            _report(ask, process, options)


def fill(store: str, queries: int) -> None:
    """Save a large evaluation, and make a pool of 1,000 queries."""
    import polars as pl

    import calipers

    chance = np.random.default_rng(0)
    names = np.array([f"query {n} about topic {n % 997}" for n in range(queries)])
    items = np.char.add("doc", chance.integers(0, CORPUS, queries * RESULTS).astype(str))
    run = pl.DataFrame(
        {
            "query": np.repeat(names, RESULTS),
            "item": items,
            "rank": np.tile(np.arange(1, RESULTS + 1), queries),
        }
    )
    at = chance.integers(0, RESULTS * 2, queries)
    found = items.reshape(queries, RESULTS)[np.arange(queries), np.minimum(at, RESULTS - 1)]
    target = np.where(at < RESULTS, found, "missing")
    truth = pl.DataFrame({"query": names, "item": target})
    for name in ("before", "large"):
        pair = calipers.read(ground_truth=truth, run=run)
        scores = calipers.evaluate(pair, metrics="recall,ndcg,hit_rate", k=10)
        calipers.save(scores, name, store=store, ground_truth=pair.ground_truth, run=pair.run)
        # Every tenth result somewhere else: most rankings move, few of them far.
        moved = chance.permutation(run.height // 10) * 10
        items[np.sort(moved)] = items[moved]
        run = run.with_columns(item=pl.Series(items))
    few = run.head(1000 * RESULTS).with_columns(text=pl.lit("A text of a few words."))
    calipers.labels_pool("pool", {"one": few}, ground_truth=truth.head(1000), store=store)
    _differ(store, few.head(CONFLICTS * RESULTS // 10), truth.head(CONFLICTS // 10))


def _differ(store: str, run: Any, truth: Any) -> None:
    """A pool in which two judges differ on everything."""
    import calipers
    from calipers.store.label_pools import append_on

    judges = ("anna", "ben")
    desk = calipers.labels_pool(
        "conflicts",
        {"one": run},
        ground_truth=truth,
        store=store,
        per_item=2,
        judges=judges,
        again=True,
    )
    with desk.store.writing() as connection:
        for item in range(min(CONFLICTS, len(desk.items))):
            for n, judge in enumerate(judges):
                label = {"item": item, "judge": judge, "kind": "label", "grade": 3.0 * n}
                append_on(connection, desk.content.number, **label)


@contextmanager
def _served(store: str) -> Iterator[tuple[int, Callable[..., bytes]]]:
    process = subprocess.Popen(
        command("serve", "--store", store),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        line = process.stdout.readline()
        host, token = re.findall(r"http://([^/]+)/enter\?token=(\S+)", line)[0]
        connection = http.client.HTTPConnection(*host.split(":"), timeout=120)
        cookie = ""

        def ask(path: str, body: dict | None = None) -> bytes:
            headers = {"Cookie": cookie, "Origin": f"http://{host}"}
            content = None
            if path == "/enter":
                headers["Content-Type"] = "application/x-www-form-urlencoded"
                content = urlencode(body or {}).encode()
            elif body is not None:
                headers["Content-Type"] = "application/json"
                content = json.dumps(body).encode()
            connection.request("GET" if content is None else "POST", path, content, headers)
            answer = connection.getresponse()
            read = answer.read()
            if answer.status == 202:  # being made: asked again, as the script of the page does
                time.sleep(0.2)  # at once, the asking itself would take the processor
                return ask(path, body)
            assert answer.status in (200, 303), (path, answer.status, read[:300])
            return answer.headers.get("set-cookie", "").encode() if path == "/enter" else read

        for _ in range(100):
            try:
                cookie = ask("/enter", {"token": token}).decode().partition(";")[0]
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        yield process.pid, ask
    finally:
        process.terminate()
        process.wait(30)


def _report(ask: Callable[..., bytes], pid: int, options: argparse.Namespace) -> None:
    chance = np.random.default_rng(1)
    home = ask("/").decode()
    reference, before = re.findall(r'href="/evaluations/([0-9a-f]+)"', home)[:2]
    page, both = f"/evaluations/{reference}", f"of={before}&of={reference}"
    pools = {"pool": 1, "conflicts": 2}

    def number() -> int:
        return int(chance.integers(0, options.queries))

    def asked_again(n: int) -> str:
        return quote_plus(f"query {n} about topic {n % 997}")

    cases: dict[str, Callable[[], str]] = {
        "first page": lambda: page,
        "some page": lambda: f"{page}?page={number() // 50}",
        "filter by text": lambda: f"{page}?text=topic+{number() % 997}",
        "only failures": lambda: f"{page}?failures=1&page={1 + number() % 100}",
        "by reason": lambda: f"{page}?reason=below_k&page={1 + number() % 10}",
        "metric below": lambda: f"{page}?metric=ndcg%4010&below={chance.random():.3f}",
        "sort by metric": lambda: f"{page}?sort=ndcg%4010&down=1&page={1 + number() % 100}",
        "sort by query": lambda: f"{page}?sort=query&page={1 + number() % 100}",
        "open a query": lambda: f"{page}?open={number()}",
        "ground truth": lambda: f"{page}/truth",
        "report": lambda: f"{page}/report",
        "two compared": lambda: f"/compare?{both}&page={1 + number() % 100}",
        "compared, by text": lambda: f"/compare?{both}&text=topic+{number() % 997}",
        "compared, a query opened": lambda: f"/compare?{both}&open={asked_again(number())}",
        "5,000 conflicts": lambda: f"/pools/{pools['conflicts']}",
        "pools": lambda: "/pools",
        "evaluations": lambda: "/",
    }
    began = time.perf_counter()
    ask(page)
    print(f"{'opened for the first time':28} {time.perf_counter() - began:6.2f} s")
    for name, case in cases.items():
        began = time.perf_counter()
        size = len(ask(case()))
        first, before = time.perf_counter() - began, processor_seconds(pid)
        taken = _taken(lambda case=case: ask(case()), options.times)
        each = (processor_seconds(pid) - before) / options.times
        print(
            f"{name:28} {_times(taken)}   processor {each:6.3f} s   "
            f"first {first:6.2f} s   {size / 1000:5.0f} kB   "
            f"most memory so far {_memory(pid, 'VmHWM'):5.0f} MB",
            flush=True,
        )
    differing = f"pools/{pools['conflicts']}"
    settled: list[float] = []
    before = processor_seconds(pid)
    for n in range(options.times):
        body = {"request": f"settle-{os.getpid()}-{n}", "item": n, "grade": 2}
        ask(f"/api/v1/{differing}/settle", body)
        settled += _taken(lambda: ask(f"/{differing}"), 1)
    each = (processor_seconds(pid) - before) / options.times
    print(f"{'one settled, and the page':28} {_times(settled)}   processor {each:6.3f} s")
    print(f"{'load of the machine':28} {os.getloadavg()[0]:6.1f}")
    pool = f"/api/v1/pools/{pools['pool']}"
    ask(f"{pool}/take", {})
    page = f"/pools/{pools['pool']}"
    ask(page)
    labelled, moved, spent = [], [], 0.0
    for n in range(options.times):
        body = {"request": f"bench-{os.getpid()}-{n}", "item": n, "grade": n % 4}
        began, before = time.perf_counter(), processor_seconds(pid)
        ask(f"{pool}/labels", body)
        labelled.append(time.perf_counter() - began)
        spent += processor_seconds(pid) - before
        moved += _taken(partial(ask, page), 1)
    each = spent / options.times
    print(f"{'a label, until the next item':28} {_times(labelled)}   processor {each:6.3f} s")
    print(f"{'what it moved, the page':28} {_times(moved)}")
    for key, name in (("VmHWM", "most memory"), ("VmRSS", "memory now")):
        print(f"{name:28} {_memory(pid, key):6.0f} MB")


def _memory(pid: int, key: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(rf"{key}:\s+(\d+)", status)[0]) / 1000


def _taken(work: Callable[[], object], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return taken


def _times(taken: list[float]) -> str:
    highest = statistics.quantiles(taken, n=20)[-1]
    return f"p50 {statistics.median(taken):6.3f} s   p95 {highest:6.3f} s"


if __name__ == "__main__":
    main()
