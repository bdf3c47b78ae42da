"""Why a retriever fails: cures tried on the recorded run, and where each target was lost."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from calipers.frozen import dataclass
from calipers.model.claim import Standing
from calipers.model.fact import Fact
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Summary, with_version
from calipers.questions.misses.result import Reason
from calipers.words import percent, whole_commands

CureKind = Literal["would be", "at most"]
"""Whether the change is certain to give the number, or the number is the best that it can do."""


@dataclass(frozen=True)
class CuredValue:
    """One metric as it is, and as it would be."""

    metric: str
    before: float
    after: float
    better: int
    """Queries that gain."""
    worse: int
    p: float | None
    """Adjusted for all cures; None where the best that can be is not tested."""
    standing: Standing | None
    """None where it was not tested."""

    @property
    def gain(self) -> float:
        """How much the mean would rise."""
        return self.after - self.before


@dataclass(frozen=True)
class TriedCure(Plain):
    """One change of the recorded run, and what it would do."""

    name: str
    title: str
    kind: CureKind
    values: tuple[CuredValue, ...]
    option: str | None
    """The option of ``eval`` that applies it."""
    advice: str
    k: int
    """The cut-off of its values."""
    tokens: float | None = None
    """What it needs more of a language model's tokens per query; below 0: what it saves."""
    after: str | None = None
    """The cure that was applied before it; its values are those after both."""

    @property
    def gain(self) -> float:
        """The largest gain of a deciding metric."""
        return max(value.gain for value in self.values)


@dataclass(frozen=True)
class Leak:
    """A part of what should be found: found, or lost for one reason."""

    name: str
    means: str
    targets: int
    share: float
    remedy: str = ""


NEARLY = Reason(
    "another_id",
    "missing beside a result of nearly the same id",
    "see whether the two are one, before --map-ids",
)
"""Where both ids stand in other lists together, so that they may be two things."""


def leak_fact(leak: Leak, targets: int) -> Fact:
    """How many of the targets are where."""
    return Fact(
        about="count", count=leak.targets, of=targets, value=leak.share, text=leak.means
    )


def percent_of(targets: int, total: int) -> str:
    """A share as a whole percent; what is not all is never 100 %, and what is there never 0 %.

    Each share is rounded by itself: it is true, and those of one line may sum to 99 or 101.

    >>> percent_of(1, 3), percent_of(997, 1000), percent_of(3, 1000), percent_of(0, 9)
    ('33%', 'over 99%', 'under 1%', '0%')
    """
    return percent(targets / max(1, total))


def share_bounds(texts: Sequence[str]) -> list[Fact]:
    """The bounds that such shares name."""
    bounds = {"over 99%": 0.99, "under 1%": 0.01}
    return [
        Fact(about="bound", value=bound, text="share of the targets")
        for text, bound in bounds.items()
        if text in texts
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Plain, HasRows):
    """What would help most, and where every target was lost."""

    shown_by: ClassVar[str] = "calipers.questions.diagnose.document"
    dict_keys: ClassVar[str] = (
        "k queries n summaries sentence named cures tried leak gap next fingerprints settings"
    )

    k: int
    is_far: bool
    """Whether k is so far beyond every list that it is no number of results."""
    queries: int
    n: int
    """Queries for which recall is defined."""
    summaries: tuple[Summary, ...]
    sentence: str
    """What is wrong, in one line."""
    named: str | None
    """The cure, group or leak that the sentence is about; None where nothing known is wrong."""
    cures: tuple[TriedCure, ...]
    """Cures that matter, the one that is advised first."""
    tried: tuple[TriedCure, ...]
    """Every cure that was tried on the run as it was recorded."""
    leak: tuple[Leak, ...]
    """All targets: found first, then by reason; the shares sum to 1."""
    gap: str | None
    """The gap between precision and recall in words, where it says something."""
    next: str | None
    """What to do next, with a command; None where nothing is missed."""
    fingerprints: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def advised(self) -> TriedCure | None:
        """The certain cure that the first line is about; None where there is none."""
        first = next(iter(self.cures), None)
        is_named = first is not None and first.name == self.named
        return (
            first if is_named and first is not None and first.kind == "would be" else None
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole diagnosis as plain values: what ``--json`` prints."""
        following = None if self.next is None else whole_commands(self.next)
        return with_version({**super().to_dict(), "next": following})
