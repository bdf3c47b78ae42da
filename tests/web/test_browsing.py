"""Looking through evaluations in a real browser: one of them, two compared, all over time."""

import re
from dataclasses import replace

import pytest

import calipers
from tests.systems import keep
from tests.web.served import served, shelf_of
from tests.web.test_browser import come_in

N = 12


def night(lost=()):
    """Questions whose answer stands first, except those that a night lost."""
    return [
        {
            "id": f"q{n}",
            "query": f"What is number {n}?",
            "tags": {"kind": "odd" if n % 2 else "even"},
            "retrieved": [*([] if n in lost else [f"hit{n}"]), *(f"x{i}" for i in range(12))],
            "ground_truth": [f"hit{n}"],
        }
        for n in range(N)
    ]


def saved(store, name, records, metrics):
    return keep(calipers.read(records), name, store, metrics)


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """A good night, and a later one that lost eight answers, six of them even; with their ids."""
    store = str(tmp_path_factory.mktemp("fallen") / "history.db")
    lost = {0, 2, 4, 6, 8, 10, 1, 3}
    ids = [saved(store, "nightly", night(some), "recall@5,ndcg@10").id for some in ((), lost)]
    with served(shelf_of(store)) as running:
        yield replace(running, store=store, ids=ids)


@pytest.fixture(scope="module")
def window(fallen, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.troubles = []
    page.on("console", lambda said: page.troubles.append(said.text))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    yield come_in(page, fallen.links["me"])
    context.close()
    assert page.troubles == []


def test_the_older_evaluation_is_the_baseline_until_somebody_swaps(fallen, window):
    page = window
    # A short history needs no filters.
    assert page.locator("table.listed tbody tr").count() == 2
    assert page.get_by_label("Name").count() == 0
    for tick in page.locator("input[name=of]").all():  # the newest stands first
        tick.check()
    page.get_by_role("button", name="Compare the ticked").click()
    page.get_by_role("heading", level=1, name=re.compile("is worse than")).wait_for()
    assert "recall@5 is 0.333, it was 1.000" in page.locator("h1").text_content()
    page.get_by_role("link", name="Swap").click()
    page.get_by_role("heading", level=1, name=re.compile("is better than")).wait_for()
    # Which was ticked first makes no difference.
    older, newer = fallen.ids
    for first, second in ((older, newer), (newer, older)):
        page.goto(f"http://{fallen.host}/compare?of={first}&of={second}")
        assert "is worse than" in page.locator("h1").text_content()
    # The list is filtered, and says why a query was lost.
    rows = page.locator("#queries tr.row")
    assert rows.count() == N
    page.get_by_label("Show").select_option("only worse")
    page.get_by_role("status").filter(has_text="8 of 12 queries").wait_for()
    assert rows.locator(".sub.worse").all_inner_texts() == ["not in the results"] * 8
    page.get_by_label("kind").select_option("odd")
    page.get_by_role("status").filter(has_text="2 of 12 queries").wait_for()
    # What was chosen stays in the address, and so in the field, also after a reload.
    page.reload()
    assert page.get_by_label("Show").input_value() == "worse"
    page.get_by_label("Show").select_option("only better")
    page.get_by_role("status").filter(has_text="0 of 12 queries").wait_for()


def test_an_evaluation_shows_what_was_saved_and_judges_watch_the_same(fallen, window):
    page = window
    page.goto(f"http://{fallen.host}/evaluations/{fallen.ids[1]}")
    heads = page.locator("#queries thead th").all_inner_texts()
    assert [one.rstrip(" ↑↓") for one in heads] == ["query", "recall@5", "ndcg@10", "missed"]
    assert "recall@10" not in page.content()
    assert "Finds 33% of what it should in the first 5" in page.locator("h1").text_content()
    page.locator("#queries a.open").first.click()
    page.get_by_role("button", name="Judge this").click()
    page.wait_for_url(re.compile(r"/pools/\d+/"))
    (pool,) = calipers.labels_list(store=fallen.store).pools
    assert pool.settings.metric == "recall@5"


def test_home_shows_a_line_of_each_name_with_the_alarm_and_every_point_is_a_link(window, tmp_path):
    """Nine equal nights and one that lost four answers; beside them another name, saved once."""
    page, store = window, str(tmp_path / "nightly.db")
    nights = [night()] * 9 + [night({0, 1, 2, 3})]
    ids = [saved(store, "nightly", one, "recall@5,ndcg@10").id for one in nights]
    saved(store, "other", night(), "recall@5")
    with served(shelf_of(store)) as running:
        come_in(page, running.links["me"])
        (line,) = page.locator("section.line").all()
        said = calipers.history_alarm("nightly", store=store).document().sentence
        assert said in line.locator("h2").text_content()
        assert "got worse" in said
        points = line.locator("svg:visible a")
        assert [one.get_attribute("href") for one in points.all()] == [
            f"/evaluations/{one}" for one in ids
        ][::-1]
        points.first.click()
        page.wait_for_url(re.compile(ids[-1]))
        # A history that is long can be filtered.
        page.goto(f"http://{running.host}/")
        assert page.locator("table.listed tbody tr").count() == 11
        page.get_by_label("Name").fill("other")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url(re.compile("name=other"))
        assert page.locator("table.listed tbody tr").count() == 1
        assert page.locator("section.line").count() == 0
