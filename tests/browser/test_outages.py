"""The store is taken away while somebody labels in a real browser: nothing is lost or doubled."""

import random
import threading
import time
from typing import Any

import pytest

import calipers
from tests.store.judged import entries
from tests.store.servers import server
from tests.web.outage import MovedFile, Relay
from tests.web.served import served, shelf_of

__all__ = ["server"]
PER_QUESTION = 10


def make_pool(store: str, labels: int) -> int:
    """A pool with so many texts, no two of them alike."""
    run = [
        {
            "id": f"q{n}",
            "query": f"What is {n}?",
            "retrieved": [
                {"id": f"d{n}-{i}", "text": f"Text {n}-{i} speaks."} for i in range(PER_QUESTION)
            ],
        }
        for n in range(-(-labels // PER_QUESTION))
    ]
    pool = calipers.labels_pool("outages", {"one": run}, store=store, judges=("anna",))
    return pool.content.number


def judge_through(
    browser: Any, outage: MovedFile | Relay, labels: int, outages: int, longest: float = 1.0
) -> dict[str, Any]:
    """Label everything while the store goes and comes; what was given, and what is kept."""
    chance = random.Random(11)
    number = make_pool(outage.store, labels)
    when = {chance.randrange(1, labels - 1) for _ in range(outages)}
    while len(when) < outages:
        when.add(chance.randrange(1, labels - 1))
    given: dict[str, float] = {}
    away: list[threading.Thread] = []

    def take_away(seconds: float) -> None:
        with outage.away():
            time.sleep(seconds)

    with served(shelf_of(outage.store, "anna")) as running:
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(running.links["anna"])
        page.wait_for_url(f"http://{running.host}/")
        page.goto(f"http://{running.host}/pools/{number}/judge")
        for n in range(labels):
            page.wait_for_function(
                "() => !document.getElementById('desk').hidden"
                " && document.getElementById('text').textContent.startsWith('Text ')"
            )
            if n in when:
                for one in away:
                    one.join()
                away = [threading.Thread(target=take_away, args=(chance.uniform(0.1, longest),))]
                away[0].start()
            text = page.locator("#text").text_content()
            grade = chance.randrange(4)
            assert text not in given, f"{text!r} was shown twice"
            given[text] = float(grade)
            page.keyboard.press(str(grade))
        for one in away:
            one.join()
        page.locator("#done").wait_for()
        left = page.evaluate("() => Object.keys(localStorage).length")
        context.close()
    kept_entries = entries(outage.store, number)
    desk = calipers.labels_desk("outages", store=outage.store)
    kept = {desk.items[one.item].label.text: one.grade for one in kept_entries}
    return {
        "given": len(given),
        "entries": len(kept_entries),
        "lost": sum(kept.get(text) is None for text in given),
        "doubled": len(kept_entries) - len(kept),
        "wrong": sum(kept.get(text) != grade for text, grade in given.items()),
        "left_in_browser": left,
    }


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_label_is_lost_or_doubled_while_the_store_goes_and_comes(
    browser, tmp_path, request, kind
):
    outage: MovedFile | Relay
    if kind == "postgresql":
        outage = Relay(request.getfixturevalue("server").new_database())
    else:
        outage = MovedFile(str(tmp_path / "history.db"))
    found = judge_through(browser, outage, labels=20, outages=2, longest=0.4)
    if kind == "postgresql":
        outage.close()
    assert found["given"] == found["entries"] == 20
    assert (found["lost"], found["doubled"], found["wrong"]) == (0, 0, 0)
    assert found["left_in_browser"] == 0
