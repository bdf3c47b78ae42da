"""Records on their way from a file: taken all at once, or a portion at a time."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from calipers.errors import InvalidInput
from calipers.io.records import CHUNK, Place, Record, build
from calipers.model.dataset import Dataset
from calipers.model.ground_truth import GroundTruth

Unread = Counter[str]
"""How many rows have a value under a key that is not carried over."""


@dataclass(eq=False)
class RecordStream:
    """Records on their way from a file; they pass once."""

    records: Iterator[Record]
    place: Place
    name: str
    title: str
    """What the file is, in words."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What the file calls ``retrieved`` and ``ground_truth``."""
    unread: Unread = field(default_factory=Counter)
    unused: Unread = field(default_factory=Counter)
    """How many records have a value that is known and had to be left out."""
    why_unused: str = ""

    def dataset(self) -> Dataset:
        """Everything at once, as columns."""
        made = build(self.records, self.place, self.name, self.name, self.fields)
        truth = made.ground_truth
        if truth is not None:
            truth = replace(truth, notes=tuple(self._notes(truth)))
        return Dataset(truth, made.run, self.title)

    def _notes(self, truth: GroundTruth) -> Iterator[str]:
        """How the ground truth of another tool was understood, where that is not plain."""
        if "ground_truth" in self.fields and truth.kinds == {"quote"}:
            yield (
                f"The texts in {self.fields['ground_truth']!r} are taken as quotes: one is found "
                "where the text of a result holds it."
            )
        for key, count in self.unused.items():
            records = "1 record" if count == 1 else f"{count:,} records"
            yield f"Not used: {key!r} of {records}. {self.why_unused}"

    def portions(self) -> Iterator[Dataset]:
        """A few thousand queries at a time, so that a file of any size can pass."""
        seen: dict[str, int] = {}
        first: Dataset | None = None
        while chunk := list(islice(self.records, CHUNK)):
            offset = len(seen)

            def place(number: int, offset: int = offset) -> str:
                return self.place(offset + number)

            part = build(chunk, place, self.name, self.name, self.fields)
            first = first or part
            self._check_alike(first, part, offset)
            self._note(seen, part)
            yield Dataset(part.ground_truth, part.run, self.title)
        if first is None:
            raise InvalidInput(f"{self.name} holds no queries: found an empty list.")

    def _note(self, seen: dict[str, int], part: Dataset) -> None:
        """Remember the queries of a portion; one that came before is an error."""
        held = part.ground_truth or part.run
        queries = held.queries if held is not None else None
        for query in queries["query"] if queries is not None else ():
            if query in seen:
                raise InvalidInput(
                    f"Two records have the same query {query[:80]!r}: "
                    f"{self.place(seen[query])} and {self.place(len(seen))}; give each an 'id' "
                    "of its own, or make them one."
                )
            seen[query] = len(seen)

    def _check_alike(self, first: Dataset, part: Dataset, offset: int) -> None:
        for what in ("ground_truth", "run"):
            if (getattr(first, what) is None) != (getattr(part, what) is None):
                ours = "retrieved" if what == "run" else what
                raise InvalidInput(
                    f"Some records have {self.fields.get(ours, ours)!r} and others have not, "
                    f"near {self.place(offset)}; give it in every record (an empty list where "
                    "there is nothing)."
                )
