"""Take the pictures of the docs from the real pages, with the runs of the demo.

    python tools/take_screenshots.py [--output FOLDER]

Needs Chromium and Playwright, and the runs that `make demo` leaves in examples/demo/output.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "examples" / "demo" / "output"
TRUTH = ROOT / "examples" / "demo" / "questions.jsonl"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
JUDGES = ("anna", "ben", "carla")
"""The first owns the server, and looks."""
TALL = {"compare": 1160}
GRADES = (0, 3, 0, 0, 2, 0)
"""What whoever looks says of the first six results."""
GUIDELINES = """3  answers the question
2  helps to answer it
1  touches the topic
0  useless

Mark the sentence that answers, then press the grade.
"""


def main() -> int:
    """Take the pictures; 0 if all were taken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--runs", type=Path, default=RUNS)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        store = str(Path(folder) / "history.db")
        _save(store, options.runs)
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        _take_reports(browser, Path(folder), options.runs, options.output)
        with _served(store, folder, options.runs) as links:
            inside = browser.new_context()
            page = inside.new_page()
            page.goto(links[JUDGES[0]])
            page.wait_for_url(re.compile(r"/judge$"))
            home = re.sub(r"/pools.*", "/", page.url)
            page = browser.new_page(
                viewport={"width": 1280, "height": 900},
                reduced_motion="reduce",
                storage_state=inside.storage_state(),
            )
            page.goto(home)
            for shot in _visit(page, store):
                target = options.output / f"web-{shot}.png"
                page.evaluate("scrollTo(0, 0)")
                # A comparison as far as its first chart.
                page.set_viewport_size({"width": 1280, "height": TALL.get(shot, 900)})
                page.screenshot(path=target, full_page=shot == "pool")
                print(target)
        browser.close()
    return 0


def _take_reports(browser: Any, folder: Path, runs: Path, output: Path) -> None:
    """The page of one retriever, its queries by night, and a win of one over another."""
    import calipers
    from calipers.questions.compare.settings import CompareSettings
    from calipers.questions.report.rule import compare_runs

    hybrid, bm25 = str(runs / "hybrid.jsonl"), str(runs / "bm25.jsonl")
    alone, both = folder / "alone.html", folder / "both.html"
    calipers.report(run=hybrid, ground_truth=TRUTH, name="hybrid").save(alone)
    compare_runs([bm25, hybrid], TRUTH, CompareSettings()).save(both)
    for name, path, scheme, height, place in (
        ("report", alone, "light", 1560, None),
        ("report-queries", alone, "dark", 900, ("#queries", ".query > summary")),
        ("report-compare", both, "light", 900, ("#queries", ".query > summary")),
    ):
        page = browser.new_page(
            viewport={"width": 1280, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        page.goto(path.as_uri())
        if place:
            page.locator(place[1]).first.click()
            page.evaluate("id => document.querySelector(id).scrollIntoView()", place[0])
            page.evaluate("scrollBy(0, -20)")
        target = output / f"{name}.png"
        page.screenshot(path=target)
        print(target)
        page.close()


def _calipers(arguments: str) -> list[str]:
    """The command of Calipers; the words of the arguments stand between blanks."""
    return [sys.executable, "-c", "from calipers.cli import main; main()", *arguments.split(" ")]


def _save(store: str, runs: Path) -> None:
    for name in ("counting", "bm25", "hybrid", "hybrid"):
        evaluated = f"eval --run {runs}/{name}.jsonl -g {TRUTH} -k 1,5,10"
        command = _calipers(f"{evaluated} --save {name} --store {store}")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _served(store: str, folder: str, runs: Path) -> Iterator[dict[str, str]]:
    guide = Path(folder) / "guidelines.txt"
    guide.write_text(GUIDELINES, encoding="utf-8")
    command = (
        f"serve --judge {runs}/bm25.jsonl {runs}/hybrid.jsonl -g {TRUTH} --store {store} "
        f"--judges {','.join(JUDGES)} --owner {JUDGES[0]} --per-item 3 --metric recall@5 "
        f"--pool demo --guidelines {guide}"
    )
    process = subprocess.Popen(
        _calipers(command),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        lines = (process.stdout or iter(())).__iter__()
        links: dict[str, str] = {}
        while len(links) < len(JUDGES):
            # "anna (owner): http://…"; other lines say what is served.
            if found := re.match(r"\s*(\w+)[^:]*: (http\S+)", next(lines)):
                links[found[1]] = found[2]
        yield links
    finally:
        process.terminate()
        process.wait(20)


def _visit(page: Any, store: str) -> Iterator[str]:
    page.goto(page.url + "?name=hybrid")
    page.locator("tbody a").first.click()
    page.locator("#queries a.open").nth(1).click()
    yield "evaluation"
    page.goto(re.sub(r"/evaluations.*", "/", page.url))
    boxes = page.locator("tbody input[type=checkbox]")
    boxes.nth(2).check()
    boxes.nth(3).check()
    page.get_by_role("button", name="Compare the ticked").click()
    yield "compare"
    page.goto(re.sub(r"/compare.*", "/pools", page.url))
    page.locator("tbody a").first.click()
    page.locator("#desk").wait_for()
    for n in range(6):
        page.keyboard.press(str(GRADES[n]))
        page.locator("#save", has_text="Saved.").wait_for()
    page.keyboard.press("m")
    yield "judge"
    _differ(store)
    page.get_by_role("link", name="Results and export").first.click()
    yield "pool"


def _differ(store: str) -> None:
    """Two others judge the same results, and do not always say the same."""
    import calipers

    desk = calipers.labels_desk("demo", store=store)
    for judge, others in (("ben", (0, 3, 1, 0, 2, 0)), ("carla", (0, 3, 0, 0, 2, 1))):
        for item, grade in zip(desk.queue(judge)[: len(others)], others, strict=True):
            desk.give(judge, item.position, grade)


if __name__ == "__main__":
    sys.exit(main())
