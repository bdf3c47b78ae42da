"""Care of the history: what it holds, whether it is whole, moving and shrinking it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from calipers.api.history import check_known
from calipers.api.times import moment_of
from calipers.errors import InvalidInput
from calipers.model.evaluation import Evaluation
from calipers.store.place import Where

if TYPE_CHECKING:
    # The database library is loaded by those who use the history, not by everybody.
    from calipers.store.care import StoreInfo
    from calipers.store.copy import Copied


@dataclass(frozen=True)
class Checked:
    """What a check of the history found."""

    place: str
    evaluations: int
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "place": self.place,
            "evaluations": self.evaluations,
            "problems": list(self.problems),
        }


@dataclass(frozen=True)
class Vacuumed:
    """The size of a history before and after unused space was given back."""

    place: str
    before: int
    after: int

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"place": self.place, "before": self.before, "after": self.after}


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


def store_info(store: Where = None) -> "StoreInfo":
    """Where the history is, how much it holds and how large it is."""
    from calipers.store.care import info
    from calipers.store.open import open_store

    return info(open_store(store))


def store_check(store: Where = None) -> Checked:
    """Whether everything in the history is as it was written; every content is read."""
    from calipers.store.care import info, problems
    from calipers.store.open import open_store

    opened = open_store(store)
    return Checked(opened.place.shown, info(opened).evaluations, tuple(problems(opened)))


def store_vacuum(store: Where = None) -> Vacuumed:
    """Give unused space back to the disk."""
    from calipers.store.care import vacuum
    from calipers.store.open import open_store

    opened = open_store(store)
    before, after = vacuum(opened)
    return Vacuumed(opened.place.shown, before, after)


def store_export(target: Where, *, store: Where = None) -> "Copied":
    """Copy every evaluation that the target lacks to it; it may be of the other kind."""
    from calipers.store.copy import copy
    from calipers.store.open import open_store

    return copy(open_store(store), open_store(target, create=True))


def store_import(source: Where, *, store: Where = None) -> "Copied":
    """Copy every evaluation that is missing here from another history."""
    from calipers.store.copy import copy
    from calipers.store.open import open_store

    return copy(open_store(source), open_store(store, create=True))


def store_prune(
    *,
    keep: int | None = None,
    older_than: str | datetime | None = None,
    name: str | None = None,
    tagged: bool = False,
    dry_run: bool = False,
    among: Collection[str] | None = None,
    store: Where = None,
    now: datetime | None = None,
) -> Pruned:
    """Remove old evaluations: beyond the latest ``keep`` of each name, and ``older_than`` a time.

    The latest of each name stays, and so does what is tagged unless ``tagged`` is true. With
    ``dry_run`` nothing is removed. ``among`` are ids: nothing else goes, so that what was
    agreed to is what happens.
    """
    from calipers.store.care import prunable, remove
    from calipers.store.open import open_store

    if keep is None and older_than is None:
        raise InvalidInput(
            "Nothing says what may go; give --keep N, --older-than AGE (such as 90d), or both."
        )
    if keep is not None and keep < 1:
        raise InvalidInput(f"The number to keep is {keep}; the latest of a name always stays.")
    before = moment_of(older_than, "older-than", now or datetime.now(UTC))
    opened = open_store(store)
    if name is not None:
        check_known(opened, name)
    chosen = prunable(opened, keep=keep, before=before, name=name, tagged=tagged)
    if among is not None:
        chosen = [one for one in chosen if one.id in among]
    if chosen and not dry_run:
        remove(opened, chosen)
    return Pruned(opened.place.shown, tuple(chosen), removed=bool(chosen) and not dry_run)
