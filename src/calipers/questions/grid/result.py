"""A grid of retrievers: its combinations, what is planned, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from calipers.model.result import HasRows
from calipers.questions.compare.result import Comparison


@dataclass(frozen=True)
class Combination:
    """One retriever with one set of parameters."""

    name: str
    retriever: str
    target: str
    """The function: ``package.module:function`` or ``file.py:function``."""
    is_factory: bool
    """Whether the function makes the search function, or is it."""
    params: Mapping[str, Any]
    k: int
    output: Path
    settings: Mapping[str, Any]
    """What decides the answers, without secrets; known before anything is built."""

    def to_dict(self) -> dict[str, Any]:
        """The combination as plain values."""
        return {
            "name": self.name,
            "retriever": self.retriever,
            **self.settings,
            "k": self.k,
            "run": str(self.output),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Planned(HasRows):
    """What a grid would do, and how much of it is done."""

    shown_by: ClassVar[str] = "calipers.questions.grid.show"

    combinations: tuple[Combination, ...]
    done: tuple[int, ...]
    """Questions that are finished already, for each combination."""
    questions: int

    def to_dict(self) -> dict[str, Any]:
        """What ``--dry-run --json`` prints."""
        return {
            "questions": self.questions,
            "combinations": [
                {**one.to_dict(), "done": done}
                for one, done in zip(self.combinations, self.done, strict=True)
            ],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Grid(HasRows):
    """Every combination that ran, compared with the baseline."""

    shown_by: ClassVar[str] = "calipers.questions.grid.show"

    combinations: tuple[Combination, ...]
    reports: Mapping[str, Mapping[str, Any]]
    """How each went, by name; see ``retrieve``."""
    failures: Mapping[str, str]
    """Combinations that could not be run, and why; they are not in the comparison."""
    comparison: Comparison

    def to_dict(self, *, examples: int = 5) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {
            "combinations": [
                {**one.to_dict(), "report": self.reports.get(one.name)} for one in self.combinations
            ],
            "failures": dict(self.failures),
            "comparison": self.comparison.to_dict(examples=examples),
        }
