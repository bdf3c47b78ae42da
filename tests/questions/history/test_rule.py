"""Which evaluations a caller means, held to a reference that goes one by one."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.questions.history.alarm import AlarmRule, over_time
from calipers.questions.history.rule import Filter, listed, metric_names
from calipers.store.git import GitState
from calipers.store.open import open_store
from calipers.store.record import write
from tests.store.saved import START, record
from tests.systems import records

NIGHTS = 6
NOW = START + timedelta(days=NIGHTS)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = open_store(tmp_path_factory.mktemp("history") / "history.db", create=True)
    for day in range(NIGHTS):
        git = GitState("a" * 40, "main" if day % 2 else "side", dirty=False)
        tags = {"model": "e5"} if day % 3 == 0 else None
        write(made, record(records([1, 2, None]), day=day, git=git, tags=tags)[1])
    return made


@given(
    since=st.none() | st.integers(0, NIGHTS + 1),
    until=st.none() | st.integers(0, NIGHTS + 1),
    last=st.none() | st.integers(1, NIGHTS),
    branch=st.sampled_from([None, "main", "side", "gone"]),
    tagged=st.booleans(),
)
def test_what_fits_is_what_a_loop_finds(store, since, until, last, branch, tagged):
    expected = [
        day
        for day in reversed(range(NIGHTS))
        if (since is None or day >= NIGHTS - since)
        and (until is None or day < NIGHTS - until)
        and branch in (None, "main" if day % 2 else "side")
        and (not tagged or day % 3 == 0)
    ]
    wanted = Filter.of(
        "nightly",
        since=None if since is None else f"{since}d",
        until=None if until is None else f"{24 * until}h",
        last=last,
        branch=branch,
        tags={"model": "e5"} if tagged else None,
        now=NOW,
    )
    found = listed(store, wanted)
    assert [(one.saved - START).days for one in found.evaluations] == expected[:last]
    assert found.total == NIGHTS


def watched(store, wanted):
    return over_time(store, "nightly", wanted, AlarmRule(), now=NOW)


def test_the_order_of_a_trend_is_that_of_time(store):
    line = watched(store, Filter.of("nightly", metrics="mrr")).lines[0]
    assert [(point.saved - START).days for point in line.points] == list(range(NIGHTS))


def test_names_of_metrics_are_those_of_results():
    assert metric_names(None) is None
    assert metric_names("R@5,score,mrr") == ["recall@5", "mrr", "score"]
    assert metric_names(()) == []


def test_what_cannot_be_meant_is_refused_before_the_history_is_opened(store):
    with pytest.raises(InvalidInput, match="whole number of at least 1"):
        Filter.of(last=0)
    with pytest.raises(InvalidInput, match="in since is 'soon'"):
        Filter.of(since="soon")
    with pytest.raises(InvalidInput, match=r"[Dd]id you mean"):
        listed(store, Filter.of("nightyl"))
    with pytest.raises(InvalidInput, match="left after the filters"):
        watched(store, Filter.of("nightly", branch="gone"))
    with pytest.raises(InvalidInput, match=r"have no recall@7; the latest has recall@5, mrr"):
        watched(store, Filter.of("nightly", metrics="recall@7"))
