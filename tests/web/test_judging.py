"""The page for judging in a real browser: one server and one window, a pool for each test."""

import re
from itertools import count

import pytest

from tests.store.judged import BM25, labels, pool
from tests.web.served import served, shelf_of
from tests.web.test_browser import come_in, press

TEXTS = ("Yes. It is 7. No. It is 7.", "القفل يفتح بالمفتاح.", "See https://a.example/x.png now.")


@pytest.fixture(scope="module")
def room(browser, tmp_path_factory):
    """A window in which anna came in."""
    store = str(tmp_path_factory.mktemp("judging") / "history.db")
    pool(store, "other")
    with served(shelf_of(store, "anna", owner="lee")) as running:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        yield running, store, come_in(context.new_page(), running.links["anna"])
        context.close()


NAMES = (f"pool-{n}" for n in count())


@pytest.fixture
def opened(room):
    """The page and the desk of a new pool."""
    running, store, page = room
    troubles: list[str] = []

    def hear(error):
        troubles.append(str(error))

    page.on("pageerror", hear)

    def go(asked="", **settings):
        desk = pool(store, next(NAMES), **settings)
        page.goto(f"http://{running.host}/pools/{desk.content.number}/judge?{asked}")
        page.locator("#desk").wait_for()
        return page, desk

    yield go
    page.remove_listener("pageerror", hear)
    assert troubles == []


SELECT = """(place, [from, to]) => {
    const range = document.createRange();
    range.setStart(place.firstChild, from); range.setEnd(place.firstChild, to);
    const chosen = getSelection(); chosen.removeAllRanges(); chosen.addRange(range);
}"""


def test_a_mark_is_the_selection_at_its_own_place_or_sentences_by_keys_alone(opened):
    page, desk = opened()
    place, marked = page.locator("#text"), page.locator("#text mark")
    whole = place.text_content()
    first, second, third = (f"{one}." for one in whole.rstrip(".").split(". "))
    for key, expected in (("m", first), ("m", second), ("Shift+M", f"{second} {third}")):
        page.keyboard.press(key)
        assert marked.text_content() == expected
    page.keyboard.press("Backspace")
    assert marked.count() == 0
    # A triple click ends in the element behind the text.
    place.click(click_count=3, position={"x": 60, "y": 30})
    page.keyboard.press("m")
    assert marked.text_content() == whole
    page.keyboard.press("Backspace")
    number = re.search(r"\d+", whole)[0]
    at = whole.index(number, whole.index(number) + 1)
    place.evaluate(SELECT, [at, at + len(number)])
    page.keyboard.press("m")
    before = "(one) => one.previousSibling.data.length"
    assert (marked.text_content(), marked.evaluate(before)) == (number, at)
    press(page, "3")
    press(page, "u", "Undone: your grade 3, answers it")
    # It is still marked, and there alone, for the grade that comes instead.
    assert (place.text_content(), marked.evaluate(before)) == (whole, at)
    press(page, "2")
    [given] = labels(desk)
    assert (given.grade, given.quote, given.quote_start) == (2, number, at)


def test_every_action_has_a_key_and_the_text_on_the_screen_is_the_one_that_is_labelled(opened):
    page, desk = opened()
    shortcuts = page.locator(".tools button, .grades button").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('aria-keyshortcuts'))"
    )
    assert sorted(shortcuts) == sorted("0123mnucv?")
    page.keyboard.press("?")
    listed = page.get_by_role("dialog").text_content()
    assert all(key in listed for key in "03mnuc?")
    page.keyboard.press("Escape")
    place, save = page.locator("#text"), page.locator("#save")
    first = place.text_content()
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    # A note does not move the page, and Escape keeps it.
    page.keyboard.press("c")
    page.keyboard.type("odd")
    save.evaluate("(one) => { one.textContent = ''; }")
    page.keyboard.press("Escape")
    page.locator("#save", has_text="Saved.").wait_for()
    assert place.text_content() == first
    assert page.locator("#note-text").input_value() == "odd"
    press(page, "2")
    assert place.text_content() != first
    assert page.locator("#place").text_content() == "Text 2, 9 left"
    assert "What is topic" in page.locator("#spoken").text_content()
    # An undo shows what it undid: first the grade, then the note of the same text.
    press(page, "u", "Undone: your grade 2, helps.")
    assert place.text_content() == first
    press(page, "u", "Undone: your note “odd”.")
    assert place.text_content() == first
    assert page.locator("#note-text").input_value() == ""
    # A note that is still open goes with its text.
    page.keyboard.press("c")
    page.keyboard.type("kept")
    page.locator("#grades button").nth(1).click()
    page.locator("#save", has_text="Saved.").wait_for()
    [given] = labels(desk)
    assert desk.items[given.item].label.text == first
    assert desk.state().note(given.item, "anna") == "kept"
    # Nothing is left to undo: the page says so and goes on.
    press(page, "uu", "Undone")
    press(page, "u", "There is nothing to undo")
    page.locator("#text", has_text="Text number").wait_for()


