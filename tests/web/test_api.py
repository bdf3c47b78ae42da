"""Judging over HTTP: what is next, labels that are confirmed, and what the owner does."""

import json
from typing import Any

import pytest

import calipers
from calipers.store.label_pools import read_on
from calipers.store.open import open_store
from calipers.web import pages
from calipers.web.app import ADDRESSES
from tests.store.judged import BM25, TRUTH, pool, run
from tests.web.conftest import fill
from tests.web.served import served, shelf_of

NEWER = run(*[("d4", "d7", "d3")] * 4)
SHOWN = {"item", "key", "cut", "query_id", "query", "id", "document", "title", "text", "mine"}


def test_a_label_is_confirmed_with_what_comes_next(own):
    anna, path = own.visitor("anna"), f"/api/v1/pools/{own.pool}"
    first = anna.post(f"{path}/take", {}).json()
    item = first["next"][0]
    assert set(item) == SHOWN | {"note"}
    label = {"request": "r" * 8, "item": item["item"], "grade": 3, "seen": 0}
    saved = anna.post(f"{path}/labels", label).json()
    assert saved["saved"]["grade"] == 3
    assert saved["next"][0] == first["next"][1]
    assert saved["progress"]["labelled"] == 1
    # Sent again after a lost answer it is known for the same.
    assert anna.post(f"{path}/labels", label).json()["saved"] == saved["saved"]
    assert calipers.labels_list(own.store).pools[0].entries == 1


def test_a_label_for_another_text_than_the_page_shows_is_refused(own):
    anna, path = own.visitor("anna"), f"/api/v1/pools/{own.pool}"
    first, second = anna.post(f"{path}/take", {}).json()["next"][:2]
    label = {"request": "k" * 8, "item": first["item"], "grade": 3}
    refused = anna.post(f"{path}/labels", {**label, "shown": second["key"]})
    assert refused.status == 400
    assert "shows another text" in refused.json()["error"]
    assert calipers.labels_list(own.store).pools[0].entries == 0
    assert anna.post(f"{path}/labels", {**label, "shown": first["key"]}).status == 200


def test_an_undo_says_what_it_took_back_and_of_which_text(own):
    anna, path = own.visitor("anna"), f"/api/v1/pools/{own.pool}/labels"
    anna.post(path, {"request": "l" * 8, "item": 3, "grade": 2})
    anna.post(path, {"request": "n" * 8, "item": 3, "kind": "note", "note": "odd"})
    for name, kind, mine in (("u" * 8, "note", 2), ("v" * 8, "label", None)):
        undone = anna.post(path, {"request": name, "kind": "undo"}).json()["undone"]
        assert (undone["kind"], undone["about"]["item"]) == (kind, 3)
        assert (undone["about"]["mine"] or {}).get("grade") == mine
        assert undone["about"]["note"] is None


def test_a_page_of_one_judge_labels_nothing_in_the_name_of_another(own):
    ben, path = own.visitor("ben"), f"/api/v1/pools/{own.pool}/labels"
    label = {"request": "a" * 8, "judge": "anna", "item": 0, "grade": 3}
    refused = ben.post(path, label)
    assert refused.status == 409
    assert "ben is signed in now" in refused.json()["error"]
    assert calipers.labels_list(own.store).pools[0].entries == 0
    assert ben.post(path, {**label, "judge": "ben"}).status == 200


def test_judge_this_puts_the_results_of_a_query_into_a_pool(tmp_path):
    given: dict[str, Any] = {"evals": calipers.read(ground_truth=TRUTH, run=BM25)}
    with served(shelf_of(str(tmp_path / "new.db"), **given)) as running:
        me = running.visitor()
        made = me.post("/api/v1/pools", {"of": ["evals"], "queries": ["q1"]})
        assert made.status == 201
        more = me.post("/api/v1/pools", {"of": ["evals"], "queries": ["q1", "q2"]}).json()
        assert (made.json()["items"], more["items"]) == (3, 6)
        assert made.json()["pool"] == more["pool"]
        found = me.post(f"/api/v1/pools/{more['pool']}/take", {"query": "q2"}).json()
        assert found["next"][0]["query_id"] == "q2"


@pytest.mark.parametrize(
    "value",
    [
        {"of": [], "queries": ["q"]},
        {"of": ["@@"], "queries": ["q"]},
        {"of": ["evals"], "queries": ["unknown"]},
    ],
)
def test_hostile_requests_for_a_pool_get_a_sentence(me, value):
    answer = me.post("/api/v1/pools", value)
    assert answer.status == 400
    assert answer.json()["error"]


def test_no_page_and_no_answer_to_a_get_changes_anything(tmp_path):
    store = str(tmp_path / "h.db")
    ids = fill(store)
    number = pool(store).content.number
    with served(shelf_of(store, "ben")) as running:
        paths = [
            path.replace("{number:int}", str(number)).replace("{reference}", ids["bm25"])
            for method, path in map(str.split, ADDRESSES)
            if method == "GET" and path != "/enter"
        ]
        visitors = [running.visitor(who) for who in ("me", "ben")]
        # Coming in is kept.
        before = (tmp_path / "h.db").read_bytes()
        for visitor in visitors:
            for path in paths:
                assert visitor.get(path).status in (200, 400, 403, 404), path
    assert (tmp_path / "h.db").read_bytes() == before


