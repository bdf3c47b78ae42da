import threading

import pytest

from calipers.ahead import ahead


def numbers(until, made):
    for number in range(until):
        made.append(number)
        yield number


def test_the_items_come_in_their_order():
    assert list(ahead(iter(range(100)))) == list(range(100))


def test_nothing_gives_nothing():
    assert list(ahead(iter(()))) == []


def test_items_are_made_on_another_thread():
    threads = list(ahead(threading.get_ident() for _ in range(3)))
    assert threading.get_ident() not in threads


def test_an_error_comes_where_its_item_would_have_come():
    def failing():
        yield 1
        yield 2
        raise ValueError("the third is broken")

    items = ahead(failing())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(ValueError, match="the third is broken"):
        next(items)


def test_who_leaves_early_gets_no_more_than_one_item_made_in_vain():
    made: list[int] = []
    items = ahead(numbers(100, made))
    assert next(items) == 0
    items.close()
    assert made in ([0], [0, 1])


def test_who_leaves_early_does_not_wait_for_the_next_item():
    release = threading.Event()
    # Only so that a test that fails ends at all.
    rescue = threading.Timer(20, release.set)
    rescue.start()

    def slow():
        yield 1
        release.wait()
        yield 2

    items = ahead(slow())
    assert next(items) == 1
    items.close()
    assert not release.is_set()
    release.set()
    rescue.cancel()
