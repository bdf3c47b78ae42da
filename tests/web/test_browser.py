"""A person's path in a real browser."""

import re
from typing import Any

import pytest

import calipers
from calipers.io.load import load
from calipers.store.label_pools import entries_after
from calipers.store.open import open_store
from calipers.web.sources import WebShelf
from tests.store.judged import BM25, DENSE, TEXTS, TRUTH, pool
from tests.web.conftest import fill
from tests.web.served import served
from tests.web.test_pages import NAMES, pages

__all__ = ["pages"]


@pytest.fixture
def open_page(browser):
    contexts = []

    def open_(link, width=1280, dark=False, script=True, **more):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
            color_scheme="dark" if dark else "light",
            **more,
        )
        contexts.append(context)
        page = context.new_page()
        page.troubles = []
        page.on("console", lambda said: page.troubles.append(said.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("dialog", lambda dialog: page.troubles.append(dialog.message))
        page.set_default_timeout(15_000)
        return come_in(page, link)

    yield open_
    for context in contexts:
        context.close()


def come_in(page, link):
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/$"))
    return page


def press(page, keys, said="Saved."):
    """Press keys one after another, each when the label before it is on disk."""
    for key in keys:
        page.locator("#save").evaluate("(one) => { one.textContent = ''; }")
        page.keyboard.press(key)
        page.locator("#save", has_text=said).wait_for()


def test_a_persons_path(open_page, tmp_path):
    store = str(tmp_path / "history.db")
    fill(store)
    with served(WebShelf(store, {}, ("anna", "ben"), lead="anna")) as running:
        anna = open_page(running.links["anna"])
        assert "token" not in anna.url
        # Open an evaluation, find a query that fails, see what was expected and why.
        anna.get_by_role("link", name="dense").first.click()
        # The script of the page shows this button, so the keys work from now on.
        anna.locator("#judge-page").wait_for()
        anna.keyboard.press("/")
        anna.keyboard.type("topic 2")
        anna.keyboard.press("Enter")
        anna.wait_for_url(re.compile(r"text=topic"))
        anna.locator("#judge-page").wait_for()
        anna.keyboard.press("j")
        anna.keyboard.press("Enter")
        anna.get_by_role("heading", name="Expected").wait_for()
        anna.get_by_role("button", name="Judge this").click()
        anna.wait_for_url(re.compile(r"/pools/\d+/judge"))
        anna.get_by_role("heading", name="What is topic 2?").wait_for()
        # The others of the evaluation join the same pool.
        anna.goto(re.sub(r"/pools.*", "/", anna.url))
        anna.get_by_role("link", name="dense").first.click()
        anna.get_by_role("button", name="Judge the 4 on this page").click()
        anna.wait_for_url(re.compile(r"/pools/\d+/judge"))
        anna.locator("#desk").wait_for()
        # Judge by keyboard alone: grades, a mark, a skip, a note, an undo.
        anna.locator("#text").evaluate("""(place) => {
            const range = document.createRange();
            range.setStart(place.firstChild, 0); range.setEnd(place.firstChild, 13);
            const chosen = getSelection(); chosen.removeAllRanges(); chosen.addRange(range);
        }""")
        anna.keyboard.press("m")
        anna.locator("#text mark").wait_for()
        press(anna, "3")
        press(anna, "u", "Undone")
        first = anna.locator("#question").text_content()
        press(anna, "3")
        anna.keyboard.press("c")
        anna.keyboard.type("worth a second look")
        anna.locator("#save").evaluate("(one) => { one.textContent = ''; }")
        anna.get_by_role("button", name="Keep the note").click()
        anna.locator("#save", has_text="Saved.").wait_for()
        press(anna, "30210301210")
        anna.get_by_role("heading", name="Your queue is done").wait_for()
        assert "queries" in anna.locator("#moved").text_content()
        assert anna.locator(".moved-run .better, .moved-run .worse, .moved-run .quiet").count()
        # A second judge, who differs; the conflict is settled; the export is what the page said.
        ben = open_page(running.links["ben"])
        ben.goto(anna.url)
        ben.locator("#desk").wait_for()
        assert ben.locator("#question").text_content() == first
        press(ben, "0")
        anna.get_by_role("link", name="Agreement and export").click()
        anna.get_by_role("button", name="Settle with 2").first.click()
        anna.get_by_text("settled by anna: 2").wait_for()
        anna.locator("#runs:not([aria-busy])").wait_for()
        shown = float(anna.locator("#runs td[data-mean]").first.get_attribute("data-mean"))
        with anna.expect_download() as download:
            anna.get_by_role("link", name="Export the ground truth").click()
        exported = tmp_path / "gt.jsonl"
        download.value.save_as(exported)
        assert anna.troubles == ben.troubles == []
    scores = calipers.evaluate(ground_truth=str(exported), run=DENSE, metrics="ndcg@10")
    assert scores["ndcg@10"].mean == shown


def test_a_sample_says_how_wide_it_is_and_shows_no_value(open_page, tmp_path):
    store = str(tmp_path / "history.db")
    run = {f"Who is {i} ?": ["a", "b"] for i in range(60)}
    machine = {query: ["a"] if i % 4 else ["b"] for i, query in enumerate(run)}
    drawn = calipers.labels_sample(
        {"run": run},
        ground_truth=machine,
        metric="mrr@1",
        until=0.25,
        judges=("anna", "ben"),
        store=store,
    )
    with served(WebShelf(store, {}, ("anna", "ben"))) as running:
        anna = open_page(running.links["anna"])
        anna.goto(f"http://{running.host}/pools/1/judge")
        anna.locator("#desk").wait_for()
        assert "0 of 60 questions judged" in anna.locator("#sample").text_content()
        press(anna, "3030")
        anna.locator("#sample", has_text="2 of 60 questions judged").wait_for()
        said = anna.locator("#sample").text_content()
        assert f"{drawn.draw.looks[0]}, the next look" in said
        assert "left until ±0.25" in said
        # What a label moved would sway the judge.
        assert anna.locator("#moved").count() == 0
        assert "machine alone" not in anna.content()
        # Each question is one judge's, and both see how far the sample is.
        ben = open_page(running.links["ben"])
        ben.goto(f"http://{running.host}/pools/1/judge")
        ben.locator("#desk").wait_for()
        assert "2 of 60 questions judged" in ben.locator("#sample").text_content()
        assert ben.locator("#question").text_content() != anna.locator("#question").text_content()
        press(ben, "3")
        press(anna, "30")
        press(ben, "0")
        for page in (anna, ben):
            page.locator("#sample", has_text="4 of 60 questions judged").wait_for()
            assert page.troubles == []
        given = entries_after(open_store(store), 1)
        assert [one.judge for one in given] == [*["anna"] * 4, "ben", "anna", "anna", "ben"]
        assert len({one.item for one in given}) == len(given)


def test_a_lost_connection_loses_no_label(open_page, own):
    page = open_page(own.links["anna"])
    page.goto(f"http://{own.host}/pools/{own.pool}/judge")
    page.locator("#desk").wait_for()
    page.context.set_offline(True)
    page.keyboard.press("3")
    page.locator("#save", has_text="Not saved yet").wait_for()
    for key in "2101":
        page.keyboard.press(key)
    # Four were loaded; without a fifth there is nothing that the last key could be about.
    assert page.locator("#question").text_content() == "Waiting for the next text …"
    assert calipers.labels_list(own.store).pools[0].entries == 0
    page.context.set_offline(False)
    page.locator("#save", has_text="Saved.").wait_for()
    listed = calipers.labels_list(own.store).pools[0]
    assert (listed.entries, listed.labels) == (4, 4)
    # What was not sent before a reload is sent after it, once.
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.locator("#save", has_text="Not saved yet").wait_for()
    page.context.set_offline(False)
    page.reload()
    # Shown when it is known what is next, and that is when the label before is on disk.
    page.locator("#desk").wait_for()
    assert calipers.labels_list(own.store).pools[0].labels == 5


def at_the_desk(page, running):
    page.goto(f"http://{running.host}/pools/{running.pool}/judge")
    page.locator("#desk").wait_for()
    return page


def test_two_tabs_of_one_judge_lose_nothing_and_double_nothing(open_page, own):
    first = at_the_desk(open_page(own.links["anna"]), own)
    second = at_the_desk(first.context.new_page(), own)
    press(first, "3")
    # A browser lets tabs in the background wait.
    second.bring_to_front()
    press(second, "2")
    # Both showed the same text: the later label holds, and both are in the log.
    listed = calipers.labels_list(own.store).pools[0]
    assert (listed.entries, listed.labels) == (2, 1)
    # What the second wrote while it could not send is sent by the first, once.
    second.route("**/labels", lambda route: route.abort())
    second.keyboard.press("1")
    second.locator("#save", has_text="Not saved yet").wait_for()
    second.close()
    first.reload()
    first.locator("#save", has_text="Saved.").wait_for()
    listed = calipers.labels_list(own.store).pools[0]
    assert (listed.entries, listed.labels) == (3, 2)
    assert first.evaluate("localStorage.length") == 0


def test_a_server_that_was_started_again_gets_what_was_kept(open_page, tmp_path):
    store = str(tmp_path / "own.db")
    number = pool(store, judges=("anna", "ben")).content.number
    with served(WebShelf(store, {}, ("anna",))) as running:
        running.pool = number
        page = at_the_desk(open_page(running.links["anna"]), running)
        press(page, "3")
        port = running.listening.port
    page.keyboard.press("2")
    page.locator("#save", has_text="The server cannot be reached").wait_for()
    with served(WebShelf(store, {}, ("anna", "ben")), port) as running:
        page.locator("#save", has_text="Saved.").wait_for()
        # Somebody else comes in with the same browser: nothing is sent in their name.
        other = page.context.new_page()
        come_in(other, running.links["ben"])
        page.keyboard.press("1")
        page.locator("#save", has_text="This page is that of anna, and ben is signed in").wait_for()
        page.context.clear_cookies()
        page.locator("#save", has_text="You are not signed in").wait_for()
        come_in(other, running.links["anna"])
        page.locator("#save", has_text="Saved.").wait_for()
    entries = entries_after(open_store(store), number)
    assert [(one.judge, one.grade) for one in entries] == [("anna", 3), ("anna", 2), ("anna", 1)]


def test_a_sentence_is_marked_by_keys_alone(open_page, own):
    page = at_the_desk(open_page(own.links["anna"]), own)
    marked = page.locator("#text mark")
    whole = page.locator("#text").text_content()
    first, second, third = (f"{one}." for one in whole.rstrip(".").split(". "))
    page.keyboard.press("m")
    assert marked.text_content() == first
    page.keyboard.press("m")
    assert marked.text_content() == second
    page.keyboard.press("Shift+M")
    assert marked.text_content() == f"{second} {third}"
    page.keyboard.press("Backspace")
    assert marked.count() == 0
    page.keyboard.press("m")
    press(page, "3")
    desk = calipers.labels_desk("first", store=own.store)
    assert [one.quote for one in desk.state().labels()] == [first]


def test_a_title_of_the_corpus_stands_above_the_text(open_page, tmp_path):
    titles = {"d0": "Locks <b>\n and keys", "d1": "מנעולים", "d2": "word " * 200, "d3": " \n "}
    corpus = [{"id": one, "text": "", "title": title} for one, title in titles.items()]
    store = str(tmp_path / "history.db")
    pool(store, corpus=corpus, runs={"bm25": BM25}, judges=("me",), ground_truth=None)
    expected = ["Locks <b> and keys", "word " * 40 + "…", "מנעולים"]
    with served(WebShelf(store, {}, ("me",))) as running:
        page = open_page(running.links["me"])
        page.goto(f"http://{running.host}/pools/1/judge?query=q0")
        title = page.locator("#title")
        title.wait_for()
        shown = [title.text_content()]
        page.keyboard.press("l")
        listed = page.locator("#list-rows .text-title")
        listed.first.wait_for()
        assert sorted(listed.all_text_contents()) == expected
        assert page.locator("#list-rows .text-title:dir(rtl)").all_text_contents() == ["מנעולים"]
        page.keyboard.press("Escape")
        title.wait_for()
        press(page, "22")
        shown.append(title.text_content())
        assert set(shown) < set(expected)
        press(page, "2")
        page.goto(f"http://{running.host}/pools/1/judge?query=q1")
        page.locator("#text", has_text="Text number").wait_for()
        assert title.is_hidden()
        page.goto(f"http://{running.host}/pools/1/mine?text=keys")
        assert page.locator(".text-title").all_text_contents() == expected[:1]
        assert page.troubles == []


def test_every_action_of_judging_has_a_key(open_page, own):
    page = at_the_desk(open_page(own.links["anna"]), own)
    shortcuts = page.locator(".tools button, .grades button").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('aria-keyshortcuts'))"
    )
    assert sorted(shortcuts) == sorted("0123mnucl/?")
    page.keyboard.press("?")
    listed = page.get_by_role("dialog").text_content()
    assert all(key in listed for key in "03mnuc/?")
    page.keyboard.press("Escape")
    # Search, go to what was found, and give it a grade.
    page.keyboard.press("/")
    page.keyboard.type("number 11.")
    page.keyboard.press("Enter")
    page.locator("#search-found button").first.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    assert "number 11." in page.locator("#text").text_content()
    press(page, "2")
    desk = calipers.labels_desk("first", store=own.store)
    [given] = desk.state().labels()
    assert desk.items[given.item].label.item == "d11"
    # After what was searched for comes what was to come before.
    assert page.locator("#place").text_content() == "2 of 10"


