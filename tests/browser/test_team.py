"""The path of a team of four in a real browser: a lead, two judges, and one who comes late."""

import json
import re

import calipers
from calipers.store.pool import PoolSettings
from calipers.web.sources import WebShelf
from tests.command import calipers_command
from tests.store.judged import BM25, TRUTH
from tests.web.served import served
from tests.web.test_browser import come_in, press


def test_a_team_of_four_makes_a_ground_truth(browser, tmp_path):
    store, troubles = str(tmp_path / "team.db"), []
    # A name with blanks, as files of people have.
    given = {"my first run": calipers.read(ground_truth=TRUTH, run=BM25)}
    settings = PoolSettings(metric="ndcg@3", overlap=1.0)
    shelf = WebShelf(store, given, ("anna", "ben"), settings, lead="lea")
    contexts = []

    def window(link):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        return come_in(page, link)

    with served(shelf) as running:
        site = f"http://{running.host}"
        # The lead makes a pool of one question.
        lea = window(running.links["lea"])
        lea.goto(f"{site}/evaluations/my%20first%20run?text=topic+2")
        lea.get_by_role("button", name="Judge the 1 on this page").click()
        lea.wait_for_url(re.compile(r"/pools/1/progress"))
        # Two judge from their links; a third is invited while they are signed in.
        people = [window(running.links[one]) for one in ("anna", "ben")]
        lea.goto(f"{site}/team")
        lea.get_by_label("Name").fill("dora")
        lea.get_by_role("button", name="Make a link").click()
        link = lea.get_by_label("Link for dora").input_value()
        for page, keys in zip(people, ("302", "310"), strict=True):
            assert page.goto(f"{site}/pools/1/conflicts").status == 403
            page.goto(f"{site}/pools/1/judge")
            if page.locator("#join").is_visible():
                page.locator("#join button").click()
            page.locator("#question").wait_for()
            assert "my first run" not in page.locator("main").text_content()
            press(page, keys)
            page.get_by_role("heading", name="Your queue is done").wait_for()
        dora = window(link)
        dora.goto(f"{site}/pools/1/judge")
        dora.locator("#join button").click()
        dora.locator("#question").wait_for()
        press(dora, "1")
        # What was said is looked through and changed.
        dora.goto(f"{site}/pools/1/mine")
        dora.get_by_role("button", name="Grade 0, useless").first.wait_for()
        dora.keyboard.press("j")
        dora.keyboard.press("0")
        dora.get_by_text("0, changed now").wait_for()
        dora.goto(f"{site}/pools/1/judge")
        dora.locator("#question").wait_for()
        press(dora, "11")
        # The lead sees who did how much, and settles every conflict by key without a reload.
        lea.goto(f"{site}/pools/1/progress")
        assert lea.locator("#team tbody tr").count() == 3
        lea.goto(f"{site}/pools/1/conflicts")
        cards = lea.locator("#cards article").count()
        assert cards > 1
        lea.evaluate("window.stays = true")
        lea.keyboard.press("j")
        for _ in range(cards):
            lea.keyboard.press("2")
        lea.locator('[data-count="open"]', has_text=re.compile("^0$")).wait_for()
        assert lea.get_by_text("settled by lea: 2").count() == cards
        assert lea.evaluate("window.stays")
        lea.locator("#runs:not([aria-busy])").wait_for()
        shown = float(lea.locator("#runs td[data-mean]").first.get_attribute("data-mean"))
        for name, link_text in (("gt.jsonl", "Export the ground truth"), ("labels.csv", "CSV")):
            with lea.expect_download() as download:
                lea.get_by_role("link", name=link_text).click()
            download.value.save_as(tmp_path / name)
        for context in contexts:
            context.close()
    assert troubles == []
    # The command gives the number that the page showed.
    run = tmp_path / "run.jsonl"
    calipers.convert(None, run, run=BM25, ground_truth=None)
    printed = calipers_command(
        "eval", "-g", str(tmp_path / "gt.jsonl"), "-r", str(run), "-m", "ndcg@3", "--json"
    )
    assert printed.code == 0, printed.err
    assert [one["mean"] for one in json.loads(printed.out)["summaries"]] == [shown]
    rows = (tmp_path / "labels.csv").read_text(encoding="utf-8-sig")
    assert all(f'"{one}"' in rows for one in ("anna", "ben", "dora", "lea"))
