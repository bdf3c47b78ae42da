"""Pools over HTTP: looking changes nothing, a newer run is a new pool, two servers see the same."""

import calipers
from calipers.store.label_pools import read_on
from calipers.store.open import open_store
from calipers.web.app import ADDRESSES
from calipers.web.shown import AHEAD, SENT
from calipers.web.sources import WebShelf
from tests.store.judged import BM25, TRUTH, pool, run
from tests.web.conftest import fill
from tests.web.served import served

NEWER = run(*[("d4", "d7", "d3")] * 4)


def test_no_page_and_no_answer_to_a_get_changes_anything(tmp_path):
    store = str(tmp_path / "h.db")
    ids = fill(store)
    number = pool(store, judges=("ben",), overlap=0.0).content.number
    # A lead who is no judge of the pool looks at everything; so does a judge.
    with served(WebShelf(store, {}, ("ben", "carl"), lead="lead")) as running:
        paths = ["/", "/pools", f"/pools/{number}/judge", f"/pools/{number}/conflicts"]
        paths += [f"/evaluations/{ids['bm25']}{one}" for one in ("", "/report", "/truth")]
        paths += [
            path.replace("{number:int}", str(number)).replace("{reference}", ids["bm25"])
            for method, path in map(str.split, ADDRESSES)
            if method == "GET" and path.startswith("/api/")
        ]
        visitors = {who: running.visitor(who) for who in ("lead", "ben")}
        # Coming in is kept, and is no GET.
        before = (tmp_path / "h.db").read_bytes()
        for who, visitor in visitors.items():
            for path in paths:
                assert visitor.get(path).status in (200, 400, 403, 404), path
            begins = "Start judging" in visitor.get(f"/pools/{number}/judge").text
            assert begins == (who == "lead")
    assert (tmp_path / "h.db").read_bytes() == before
    assert calipers.labels_list(store).pools[0].judges == ("ben",)


def test_judging_a_newer_evaluation_of_the_same_name_judges_the_newer_run(tmp_path):
    store = str(tmp_path / "h.db")
    fill(store)
    with served(WebShelf(store, {}, ("me",))) as running:
        me = running.visitor()
        wanted = {"of": ["dense"], "queries": ["q1"]}
        first = me.post("/api/v1/pools", wanted).json()
        assert me.post("/api/v1/pools", wanted).json()["pool"] == first["pool"]
        fill(store, NEWER)
        second = me.post("/api/v1/pools", wanted).json()
        assert second["pool"] != first["pool"]
        assert second["name"] == "dense-2"
        taken = me.post(f"/api/v1/pools/{second['pool']}/take", {}).json()
    assert {one["id"] for one in taken["next"]} <= {"d4", "d7", "d3"}
    desk = calipers.labels_desk("dense-2", store=store)
    assert desk.content.runs["dense"].frame["item"].unique().sort().to_list() == ["d3", "d4", "d7"]


def test_two_servers_on_one_store_see_what_the_other_put_into_a_pool(tmp_path):
    store = str(tmp_path / "h.db")
    given = {"evals": calipers.read(ground_truth=TRUTH, run=BM25)}
    judges = ("anna", "ben")
    with (
        served(WebShelf(store, given, judges, lead="anna")) as one,
        served(WebShelf(store, given, judges, lead="ben")) as other,
    ):
        anna, ben = one.visitor("anna"), other.visitor("ben")
        made = anna.post("/api/v1/pools", {"of": ["evals"], "queries": ["q0"]}).json()
        path = f"/api/v1/pools/{made['pool']}"
        assert ben.get(f"{path}/agreement").status == 200
        more = anna.post("/api/v1/pools", {"of": ["evals"], "queries": ["q2"]}).json()
        assert more["pool"] == made["pool"]
        last = more["items"] - 1
        for n, (who, grade) in enumerate(((anna, 3), (ben, 0))):
            label = {"request": f"request-{n}", "item": last, "grade": grade}
            assert who.post(f"{path}/labels", label).status == 200
        for visitor in (anna, ben):
            for ask in ("agreement", "export", "next"):
                assert visitor.get(f"{path}/{ask}").status == 200
            assert visitor.get(f"/pools/{made['pool']}/conflicts").status == 200
        assert len(ben.get(f"{path}/agreement").json()["conflicts"]) == 1


def test_a_very_long_text_is_sent_in_two_parts(tmp_path):
    store = str(tmp_path / "h.db")
    long = "A sentence of words. " * 5_000
    results = [{"id": f"d{n}", "text": long + str(n)} for n in range(5)]
    record = {"id": "q", "query": "What?", "retrieved": results}
    calipers.labels_pool("long", {"one": [record]}, store=store)
    with served(WebShelf(store, {}, ("me",))) as running:
        me = running.visitor()
        answer = me.post("/api/v1/pools/1/take", {})
        assert len(answer.body) < AHEAD * (SENT + 1_000)
        first = answer.json()["next"][0]
        assert first["cut"]
        whole = me.get(f"/api/v1/pools/1/text?item={first['item']}").json()["text"]
        assert whole.startswith(first["text"])
        assert len(whole) > len(long)
        quote = {"quote": whole[-30:], "grade": 3, "item": first["item"], "request": "quote-01"}
        assert me.post("/api/v1/pools/1/labels", quote).status == 200


def test_a_closed_pool_is_409_so_that_a_page_keeps_what_it_has(own):
    anna = own.visitor("anna")
    desk = calipers.labels_desk("first", store=own.store)
    label = {"request": "kept-label", "item": 0, "grade": 3}
    path = f"/api/v1/pools/{own.pool}/labels"
    desk.change("close", "lead")
    refused = anna.post(path, label)
    assert refused.status == 409
    assert "is closed since" in refused.json()["error"]
    assert "This pool is closed" in anna.get(f"/pools/{own.pool}/judge").text
    desk.change("reopen", "lead")
    assert anna.post(path, label).status == 200
    assert read_on(open_store(own.store), own.pool, 0).closed is None
