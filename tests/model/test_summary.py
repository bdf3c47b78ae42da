"""An interval is made when somebody looks at it, and only once."""

import pickle
from dataclasses import asdict

import pytest

from calipers.model.summary import Interval, Summary

INTERVAL = Interval(0.25, 0.75, 0.95, "score")


def late(made: list[int]) -> Summary:
    def make() -> Interval:
        made.append(1)
        return INTERVAL

    return Summary("mrr", 0.5, 0.5, make, 4, 0)


def test_it_waits_until_it_is_asked_for():
    made: list[int] = []
    summary = late(made)
    assert (summary.mean, summary.n, made) == (0.5, 4, [])
    assert (summary.interval, summary.interval, made) == (INTERVAL, INTERVAL, [1])


def test_it_is_the_same_as_one_that_was_given():
    given = Summary("mrr", 0.5, 0.5, INTERVAL, 4, 0)
    assert late([]) == given
    assert repr(late([])) == repr(given)
    assert hash(late([])) == hash(given)
    assert asdict(late([])) == asdict(given)
    assert pickle.loads(pickle.dumps(late([]))) == given


def test_none_is_an_interval_that_there_is_not():
    assert Summary("mrr", None, None, None, 0, 4).interval is None


def test_it_must_be_given():
    with pytest.raises(TypeError, match="missing 3 required positional arguments: 'interval'"):
        Summary("mrr", 0.5, 0.5)  # type: ignore[call-arg]
