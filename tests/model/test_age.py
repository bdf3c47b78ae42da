"""One grammar of ages, for filters of the history and for the age of a baseline."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.model.age import LONGEST, age_of, moment_of, span_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@given(st.integers(0, 100_000), st.sampled_from(sorted(UNITS)), st.sampled_from(["", " ", "  "]))
def test_an_age_is_that_many_of_its_unit_whatever_the_spaces(number, unit, space):
    text = f"{space}{number}{space}{unit}{space}"
    assert age_of(text, "The age") == number * UNITS[unit]
    assert moment_of(text, "since", NOW) == NOW - number * UNITS[unit]


@given(st.text(max_size=12) | st.integers(0, 10**30).map(lambda n: f"{n}d"))
def test_whatever_is_written_is_a_time_or_a_sentence(text):
    for read in (lambda: age_of(text, "The age"), lambda: moment_of(text, "since", NOW)):
        said = f"{text!r} such as 30d"
        try:
            read()
        except InvalidInput as error:
            said = str(error)
        assert repr(text) in said
        assert "such as 30d" in said


def test_the_longest_age_can_be_counted_back_from_today():
    assert age_of("100000w", "The age") == LONGEST
    assert moment_of("100000w", "since", datetime.now(UTC)) is not None
    with pytest.raises(InvalidInput, match="100000w at most"):
        age_of("100000.1w", "The age")


def test_a_date_begins_at_midnight_utc_and_keeps_a_zone_of_its_own():
    begin, end = span_of("2026-01-31", "2026-02-01T06:00+02:00", NOW)
    assert begin == datetime(2026, 1, 31, tzinfo=UTC)
    assert end == datetime(2026, 2, 1, 4, tzinfo=UTC)
    assert span_of(None, None) == (None, None)
