"""A judge in a real browser whose store is taken away at random while they label."""

import random
import threading
import time
from typing import Any

import calipers
from tests.store.judged import entries
from tests.web.outage import MovedFile, Relay
from tests.web.served import served, shelf_of

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