def test_a_finding_is_put_right_on_the_page_of_the_ground_truth(open_page, tmp_path):
    odd = [{**TRUTH[0], "ground_truth": [{"id": "d0"}, {"id": "gone"}]}, *TRUTH[1:]]
    given = {"evals": calipers.read(ground_truth=odd, run=BM25)}
    with served(WebShelf(str(tmp_path / "h.db"), given, ("me",))) as running:
        page = open_page(running.links["me"])
        page.goto(f"http://{running.host}/evaluations/evals/truth")
        before = page.locator("code").first.text_content()
        finding = page.locator("article", has_text="near duplicate queries")
        finding.get_by_role("button", name="Judge this q0").first.click()
        page.wait_for_url(re.compile(r"/pools/\d+/judge"))
        page.locator("#desk").wait_for()
        for _ in range(4):
            gone = page.locator("#text").text_content() == "gone"
            press(page, "0" if gone else "n")
        page.goto(f"http://{running.host}/evaluations/evals/truth")
        version = page.locator(".version")
        assert "Version with 1 labelled" in version.text_content()
        after = version.locator("code").text_content()
        with page.expect_download() as download:
            version.get_by_role("link", name="Export it").click()
        exported = tmp_path / "gt.jsonl"
        download.value.save_as(exported)
        assert page.troubles == []
    truth = load(str(exported), "ground_truth").ground_truth
    assert truth.fingerprint.startswith(after)
    assert after != before
    grades = {row["item"]: row["grade"] for row in truth.targets.iter_rows(named=True)}
    assert grades["gone"] == 0


