"""The page: how long it takes to make, how large it is, how quickly a browser shows it."""

import json
import random
import time
from pathlib import Path
from typing import Any

from bench.inputs import CACHE
from bench.measure import Measured, Row, compared

CHROMIUM = Path("/usr/bin/chromium")
SMALL, LARGE = 1_000, 10_000
SENTENCE = """the query returns a chunk of text that holds what should be found and the rest is
noise which a reranker may push below the first results of every list"""


def rows(quick: bool = False) -> list[Row]:
    """A page of 1,000 queries and its size; 10,000 queries in a browser."""
    import calipers

    count = SMALL // 10 if quick else SMALL
    given = _written(count)
    page = CACHE / f"report-{count}.html"
    started = time.perf_counter()
    report = calipers.report(given)
    gathered = time.perf_counter()
    report.save(page)
    written = time.perf_counter()
    size = page.stat().st_size / 1e6
    input_ = f"{count:,} queries, 10 results each"
    found = [
        compared("report gathered", input_, Measured(gathered - started)),
        compared(
            "page written",
            f"{input_}; limit: 5 s, 3 MB",
            Measured(written - gathered, note=f"{size:.2f} MB"),
        ),
    ]
    return found + _in_browser(LARGE // 10 if quick else LARGE)


def _in_browser(count: int) -> list[Row]:
    import calipers

    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    if not CHROMIUM.exists():
        return []
    page_file = CACHE / f"report-{count}.html"
    calipers.report(_written(count)).save(page_file)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(page_file.as_uri())
        opened = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        filtered = page.evaluate(_FILTER)
        browser.close()
    given = f"{count:,} queries in Chromium; limit: 1 s"
    return [
        compared(name, given, Measured(milliseconds / 1000))
        for name, milliseconds in (("page opens", opened), ("page filters", filtered))
    ]


_FILTER = """() => new Promise((done) => {
  const start = performance.now(), box = document.getElementById("f-text");
  box.value = "reranker";
  box.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
})"""


def _written(count: int) -> str:
    """A file with that many queries, the same every time."""
    path = CACHE / f"report-{count}.json"
    if path.exists():
        return str(path)
    CACHE.mkdir(exist_ok=True)
    chance, words = random.Random(0), SENTENCE.split()
    chunks = [(f"d{i % 500}#{i}", " ".join(chance.choices(words, k=110))) for i in range(2 * count)]
    records: list[dict[str, Any]] = []
    for number in range(count):
        ranked = chance.sample(chunks, 10)
        wanted = [chance.choice(ranked)[0] if chance.random() < 0.7 else "elsewhere"]
        records.append(
            {
                "id": f"q{number}",
                "query": " ".join(chance.choices(words, k=9)),
                "tags": {"type": chance.choice("abc")},
                "ground_truth": wanted,
                "retrieved": [{"id": name, "text": text} for name, text in ranked],
            }
        )
    path.write_text(json.dumps(records))
    return str(path)