def test_judging_a_newer_evaluation_of_the_same_name_judges_the_newer_run(tmp_path):
    store = str(tmp_path / "h.db")
    fill(store)
    with served(shelf_of(store)) as running:
        me = running.visitor()
        wanted = {"of": ["dense"], "queries": ["q1"]}
        first = me.post("/api/v1/pools", wanted).json()
        assert me.post("/api/v1/pools", wanted).json()["pool"] == first["pool"]
        fill(store, NEWER)
        second = me.post("/api/v1/pools", wanted).json()
        assert (second["pool"] != first["pool"], second["name"]) == (True, "dense-2")
        taken = me.post(f"/api/v1/pools/{second['pool']}/take", {}).json()
    assert {one["id"] for one in taken["next"]} <= {"d4", "d7", "d3"}
    desk = calipers.labels_desk("dense-2", store=store)
    assert desk.content.runs["dense"].frame["item"].unique().sort().to_list() == ["d3", "d4", "d7"]


def test_a_closed_pool_is_409_so_that_a_page_keeps_what_it_has(own):
    anna, me = own.visitor("anna"), own.visitor("me")
    label = {"request": "kept-label", "item": 0, "grade": 3}
    path = f"/api/v1/pools/{own.pool}"
    assert me.post(f"{path}/change", {"change": "close"}).status == 200
    refused = anna.post(f"{path}/labels", label)
    assert refused.status == 409
    assert "is closed since" in refused.json()["error"]
    assert "This pool is closed" in anna.get(f"/pools/{own.pool}/judge").text
    assert me.post(f"{path}/change", {"change": "reopen"}).status == 200
    assert anna.post(f"{path}/labels", label).status == 200
    assert read_on(open_store(own.store), own.pool, 0).closed is None


@pytest.fixture
def differing(own, monkeypatch):
    """A pool in which anna and ben differ on everything, its owner and anna."""
    desk = own.desk
    for item in desk.items:
        desk.give("anna", item.position, 3)
        desk.give("ben", item.position, 0)
    desk.give("ben", 1, kind="note", note="It is <b>not</b> about that.")
    monkeypatch.setattr(pages, "CARDS", 4)
    return own, own.visitor("me"), own.visitor("anna")


def cards(text):
    return [int(one.partition('"')[0]) for one in text.split('data-item="')[1:]]


def test_conflicts_come_in_pages_and_notes_are_the_owner_s(differing):
    own, me, anna = differing
    path = f"/pools/{own.pool}"
    texts = [me.get(f"{path}?page={page}").text for page in (1, 2, 3)]
    seen = [cards(one) for one in texts]
    assert [len(one) for one in seen] == [4, 4, 2]
    assert sorted(item for page in seen for item in page) == list(range(10))
    assert cards(me.get(f"{path}?page=99").text) == seen[2]
    assert "Page 1 of 3" in texts[0]
    # Also where nobody differs: a note is on a page.
    assert "It is &lt;b&gt;not&lt;/b&gt; about that." in me.get(f"{path}?show=notes").text
    assert anna.get(f"{path}?show=notes").status == 403
    assert me.get(f"{path}?show=none").status == 400


def test_a_conflict_is_settled_and_comes_back_when_somebody_changes_their_label(differing):
    own, me, anna = differing
    path, api = f"/pools/{own.pool}", f"/api/v1/pools/{own.pool}"
    first = cards(me.get(path).text)[0]

    def settle(name, grade):
        return me.post(f"{api}/settle", {"request": name, "item": first, "grade": grade})

    saved = settle("settle-one", 2).json()
    assert (saved["saved"]["judge"], saved["saved"]["kind"]) == ("me", "final")
    assert saved["conflict"] == {"standing": "settled", "verdict": "Counts as 2: settled by me."}
    assert first not in cards(me.get(path).text)
    assert cards(me.get(f"{path}?show=settled").text) == [first]
    anna.post(f"{api}/labels", {"request": "changed-1", "item": first, "grade": 1})
    text = me.get(f"{path}?page=3").text + me.get(f"{path}?page=2").text + me.get(path).text
    assert "Settled as 2 by me, and changed since. Left out: a tie." in text
    assert cards(me.get(f"{path}?show=settled").text) == []
    settle("settle-two", 1)
    assert settle("open-again", None).json()["conflict"]["standing"] == "open"
    assert cards(me.get(f"{path}?show=settled").text) == []
    assert settle("odd-grade", 9).status == 400


def test_my_labels_are_a_judges_own_and_can_be_changed(differing):
    own, _, anna = differing
    path = f"/pools/{own.pool}/mine"
    text = anna.get(path).text
    assert len(cards(text)) == 4
    assert 'data-judge="anna"' in text
    assert "about that" not in text
    label = {"request": "change-it", "item": 9, "grade": 0}
    assert anna.post(f"/api/v1/pools/{own.pool}/labels", label).status == 200
    assert cards(anna.get(path).text)[0] == 9


@pytest.mark.parametrize(("form", "kind"), [("csv", "text/csv"), ("jsonl", "application/x-ndjson")])
def test_every_label_can_be_downloaded(differing, tmp_path, form, kind):
    own, me, _ = differing
    answer = me.get(f"/api/v1/pools/{own.pool}/export?as={form}")
    assert answer.headers["content-type"].startswith(kind)
    assert (
        answer.headers["content-disposition"]
        == f'attachment; filename="{own.desk.name}-labels.{form}"'
    )
    path = tmp_path / f"labels.{form}"
    path.write_bytes(answer.body)
    other = str(tmp_path / "other.db")
    pool(other)
    assert calipers.labels_import("first", path, store=other).added == 20
    assert me.get(f"/api/v1/pools/{own.pool}/export?as=exe").status == 400
    for tool in ("label-studio", "argilla"):
        assert len(json.loads(me.get(f"/api/v1/pools/{own.pool}/export?as={tool}").body)) == 10
