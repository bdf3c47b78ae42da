"""The static site of a history: its files, its links, its badge, and hostile text in it."""

import html
import json
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest

import calipers
from calipers.questions.history.site import badge_of, badge_svg
from tests.command import calipers_command

HOSTILE = "<script>alert(1)</script>\u202e{{ 7 * 7 }}"
FIRST = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Four evaluations, of which the third got worse and the last is of another ground truth."""
    folder = tmp_path_factory.mktemp("site")
    store = str(folder / "history.db")
    for night, (lost, target) in enumerate([(0, "a"), (0, "a"), (6, "a"), (6, "b")]):
        rows = [
            {
                "id": f"q{n}",
                "query": f"{HOSTILE} {n}",
                "ground_truth": [f"{target}{n}"],
                "retrieved": ["other", *([f"{target}{n}"] if n >= lost else [])],
            }
            for n in range(12)
        ]
        scores = calipers.evaluate(rows, k=[1, 5])
        run, now = None if night == 1 else rows, FIRST + timedelta(days=night)
        calipers.save(scores, "nightly", store=store, ground_truth=rows, run=run, now=now)
    done = calipers_command("history", "--store", store, "--html", str(folder / "site"), "--json")
    assert done.code == 0, done.err
    assert "4 evaluations written to" in done.err
    assert len(json.loads(done.out)["evaluations"]) == 4
    return folder / "site"


def test_every_link_leads_to_a_page_and_every_page_back(made):
    index = (made / "index.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="([^"#]+)"', index))
    assert len(links) == 4
    for link in links:
        page = (made / link).read_text(encoding="utf-8")
        assert 'href="../index.html"' in page
    names = {"index.html", "evaluations", "badge.svg", "badge.json"}
    assert {path.name for path in made.iterdir()} == names


def test_a_page_has_its_report_and_the_comparison_with_the_one_before(made):
    pages = [path.read_text(encoding="utf-8") for path in (made / "evaluations").iterdir()]
    said = "\n".join(pages)
    assert said.count("Compared with the one before, 2026-03-") == 3
    assert "now is worse than before: recall@5 is 0.500, it was 1.000." in said
    assert "before and now were measured against different ground truth" in said
    assert sum("Where recall is lost" in one for one in pages) == 3
    assert all("Finds" in one for one in pages)


def test_hostile_text_stays_text_and_nothing_is_loaded(made):
    for path in made.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert "<script>alert" not in page
        assert "\u202e" not in page
        assert "default-src &#39;none&#39;" in page
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_the_badge_is_what_shields_reads_and_a_picture(made):
    badge = json.loads((made / "badge.json").read_text(encoding="utf-8"))
    assert list(badge) == ["schemaVersion", "label", "message", "color"]
    assert (badge["schemaVersion"], badge["message"]) == (1, "0.500")
    drawn = ET.fromstring((made / "badge.svg").read_text(encoding="utf-8"))
    assert drawn.get("aria-label") == f"{badge['label']}: 0.500"
    ET.fromstring(badge_svg({"label": "<&\"'>", "message": "1", "color": "red"}))


@pytest.mark.parametrize(("lost", "colour"), [(0, "brightgreen"), (9, "red")])
def test_the_badge_is_red_where_the_alarm_rings(lost, colour, tmp_path):
    store = tmp_path / "history.db"
    for night, missing in enumerate((0, 0, lost)):
        run = {f"q{n}": ["x" if n < missing else f"a{n}"] for n in range(12)}
        scores = calipers.evaluate(
            ground_truth={f"q{n}": [f"a{n}"] for n in range(12)}, run=run, metrics="recall@1"
        )
        calipers.save(scores, "n", store=store, now=FIRST + timedelta(days=night))
        if not night:
            assert badge_of(calipers.history_trend("n", store=store))["color"] == "lightgrey"
    assert badge_of(calipers.history_trend("n", store=store))["color"] == colour


@pytest.mark.parametrize(("lost", "colour"), [(0, "brightgreen"), (2, "lightgrey")])
def test_the_badge_is_not_green_after_a_fall_on_too_few_queries_for_an_alarm(
    lost, colour, tmp_path
):
    store = tmp_path / "history.db"
    truth = {f"q{n}": [f"a{n}"] for n in range(4)}
    for night, missing in enumerate((0, 0, lost)):
        run = {f"q{n}": ["x" if n < missing else f"a{n}"] for n in range(4)}
        scores = calipers.evaluate(ground_truth=truth, run=run, metrics="recall@1")
        calipers.save(scores, "n", store=store, now=FIRST + timedelta(days=night))
    trend = calipers.history_trend("n", store=store)
    assert not trend.raised
    assert badge_of(trend)["color"] == colour


def test_a_fall_that_is_older_than_the_list_is_still_told_by_the_page_and_its_badge(tmp_path):
    """The site lists four nights; what they are compared with is a week before them."""
    store = str(tmp_path / "history.db")
    truth = {f"q{n}": [f"a{n}"] for n in range(12)}
    for night in range(14):
        lost = 0 if night < 8 else 9
        run = {f"q{n}": ["x" if n < lost else f"a{n}"] for n in range(12)}
        scores = calipers.evaluate(ground_truth=truth, run=run, metrics="recall@1")
        now = FIRST + timedelta(days=night)
        calipers.save(scores, "n", store=store, ground_truth=truth, run=run, now=now)
    alarm = calipers.history_alarm("n", store=store)
    assert alarm.raised
    done = calipers_command(
        "history", "n", "-n", "4", "--store", store, "--html", str(tmp_path / "site")
    )
    assert done.code == 0, done.err
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert alarm.document().sentence in html.unescape(index)
    # The command of the terminal has no place here: its reader has neither the files nor the store.
    assert "calipers compare @" in str(alarm)
    assert not [page for page in _pages(tmp_path / "site") if "<code>calipers" in page]
    badge = json.loads((tmp_path / "site" / "badge.json").read_text(encoding="utf-8"))
    assert badge["color"] == "red"
    # Listed and drawn are the four that were asked for, each with the id that commands take.
    shown = calipers.history("n", last=4, store=store).evaluations
    assert re.findall(r"<code>@(\w+)</code>", index) == [one.short for one in shown]
    drawn = [line.points for line in alarm.drawn(4).lines]
    assert [point.id for points in drawn for point in points] == [one.id for one in shown][::-1]


def _pages(site):
    return [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]


def test_the_index_has_a_heading_and_every_table_its_headers(made):
    index = (made / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<h1>(.*?)</h1>", index) == ["Retrieval over time"]
    table = index[index.index('aria-label="Evaluations of nightly"') :]
    assert table.count('<th scope="row"') == 4
    # On a phone the rows are stacked, and each value stands beside its name.
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)
    assert re.findall(r'<td[^>]*data-head="(.*?)"', table) == heads[1:] * 4
    assert index.count('<table class="stack">') == 1
    assert not re.search(r"<th[^>]*></th>", index)


def test_a_page_offers_no_command_and_names_no_path(made):
    for page in _pages(made):
        assert "<code>calipers" not in page
        assert str(made.parent) not in page
        assert "--store" not in page


def test_a_file_in_the_way_and_nothing_to_show_are_bad_use(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = str(made.parent / "history.db")
    (tmp_path / "file").write_text("mine")
    done = calipers_command("history", "--store", store, "--html", str(tmp_path / "file"))
    assert (done.code, (tmp_path / "file").read_text()) == (2, "mine")
    assert "is no folder, and a site needs one" in done.err
    for given in (("--html", "-"), ("copy", "-")):
        assert calipers_command("history", *given, "--store", store).code == 2
        assert not (tmp_path / "-").exists()
    none = calipers_command("history", "--store", store, "--since", "2027-01-01", "--html", "x")
    assert none.code == 2
    assert "There is nothing to show" in none.err
