"""Every page that Calipers writes, on a phone and on a screen, by day and by night."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

import calipers
from calipers.cli.output import write_document
from calipers.present.drawing import on_page
from calipers.questions.compare.settings import CompareSettings
from calipers.questions.history.document import trend_chart
from calipers.questions.report.page.page import HERE
from calipers.questions.report.rule import compare_runs
from tests.browser.looks import contrast_faults, unlabelled
from tests.reports import records, report_of, reversed_records

STYLE = HERE / "style.css"
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
SEEN = """() => [document.body.outerHTML,
  ...[...document.querySelectorAll("body *")].map((one) => one.checkVisibility())]"""
# The other rules look at elements and their places, which are the same by day and by night.
OF_COLOURS = ["color-contrast", "link-in-text-block"]


def _charts(path):
    """Every chart that no report has."""
    store = path.with_suffix(".db")
    for n in range(3):
        calipers.save(calipers.evaluate(records(30 + n)), "nightly", store=store)
    drawn = [
        trend_chart(calipers.history_trend("nightly", store=store)),
        trend_chart(calipers.history_trend("nightly", last=1, store=store)),
    ]
    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Charts</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text()}</style><main><h1>Charts</h1>{''.join(map(on_page, drawn))}"
    )


def _comparison(path):
    # The rules look at every element, and more queries have no other elements.
    few = {"old": records(9), "new": reversed_records(9)}
    compare_runs(few, None, CompareSettings()).save(path)


PAGES = {
    "report": lambda path: report_of(records(12), name="hybrid").save(path),
    "comparison": _comparison,
    "charts": _charts,
    "diff": lambda path: write_document(
        calipers.diff(records(), reversed_records()).document(), str(path)
    ),
}


@pytest.fixture(scope="module")
def axe():
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core is not installed: pip install axe-playwright-python")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page of a name, written when it is first looked at: another worker may have the rest."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def write(name):
        PAGES[name](folder / f"{name}.html")
        return folder / f"{name}.html"

    return write


def _opened(seen):
    """The page with its first folded parts unfolded."""
    page = seen.page
    page.locator("h1").first.wait_for(state="attached")
    for closed in (".query > summary", "details:not(.query) > summary"):
        if page.locator(closed).count():
            page.locator(closed).first.click()
    return page


def _broken(page, **rules):
    """The rules of axe that a page breaks, and where."""
    # Of what passes axe would list every element, which takes longer than to look at them.
    found = page.evaluate("rules => axe.run(rules)", {"resultTypes": ["violations"], **rules})
    return [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_says_nothing_and_breaks_no_rule(name, written, axe, visit):
    seen = visit(written(name))
    page = _opened(seen)
    page.evaluate(axe)
    for width in (1280, 390):
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
        by_day = page.evaluate(SEEN)
        # Axe looks at no text of a drawing.
        assert (_broken(page), contrast_faults(page), unlabelled(page)) == ([], [], [])
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(BACKGROUND) != "rgb(255, 255, 255)"
        assert page.evaluate(SEEN) == by_day
        assert (_broken(page, runOnly=OF_COLOURS), contrast_faults(page)) == ([], [])
    for width in (360, 390, 1280, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) == 0
    assert seen.is_calm(), (seen.troubles, seen.requests)
