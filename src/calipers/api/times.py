"""Points in time as people write them: 7d, 2026-01-31, 2026-01-31T06:00."""

import re
from datetime import UTC, datetime, timedelta

from calipers.errors import InvalidInput

_AGE = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*(h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}


Span = tuple[datetime | None, datetime | None]


def span_of(
    since: str | datetime | None, until: str | datetime | None, now: datetime | None = None
) -> Span:
    """From when to when, as `moment_of` reads both ends; None where there is no end."""
    moment = now or datetime.now(UTC)
    return moment_of(since, "since", moment), moment_of(until, "until", moment)


def moment_of(text: str | datetime | None, what: str, now: datetime) -> datetime | None:
    """The time that a text means; an age counts back from now, a date begins at midnight UTC.

    >>> moment_of("2d", "since", datetime(2026, 1, 31, tzinfo=UTC)).isoformat()
    '2026-01-29T00:00:00+00:00'
    """
    if text is None:
        return None
    if isinstance(text, datetime):
        return text if text.tzinfo else text.replace(tzinfo=UTC)
    age = _AGE.fullmatch(text.strip())
    try:
        if age:
            return now - timedelta(hours=float(age[1]) * _HOURS[age[2]])
        found = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"The time in {what} is {text!r}; write a date such as 2026-01-31 or "
            "2026-01-31T06:00 (UTC), or an age in h, d or w such as 30d."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
