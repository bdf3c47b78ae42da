"""The page as its readers use it."""

import pytest

from calipers.questions.compare.settings import CompareSettings
from calipers.questions.report.rule import compare_runs
from tests.reports import hostile_records, records, report_of, reversed_records

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    path = tmp_path_factory.mktemp("one") / "report.html"
    report_of(records(120), name="hybrid").save(path)
    return path


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    path = tmp_path_factory.mktemp("two") / "report.html"
    compare_runs({"old": records(), "new": reversed_records()}, None, CompareSettings()).save(path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    report_of(hostile_records(), name="<script>window.hacked = 1</script>").save(path)
    return path


def test_charts_are_as_wide_as_the_page_and_a_dot_says_its_value(one, visit):
    page = visit(one).page
    dot = page.locator(".chart.wide svg").first.locator(".dot").last
    # Five pixels from its middle: a pointer need not hit it exactly.
    box = dot.bounding_box()
    dot.hover(position={"x": box["width"] / 2 - 5, "y": box["height"] / 2})
    assert "@1: " in dot.locator("title").text_content()
    for width in (1400, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        inner = page.evaluate("document.querySelector('main > section').clientWidth")
        for drawing in page.locator(".chart svg:visible").all():
            assert abs(drawing.bounding_box()["width"] - inner) <= 1
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("h1").is_visible()


def test_a_query_opens_by_keyboard_to_its_ranking_and_its_misses(one, visit):
    page = visit(one, script=False).page
    assert page.locator(".query").count() == 120
    row = page.locator(".query", has_text="What is number 4?").first
    row.locator("summary").first.focus()
    page.keyboard.press("Enter")
    results = row.locator(".result")
    # A busy browser hears of the key a moment later.
    results.first.wait_for()
    assert results.count() == 10
    assert results.nth(3).locator(".state").inner_text() == "relevant, grade 1"
    assert "c4-4" in results.nth(3).inner_text()
    assert results.nth(0).locator(".state").inner_text() == "unjudged"
    expected = row.locator(".expected").inner_text()
    for words in ("c4-4", "found at rank 4", "nowhere", "not in the results"):
        assert words in expected


def test_two_systems_stand_side_by_side_and_it_is_said_why_a_query_was_lost(two, visit):
    seen = visit(two)
    page = seen.page
    worse, better = page.locator("#queries > section").all()
    # Ten lose their first place, ten were never found, ten stay in the list.
    assert (worse.locator(".query").count(), better.locator(".query").count()) == (10, 0)
    assert worse.locator("summary .sub.worse").all_inner_texts() == ["ranked below k"] * 10
    first = worse.locator(".query").first
    first.locator("summary").first.click()
    rankings = first.locator(".ranking")
    assert [rankings.nth(at).locator(".result").count() for at in (0, 1)] == [10, 10]
    boxes = [rankings.nth(at).bounding_box() for at in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    assert "was 10" in rankings.nth(1).inner_text()
    assert seen.troubles == []


def test_hostile_texts_run_nothing_and_break_nothing(hostile, visit):
    for width in (360, 1280):
        seen = visit(hostile, width=width)
        seen.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        assert seen.page.locator(".query").count() == len(hostile_records())
        assert seen.page.locator("main a[href^='javascript']").count() == 0
        assert seen.page.locator("main img, main script, main style, main iframe").count() == 0
        assert seen.page.evaluate(SIDEWAYS) == 0
        assert seen.is_calm(), seen.troubles
