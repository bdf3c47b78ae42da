"""What takes long is made in the background: a page says so, and shows it once it is there."""

import threading

import pytest

import calipers
from calipers.questions.audit.settings import audit
from calipers.questions.report import browse
from calipers.store.load import load_retrieved
from calipers.web import pages, sources
from calipers.web.sources import Held, StillWorkingError, WebSources
from tests.store.judged import BM25, TRUTH
from tests.web.conftest import fill
from tests.web.served import served


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
