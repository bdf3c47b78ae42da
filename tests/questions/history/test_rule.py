"""Which evaluations a caller means, held to a reference that goes one by one."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import history_alarm
from calipers.errors import InvalidInput
from calipers.operation import build
from calipers.questions.history.rule import listed, metric_names
from calipers.questions.history.settings import HistorySettings
from calipers.store.git import GitState
from calipers.store.open import open_store
from calipers.store.record import write
from tests.store.saved import START, record
from tests.systems import records

NIGHTS = 6
NOW = START + timedelta(days=NIGHTS)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("history") / "history.db"


@pytest.fixture(scope="module")
def store(place):
    made = open_store(place, create=True)
    for day in range(NIGHTS):
        git = GitState("a" * 40, "main" if day % 2 else "side", dirty=False)
        tags = {"model": "e5"} if day % 3 == 0 else None
        write(made, record(records([1, 2, None]), day=day, git=git, tags=tags)[1])
    return made


@given(
    since=st.none() | st.integers(0, NIGHTS + 1),
    until=st.none() | st.integers(0, NIGHTS + 1),
    last=st.none() | st.integers(1, NIGHTS),
)
def test_what_fits_is_what_a_loop_finds(store, since, until, last):
    expected = [
        day
        for day in reversed(range(NIGHTS))
        if (since is None or day >= NIGHTS - since) and (until is None or day < NIGHTS - until)
    ]
    asked = {
        "since": None if since is None else f"{since}d",
        "until": None if until is None else f"{24 * until}h",
        "last": last,
        "now": NOW,
    }
    found = listed(store, "nightly", build(HistorySettings, asked))
    assert [(one.saved - START).days for one in found.evaluations] == expected[:last]
    assert found.total == NIGHTS


def test_the_order_of_a_trend_is_that_of_time(store, place):
    line = history_alarm("nightly", metrics="mrr", store=place, now=NOW).lines[0]
    assert [(point.saved - START).days for point in line.points] == list(range(NIGHTS))


def test_names_of_metrics_are_those_of_results():
    assert metric_names(None) is None
    assert metric_names("R@5,mrr") == ["recall@5", "mrr"]
    assert metric_names(()) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"last": 0}, "whole number of at least 1"),
        ({"since": "soon"}, "in since is 'soon'"),
        ({"name": "nightyl"}, r"[Dd]id you mean"),
        ({"since": "2099-01-01"}, "left after the filters"),
        ({"metrics": "recall@7"}, r"have no recall@7; the latest has recall@5, mrr"),
        ({"every": "soon"}, "The time in every is"),
        ({"allow": -1.0}, "The loss that is allowed"),
    ],
)
def test_what_cannot_be_meant_is_refused(store, place, asked, said):
    with pytest.raises(InvalidInput, match=said):
        history_alarm(**{"name": "nightly", "store": place, "now": NOW} | asked)
