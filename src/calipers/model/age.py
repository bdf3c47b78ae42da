"""Ages and times as people write them: 30d, 2026-01-31, 2026-01-31T06:00."""

import re
from datetime import UTC, date, datetime, timedelta

from calipers.errors import InvalidInput

HOURS = {"h": 1, "d": 24, "w": 7 * 24}
LONGEST = timedelta(weeks=100_000)
"""About 1,900 years: ``datetime`` can still represent a time that long ago."""
FORM = "a number with h, d or w for hours, days or weeks"

_AGE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(h|d|w)\s*", re.ASCII)

Span = tuple[datetime | None, datetime | None]


def age_of(text: str, what: str) -> timedelta:
    """Parse an age such as 30d; ``what`` names the value in errors.

    >>> age_of("1.5d", "The highest age").total_seconds() / 3600
    36.0
    >>> age_of("7 days", "The highest age")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The highest age is '7 days'; write a number with h, d or w for \
hours, days or weeks, such as 30d.
    >>> age_of("99999999999d", "The highest age")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The highest age is '99999999999d'; an age is 100000w at most, \
such as 30d.
    """
    match = _AGE.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise InvalidInput(f"{what} is {text!r}; write {FORM}, such as 30d.")
    hours = float(match[1]) * HOURS[match[2]]
    if hours > LONGEST / timedelta(hours=1):
        raise InvalidInput(
            f"{what} is {text!r}; an age is {LONGEST.days // 7}w at most, such as 30d."
        )
    return timedelta(hours=hours)


def moment_of(text: str | date | None, what: str, now: datetime) -> datetime | None:
    """Parse a date, time or age; an age counts back from now, a date begins at midnight UTC.

    >>> moment_of("2d", "since", datetime(2026, 1, 31, tzinfo=UTC)).isoformat()
    '2026-01-29T00:00:00+00:00'
    """
    if text is None:
        return None
    if isinstance(text, datetime):
        return text if text.tzinfo else text.replace(tzinfo=UTC)
    if _AGE.fullmatch(str(text)):
        return now - age_of(str(text), f"The time in {what}")
    try:
        moment = datetime.fromisoformat(str(text).strip())
    except ValueError:
        raise InvalidInput(
            f"The time in {what} is {text!r}; write a date such as 2026-01-31 or "
            "2026-01-31T06:00 (UTC), or an age in h, d or w such as 30d."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def span_of(
    since: str | date | None, until: str | date | None, now: datetime | None = None
) -> Span:
    """The start and end of a period, parsed by ``moment_of``; None where it is open."""
    moment = now or datetime.now(UTC)
    return moment_of(since, "since", moment), moment_of(until, "until", moment)
