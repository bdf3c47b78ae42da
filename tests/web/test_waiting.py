"""A page that takes long says so at once, and asks again until it is there."""

import threading
import time

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.web import pages, waiting
from tests.reports import records
from tests.systems import keep
from tests.web.served import served, shelf_of
from tests.web.test_browser import come_in


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A server whose reports wait until they are allowed to go on, and how many were begun."""
    store = str(tmp_path / "history.db")
    saved = keep(calipers.read(records(6)), "nightly", store).id
    go_on = threading.Event()
    begun = []

    def report(browse):
        begun.append(browse.name)
        assert go_on.wait(30)
        return "<p>Made at last.</p>"

    monkeypatch.setattr(pages, "_report", report)
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(waiting, "ASK_AGAIN", 1)
    with served(shelf_of(store)) as running:
        yield running, f"/evaluations/{saved}/report", go_on, begun
        go_on.set()


def _awaited(visitor, path):
    """The answer for who asks again as long as it is being made, on a busy machine too."""
    for _ in range(100):
        answer = visitor.ask("GET", path)
        if answer.status != 202:
            break
        time.sleep(0.1)
    return answer


def test_a_slow_page_says_that_it_is_being_made_and_is_made_once(slow):
    running, path, go_on, begun = slow
    me = running.visitor("me")
    first = me.ask("GET", path)
    assert (first.status, first.headers["retry-after"]) == (202, "1")
    assert "Still working" in first.text
    assert '<meta http-equiv="refresh" content="1">' in first.text
    assert me.ask("GET", path).status == 202
    # Nobody waits for it but who wants it.
    assert _awaited(me, "/").status == 200
    go_on.set()
    last = _awaited(me, path)
    assert last.status == 200
    assert "Made at last." in last.text
    assert begun == ["nightly"]


def test_a_slow_page_that_fails_says_why(slow, monkeypatch):
    running, path, go_on, _ = slow

    def refuse(browse):
        assert go_on.wait(30)
        raise InvalidInput("The report cannot be made of this.")

    monkeypatch.setattr(pages, "_report", refuse)
    me = running.visitor("me")
    assert me.ask("GET", path).status == 202
    go_on.set()
    refused = _awaited(me, path)
    assert refused.status == 400
    assert "The report cannot be made of this." in refused.text


def test_the_browser_opens_a_slow_page_by_itself(slow, browser):
    running, path, go_on, _ = slow
    context = browser.new_context()
    page = come_in(context.new_page(), running.links["me"])
    page.goto(f"http://{running.host}{path}")
    page.get_by_role("heading", name="Still working").wait_for()
    go_on.set()
    page.get_by_text("Made at last.").wait_for(timeout=15_000)
    context.close()
