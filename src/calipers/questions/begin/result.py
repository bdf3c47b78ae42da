"""The answer: questions made from documents, and a first number."""

import os
from pathlib import Path
from typing import Any, ClassVar

from calipers.frozen import dataclass
from calipers.model.labels import is_machine
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval
from calipers.questions.begin.files import ProjectFiles, write_project

DEPTH = 10
"""Results that are looked at, unless another number is given."""


@dataclass(frozen=True)
class SourceCount(Plain):
    """How many questions came from one source, and what word matching finds of them."""

    source: str
    questions: int
    documents: int
    in_first: float
    """The share whose target is in the first k results."""
    at_top: float
    """The share whose target is the first result."""


@dataclass(frozen=True)
class LeftOut(Plain):
    """Files or questions that were left out, and why."""

    reason: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class FirstQuestions(Plain, HasRows):
    """Questions made from documents, and what plain word matching finds of their targets."""

    shown_by: ClassVar[str] = "calipers.questions.begin.document"
    dict_keys: ClassVar[str] = (
        "folder documents chunks questions k recall interval sources audit considered dropped "
        "passed_over records"
    )

    folder: str
    documents: int
    chunks: int
    records: tuple[dict[str, Any], ...]
    """The questions as they are written, one record each."""
    sources: tuple[SourceCount, ...]
    k: int
    """Results that are looked at."""
    recall: float
    """The share of targets that word matching finds in the first k results."""
    interval: Interval | None
    audit: dict[str, Any]
    """What an audit counts: copies, near-identical questions, ambiguous targets, differences."""
    considered: int
    """Headings, links and others that could be questions: those kept and those dropped."""
    dropped: tuple[LeftOut, ...]
    """What was considered and not kept, by reason."""
    passed_over: tuple[LeftOut, ...]
    """Files that were not read, by reason."""
    rejected: tuple[Any, ...] = ()
    """The questions of a model that were not kept, each with the reason."""
    files: ProjectFiles | None = None
    """The files that were written, once they are."""

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.records)

    @property
    def is_smoke_test(self) -> bool:
        """Whether all questions are the documents' own words, and none is a model's."""
        return not any(is_machine(source.source) for source in self.sources)

    def write(
        self, folder: str | os.PathLike[str] = ".", *, retriever: str | None = None
    ) -> list[Path]:
        """Write questions.jsonl, search.py and calipers.toml; returns what was written.

        The folder of the documents is refused: what is written there would be searched. Settings
        that exist stay as they are. A ``retriever`` stands in them instead of a search.py.
        """
        return [*self.write_files(Path(folder), retriever).written]

    def write_files(self, into: Path, retriever: str | None) -> ProjectFiles:
        """Like ``write``; returns also what stays as it is, and the command to call next."""
        folder = Path(self.folder)
        return write_project(
            into, folder, self.records, self.rejected, k=self.k, retriever=retriever
        )
