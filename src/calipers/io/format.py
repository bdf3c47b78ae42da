"""What a form of files is: a class that recognises, reads and, where it can, writes it.

A form of another package is the same kind of class; see ``registry`` for how both are listed.
"""

from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.probe import Sight
from calipers.io.records.facets import Remarks
from calipers.io.records.gather import Room
from calipers.io.records.records import Place, Record, build, in_chunks
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role

Parts = Iterable[Dataset]
"""What is written, portion by portion."""


@dataclass(frozen=True)
class Output:
    """One way in which a form is written."""

    name: str
    title: str
    """What is written, in words."""
    holds: frozenset[str]
    """The facets (see ``facets.FACETS``) that survive."""
    endings: tuple[str, ...] = ()
    """The endings of a path that mean this output without being told."""
    fits: tuple[str, ...] = ()
    """Further endings that such a file may have, where the output is named."""
    is_folder: bool = False
    can_be_packed: bool = True
    """Whether a path that ends in .gz can be written."""


class Format(ABC):
    """One form: its names, how it is recognised, and how it is read and written."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What a file in this form is, in words."""
    example: ClassVar[str] = ""
    kept: ClassVar[frozenset[str]] = frozenset()
    """The keys whose values reach the record; those of its struct, where it names no others."""
    results_field: ClassVar[str] = ""
    """What the form calls ``retrieved``, where it has another name for it."""
    truth_field: ClassVar[str] = ""
    """What the form calls ``ground_truth``, where it has another name for it."""
    why_left_out: ClassVar[str] = ""
    """Why values that are known were not used, where whoever reads the scores must know."""
    no_truth: ClassVar[str] = ""
    """Why it holds no ground truth, where it looks as if it did."""
    partial_truth: ClassVar[str] = ""
    """What its ground truth lacks, so that scores must be read with care."""
    known_by: ClassVar[tuple[Set[str], ...]] = ()
    """Keys of which no other form has all: a record or object with those of one set is its own."""
    only: ClassVar[Role | None] = None
    """The part it holds, where a second form looks the same and holds the other part."""
    merges_equal: ClassVar[bool] = False
    """Whether two records that are the same in all they hold are one, with a note."""
    fallback: ClassVar[bool] = False
    """Whether it is tried only when no other form knows the file."""
    outputs: ClassVar[tuple[Output, ...]] = ()
    """The ways in which it is written; none where it is only read."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        struct = vars(cls).get("row", vars(cls).get("whole"))
        if "kept" not in vars(cls) and hasattr(struct, "__struct_encode_fields__"):
            cls.kept = frozenset(struct.__struct_encode_fields__)

    @property
    def fields(self) -> Mapping[str, str]:
        """Our names for the two parts, each with the form's own."""
        named = {"retrieved": self.results_field, "ground_truth": self.truth_field}
        return {ours: theirs for ours, theirs in named.items() if theirs}

    @abstractmethod
    def detect(self, sight: Sight) -> bool:
        """Whether a file looks like one of this form."""

    @abstractmethod
    def read(self, sight: Sight, role: Role, watch: bool) -> "Dataset | RecordStream":
        """Read a file taken for a role; ``watch`` asks to count what is not carried over."""

    def write(self, output: Output, parts: Parts, path: Path, remarks: Remarks) -> list[Path]:
        """Write datasets in one of the outputs, and say which files were made."""
        del parts, path, remarks
        raise InvalidInput(f"{output.title} cannot be written; it can only be read.")

    def fitting(self, output: Output, first: Dataset) -> Output:
        """The output for a dataset that was not read record by record, where that matters."""
        del first
        return output


class Writer(NamedTuple):
    """A form and the one of its outputs that was asked for."""

    form: Format
    output: Output


def wrong_form(sight: Sight, title: str) -> InvalidInput:
    """The complaint about a file that was read as what it is not."""
    return InvalidInput(f"{sight.name} cannot be read as {title}: it is not of that shape.")


Unread = Counter[str]
"""How many rows have a value under a key that is not carried over."""


def note_unread(unread: Unread, kept: frozenset[str], values: Mapping[str, Any]) -> None:
    """Count the keys that hold something and are not carried over."""
    for key, value in values.items():
        if key not in kept and value not in (None, "", [], {}):
            unread[key] += 1


@dataclass(eq=False)
class RecordStream:
    """Records on their way from a file; they pass once."""

    records: Iterator[Record]
    place: Place
    name: str
    form: Format
    unread: Unread = field(default_factory=Counter)
    unused: Unread = field(default_factory=Counter)
    """How many records have a value that is known and had to be left out."""
    hint: str = ""
    """Which of its fields could be what it lacks."""
    notes: list[str] = field(default_factory=list)
    """How it was read, where that is not plain; complete when all records have passed."""
    fields: Mapping[str, None] = field(default_factory=dict)
    """The fields of results that carry no id, as far as records have passed."""

    def dataset(self, room: Room | None = None) -> Dataset:
        """Everything at once, as columns; results beyond the room in memory go to disk."""
        made = self._built(self.records, room)
        truth = made.ground_truth
        run = made.run
        if truth is not None:
            truth = replace(truth, notes=(*self.notes, *self._notes(truth)))
        elif run is not None:
            run = replace(run, notes=(*run.notes, *self.notes))
        if run is not None and self.fields:
            run = replace(run, fields=tuple(self.fields))
        return replace(made, ground_truth=truth, run=run)

    def _built(
        self,
        records: Iterable[Record],
        room: Room | None = None,
        seen: dict[str, int] | None = None,
    ) -> Dataset:
        made = build(records, self.place, self.name, self.name, self.form.fields, room, seen)
        why = self.form.no_truth or self.hint
        return Dataset(made.ground_truth, made.run, self.form.title, why)

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
        for chunk in in_chunks(self.records):
            offset = len(seen)
            part = self._built(chunk, seen=seen)
            first = first or part
            self._check_alike(first, part, offset)
            yield part
        if first is None:
            raise InvalidInput(f"{self.name} holds no queries: found an empty list.")

    def _check_alike(self, first: Dataset, part: Dataset, offset: int) -> None:
        for what in ("ground_truth", "run"):
            if (getattr(first, what) is None) != (getattr(part, what) is None):
                ours = "retrieved" if what == "run" else what
                raise InvalidInput(
                    f"Some records have {self.form.fields.get(ours, ours)!r} and others have not, "
                    f"near {self.place(offset)}; give it in every record (an empty list where "
                    "there is nothing)."
                )


def once_each(stream: RecordStream) -> RecordStream:
    """The same records, those that repeat an earlier one in everything left out with a note."""
    held: dict[str, int] = {}
    kept = array("q")
    place = stream.place

    def records() -> Iterator[Record]:
        repeated = 0
        for number, record in enumerate(stream.records):
            name = str(record.query if record.id is None else record.id)
            content = hash(msgspec.json.encode(record))
            if held.get(name) == content:
                repeated += 1
                continue
            held.setdefault(name, content)
            kept.append(number)
            yield record
        if repeated:
            stream.notes.append(
                "1 record repeats an earlier one in everything and counts once."
                if repeated == 1
                else f"{repeated:,} records repeat earlier ones in everything and count once."
            )

    return replace(stream, records=records(), place=lambda number: place(kept[number]))


def is_of_spark(value: Any) -> bool:
    """Whether a value is a DataFrame of Spark."""
    return str(getattr(type(value), "__module__", "")).startswith("pyspark.")
