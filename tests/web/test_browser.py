"""A person's path in a real browser."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

import calipers
from calipers.io.load import load
from calipers.store.label_pools import append_on
from calipers.store.pool import NewEntry
from calipers.web.app import listen
from tests.store.judged import BM25, TEXTS, TRUTH, entries, pool
from tests.web.conftest import fill
from tests.web.served import served, shelf_of


@pytest.fixture
def open_page(browser):
    contexts = []

    def open_(link):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
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
    page.wait_for_url(re.compile(r"(/|/judge)$"))
    return page


def press(page, keys, said="Saved."):
    """Press keys one after another, each when the label before it is on disk."""
    for key in keys:
        page.locator("#save").evaluate("(one) => { one.textContent = ''; }")
        page.keyboard.press(key)
        page.locator("#save", has_text=said).wait_for()


def exported(page, folder):
    with page.expect_download() as download:
        page.get_by_role("link", name="Export the ground truth").click()
    download.value.save_as(folder / "gt.jsonl")
    return folder / "gt.jsonl"


def test_one_person_from_the_link_to_the_export(open_page, tmp_path):
    """The link opens the queue itself; nothing is told of runs and metrics until it is done."""
    store = str(tmp_path / "history.db")
    desk = pool(store, judges=("me",), per_item=1)
    shelf = shelf_of(store)
    shelf.pool = desk.content.number
    with served(shelf, listening=listen("localhost", 0)) as running:
        me = open_page(running.links["me"])
        assert me.url.startswith("http://localhost:")
        assert me.url.endswith(f"/pools/{desk.content.number}/judge")
        me.locator("#desk").wait_for()
        assert "blind" in me.locator("#blind").text_content()
        assert not re.search(
            r"bm25|dense|\d\.\d\d\d|judges differ", me.locator("main").text_content()
        )
        press(me, "3021030123")
        me.get_by_role("heading", name="Nothing is left for you to judge").wait_for()
        me.get_by_role("link", name="See how the labels changed the metric").click()
        # From the start to the end, and no sign that could be read as an uncertainty.
        moved = me.locator("#runs").text_content()
        assert re.search(r"beforeafter.*\sbm25(\d\.\d{3}){3} – \d\.\d{3}", moved)
        assert "±" not in moved
        assert "judges agree" not in me.locator("main").text_content()
        shown = float(me.locator("#runs td[data-mean]").first.get_attribute("data-mean"))
        written = exported(me, tmp_path)
        assert me.troubles == []
    scores = calipers.evaluate(ground_truth=str(written), run=BM25, metrics="ndcg@10")
    assert scores["ndcg@10"].mean == shown


def test_a_query_that_fails_is_judged_where_it_is_seen(open_page, tmp_path):
    store = str(tmp_path / "history.db")
    fill(store)
    odd = [{**TRUTH[0], "ground_truth": [{"id": "d0"}, {"id": "gone"}]}, *TRUTH[1:]]
    given: dict[str, Any] = {"evals": calipers.read(ground_truth=odd, run=BM25)}
    with served(shelf_of(store, **given)) as running:
        me = open_page(running.links["me"])
        assert "token" not in me.url
        # Open an evaluation, find a query that fails, see what was expected and why.
        me.get_by_role("link", name="dense").first.click()
        # The script of the page shows this button, so the keys work from now on.
        me.locator("#judge-page").wait_for()
        me.keyboard.press("/")
        me.keyboard.type("topic 2")
        me.keyboard.press("Enter")
        me.wait_for_url(re.compile(r"text=topic"))
        me.locator("#judge-page").wait_for()
        me.keyboard.press("j")
        me.keyboard.press("Enter")
        me.get_by_role("heading", name="Expected").wait_for()
        me.get_by_role("button", name="Judge this").click()
        me.wait_for_url(re.compile(r"/pools/\d+/judge"))
        me.get_by_role("heading", name="What is topic 2?").wait_for()
        # The others of the evaluation join the same pool.
        me.goto(re.sub(r"/pools.*", "/", me.url))
        me.get_by_role("link", name="dense").first.click()
        me.get_by_role("button", name="Judge the 4 on this page").click()
        me.wait_for_url(re.compile(r"/pools/\d+/judge"))
        me.locator("#desk").wait_for()
        press(me, "3")
        assert len(calipers.labels_list(store).pools) == 1
        # A finding is put right on the page of the ground truth.
        me.goto(f"http://{running.host}/evaluations/evals/truth")
        before = me.locator("code").first.text_content()
        finding = me.locator("article", has_text="near duplicate queries")
        finding.get_by_role("button", name="Judge this q0").first.click()
        me.wait_for_url(re.compile(r"/pools/\d+/judge"))
        me.locator("#desk").wait_for()
        for _ in range(4):
            gone = me.locator("#text").text_content() == "gone"
            press(me, "0" if gone else "n")
        me.goto(me.url.partition("/judge")[0])
        after = me.locator("main code").first.text_content()
        truth = load(str(exported(me, tmp_path)), "ground_truth").ground_truth
        assert me.troubles == []
    assert truth.fingerprint.startswith(after)
    assert after != before
    grades = {row["item"]: row["grade"] for row in truth.targets.iter_rows(named=True)}
    assert grades["gone"] == 0


def test_three_judges_and_an_owner_of_whom_one_leaves_half_way(open_page, tmp_path, monkeypatch):
    """Two labels for each result, from the links to the export; nothing waits for who left."""
    store = str(tmp_path / "history.db")
    desk = pool(store, metric="recall@2")
    path = f"/pools/{desk.content.number}"
    with served(shelf_of(store, "anna", "ben", "carl", owner="lea")) as running:
        running.pool = desk.content.number
        lea = open_page(running.links["lea"])
        anna, ben, carl = (
            at_the_desk(open_page(running.links[one]), running) for one in ("anna", "ben", "carl")
        )
        # Each has another text on the screen, where there are enough of them.
        screens = [one.locator("#text").text_content() for one in (anna, ben, carl)]
        assert len(set(screens)) == 3
        press(anna, "32")
        # A note about a text on which nobody differs.
        carl.keyboard.press("c")
        carl.keyboard.type("Half of it.")
        press(carl, ["Escape", "1", "0"])
        # Carl leaves with a text on the screen; after ten minutes it goes to the others.
        carl.close()
        monkeypatch.setattr("calipers.labels.desk.HELD_FOR", 0.0)
        total = "() => document.getElementById('progress').max"
        for page, keys in ((anna, "0123"), (ben, "30123012")):
            press(page, keys)
            assert page.evaluate(total) == 10
        monkeypatch.setattr("calipers.labels.desk.monotonic", lambda: 1e12)
        for page in (anna, ben):
            at_the_desk(page, running)
            while not page.locator("#done").is_visible():
                press(page, "1")
            assert page.troubles == []
            page.goto(f"http://{running.host}{path}")
            assert "for the owner of the server" in page.locator("main").text_content()
        lea.goto(f"http://{running.host}{path}")
        assert "10 of 10 results have 2 labels" in lea.locator("main").text_content()
        names = lea.locator("#team tbody th").all_text_contents()
        assert sorted(names) == ["anna", "ben", "carl"]
        # A tie is left out until it is settled, and each card says what counts.
        open_ = lea.locator("[data-count=open]")
        before = int(open_.text_content())
        assert before == lea.locator(".card").count() > 0
        assert set(lea.locator(".verdict").all_text_contents()) == {"Left out: a tie."}
        lea.get_by_role("button", name="Settle with 2").first.click()
        lea.locator(".verdict", has_text="Counts as 2: settled by lea.").wait_for()
        assert int(open_.text_content()) == before - 1
        lea.reload()
        assert lea.locator(".card").count() == before - 1
        assert "agree well" not in lea.locator("#agreed").text_content()
        # Whoever was overruled changes theirs: it is open again, and no longer as it was settled.
        [settled] = [one for one in desk.state().touched() if desk.known.final(one)]
        for judge in desk.known.labels(settled):
            desk.give(judge, settled, 3)
        desk.give(judge, settled, 0)
        lea.reload()
        assert lea.locator(".card").count() == before
        words = lea.locator(".verdict", has_text="Settled as 2 by lea, and changed since.")
        words.wait_for()
        lea.get_by_role("link", name="Notes").click()
        lea.locator(".noted", has_text="Half of it.").wait_for()
        shown = float(lea.locator("#runs td[data-mean]").first.get_attribute("data-mean"))
        written = exported(lea, tmp_path)
        assert lea.troubles == []
    state = desk.state()
    # At least: a text that was fetched ahead may have got its labels meanwhile.
    assert min(state.people(item.position) for item in desk.items) == 2
    scores = calipers.evaluate(ground_truth=str(written), run=BM25, metrics="recall@2")
    assert scores["recall@2"].mean == shown


def test_a_sample_waits_for_nobody_and_shows_its_corrected_number_to_the_owner(open_page, tmp_path):
    store = str(tmp_path / "history.db")
    run = {f"Who is {i} ?": ["a", "b"] for i in range(60)}
    machine = {query: ["a"] if i % 4 else ["b"] for i, query in enumerate(run)}
    about: Any = {"ground_truth": machine, "metric": "mrr@1", "until": 0.25}
    drawn: Any = calipers.labels_sample({"run": run}, store=store, **about)
    with served(shelf_of(store, "anna", "ben")) as running:
        running.pool = 1
        anna = at_the_desk(open_page(running.links["anna"]), running)
        assert "0 of 60 questions judged" in anna.locator("#sample").text_content()
        # Ben opens the page beside her and does nothing: the sample does not wait for him.
        ben = at_the_desk(open_page(running.links["ben"]), running)
        assert ben.locator("#question").text_content() != anna.locator("#question").text_content()
        first = drawn.draw.looks[0]
        press(anna, "30" * 3)
        anna.locator("#sample", has_text="4 of 60 questions judged").wait_for()
        said = anna.locator("#sample").text_content()
        assert f"the next look is at {first}" in said
        assert "left until ±0.25" in said
        # What a label moved would sway the judge.
        assert anna.locator("#blind").count() == 0
        desk = calipers.labels_desk("run-sample", store=store)
        held = {one.item for one in entries(store, 1)}
        left = ben.locator("#question").text_content()
        with desk.store.writing() as connection:
            for item in desk.items:
                if item.position not in held and item.label.query != left:
                    grade = 3 if item.label.item == "a" else 0
                    new = NewEntry(item=item.position, judge="anna", kind="label", grade=grade)
                    append_on(connection, 1, new)
        me = open_page(running.links["me"])
        me.goto(f"http://{running.host}/pools/1")
        # The corrected number and its interval, and no mean of machine and people mixed.
        state = desk.sample()
        assert state.judged == 59
        assert f"{state.looks[0].value:.3f}" in me.locator("#claim").text_content()
        assert f"{state.looks[0].interval.low:.3f}" in me.locator("#runs").text_content()
        assert me.troubles == anna.troubles == []


@pytest.fixture
def hasty(tmp_path, monkeypatch):
    """A server of the test's own that does not wait for a locked file."""
    monkeypatch.setattr("calipers.web.sources.LOCKED_FOR", 0.2)
    store = str(tmp_path / "own.db")
    with served(shelf_of(store, "anna", "ben")) as running:
        yield replace(running, store=store, pool=pool(store).content.number)


