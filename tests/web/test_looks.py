"""Every page with data in it: clean by axe, by day and by night, on a phone, at 200 %."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.web.app import ADDRESSES
from tests.reports import records, reversed_records
from tests.systems import keep
from tests.web.served import served, shelf_of
from tests.web.test_browser import come_in

PAGES = sorted(
    path.removeprefix("GET ")
    for path in ADDRESSES
    if path.startswith("GET ") and not path.startswith(("GET /api", "GET /assets", "GET /enter"))
)
"""Every page that is served, as the table of roles names it."""
QUERIES = {
    "/": ("?name=old",),
    "/evaluations/{reference}": ("?open=2",),
    "/compare": ("?of={reference}&of={other}&open=q1",),
    "/pools/{number:int}": ("", "?show=notes"),
}
"""What is asked for beside the page as it is, or in its place where it needs something."""
N = 6
STACKED = (
    "/",
    "/compare",
    "/evaluations/{reference}",
    "/evaluations/{reference}/report",
    "/pools/{number:int}",
)
BEYOND = """() => [...document.querySelectorAll(".scroll")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth)
  .map((one) => one.ariaLabel)"""
"""The tables that are wider than the screen."""
# What depends on colours and on where things are; the other rules look at the elements alone.
NARROW = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """Evaluations, a trend, and a pool with long texts, notes, conflicts and guidelines."""
    store = str(tmp_path_factory.mktemp("looks") / "history.db")
    saved = {}
    for name, made in (("old", records(N)), ("new", reversed_records(N)), ("old", records(N))):
        saved[name] = keep(calipers.read(made), name, store).id
    made = records(N)
    for record in made:
        for hit in record["retrieved"]:
            hit["text"] = f"{hit['text']} " * 90
    ids = {hit["id"] for record in made for hit in record["retrieved"]}
    desk = calipers.labels_pool(
        "pool",
        {"old": made},
        ground_truth=[{k: v for k, v in one.items() if k != "retrieved"} for one in made],
        per_item=2,
        guidelines="Be kind.\n" * 60,
        corpus=[{"id": one, "text": "", "title": f"About {one} {'word ' * 99}"} for one in ids],
        store=store,
    )
    for item in range(6):
        desk.give("me", item, item % 4, note="why not")
        desk.give("anna", item, 3 - item % 4)
    desk.give("anna", 0, kind="note", note="odd")
    desk.give("me", 0, 3, kind="final")
    given: dict[str, Any] = {"a b": calipers.read(records(N))}
    with served(shelf_of(store, "anna", **given)) as running:
        yield running, {"reference": saved["new"], "other": saved["old"]}


@pytest.fixture(scope="module")
def window(rich, browser):
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core is not installed: pip install axe-playwright-python")
    context = browser.new_context()
    context.add_init_script(path=Path(found.origin).parent / "axe.min.js")
    yield come_in(context.new_page(), rich[0].links["me"])
    context.close()


def axe(page, rules=None):
    wanted = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = page.evaluate("rules => axe.run(rules)", wanted)["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found]


def look(page, width, dark=False):
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.set_viewport_size({"width": width, "height": 900})
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def check(page):
    """By day as wide as a desk, by night on a phone; half as wide is a window at 200 %."""
    assert not look(page, 1280)
    assert axe(page) == []
    assert not look(page, 640)
    assert not look(page, 390, dark=True)
    assert axe(page, NARROW) == []


@pytest.mark.parametrize(
    ("path", "query"), [(path, query) for path in PAGES for query in QUERIES.get(path, ("",))]
)
def test_every_page_is_clean_by_axe_and_fits(rich, window, path, query):
    running, ids = rich
    there = (path + query).replace("{number:int}", "1")
    look(window, 1280)
    answer = window.goto(f"http://{running.host}{there.format(**ids)}")
    assert answer.status == 200
    if path.endswith("/judge"):
        window.locator("#desk").wait_for()
    check(window)
    if path in STACKED:
        # On a phone every number is seen without scrolling: the rows are stacked.
        assert window.evaluate(BEYOND) == []


def test_on_a_phone_differences_and_intervals_are_on_the_screen(rich, window):
    running, ids = rich
    look(window, 390)
    window.goto(f"http://{running.host}/compare?of={ids['reference']}&of={ids['other']}")
    row = window.locator("#queries tr.row").first
    for at in range(3):
        box = row.locator("td").nth(at + 1).bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    # The frame of the query that has the keys is whole, and crosses nothing beside it.
    frame = """(one) => {
      one.focus();
      const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(one);
      return [outlineStyle, outlineWidth, outlineOffset];
    }"""
    window.keyboard.press("j")
    assert row.locator("a.open").evaluate(frame) == ["solid", "2px", "-2px"]
    # Each value names its system, as in the report.
    names = row.locator("td[data-head]").evaluate_all("all => all.map((one) => one.dataset.head)")
    assert names == ["new", "old"]
    window.goto(f"http://{running.host}/evaluations/{ids['reference']}")
    cells = window.locator('table.answer td[data-head="95% interval"]:not(:empty)')
    assert cells.count() > 3
    for at in range(cells.count()):
        box = cells.nth(at).bounding_box()
        assert box["x"] + box["width"] <= 390


def test_whatever_opens_while_judging_is_clean_by_axe(rich, window):
    look(window, 1280)
    window.goto(f"http://{rich[0].host}/pools/1/judge")
    window.locator("#desk").wait_for()
    window.keyboard.press("m")
    for key, shown in (("c", "#note-form"), ("?", "#keys")):
        window.keyboard.press(key)
        window.locator(shown).wait_for()
        assert axe(window) == []
        window.keyboard.press("Escape")
    check(window)
