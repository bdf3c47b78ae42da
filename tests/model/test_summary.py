"""A summary holds its interval, which may be none."""

import pytest

from calipers.model.summary import Summary


def test_none_is_an_interval_that_there_is_not():
    assert Summary("mrr", None, None, None, 0, 4).interval is None


def test_it_must_be_given():
    with pytest.raises(TypeError, match="missing 3 required positional arguments: 'interval'"):
        Summary("mrr", 0.5, 0.5)  # type: ignore[call-arg]
