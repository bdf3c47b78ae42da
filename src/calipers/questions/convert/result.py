"""What a conversion wrote, and what did not come along."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from calipers.model.result import Plain


@dataclass(frozen=True)
class Conversion(Plain):
    """What was written, and what did not come along."""

    dict_keys: ClassVar[str] = "read form files counts lost unread remarks"

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
