"""The state of a history, and what was done to it as a whole."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from calipers.model.evaluation import Evaluation


@dataclass(frozen=True, kw_only=True)
class StoreInfo:
    """What a history holds and how large it is."""

    place: str
    kind: str
    version: str
    evaluations: int
    names: int
    oldest: datetime | None
    newest: datetime | None
    bytes: int
    """The size of the file, or of the tables on the server."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        times = {
            name: None if when is None else when.isoformat(timespec="seconds")
            for name, when in (("oldest", self.oldest), ("newest", self.newest))
        }
        return {**asdict(self), **times}


@dataclass(frozen=True)
class Checked:
    """What a check of the history found."""

    place: str
    evaluations: int
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {**asdict(self), "problems": list(self.problems)}


@dataclass(frozen=True)
class Vacuumed:
    """The size of a history before and after unused space was given back."""

    place: str
    before: int
    after: int

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Copied:
    """What a copy from one history to another did."""

    source: str
    target: str
    copied: int
    present: int
    """Evaluations that the target had already."""
    fingerprint: str
    """The digest of everything that was copied, the same on both sides."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Pruned:
    """The evaluations that were removed, or would be."""

    place: str
    evaluations: tuple[Evaluation, ...]
    removed: bool

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "place": self.place,
            "removed": self.removed,
            "evaluations": [one.to_dict() for one in self.evaluations],
        }


@dataclass(frozen=True)
class Logged:
    """Where a result can be found in MLflow."""

    run_id: str
    experiment: str