def test_keys_are_those_of_the_scale_and_can_be_switched_off(opened):
    page, desk = opened(scale="yes/no")
    assert page.locator("#grades button").all_text_contents() == ["0no", "1yes"]
    press(page, "y")
    press(page, "u", "Undone: your grade 1, yes.")
    # A key of another script counts by its place.
    cyrillic = {"key": "\u044c", "code": "KeyM", "bubbles": True}
    page.evaluate(
        "(one) => document.body.dispatchEvent(new KeyboardEvent('keydown', one))", cyrillic
    )
    assert page.locator("#text mark").count() == 1
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts").click()
    page.get_by_role("button", name="Close").click()
    page.reload()
    page.locator("#desk").wait_for()
    first = page.locator("#text").text_content()
    page.keyboard.press("1")
    assert page.locator("#text").text_content() == first
    page.locator("#grades button").nth(1).click()
    page.locator("#save", has_text="Saved.").wait_for()
    assert [one.grade for one in labels(desk)] == [1]
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single-key shortcuts").click()
    page.get_by_role("button", name="Close").click()
    press(page, "1")


CODED = {
    "code": "def open(key):\n    return lock[key]\n",
    "table": "| size | price |\n|---|---|\n| 10 | 3.50 |",
    "prose": "It is **not** a table. | Or is it?",
    "list": "# Title\n\n- one `x`\n- two <b>\n\n```\n<script>1</script>\n```",
}


def test_code_and_tables_keep_their_columns_and_markdown_is_shown_on_request(opened):
    hits = [{"id": name, "text": text} for name, text in CODED.items()]
    run = [{"id": "q", "query": "What?", "retrieved": hits}]
    page, _ = opened(runs={"one": run}, ground_truth=None)
    place = page.locator("#text")
    for _ in CODED:
        text = place.text_content()
        mono = place.evaluate("(one) => getComputedStyle(one).fontFamily.includes('mono')")
        assert mono is (text != CODED["prose"]), text
        page.keyboard.press("v")
        if text == CODED["table"]:
            assert place.locator("th").all_text_contents() == ["size", "price"]
        if text == CODED["list"]:
            assert place.locator("h3").text_content() == "Title"
            assert place.locator("li").all_text_contents() == ["one x", "two <b>"]
            assert place.locator("pre").text_content() == "<script>1</script>"
        # A mark is about the text as it is.
        page.keyboard.press("m")
        assert place.locator("mark").count() == 1
        press(page, "2")


def test_a_title_of_the_corpus_or_of_the_results_stands_above_the_text(opened):
    titles = {"d0": "Locks <b>\n and keys", "d1": "מנעולים", "d2": "word " * 200, "d3": " \n "}
    corpus = [{"id": one, "text": "", "title": title} for one, title in titles.items()]
    expected = ["Locks <b> and keys", "word " * 40 + "…", "מנעולים"]
    run = [{**one, "retrieved": [dict(hit) for hit in one["retrieved"]]} for one in BM25]
    run[0]["retrieved"][1]["title"] = titles.pop("d1")
    corpus = [one for one in corpus if one["id"] in titles]
    page, _ = opened("query=q0", corpus=corpus, runs={"bm25": run}, ground_truth=None)
    title = page.locator("#title")
    title.wait_for()
    shown = []
    for _ in range(3):
        shown.append(title.text_content())
        press(page, "2")
    assert sorted(shown) == expected
    page.locator("#text", has_text="Text number").wait_for()
    page.goto(page.url.replace("/judge?query=q0", "/mine"))
    assert sorted(page.locator(".text-title").all_text_contents()) == expected
    assert page.locator(".text-title:dir(rtl)").all_text_contents() == ["מנעולים"]


def test_a_text_is_read_from_its_own_side_and_its_addresses_can_be_opened(opened):
    records = [
        {"id": "q", "query": "كيف؟", "retrieved": [{"id": f"t{n}", "text": one, "score": n}]}
        for n, one in enumerate(TEXTS)
    ]
    run = [{**records[0], "retrieved": [one["retrieved"][0] for one in records]}]
    page, _ = opened(runs={"bm25": run}, ground_truth=None, order="plain")
    for _ in TEXTS:
        text = page.locator("#text").text_content()
        right = page.locator("#text").evaluate("(one) => one.matches(':dir(rtl)')")
        assert right is (text == TEXTS[1])
        links = page.locator("#source a").evaluate_all("(all) => all.map((a) => [a.href, a.rel])")
        has = [["https://a.example/x.png", "noopener noreferrer"]] if text == TEXTS[2] else []
        assert links == has
        assert page.locator("#question").evaluate("(one) => one.matches(':dir(rtl)')")
        press(page, "2")
    assert page.locator("img").count() == 0
    # What the labels moved is for the owner alone.
    page.get_by_role("heading", name="Nothing is left for you to judge").wait_for()
    assert page.get_by_role("link", name="See how the labels changed the metric").count() == 0


def test_a_mark_far_down_in_a_long_text_is_shown_to_who_reviews_it(opened):
    text = "Line. " * 5_000 + "The key."
    run = [{"id": "q", "query": "What?", "retrieved": [{"id": "a", "text": text}]}]
    page, desk = opened("item=0", runs={"bm25": run}, ground_truth=None)
    page.keyboard.press("r")
    page.locator("#text", has_text="The key.").wait_for()
    assert page.locator("#text").evaluate("(one) => one.textContent") == text
    press(page, "2")
    desk.give("anna", 0, 3, quote="Line.", quote_start=29_994)
    page.reload()
    marked = page.locator("#text mark")
    marked.wait_for()
    where = """(one) => {
        const before = new Range();
        before.setStart(one.closest("#text"), 0); before.setEndBefore(one);
        return before.toString().length;
    }"""
    assert marked.evaluate(where) == 29_994
    press(page, "1")
    assert desk.state().current(0, "anna").quote_start == 29_994
