"""The answer: questions made from documents, and a first number."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from calipers.errors import WriteFailed
from calipers.io.files.write import whole_file
from calipers.model.labels import is_machine
from calipers.model.plain import plain
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval

QUESTIONS, SETTINGS, DROPPED = "questions.jsonl", "calipers.toml", "dropped.jsonl"
DEPTH = 10
"""Results that are looked at."""


@dataclass(frozen=True)
class SourceCount(Plain):
    """How many questions came from one source, and what word matching finds of them."""

    source: str
    questions: int
    documents: int
    in_first: float
    """The share whose target is in the first results."""
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
        "folder documents chunks questions recall interval sources audit dropped passed_over "
        "records"
    )

    folder: str
    documents: int
    chunks: int
    records: tuple[dict[str, Any], ...]
    """The questions as they are written, one record each."""
    sources: tuple[SourceCount, ...]
    recall: float
    """The share of targets that word matching finds in the first 10 results."""
    interval: Interval | None
    audit: dict[str, Any]
    """What an audit counts: copies, near-identical questions, ambiguous targets, differences."""
    dropped: tuple[LeftOut, ...]
    """Questions that were made and not kept, by reason."""
    passed_over: tuple[LeftOut, ...]
    """Files that were not read, by reason."""
    rejected: tuple[Any, ...] = ()
    """The questions of a model that were not kept, each with the reason."""
    written: tuple[str, ...] = ()

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.records)

    @property
    def is_smoke_test(self) -> bool:
        """Whether all questions are the documents' own words, and none is a model's."""
        return not any(is_machine(one.source) for one in self.sources)

    def write(
        self,
        folder: str | os.PathLike[str] = ".",
        *,
        retriever: str | None = None,
        k: int = DEPTH,
    ) -> list[Path]:
        """Write questions.jsonl, and calipers.toml unless there is one; returns what was written.

        The folder of the documents is refused: what is written there would be searched. The
        settings name word matching over the documents, unless another ``retriever`` is given.
        """
        into = Path(folder)
        check_output(into, Path(self.folder))
        try:
            into.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(
                f"The folder {into} cannot be made: {error.strerror}; name another."
            ) from error
        done = [write_lines(into / QUESTIONS, self.records)]
        if self.rejected:
            done.append(write_lines(into / DROPPED, map(plain, self.rejected)))
        if not (into / SETTINGS).exists():
            # The documents as a path from the settings file, or whole where it leads far away.
            seen = Path(os.path.relpath(self.folder, into)).as_posix()
            seen = Path(self.folder).resolve().as_posix() if seen.startswith("../../..") else seen
            # TOML strings are escaped like those of JSON.
            text = msgspec.json.encode(retriever or f"words:{seen}").decode()
            with whole_file(into / SETTINGS) as file:
                file.write(_SETTINGS_TEXT.format(QUESTIONS, text, k, 2 * k).encode())
            done.append(into / SETTINGS)
        return done


_SETTINGS_TEXT = """\
# Settings of every calipers command that runs in this folder.
ground-truth = "{}"
# Word matching over the documents; put your own here, such as "search.py:search".
retriever = {}
metrics = ["recall@{}", "mrr"]
# Twice as many as are looked at: a passage that holds a link does not count, and makes room.
ask-for = {}
"""


def write_lines(path: Path, rows: Iterable[Any], before: bytes = b"") -> Path:
    """Write records as JSON lines, after what stood there ``before``."""
    with whole_file(path) as file:
        file.write(before)
        file.writelines(msgspec.json.encode(one) + b"\n" for one in rows)
    return path


def check_output(into: Path, documents: Path) -> None:
    """Refuse an output inside the documents, and one that would replace questions."""
    if documents.is_dir() and into.resolve().is_relative_to(documents.resolve()):
        raise WriteFailed(
            f"Name another folder for the output (-o FOLDER): {into} is part of {documents}, and "
            "what is written there would be searched."
        )
    if (into / QUESTIONS).exists():
        raise WriteFailed(f"{into / QUESTIONS} exists already; move it away, or give -o FOLDER.")
