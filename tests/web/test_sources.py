"""What pages show: evaluations told apart, what takes long made in the background, outages said."""

import re
import threading

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.questions.audit.settings import audit
from calipers.questions.report import browse
from calipers.questions.report.browse import Browse
from calipers.store import blob
from calipers.store import open as store_open
from calipers.store.load import load_retrieved
from calipers.web import pages, sources
from calipers.web.sources import Held, StillWorkingError, WebSources
from tests.store.judged import BM25, DENSE, TRUTH, pool
from tests.web.conftest import fill
from tests.web.outage import MovedFile, Relay
from tests.web.served import served, shelf_of


@pytest.fixture
def shelf_and_ids(tmp_path):
    store, ids = str(tmp_path / "history.db"), []
    for name, run in (("nightly", BM25), ("nightly", DENSE), ("other", DENSE)):
        pair = calipers.read(ground_truth=TRUTH, run=run)
        scores = calipers.evaluate(pair, metrics="recall@2")
        saved = calipers.save(
            scores, name, store=store, ground_truth=pair.ground_truth, run=pair.run
        )
        ids.append(saved.id)
    return shelf_of(store), ids


def test_those_that_share_a_name_have_their_ids_behind_it(shelf_and_ids):
    shelf, (one, two, other) = shelf_and_ids
    expected = [f"nightly {one[:8]}", f"nightly {two[:8]}"]
    assert list(shelf.systems((one, two))) == expected
    assert list(shelf.systems((one, other))) == ["nightly", "other"]
    assert list(shelf.comparison(shelf.systems((one, two))).systems) == expected


def test_they_can_be_judged_together(shelf_and_ids):
    shelf, (one, two, _) = shelf_and_ids
    desk = shelf.judge_these((one, two), {"q0"})
    assert list(desk.content.runs) == [f"nightly {one[:8]}", f"nightly {two[:8]}"]
    assert " " not in desk.name
    assert desk.items


def test_one_that_is_given_twice_is_refused(shelf_and_ids):
    shelf, (one, two, _) = shelf_and_ids
    with pytest.raises(InvalidInput, match="is given twice"):
        shelf.systems((one, two, one[:8]))


def test_a_query_is_opened_without_its_results_in_memory(shelf_and_ids, monkeypatch):
    monkeypatch.setattr(blob, "BLOCK", 3)
    shelf, (one, *_) = shelf_and_ids
    browse = shelf.open(shelf.find(one))
    pair = calipers.read(ground_truth=TRUTH, run=BM25)
    plain = Browse("nightly", calipers.evaluate(pair, metrics="recall@2"), pair)
    for row in range(plain.table.height):
        found, expected = browse.open(row), plain.open(row)
        assert found.rankings.equals(expected.rankings)
        assert found.misses.table.equals(expected.misses.table)


def test_a_comparison_needs_no_results(shelf_and_ids, monkeypatch):
    """Of two large evaluations only the scores are read."""
    shelf, (one, _, other) = shelf_and_ids
    monkeypatch.setattr("calipers.questions.report.browse.load_retrieved", None)
    assert list(shelf.comparison(shelf.systems((one, other))).systems) == ["nightly", "other"]


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(sources, "PATIENCE", 0.01)


def wait_for(shown):
    for _ in range(500):
        try:
            return shown()
        except StillWorkingError:
            pass
    raise AssertionError("it never came")


def test_who_asks_again_gets_what_was_begun_and_it_is_made_once(hasty):
    go, made, kept = threading.Event(), [], Held(4)

    def slow():
        go.wait(20)
        made.append(1)
        return "there"

    for _ in range(3):
        with pytest.raises(StillWorkingError, match=r"^It is being made: 0 seconds so far\.$"):
            kept.get("a", slow, "It is being made")
    go.set()
    assert wait_for(lambda: kept.get("a", slow, "It")) == "there"
    assert made == [1]


def test_what_fails_in_the_background_is_told_and_tried_again(hasty):
    go, failed, kept, answers = threading.Event(), [], Held(4), iter([ValueError("no"), "yes"])

    def maybe():
        go.wait(20)
        answer = next(answers)
        failed.append(threading.current_thread())
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(StillWorkingError):
        kept.get("a", maybe, "It")
    go.set()
    while not failed:
        pass
    # Nobody waited when it failed: whoever comes back is told, and nothing is begun again.
    failed[0].join()
    with pytest.raises(ValueError, match="no"):
        kept.get("a", maybe, "It")
    assert len(failed) == 1
    assert wait_for(lambda: kept.get("a", maybe, "It")) == "yes"


def test_a_page_that_is_being_made_says_so_and_blocks_no_other(hasty, monkeypatch, tmp_path):
    go = threading.Event()

    def slow(*given, **more):
        go.wait(20)
        return audit(*given, **more)

    def slow_to_open(*given, **more):
        go.wait(20)
        return load_retrieved(*given, **more)

    monkeypatch.setattr(pages, "audit", slow)
    monkeypatch.setattr(browse, "load_retrieved", slow_to_open)
    monkeypatch.setattr(sources, "LARGE_QUERIES", 0)
    monkeypatch.setattr(pages, "OPENED_UNASKED", 0)
    given = {"evals": calipers.read(ground_truth=TRUTH, run=BM25)}
    shelf = WebSources(str(tmp_path / "history.db"), given)
    both = "/compare?" + "&".join(
        f"of={one}" for one in fill(str(tmp_path / "history.db")).values()
    )
    with served(shelf) as running:
        me = running.visitor()
        page = me.ask("GET", "/evaluations/evals/truth")
        assert page.status == 202
        assert "The ground truth is being looked through: 0 seconds so far." in page.text
        assert "/assets/working.js" in page.text
        assert me.get("/evaluations/evals").status == 200
        # A comparison needs no results, as long as no query is opened.
        assert me.get(both).status == 200
        page = me.ask(
            "GET",
            f"{both}&open=q1",
        )
        assert page.status == 202
        assert "The evaluations are being opened: 0 seconds so far." in page.text
        go.set()
        assert (
            "Text number 3"
            in me.get(
                f"{both}&open=q1",
            ).text
        )
        assert "targets" in me.get("/evaluations/evals/truth").text


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
        f"{api}/list",
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
    for path in ("/evaluations/nothing", "/api/v1/pools/77/list"):
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
