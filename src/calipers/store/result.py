"""The state of a history, and what was done to it as a whole."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from calipers.model.evaluation import Evaluation
from calipers.model.result import HasRows, Plain, ShowsItself


@dataclass(frozen=True, kw_only=True, repr=False)
class Checked(ShowsItself):
    """What a history holds, how large it is, and what a check of it found."""

    shown_by: ClassVar[str] = "calipers.store.show"

    place: str
    kind: str
    version: str
    evaluations: int
    names: int
    oldest: datetime | None
    newest: datetime | None
    bytes: int
    """The size of the file, or of the tables on the server."""
    problems: tuple[str, ...]
    """One sentence for everything that is not as it was written."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        times = {
            name: None if when is None else when.isoformat(timespec="seconds")
            for name, when in (("oldest", self.oldest), ("newest", self.newest))
        }
        return {**asdict(self), **times, "problems": list(self.problems)}


@dataclass(frozen=True, repr=False)
class Copied(Plain, ShowsItself):
    """What a copy from one history to another did."""

    shown_by: ClassVar[str] = "calipers.store.show"

    source: str
    target: str
    copied: int
    present: int
    """Evaluations that the target had already."""
    left: tuple[str, ...] = ()
    """Pools that the target had already, without labels that the source has: left as they are."""


@dataclass(frozen=True, repr=False)
class Pruned(Plain, HasRows):
    """The evaluations that were removed, or would be."""

    shown_by: ClassVar[str] = "calipers.store.show"
    dict_keys: ClassVar[str] = "place removed bytes_before bytes evaluations"

    place: str
    evaluations: tuple[Evaluation, ...]
    removed: bool
    bytes_before: int
    """The size of the file, or of the tables on the server."""
    bytes: int
    """The same afterwards: what is not used any more is given back to the disk."""


@dataclass(frozen=True, repr=False)
class Logged(ShowsItself):
    """Where a result can be found in MLflow."""

    shown_by: ClassVar[str] = "calipers.store.show"

    run_id: str
    experiment: str