def test_a_lost_connection_or_a_locked_file_loses_no_label(open_page, hasty):
    own = hasty
    page = at_the_desk(open_page(own.links["anna"]), own)
    page.context.set_offline(True)
    page.keyboard.press("3")
    page.locator("#save", has_text="Not saved yet").wait_for()
    for key in "2101012":
        page.keyboard.press(key)
    # Twenty are fetched ahead, so that the work goes on.
    assert "What is topic" in page.locator("#question").text_content()
    assert calipers.labels_list(own.store).pools[0].entries == 0
    page.context.set_offline(False)
    page.locator("#save", has_text="Saved.").wait_for()
    listed = calipers.labels_list(own.store).pools[0]
    assert (listed.entries, listed.labels) == (8, 8)
    # What was not sent before a reload is sent after it, once.
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.locator("#save", has_text="Not saved yet").wait_for()
    page.context.set_offline(False)
    page.reload()
    # Shown when it is known what is next, and that is when the label before is on disk.
    page.locator("#desk").wait_for()
    assert calipers.labels_list(own.store).pools[0].labels == 9
    # Another program holds the file: the page says so within seconds, and sends it again.
    with closing(sqlite3.connect(own.store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        page.keyboard.press("1")
        page.locator("#save", has_text="holds the database locked").wait_for()
        other.execute("ROLLBACK")
    page.locator("#save", has_text="Saved.").wait_for()
    assert calipers.labels_list(own.store).pools[0].labels == 10


def at_the_desk(page, running):
    page.goto(f"http://{running.host}/pools/{running.pool}/judge")
    page.locator("#desk:visible, #done:visible").first.wait_for()
    return page


def test_a_second_tab_sees_what_the_first_did(open_page, own):
    first = at_the_desk(open_page(own.links["anna"]), own)
    second = at_the_desk(first.context.new_page(), own)
    shown = second.locator("#text").text_content()
    assert first.locator("#text").text_content() == shown
    press(first, "3")
    # The same text was on both screens: the second goes on to the next by itself.
    second.locator("#save", has_text="in another tab").wait_for()
    second.bring_to_front()
    second.wait_for_function(
        "(was) => document.getElementById('text').textContent !== was", arg=shown
    )
    press(second, "2")
    listed = calipers.labels_list(own.store).pools[0]
    assert (listed.entries, listed.labels) == (2, 2)
    # Also where the tabs could not tell each other: nothing is overwritten in silence.
    second.evaluate("() => { BroadcastChannel.prototype.postMessage = () => {}; }")
    first.wait_for_function(
        "(text) => document.getElementById('text').textContent === text",
        arg=second.locator("#text").text_content(),
    )
    press(second, "1")
    first.bring_to_front()
    first.keyboard.press("0")
    first.locator("#save", has_text="Not saved: you labelled it in another tab").wait_for()
    assert first.locator("#grades [aria-pressed=true]").text_content() == "1touches it"
    listed = calipers.labels_list(own.store).pools[0]
    assert (listed.entries, listed.labels) == (3, 3)
    # What the second wrote while it could not send is sent by the first, once.
    second.route("**/labels", lambda route: route.abort())
    second.bring_to_front()
    second.keyboard.press("1")
    second.locator("#save", has_text="Not saved yet").wait_for()
    second.close()
    first.reload()
    first.locator("#save", has_text="Saved.").wait_for()
    assert calipers.labels_list(own.store).pools[0].labels == 4
    assert first.evaluate("localStorage.length") == 0


def test_a_server_that_was_started_again_gets_what_was_kept(open_page, tmp_path):
    store = str(tmp_path / "own.db")
    number = pool(store, judges=("anna", "ben")).content.number
    with served(shelf_of(store, "anna")) as running:
        running.pool = number
        page = at_the_desk(open_page(running.links["anna"]), running)
        press(page, "3")
        port = running.listening.port
    page.keyboard.press("2")
    page.locator("#save", has_text="The server cannot be reached").wait_for()
    with served(shelf_of(store, "anna", "ben"), port) as running:
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
    kept = entries(store, number)
    assert [(one.judge, one.grade) for one in kept] == [("anna", 3), ("anna", 2), ("anna", 1)]


# An address of the data may be opened, in a window of its own that knows nothing of ours.
LINKS = """[...document.links].every((a) => a.origin === location.origin ||
    (a.href.startsWith("https://evil.example/") && a.rel === "noopener noreferrer"))"""
HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'`{{7*7}}\u202e\x00"


def test_hostile_text_in_every_field_is_inert(open_page, tmp_path):
    store = str(tmp_path / "history.db")

    def odd(n, one):
        tags = {"kind": HOSTILE + str(n % 2), HOSTILE: str(n % 2)}
        return {"id": f"{one['id']}{HOSTILE}", "query": HOSTILE + one["query"], "tags": tags}

    run = []
    for n, one in enumerate(BM25):
        hits = [
            {"id": HOSTILE + hit["id"], "text": HOSTILE + hit["text"], "document": HOSTILE}
            for hit in one["retrieved"]
        ]
        run.append({**one, **odd(n, one), "retrieved": hits})
    run[0]["retrieved"][0]["document"] = "javascript:window.hacked=1"
    run[0]["retrieved"][1]["document"] = "https://evil.example/"
    judged: list[dict[str, Any]] = TRUTH
    truth = [
        {**odd(n, one), "ground_truth": [{"id": HOSTILE + one["ground_truth"][0]["id"]}, HOSTILE]}
        for n, one in enumerate(judged)
    ]
    other = [{**one, "retrieved": one["retrieved"][::-1]} for one in run]
    given: dict[str, Any] = {
        name: calipers.read(ground_truth=truth, run=value)
        for name, value in {"a<b>": run, "c'\"": other}.items()
    }
    desk = calipers.labels_pool(
        "odd",
        {HOSTILE: run, "c": other},
        ground_truth=truth,
        guidelines=HOSTILE,
        corpus=[
            {"id": HOSTILE + one, "text": text, "title": HOSTILE} for one, text in TEXTS.items()
        ],
        per_item=2,
        store=store,
    )
    desk.give("<b>ben", 0, 3, note=HOSTILE.replace("\x00", ""))
    desk.give("me", 0, 0)
    number = desk.content.number
    with served(shelf_of(store, **given)) as running:
        page = open_page(running.links["me"])
        for path in (
            "/",
            "/pools",
            "/evaluations/a%3Cb%3E?open=0",
            "/evaluations/a%3Cb%3E/report",
            "/evaluations/a%3Cb%3E/truth",
            "/compare?of=a%3Cb%3E&of=c%27%22",
            f"/pools/{number}/judge",
            f"/pools/{number}",
            f"/pools/{number}?show=notes",
        ):
            answer = page.goto(f"http://{running.host}{path}")
            while answer.status == 202:  # a busy machine is still making it
                answer = page.goto(f"http://{running.host}{path}")
            if path.endswith("judge"):
                page.locator("#desk").wait_for()
            assert answer.status == 200, page.content()[:2000]
            assert page.evaluate("window.hacked === undefined"), path
            assert page.locator("img").count() == 0
            assert page.evaluate(LINKS), path
            assert "{{7*7}}" in page.content() or path in ("/", "/pools"), path
        press(at_the_desk(page, replace(running, pool=number)), "2")
        assert page.evaluate("window.hacked === undefined")
        assert page.troubles == []
