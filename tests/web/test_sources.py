"""What pages show: evaluations told apart, what takes long made once, outages said."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.store import open as store_open
from calipers.web import sources
from calipers.web.sources import Held
from tests.store.judged import BM25, DENSE, TRUTH, pool
from tests.store.saved import START
from tests.systems import keep
from tests.web.conftest import fill
from tests.web.outage import MovedFile, Relay
from tests.web.served import served, shelf_of


@pytest.fixture
def shelf_and_ids(tmp_path):
    store, ids = str(tmp_path / "history.db"), []
    for name, run in (("nightly", BM25), ("nightly", DENSE), ("other", DENSE)):
        pair = calipers.read(ground_truth=TRUTH, run=run)
        ids.append(keep(pair, name, store, "recall@2", now=START).id)
    return shelf_of(store), ids


def test_those_that_share_a_name_have_their_ids_behind_it(shelf_and_ids):
    shelf, (one, two, other) = shelf_and_ids
    expected = [f"nightly {one[:8]}", f"nightly {two[:8]}"]
    assert list(shelf.systems((one, two))) == expected
    assert list(shelf.systems((one, other))) == ["nightly", "other"]
    assert list(shelf.comparison(shelf.systems((one, two))).systems) == expected


def test_one_that_is_given_twice_is_refused(shelf_and_ids):
    shelf, (one, two, _) = shelf_and_ids
    with pytest.raises(InvalidInput, match="is given twice"):
        shelf.systems((one, two, one[:8]))


def test_a_comparison_needs_no_results(shelf_and_ids, monkeypatch):
    """Of two large evaluations only the scores are read."""
    shelf, (one, _, other) = shelf_and_ids
    monkeypatch.setattr("calipers.questions.report.browse.load_retrieved", None)
    assert list(shelf.comparison(shelf.systems((one, other))).systems) == ["nightly", "other"]


def test_what_many_ask_for_at_once_is_made_once_and_an_error_is_not_kept():
    go, made, kept = threading.Event(), [], Held(4)

    def slow():
        go.wait(20)
        made.append(1)
        if len(made) == 1:
            raise ValueError("no")
        return "there"

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(kept.get, "a", slow) for _ in range(4)]
        go.set()
        failed = [one.exception() for one in asked if one.exception() is not None]
    assert [type(one) for one in failed] == [ValueError]
    assert (kept.get("a", slow), made) == ("there", [1, 1])


def test_the_least_used_goes_first():
    kept = Held(2)
    assert [kept.get(name, "old".upper) for name in "aba"] == ["OLD"] * 3
    kept.get("c", "old".upper)
    assert kept.get("a", "new".upper) == "OLD"
    assert kept.get("b", "new".upper) == "NEW"


SECRETS = re.compile(r"history\.db|own\.db|127\.0\.0\.1|postgres|psycopg|sqlite|port \d", re.I)


@pytest.fixture(params=["sqlite", "postgresql"])
def taken(request, tmp_path, monkeypatch):
    """A server whose store can be taken away, an evaluation and a pool."""
    monkeypatch.setattr(store_open, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(sources, "LOCKED_FOR", 0.2)
    outage: MovedFile | Relay
    if request.param == "sqlite":
        outage = MovedFile(str(tmp_path / "history.db"))
    else:
        outage = Relay(request.getfixturevalue("server").new_database())
    ids = fill(outage.store)
    number = pool(outage.store, judges=("anna", "ben"), metric="recall@2").content.number
    with served(shelf_of(outage.store, "anna", "ben", owner="anna")) as running:
        running.pool, running.store = number, outage.store
        running.outage, running.ids = outage, ids
        yield running
    if isinstance(outage, Relay):
        outage.close()


def test_what_cannot_be_reached_is_503_and_says_nothing_of_where(taken):
    anna = taken.visitor("anna")
    one, other = taken.ids["bm25"], taken.ids["dense"]
    api = f"/api/v1/pools/{taken.pool}"
    paths = [
        "/",
        "/pools",
        f"/evaluations/{one}",
        f"/evaluations/{other}/truth",
        f"/compare?of={one}&of={other}",
        f"/pools/{taken.pool}/judge",
        f"/pools/{taken.pool}",
        f"{api}/item",
        f"{api}/export",
    ]
    label = {"request": "first-label", "item": 0, "grade": 3}
    for turn in range(3):
        with taken.outage.away():
            for path in paths if turn == 0 else paths[:3]:
                answer = anna.get(path)
                assert answer.status == 503, (path, answer.text[:300])
                assert int(answer.headers["retry-after"]) > 0
                assert not SECRETS.search(answer.text), (path, SECRETS.search(answer.text))
            refused = anna.post(f"{api}/labels", label)
            assert refused.status == 503
            assert not SECRETS.search(refused.text)
    # The same label again: it is there once, and everything works as before.
    for _ in range(2):
        assert anna.post(f"{api}/labels", label).status == 200
    assert calipers.labels_list(taken.store).pools[0].entries == 1
    assert [path for path in paths if anna.get(path).status != 200] == []
    # What is wrong in itself stays 400, and names no place either.
    assert anna.post(f"{api}/labels", {**label, "request": "w" * 8, "grade": 7}).status == 400
    for path in ("/evaluations/nothing", "/api/v1/pools/77/item"):
        answer = anna.get(path)
        assert answer.status == 400
        assert not SECRETS.search(answer.text), answer.text


def test_a_name_is_compared_as_it_stands_after_the_last_save(tmp_path):
    store = str(tmp_path / "own.db")
    fill(store)
    with served(shelf_of(store)) as running:
        me = running.visitor()
        before = me.get("/compare?of=bm25&of=dense").text
        fill(store, dense=BM25)
        assert me.get("/compare?of=bm25&of=dense").text != before


def test_a_page_waits_for_its_own_computation_and_for_no_other():
    held, may_end, begun = Held(4), threading.Event(), threading.Event()
    computed = []

    def slow():
        begun.set()
        may_end.wait(30)
        computed.append("slow")
        return "slow"

    first = threading.Thread(target=lambda: held.get("a", slow))
    second = threading.Thread(target=lambda: held.get("a", slow))
    first.start()
    assert begun.wait(30)
    second.start()
    # The other page is there while the first is still being computed.
    assert held.get("b", lambda: "quick") == "quick"
    may_end.set()
    first.join(30)
    second.join(30)
    assert computed == ["slow"]
    assert held.get("a", lambda: "again") == "slow"


def test_an_error_is_not_kept():
    held = Held(1)
    with pytest.raises(ZeroDivisionError):
        held.get("a", lambda: 1 // 0)
    assert held.get("a", lambda: 2) == 2
    assert held.get("b", lambda: 3) == 3
    assert held.get("a", lambda: 4) == 4
