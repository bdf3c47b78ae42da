"""The store is taken away while somebody labels in a real browser: nothing is lost or doubled."""

import threading
import time

import pytest

import calipers
from tests.store.judged import entries
from tests.store.servers import server
from tests.web.outage import MovedFile, Relay
from tests.web.served import served, shelf_of

__all__ = ["server"]
LABELS = 20
AWAY = {6: 0.2, 13: 0.4}
"""Before which labels the store goes away, and for how many seconds."""
READY = """() => !document.getElementById('desk').hidden
    && document.getElementById('text').textContent.startsWith('Text ')"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_label_is_lost_or_doubled_while_the_store_goes_and_comes(
    browser, tmp_path, request, kind
):
    outage: MovedFile | Relay
    if kind == "postgresql":
        outage = Relay(request.getfixturevalue("server").new_database())
    else:
        outage = MovedFile(str(tmp_path / "history.db"))
    texts = [{"id": f"d{n}", "text": f"Text {n} speaks."} for n in range(LABELS)]
    run = [{"id": f"q{n}", "query": f"What is {n}?", "retrieved": texts[n::2]} for n in range(2)]
    desk = calipers.labels_pool("outages", {"one": run}, store=outage.store, judges=("anna",))
    given: dict[str, float] = {}

    def take_away(seconds: float) -> None:
        with outage.away():
            time.sleep(seconds)

    away: list[threading.Thread] = []
    with served(shelf_of(outage.store, "anna")) as running:
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(running.links["anna"])
        page.wait_for_url(f"http://{running.host}/")
        page.goto(f"http://{running.host}/pools/{desk.content.number}/judge")
        for n in range(LABELS):
            page.wait_for_function(READY)
            if n in AWAY:
                for one in away:
                    one.join()
                away.append(threading.Thread(target=take_away, args=(AWAY[n],)))
                away[-1].start()
            text = page.locator("#text").text_content()
            assert text not in given, f"{text!r} was shown twice"
            given[text] = float(n % 4)
            page.keyboard.press(str(n % 4))
        for one in away:
            one.join()
        page.locator("#done").wait_for()
        assert page.evaluate("() => Object.keys(localStorage).length") == 0
        context.close()
    found = entries(outage.store, desk.content.number)
    outage.close()
    assert len(found) == len(given) == LABELS
    assert {desk.items[one.item].label.text: one.grade for one in found} == given


def test_the_count_of_labels_kept_offline_is_right_after_each_grade(browser, tmp_path):
    store = str(tmp_path / "history.db")
    texts = [{"id": f"d{n}", "text": f"Text {n} speaks."} for n in range(6)]
    run = [{"id": "q", "query": "What is it?", "retrieved": texts}]
    desk = calipers.labels_pool("offline", {"one": run}, store=store, judges=("anna",))
    with served(shelf_of(store, "anna")) as running:
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(running.links["anna"])
        page.wait_for_url(f"http://{running.host}/")
        page.goto(f"http://{running.host}/pools/{desk.content.number}/judge")
        page.wait_for_function(READY)
        context.set_offline(True)
        for n in range(1, 4):
            before = page.locator("#text").text_content()
            page.keyboard.press("2")
            kept = "1 label is kept" if n == 1 else f"{n} labels are kept"
            page.locator("#save", has_text=kept).wait_for()
            page.wait_for_function(
                "before => document.getElementById('text').textContent !== before", arg=before
            )
        # What the line says is what the browser holds.
        assert page.evaluate("() => Object.keys(localStorage).length") == 3
        assert entries(store, desk.content.number) == []
        context.set_offline(False)
        page.locator("#save", has_text="Saved.").wait_for()
        page.wait_for_function("() => Object.keys(localStorage).length === 0")
        context.close()
    assert len(entries(store, desk.content.number)) == 3


def test_an_undo_without_the_server_shows_the_text_again_and_is_no_label(browser, tmp_path):
    store = str(tmp_path / "history.db")
    texts = [{"id": f"d{n}", "text": f"Text {n} speaks."} for n in range(6)]
    run = [{"id": "q", "query": "What is it?", "retrieved": texts}]
    desk = calipers.labels_pool("offline", {"one": run}, store=store, judges=("anna",))
    with served(shelf_of(store, "anna")) as running:
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(running.links["anna"])
        page.wait_for_url(f"http://{running.host}/")
        page.goto(f"http://{running.host}/pools/{desk.content.number}/judge")
        page.wait_for_function(READY)
        shown = []

        def press(key: str) -> None:
            shown.append(page.locator("#text").text_content())
            page.keyboard.press(key)

        context.set_offline(True)
        press("1")
        # The first was tried, and may have arrived: the undo has to be sent as well.
        page.locator("#save", has_text="1 label is kept").wait_for()
        press("u")
        page.locator("#save", has_text="2 changes are kept").wait_for()
        press("2")
        press("3")
        page.locator("#save", has_text="4 changes are kept").wait_for()
        # What waits behind it is known to this browser alone, and goes without a trace.
        press("u")
        page.locator("#save", has_text="3 changes are kept").wait_for()
        press("0")
        page.locator("#save", has_text="4 changes are kept").wait_for()
        assert page.evaluate("() => Object.keys(localStorage).length") == 4
        context.set_offline(False)
        page.wait_for_function("() => Object.keys(localStorage).length === 0")
        page.locator("#pace", has_text="2 of 6 judged. You: 2 labelled").wait_for()
        context.close()
    first, second, again, later, third, anew = shown
    assert (again, later, anew) == (first, second, second)
    assert len({first, second, third}) == 3
    state = desk.state()
    given = {one.label.text: state.current(one.position, "anna") for one in desk.items}
    kept = {text: label.grade for text, label in given.items() if label is not None}
    assert kept == {first: 2.0, second: 0.0}
