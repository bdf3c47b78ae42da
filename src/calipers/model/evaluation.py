"""What the history knows of one evaluation without opening its per-query data."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, ClassVar

from calipers.frozen import dataclass
from calipers.model.result import HasRows, Plain, plain
from calipers.model.scores import Summary

SHORT = 8
"""How many characters of an id are shown; a beginning is enough to name an evaluation."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(Plain, HasRows):
    """One saved evaluation: when, of what, how good."""

    shown_by: ClassVar[str] = "calipers.questions.history.document:evaluation"
    dict_keys: ClassVar[str] = (
        "id name saved calipers commit branch dirty queries tags fingerprints changed"
    )

    id: str
    name: str
    saved: datetime
    calipers: str
    commit: str | None
    branch: str | None
    dirty: bool | None
    queries: int
    tags: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """One for the ground truth, one for the run and, where it was given, one for the
    corpus."""
    changed: tuple[str, ...] = ()
    """What changed since the previous evaluation of this name: ground truth, corpus."""
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    number: int = field(default=0, repr=False)
    """Its row number in this store."""

    @property
    def short(self) -> str:
        """The beginning of the id."""
        return self.id[:SHORT]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {**super().to_dict(), "summaries": plain([*self.summaries.values()])}