@pytest.fixture(scope="module")
def plain_window(me, site, browser):
    """A window without scripts, of somebody who came in before: a new link ends the one before."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    yield come_in(page, f"http://{site.host}/enter?token={site.doors.invite('me')}")
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_every_page_can_be_read_without_javascript(site, plain_window, pages, name):
    plain_window.goto(f"http://{site.host}{pages[name]}")
    assert plain_window.locator("h1").count() or name == "judge"
    if name == "judge":
        assert "Judging needs JavaScript" in plain_window.content()


# An address of the data may be opened, in a window of its own that knows nothing of ours.
LINKS = """[...document.links].every((a) => a.origin === location.origin ||
    (a.href.startsWith("https://evil.example/") && a.rel === "noopener noreferrer"))"""
HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'`{{7*7}}\u202e\x00"


def test_hostile_text_in_every_field_is_inert(open_page, tmp_path):
    store = str(tmp_path / "history.db")
    run = [
        {
            **one,
            "id": f"{one['id']}{HOSTILE}",
            "query": HOSTILE + one["query"],
            "tags": {"kind": HOSTILE + str(n % 2), HOSTILE: str(n % 2)},
            "retrieved": [
                {
                    **hit,
                    "id": HOSTILE + hit["id"],
                    "text": HOSTILE + hit["text"],
                    "document": HOSTILE,
                }
                for hit in one["retrieved"]
            ],
        }
        for n, one in enumerate(BM25)
    ]
    run[0]["retrieved"][0]["document"] = "javascript:window.hacked=1"
    run[0]["retrieved"][1]["document"] = "https://evil.example/"
    judged: list[dict[str, Any]] = TRUTH
    truth = [
        {
            "id": f"{one['id']}{HOSTILE}",
            "query": HOSTILE + one["query"],
            "tags": {"kind": HOSTILE + str(n % 2), HOSTILE: str(n % 2)},
            "ground_truth": [{"id": HOSTILE + one["ground_truth"][0]["id"]}, HOSTILE],
        }
        for n, one in enumerate(judged)
    ]
    other = [{**one, "retrieved": one["retrieved"][::-1]} for one in run]
    given = {
        name: calipers.read(ground_truth=truth, run=value)
        for name, value in {"a<b>": run, "c'\"": other}.items()
    }
    desk = calipers.labels_pool(
        "odd",
        {HOSTILE: run, "c": other},
        ground_truth=truth,
        judges=("me", "<b>ben"),
        guidelines=HOSTILE,
        corpus=[
            {"id": HOSTILE + one, "text": text, "title": HOSTILE} for one, text in TEXTS.items()
        ],
        overlap=1.0,
        store=store,
    )
    desk.give("<b>ben", 0, 3, note=HOSTILE.replace("\x00", ""))
    desk.give("me", 0, 0)
    number = desk.content.number
    with served(WebShelf(store, given, ("me",))) as running:
        page = open_page(running.links["me"])
        for path in (
            "/",
            "/pools",
            "/evaluations/a%3Cb%3E?open=0",
            "/evaluations/a%3Cb%3E/report",
            "/evaluations/a%3Cb%3E/truth",
            "/compare?of=a%3Cb%3E&of=c%27%22",
            f"/pools/{number}/judge",
            f"/pools/{number}/conflicts",
        ):
            answer = page.goto(f"http://{running.host}{path}")
            if path.endswith("judge"):
                page.locator("#desk").wait_for()
            assert answer.status == 200, page.content()[:2000]
            assert page.evaluate("window.hacked === undefined"), path
            assert page.locator("img").count() == 0
            assert page.evaluate(LINKS), path
            assert "{{7*7}}" in page.content() or path in ("/", "/pools"), path
        press_first = page.goto(f"http://{running.host}/pools/{number}/judge")
        assert press_first.status == 200
        page.locator("#desk").wait_for()
        press(page, "2")
        assert page.evaluate("window.hacked === undefined")
        assert page.troubles == []
