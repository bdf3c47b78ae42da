"""What a conversion wrote, and what did not come along."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Conversion:
    """What was written, and what did not come along."""

    read: tuple[str, ...]
    """The forms that were recognised."""
    form: str
    """The form that was written."""
    files: tuple[str, ...]
    counts: Mapping[str, int]
    """What the input held."""
    lost: Mapping[str, int]
    """What the written form cannot hold."""
    unread: Mapping[str, int]
    """Fields of the input that are not about retrieval, or did not fit, and their rows."""
    remarks: tuple[str, ...]
    """What was changed on the way."""
    sentences: tuple[str, ...]
    """What a person should know about it, one sentence each."""

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain values."""
        return {
            "read": list(self.read),
            "form": self.form,
            "files": list(self.files),
            "counts": dict(self.counts),
            "lost": dict(self.lost),
            "unread": dict(self.unread),
            "remarks": list(self.remarks),
        }
