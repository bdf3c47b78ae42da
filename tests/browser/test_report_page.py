"""The page as its readers use it."""

import pytest

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
    report_of(None, systems={"old": records(), "new": reversed_records()}).save(path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    report_of(hostile_records(), name="<script>window.hacked = 1</script>").save(path)
    return path


def counts(page, words):
    """Wait until the line above the table says this."""
    page.locator("#count", has_text=words).wait_for()


def test_the_table_is_sorted_filtered_and_turned_and_charts_are_as_wide_as_the_page(one, visit):
    page = visit(one).page
    assert page.locator("#table tbody tr.row").count() == 50
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    assert page.locator("#where").inner_text() == "Page 3 of 3"
    assert page.locator("#table tbody tr.row").count() == 20
    assert page.get_by_role("button", name="Next").is_disabled()
    page.reload()

    def values():
        return [float(t) for t in page.locator("#table td:nth-child(2)").all_inner_texts()]

    assert values() == sorted(values())
    page.get_by_role("button", name="recall@10").click()
    assert values() == sorted(values(), reverse=True)
    assert values()[0] == 1.0
    head = page.locator("th[aria-sort]")
    assert head.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="query", exact=True).click()
    names = page.locator("#table bdi:first-child").all_inner_texts()
    assert names[0].startswith("What is number 0")
    page.reload()
    assert page.locator("#count").inner_text() == "120 queries"
    page.locator("#f-text").fill("number 11")
    counts(page, "11 of 120 queries")  # 11, and 110 to 119
    page.locator("#f-text").fill("")
    page.locator("select[data-tag=type]").select_option("odd")
    counts(page, "60 of")
    page.locator("#f-failures").check()
    counts(page, "20 of")
    page.locator("#f-failures").uncheck()
    page.locator("#f-metric").select_option("recall@10")
    page.locator("#f-below").fill("0.6")
    counts(page, "40 of")
    page.reload()
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
    assert page.locator("#filters").is_hidden()
    assert page.locator("h1").is_visible()


def test_a_row_opens_by_keyboard_to_its_ranking_and_its_misses(one, visit):
    page = visit(one).page
    page.locator("#f-text").fill("q4")
    counts(page, "11 of 120 queries")  # 4, and 40 to 49; until then the row may be drawn again
    row = page.locator(".open[data-row='4']")
    row.focus()
    page.keyboard.press("Enter")
    results = page.locator(".opened .result")
    # A busy browser hears of the key a moment later.
    results.first.wait_for()
    assert results.count() == 10
    assert results.nth(3).locator(".state").inner_text() == "relevant"
    assert "c4-4" in results.nth(3).inner_text()
    assert results.nth(0).locator(".state").inner_text() == "unjudged"
    expected = page.locator(".expected").inner_text()
    assert "c4-4" in expected
    assert "found at rank 4" in expected
    assert "nowhere" in expected
    assert "missed: not in the results" in expected
    # By their order and not by their places: the page may still be scrolling to the row.
    assert page.locator(".expected + .rankings .result").count() == 10
    page.keyboard.press("Enter")
    page.locator(".opened").wait_for(state="detached")


def test_the_matched_quote_is_marked(tmp_path, visit):
    text = "The GIL is\n a mutex,  or a lock, for threads."
    wanted = [{"quote": "a mutex, or a lock,"}]
    made = [{"query": "GIL?", "ground_truth": wanted, "retrieved": [{"text": text}]}]
    path = tmp_path / "quote.html"
    report_of(made).save(path)
    page = visit(path).page
    page.locator(".open").first.click()
    assert page.locator("mark").inner_text() == "a mutex,  or a lock,"


def test_two_systems_stand_side_by_side_and_it_is_said_why_a_query_was_lost(two, visit):
    seen = visit(two)
    page = seen.page
    page.locator(".open").first.click()
    opened = page.locator("tr.opened")
    opened.locator(".result").first.wait_for()
    assert opened.locator(".result").count() == 20
    boxes = [opened.locator(".result").nth(at).bounding_box() for at in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    assert "rank" in opened.inner_text()
    page.reload()
    rows = page.locator("#table tr.row")
    # Ten lose their first place, ten were never found, ten stay in the list.
    for outcome, left in (("worse", 10), ("better", 0), ("different", 10)):
        page.locator("#f-outcome").select_option(outcome)
        counts(page, f"{left} of 30 queries")
    reasons = rows.locator(".sub.worse").all_inner_texts()
    assert reasons == ["ranked below k"] * 10
    assert seen.troubles == []


def test_hostile_texts_run_nothing_and_break_nothing(hostile, visit):
    for width in (360, 1280):
        seen = visit(hostile, width=width)
        for at in range(seen.page.locator(".open").count()):
            seen.page.locator(".open").nth(at).click()
        seen.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        assert seen.page.locator("#table tbody tr.row").count() == len(hostile_records())
        assert seen.page.locator("main a[href^='javascript']").count() == 0
        assert seen.page.locator("main img, main script, main style, main iframe").count() == 0
        assert seen.page.evaluate(SIDEWAYS) == 0
        assert seen.is_calm(), seen.troubles


def test_without_javascript_tables_and_charts_remain(one, visit):
    page = visit(one, script=False).page
    assert page.locator("#table tbody tr").count() == 50
    assert page.locator(".chart.wide svg:visible").count() == 3
    assert page.locator("#f-text").is_hidden()
