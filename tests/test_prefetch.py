import random
import threading
import time

import pytest

from calipers.prefetch import WORKERS, ahead


def same(item):
    return item


def numbers(until, made):
    for number in range(until):
        made.append(number)
        yield number


def test_an_error_comes_where_its_item_would_have_come():
    def failing():
        yield 1
        yield 2
        raise ValueError("the third is broken")

    items = ahead(same, failing())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(ValueError, match="the third is broken"):
        next(items)


def test_results_come_in_order_however_long_each_takes():
    pause = random.Random(7)

    def slowly(item):
        time.sleep(pause.random() / 500)
        return item * item

    assert list(ahead(slowly, iter(range(200)), workers=8)) == [i * i for i in range(200)]


def test_the_work_is_done_side_by_side():
    together = threading.Barrier(WORKERS, timeout=20)
    # Each waits for the others: alone, none would ever be done.
    assert list(ahead(lambda item: (together.wait(), item)[1], iter(range(2 * WORKERS)))) == [
        *range(2 * WORKERS)
    ]


def test_items_are_never_taken_by_two_at_once():
    taking = threading.Lock()

    def guarded():
        for item in range(100):
            assert taking.acquire(blocking=False)
            time.sleep(0.0002)
            taking.release()
            yield item

    assert list(ahead(same, guarded(), workers=4)) == list(range(100))


def test_an_error_in_the_work_comes_where_its_result_would_have_come():
    results = ahead(lambda item: 6 // item, iter((1, 2, 0, 3)))
    assert [next(results), next(results)] == [6, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_who_leaves_early_gets_no_more_than_one_item_a_worker_made_in_vain():
    made: list[int] = []
    items = ahead(same, numbers(100, made))
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
