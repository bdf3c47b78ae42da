"""Every page that Calipers writes, on a phone and on a screen, by day and by night."""

from importlib.util import find_spec
from pathlib import Path

import pytest

import calipers
from calipers.questions.diff.show import save_diff
from calipers.questions.trend.charts import write_trend
from tests.reports import records, report_of, reversed_records

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PAGES = (
    "report",
    "comparison",
    "bare",
    "over-k",
    "precision-recall",
    "waterfall",
    "slices",
    "differences",
    "head-to-head",
    "first-trend",
    "trend",
    "diff",
)


@pytest.fixture(scope="module")
def axe():
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core is not installed: pip install axe-playwright-python")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    two = {"old": records(), "new": reversed_records()}
    # The rules look at every element, and more queries have no other elements.
    few = {"old": records(9), "new": reversed_records(9)}
    report_of(records(12), name="hybrid").save(folder / "report.html")
    report_of(None, systems=few).save(folder / "comparison.html")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(__import__("sys").modules, "vl_convert", None)
        report_of(None, systems=few).save(folder / "bare.html")
    for chart in ("over-k", "precision-recall", "waterfall", "slices"):
        calipers.plot(records(), chart).save(folder / f"{chart}.html")
    for chart in ("differences", "head-to-head"):
        calipers.plot(systems=two, chart=chart).save(folder / f"{chart}.html")
    changed = calipers.diff(records(), reversed_records(), by="length")
    save_diff(changed, folder / "diff.html")
    for name, count in (("first-trend", 1), ("trend", 3)):
        for n in range(count):
            calipers.save(calipers.evaluate(records(30 + n)), name, store=folder / "history.db")
        write_trend(calipers.trend(name, store=folder / "history.db"), str(folder / f"{name}.html"))
    return folder


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_says_nothing_and_breaks_no_rule_of_axe(
    name, width, dark, pages, axe, visit
):
    seen = visit(pages / f"{name}.html", width=width, dark=dark)
    page = seen.page
    page.locator("svg, table").first.wait_for(state="attached")
    for closed in (".open", "details > summary"):
        if page.locator(closed).count():
            page.locator(closed).first.click()
    assert page.evaluate(SIDEWAYS) == 0
    assert seen.is_calm(), seen.troubles
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light is not dark
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_the_axis_of_a_first_trend_has_labels_that_differ(pages, visit):
    page = visit(pages / "first-trend.html").page
    page.locator("svg").wait_for()
    for axis in page.locator("g.role-axis-label, g.mark-text.role-axis-label").all():
        labels = [one for one in axis.locator("text").all_inner_texts() if one]
        assert len(labels) == len(set(labels)), labels
