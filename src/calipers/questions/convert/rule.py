"""Convert between formats; what the new format cannot hold is counted and reported."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from calipers.errors import InvalidInput, is_command_line
from calipers.io import registry
from calipers.io.build import MemoryBudget
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.files.spill import memory_in_bytes
from calipers.io.files.write import check_place
from calipers.io.format import Output, Writer
from calipers.io.load import ARGUMENT, load, not_sealed, read_value
from calipers.io.records.entries import DETAILS, FACETS, Counts, Remarks, counted
from calipers.io.tables.columns import Columns
from calipers.model.document import Document
from calipers.model.fact import Fact, joined, named, sentence
from calipers.model.matched import Dataset, Role
from calipers.model.ranking import NotGroupedError
from calipers.model.result import Plain, ShowsItself
from calipers.model.run import Scan
from calipers.questions.inputs import bring_together


@dataclass(frozen=True, repr=False)
class Conversion(Plain, ShowsItself):
    """What was written, and what was left out."""

    shown_by: ClassVar[str] = "calipers.questions.convert.rule"
    dict_keys: ClassVar[str] = "read form files counts lost remarks"

    read: tuple[str, ...]
    """The formats that were recognised."""
    form: str
    """The format that was written."""
    files: tuple[str, ...]
    counts: Mapping[str, int]
    """What the input contained."""
    lost: Mapping[str, int]
    """What the written format cannot hold."""
    remarks: tuple[str, ...]
    """What was changed during the conversion."""
    sentences: tuple[str, ...]
    """What to tell the user, one sentence each."""


def convert(
    inputs: "ToConvert", output: str | os.PathLike[str], to: str | None
) -> Conversion:
    """Write a ground truth, a run or both in another format; see ``calipers.convert``."""
    if not str(output):
        raise InvalidInput("No output is named; name the file to write.")
    path = Path(output)
    writer = registry.choose(path, to)
    check_place(path)
    memory_in_bytes(inputs.memory)
    try:
        return _write(inputs, path, writer)
    except NotGroupedError:
        # The results of one query are not contiguous: group them first.
        return _write(replace(inputs), path, writer, bring_together(inputs.memory))


@dataclass(eq=False)
class ToConvert:
    """The inputs of a conversion, how to read them, and what was seen in them."""

    data: Any = None
    ground_truth: Any = None
    run: object = None
    form: str | None = None
    columns: Columns = field(default_factory=Columns)
    memory: str | int | None = None
    forms: list[str] = field(default_factory=list, init=False)
    """The formats that were recognised."""
    notes: list[str] = field(default_factory=list, init=False)
    """How the input was interpreted, where that is not obvious."""

    @cached_property
    def room(self) -> MemoryBudget:
        """The memory budget for the results."""
        return MemoryBudget(self.memory)

    def read(self) -> Dataset:
        """Read the input."""
        if self.data is not None and (
            self.ground_truth is not None or self.run is not None
        ):
            raise InvalidInput(
                "Several inputs are given; give one file that holds everything, or a "
                "ground truth and a run."
            )
        roles: dict[Role, object] = {
            "both": self.data,
            "ground_truth": self.ground_truth,
            "run": self.run,
        }
        filled = {role: value for role, value in roles.items() if value is not None}
        if not filled:
            raise InvalidInput(
                "Nothing is given to convert; name a file, or a ground truth and a run."
            )
        if len(filled) == 2:
            truth = self._side(self.ground_truth, "ground_truth")
            return Dataset(truth.ground_truth, self._side(self.run, "run").run)
        [(role, value)] = filled.items()
        return self._side(value, role)

    def _side(self, value: object, role: Role) -> Dataset:
        opened = self._opened(value, role)
        for held in (opened.ground_truth, opened.run):
            self.notes += held.notes if held is not None else ()
        return _only(not_sealed(opened, role, value), role)

    def _opened(self, value: object, role: Role) -> Dataset:
        if not isinstance(value, str | os.PathLike):
            dataset = read_value(value, role, ARGUMENT[role], self.columns, self.room)
            return dataset or load(value, role)
        probe = Probe(Source(Path(value)), self.columns, room=self.room)
        form = registry.named(self.form) if self.form else registry.recognise(probe, role)
        self.forms.append(form.name)
        return form.read(probe, role)


def _only(part: Dataset, role: Role) -> Dataset:
    """Keep the side that the caller named; raise if the file does not have it."""
    if role == "both":
        return part
    side = part.ground_truth if role == "ground_truth" else part.run
    if side is None:
        called = "ground truth" if role == "ground_truth" else "run"
        raise InvalidInput(
            f"The {called} is missing: the file given for it is {part.kind}; give it as "
            "the other part, or name another file."
        )
    return replace(part, ground_truth=None) if role == "run" else replace(part, run=None)


def _write(
    inputs: ToConvert,
    path: Path,
    writer: Writer,
    together: Callable[[Scan], Scan] | None = None,
) -> Conversion:
    remarks = Remarks()
    counts: Counts = Counter()
    data = inputs.read()
    if together is not None and data.run is not None:
        data = replace(data, run=replace(data.run, together=together).grouped())
    inputs.columns.check_used()
    if data.ground_truth is None and data.run is None:
        raise InvalidInput(
            "The input has neither results nor a ground truth, so there is nothing to "
            "convert; add 'retrieved' or 'ground_truth' to its records."
        )
    form, output = writer
    files = form.write(output, counted(data, counts), path, remarks)
    facets = {facet: counts[facet] for facet in FACETS if counts[facet]}
    lost = _lost(facets, output)
    sentences = (*inputs.notes, *remarks.sentences())
    return Conversion(
        read=tuple(inputs.forms),
        form=output.name,
        files=tuple(map(str, files)),
        counts=facets,
        lost=lost,
        remarks=sentences,
        sentences=(*_left_out(lost, output), *sentences),
    )


def _left_out(lost: Mapping[str, int], output: Output) -> Iterator[str]:
    """What the format cannot hold, with its counts."""
    if lost:
        counts = [
            sentence(
                "{it.text} ({it.count})",
                it=Fact(about="left out", count=count, text=FACETS[facet]),
            )
            for facet, count in lost.items()
        ]
        yield sentence(
            "Left out, as {output} cannot hold it: {counts}.",
            output=output.title,
            counts=joined(*counts, by=", "),
        )
    if "only_returned" in lost:
        option = "--judged returned" if is_command_line() else 'judged="returned"'
        yield sentence(
            "Give {option.text} wherever you measure with this file: it cannot say that "
            "only what was returned was judged, and recall would be wrong.",
            option=named(option),
        )


def _lost(counts: Mapping[str, int], output: Output) -> dict[str, int]:
    """What the format cannot hold; the details of a part that is lost as a whole are not listed."""
    lost = {facet: n for facet, n in counts.items() if facet not in output.holds}
    details = {detail for facet in lost for detail in DETAILS.get(facet, ())}
    return {facet: n for facet, n in lost.items() if facet not in details}


SHOWN = {"targets": "target", "results": "result"}


def document(conversion: Conversion) -> Document:
    """What was written, from what, and what the format could not hold."""
    counts = [
        sentence(
            "{it.count:" + f"{name}|{name}s" + "}",
            it=Fact(about="count", count=count, text=facet),
        )
        for facet, name in SHOWN.items()
        if (count := conversion.counts.get(facet))
    ]
    source = f" from {' and '.join(conversion.read)}" if conversion.read else ""
    read = joined(*counts, by=", ") or "no targets and no results"
    return Document(
        sentence(
            "Wrote {files.text}{source}: {read}.",
            files=named(f"{', '.join(conversion.files)} ({conversion.form})"),
            source=source,
            read=read,
        ),
        notes=[*conversion.sentences],
    )
