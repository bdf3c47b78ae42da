"""The content of a report on one or more retrievers."""

from collections.abc import Mapping
from os import PathLike
from typing import ClassVar

from calipers.frozen import dataclass
from calipers.model.result import ShowsItself
from calipers.model.scores import Scores
from calipers.questions.compare.result import Comparison
from calipers.questions.metrics import metrics as list_metrics
from calipers.questions.report.browse import Browse


@dataclass(frozen=True, eq=False)
class SystemReport:
    """One retriever: how good, at which k, why it fails, and every ranking."""

    browse: Browse
    """Its scores, queries and rankings."""
    answers: Mapping[str, ShowsItself | str]
    """What sweep, diagnosis, misses and slices answer, or why they cannot; empty beside others."""

    @property
    def name(self) -> str:
        """The name on the page."""
        return self.browse.name

    @property
    def scores(self) -> Scores:
        """The metrics that were asked for."""
        return self.browse.scores

    @property
    def k(self) -> int:
        """The cut-off that the report describes."""
        return self.browse.k


@dataclass(frozen=True, eq=False, repr=False)
class Report(ShowsItself):
    """The result of ``calipers.report``: save it as a page, or show it in a notebook."""

    shown_by: ClassVar[str] = "calipers.questions.report.show"

    systems: tuple[SystemReport, ...]
    comparison: Comparison | None = None

    @property
    def definitions(self) -> list[Mapping[str, object]]:
        """The definition of every metric on the page, as in ``calipers metrics``."""
        every = (
            metric.name for system in self.systems for metric in system.scores.metrics
        )
        found = (list_metrics(name)[0] for name in every)
        return [*{one["name"]: one for one in found}.values()]

    @property
    def scores(self) -> Scores:
        """The scores of the first system."""
        return self.systems[0].scores

    @property
    def k(self) -> int:
        """The cut-off that the report describes for all systems."""
        return self.systems[0].k

    def to_html(self) -> str:
        """The page as HTML."""
        page: str = self._shown.render(self)
        return page

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page (.html)."""
        self._shown.save_report(self, path)
