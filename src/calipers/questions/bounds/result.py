"""How far each metric could move if the results that nobody judged were judged."""

from dataclasses import dataclass
from reprlib import repr as short
from typing import ClassVar

from calipers.errors import InvalidInput
from calipers.model.result import HasRows, Plain


@dataclass(frozen=True)
class Bound:
    """The mean of one metric as it is, and the limits of what it could be."""

    metric: str
    value: float | None
    """As it is: what nobody judged counts as wrong, or is passed over where the metric does so."""
    lowest: float | None
    highest: float | None
    all_irrelevant: float | None
    """Were every unjudged result irrelevant."""
    all_relevant: float | None
    """Were every unjudged result relevant. Not always the highest: recall and nDCG then have
    more to find, too."""
    n: int


@dataclass(frozen=True, repr=False)
class Bounds(Plain, HasRows):
    """The bounds of several metrics over one result."""

    shown_by: ClassVar[str] = "calipers.questions.bounds.show"

    bounds: tuple[Bound, ...]
    grade: float
    """What an unjudged result is graded where it is taken as relevant: the highest grade."""
    depth: int
    """How far down unjudged results are considered for a metric without a cut-off."""
    unjudged: int
    shown: int
    """Results down to that depth, repetitions left out."""
    skipped: tuple[str, ...]
    """Metrics that have no such bounds."""

    def __getitem__(self, metric: str) -> Bound:
        for one in self.bounds:
            if one.metric == metric:
                return one
        known = ", ".join(one.metric for one in self.bounds)
        raise InvalidInput(f"There are no bounds of {short(metric)}; there are those of {known}.")
