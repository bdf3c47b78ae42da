"""Who writes next to a file: whoever came first."""

import threading
from pathlib import Path

import pytest

from calipers.store.open import open_store
from calipers.store.turns import Turns, turns_of


def _waiting(turns, n):
    """Wait until so many are in the queue, the one who has the turn among them."""
    while len(turns._queue) < n:
        threading.Event().wait(0.001)


def test_turns_go_to_those_who_wait_in_the_order_in_which_they_came():
    turns, order, threads = Turns(), [], []

    def write(n):
        with turns.mine(30):
            order.append(n)

    with turns.mine(30):
        for n in range(20):
            threads.append(threading.Thread(target=write, args=(n,)))
            threads[-1].start()
            _waiting(turns, n + 2)
        assert order == []
    for one in threads:
        one.join()
    assert order == list(range(20))
    assert not turns._queue


def test_a_turn_that_ends_in_an_error_is_handed_on():
    turns = Turns()
    with pytest.raises(ValueError, match="odd"), turns.mine(0):
        int("odd")
    assert not turns._queue


def test_whoever_loses_patience_goes_ahead_and_takes_no_turn_from_anybody():
    turns = Turns()
    with turns.mine(0.01):
        with turns.mine(0.01):
            assert len(turns._queue) == 2
        assert [one.is_set() for one in turns._queue] == [True]


def test_everybody_who_writes_to_a_file_waits_in_one_queue(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one, other = open_store("h.db", create=True), open_store(str(tmp_path / "h.db"))
    assert one.turns is other.turns
    assert one.turns is not turns_of(Path("other.db"))
