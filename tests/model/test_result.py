"""Results as plain values."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from calipers.model.result import Plain, plain
from calipers.model.scores import Interval


@dataclass(frozen=True)
class Night(Plain):
    """A result with all fields."""

    name: str
    saved: datetime | None
    folder: Path
    interval: Interval | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Nights(Plain):
    """A result that has some of its fields in another order, one renamed, and a property."""

    dict_keys: ClassVar[str] = "count nights=rows"

    rows: tuple[Night, ...]
    secret: str

    @property
    def count(self) -> int:
        """How many."""
        return len(self.rows)


def test_fields_stand_in_their_order_and_hold_plain_values() -> None:
    when = datetime(2026, 1, 31, 6, tzinfo=UTC)
    night = Night("n", when, Path("a/b"), Interval(0.1, 0.2, 0.95, "t"), ("one",))
    assert list(night.to_dict().items()) == [
        ("name", "n"),
        ("saved", "2026-01-31T06:00:00.000000Z"),
        ("folder", "a/b"),
        ("interval", {"low": 0.1, "high": 0.2, "level": 0.95, "method": "t"}),
        ("notes", ["one"]),
    ]


def test_a_result_within_a_result_is_what_its_own_to_dict_says() -> None:
    night = Night("n", None, Path("a"), None)
    nights = Nights((night,), secret="x")
    assert {"all": [{"count": 1, "nights": [night.to_dict()]}]} == plain({"all": [nights]})
