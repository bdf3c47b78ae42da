"""Records on their way from a file: taken all at once, or a portion at a time."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from calipers.errors import InvalidInput
from calipers.io.form import Form
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
    form: Form
    unread: Unread = field(default_factory=Counter)
    unused: Unread = field(default_factory=Counter)
    """How many records have a value that is known and had to be left out."""

    def dataset(self) -> Dataset:
        """Everything at once, as columns."""
        made = self._built(self.records, self.place)
        truth = made.ground_truth
        if truth is not None:
            truth = replace(truth, notes=tuple(self._notes(truth)))
        return replace(made, ground_truth=truth)

    def _built(self, records: Iterable[Record], place: Place) -> Dataset:
        made = build(records, place, self.name, self.name, self.form.fields)
        return Dataset(made.ground_truth, made.run, self.form.title, self.form.no_truth)

    def _notes(self, truth: GroundTruth) -> Iterator[str]:
        """How the ground truth of another tool was understood, where that is not plain."""
        called = self.form.fields.get("ground_truth")
        if called is not None and truth.kinds == {"quote"}:
            yield (
                f"The texts in {called!r} are taken as quotes: one is found where the text of a "
                "result holds it."
            )
        if self.form.partial_truth:
            yield self.form.partial_truth
        for key, count in self.unused.items():
            records = "1 record" if count == 1 else f"{count:,} records"
            yield f"Not used: {key!r} of {records}. {self.form.why_left_out}"

    def portions(self) -> Iterator[Dataset]:
        """A few thousand queries at a time, so that a file of any size can pass."""
        seen: dict[str, int] = {}
        first: Dataset | None = None
        while chunk := list(islice(self.records, CHUNK)):
            offset = len(seen)

            def place(number: int, offset: int = offset) -> str:
                return self.place(offset + number)

            part = self._built(chunk, place)
            first = first or part
            self._check_alike(first, part, offset)
            self._note(seen, part)
            yield part
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
                    f"Some records have {self.form.fields.get(ours, ours)!r} and others have not, "
                    f"near {self.place(offset)}; give it in every record (an empty list where "
                    "there is nothing)."
                )
