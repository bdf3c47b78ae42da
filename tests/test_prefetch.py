import random
import signal
import threading
import time

import pytest

from calipers.prefetch import WORKERS, ahead


def same(item):
    return item


def test_an_error_comes_where_its_result_would_have_come():
    def failing():
        yield 1
        yield 2
        raise ValueError("the third is broken")

    for results in (ahead(same, failing()), ahead(lambda item: 2 // item, iter((2, 1, 0, 3)))):
        assert [next(results), next(results)] == [1, 2]
        with pytest.raises((ValueError, ZeroDivisionError)):
            next(results)


def test_results_come_in_order_however_long_each_takes_and_items_are_taken_one_at_a_time():
    pause, taking = random.Random(7), threading.Lock()

    def slowly(item):
        time.sleep(pause.random() / 500)
        return item * item

    def guarded():
        for item in range(100):
            assert taking.acquire(blocking=False)
            time.sleep(0.0002)
            taking.release()
            yield item

    assert list(ahead(slowly, guarded(), workers=8)) == [i * i for i in range(100)]


def test_the_work_is_done_side_by_side():
    together = threading.Barrier(WORKERS, timeout=20)
    # Each waits for the others: alone, none would ever be done.
    assert list(ahead(lambda item: (together.wait(), item)[1], iter(range(2 * WORKERS)))) == [
        *range(2 * WORKERS)
    ]


def test_who_leaves_early_gets_no_more_than_one_item_a_worker_made_in_vain():
    made: list[int] = []

    def numbers():
        for number in range(100):
            made.append(number)
            yield number

    items = ahead(same, numbers())
    assert next(items) == 0
    items.close()
    assert len(made) <= 1 + WORKERS


def test_who_leaves_early_does_not_wait_for_the_next_item():
    release = threading.Event()
    # Only so that a test that fails ends at all.
    rescue = threading.Timer(20, release.set)
    rescue.start()

    def slow():
        yield 1
        release.wait()
        yield 2

    items = ahead(same, slow())
    assert next(items) == 1
    items.close()
    assert not release.is_set()
    release.set()
    rescue.cancel()


@pytest.mark.parametrize("where", ["item", "work"])
def test_an_interrupt_on_another_thread_reaches_the_caller(where):
    def interrupted(*_):
        raise KeyboardInterrupt

    items = map(interrupted, [1]) if where == "item" else iter([1])
    with pytest.raises(KeyboardInterrupt):
        list(ahead(same if where == "item" else interrupted, items))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals have no threads here")
def test_a_signal_that_another_thread_receives_ends_the_wait():
    # Ignored from the start where a script runs the tests in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    release = threading.Event()
    # Only so that a test that fails ends at all.
    rescue = threading.Timer(20, release.set)
    rescue.start()

    def signalled(_):
        time.sleep(0.2)  # The main thread waits by now, and this signal does not wake it.
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        release.wait()

    try:
        with pytest.raises(KeyboardInterrupt):
            next(ahead(signalled, iter([1])))
        assert not release.is_set()
    finally:
        release.set()
        rescue.cancel()
        signal.signal(signal.SIGINT, before)
