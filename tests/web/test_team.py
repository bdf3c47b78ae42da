"""What a team does on its pages: conflicts in pages, settled and opened again; labels reviewed."""

import re

import pytest

import calipers
from calipers.web import pages_team
from calipers.web.sources import WebShelf
from tests.store.judged import pool
from tests.web.served import served


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A pool in which anna and ben differ on everything."""
    store = str(tmp_path_factory.mktemp("team") / "history.db")
    desk = pool(store, judges=("anna", "ben"), metric="recall@2")
    for item in desk.items:
        desk.give("anna", item.position, 3)
        desk.give("ben", item.position, 0)
    desk.give("ben", 1, kind="note", note="It is <b>not</b> about that.")
    before, pages_team.ON_A_PAGE = pages_team.ON_A_PAGE, 4
    with served(WebShelf(store, {}, ("anna", "ben"), lead="lea")) as running:
        running.pool, running.store, running.desk = desk.content.number, store, desk
        running.people = {one: running.visitor(one) for one in ("lea", "anna")}
        yield running
    pages_team.ON_A_PAGE = before


def items(text):
    return [int(one) for one in re.findall(r'data-item="(\d+)"', text)]


def test_conflicts_come_in_pages_with_notes_beside_them(team):
    path = f"/pools/{team.pool}/conflicts"
    seen = [items(team.people["lea"].get(f"{path}?page={page}").text) for page in (1, 2, 3)]
    assert [len(one) for one in seen] == [4, 4, 2]
    assert sorted(item for page in seen for item in page) == list(range(10))
    assert items(team.people["lea"].get(f"{path}?page=99").text) == seen[2]
    assert "Page 1 of 3" in team.people["lea"].get(path).text
    text = "".join(team.people["lea"].get(f"{path}?page={page}").text for page in (1, 2, 3))
    assert "It is &lt;b&gt;not&lt;/b&gt; about that." in text
    # What others wrote beside a result is for who leads.
    assert "about that" not in team.people["anna"].get(f"{path}?show=all&page=1").text
    assert team.people["lea"].get(f"{path}?show=none").status == 400


def test_agreement_of_the_api_comes_in_pages_too(team):
    path = f"/api/v1/pools/{team.pool}/agreement"
    first, last = (team.people["lea"].get(f"{path}?page={page}").json() for page in (1, 3))
    assert (first["page"], first["pages"], first["total"]) == (1, 3, 10)
    assert [len(one["conflicts"]) for one in (first, last)] == [4, 2]
    assert any(
        one["notes"]
        for page in (1, 2, 3)
        for one in team.people["lea"].get(f"{path}?page={page}").json()["conflicts"]
    )
    assert "notes" not in team.people["anna"].get(path).json()["conflicts"][0]


def test_a_conflict_is_settled_and_opened_again(team):
    path, api = f"/pools/{team.pool}/conflicts", f"/api/v1/pools/{team.pool}/settle"
    first = items(team.people["lea"].get(path).text)[0]
    saved = (
        team.people["lea"]
        .post(api, {"request": "settle-one", "item": first, "grade": 2})
        .json()["saved"]
    )
    assert (saved["judge"], saved["kind"], saved["grade"]) == ("lea", "settle", 2)
    assert first not in items(team.people["lea"].get(path).text)
    assert items(team.people["lea"].get(f"{path}?show=settled").text) == [first]
    # Who settles is no judge by that.
    assert "lea" not in calipers.labels_desk("first", store=team.store).judges
    assert (
        team.people["lea"].post(api, {"request": "open-again", "item": first, "grade": None}).status
        == 200
    )
    assert items(team.people["lea"].get(f"{path}?show=settled").text) == []
    assert (
        team.people["lea"].post(api, {"request": "open-twice", "item": first, "grade": None}).status
        == 400
    )
    assert (
        team.people["lea"].post(api, {"request": "odd-grade", "item": first, "grade": 9}).status
        == 400
    )


def test_my_labels_are_a_judges_own_and_can_be_changed(team):
    path = f"/pools/{team.pool}/mine"
    text = team.people["anna"].get(path).text
    assert len(items(text)) == 4
    assert 'data-judge="anna"' in text
    assert "about that" not in text
    assert items(team.people["anna"].get(f"{path}?grade=0").text) == []
    label = {"request": "change-it", "item": 9, "grade": 0}
    assert team.people["anna"].post(f"/api/v1/pools/{team.pool}/labels", label).status == 200
    assert items(team.people["anna"].get(f"{path}?grade=0").text) == [9]
    assert items(team.people["anna"].get(path).text)[0] == 9


@pytest.mark.parametrize(("form", "kind"), [("csv", "text/csv"), ("jsonl", "application/x-ndjson")])
def test_every_label_can_be_downloaded(team, tmp_path, form, kind):
    answer = team.people["lea"].get(f"/api/v1/pools/{team.pool}/labels?as={form}")
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["content-disposition"] == f'attachment; filename="first-labels.{form}"'
    path = tmp_path / f"labels.{form}"
    path.write_bytes(answer.body)
    other = str(tmp_path / "other.db")
    pool(other)
    assert calipers.labels_import("first", path, store=other).added >= 20
    assert team.people["lea"].get(f"/api/v1/pools/{team.pool}/labels?as=exe").status == 400


def test_progress_names_every_judge_and_what_is_left(team):
    text = team.people["lea"].get(f"/pools/{team.pool}/progress").text
    assert re.search(r"judged by nobody yet</dt><dd><strong>0<", text)
    assert re.findall(r'aria-label="Queue of (\w+)"', text) == ["anna", "ben"]
