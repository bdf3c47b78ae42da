"""Anything a caller may hand in, as a ground truth and a run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.files.open import Progress, Source, is_standard_input
from calipers.io.files.spill import Room
from calipers.io.format import Format, RecordStream
from calipers.io.formats.ours import Ours
from calipers.io.records.rows import RowFormat, stream_rows, stream_whole
from calipers.io.registry import of_object, of_rows, read_source
from calipers.io.tables.columns import Columns, is_flat_table, unknown_fields
from calipers.io.tables.scan import Table, from_other_library, in_memory
from calipers.model.dataset import Dataset, Role
from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run

ARGUMENT: dict[Role, str] = {"ground_truth": "ground_truth", "run": "run", "both": "data"}
WHOLE_PARTS = ("queries", "corpus", "relevant_docs")
"""The attributes of a LlamaIndex question set."""
OURS = Ours()


def load(
    value: Any,
    role: Role,
    progress: Progress | None = None,
    columns: Columns | None = None,
    room: Room | None = None,
) -> Dataset:
    """A dataset from a path, a mapping, a list of records, or a polars, pandas or Arrow frame.

    Records and mappings may hold document objects of LangChain, LlamaIndex or Haystack.
    ``columns`` says which column is what; results in records may take ``room`` in memory.
    """
    said = columns or Columns()
    try:
        return _read(value, role, progress, said, room or Room())
    except InvalidInput as error:
        if vain := said.said_in_vain():
            raise type(error)(f"{error}{vain}") from None
        raise


def _read(value: Any, role: Role, progress: Progress | None, said: Columns, room: Room) -> Dataset:
    if isinstance(value, Dataset):
        return value
    if isinstance(value, GroundTruth):
        return Dataset(ground_truth=value, kind="a ground truth")
    if isinstance(value, Run):
        return Dataset(run=value, kind="a run")
    if isinstance(value, str | os.PathLike):
        return _at(value, role, progress, said, room)
    name = ARGUMENT[role]
    found = read_value(value, role, name, said)
    if found is not None:
        return found if isinstance(found, Dataset) else found.dataset(room)
    raise InvalidInput(
        f"{name} is a {type(value).__name__}; it can be a path, a mapping of query to items, a "
        "list of records, or a polars, pandas or Arrow table."
    )


def _at(
    place: str | os.PathLike[str], role: Role, progress: Progress | None, said: Columns, room: Room
) -> Dataset:
    """What stands at a path or an address; most are one file, and need none of the rest."""
    path = Path(place)
    if path.is_file() or is_standard_input(path):
        return read_source(Source(path, progress), role, said, room)
    from calipers.io.files.remote import is_remote, open_remote, shown

    if is_remote(place):
        address = str(place)
        found = _table(in_memory(open_remote(address), shown(address)).renamed(said), role)
        return found if isinstance(found, Dataset) else found.dataset(room)
    from calipers.io.files.folder import read_path

    return read_path(place, role, progress, said, room)


def load_pair(
    data: Any,
    ground_truth: Any,
    run: Any,
    progress: Progress | None = None,
    columns: Columns | None = None,
    room: Room | None = None,
) -> tuple[GroundTruth, Run]:
    """The ground truth and the run from one place or from two, with a sentence for mix-ups."""
    if sum(map(is_standard_input, (data, ground_truth, run))) > 1:
        raise InvalidInput(
            "Standard input (-) is given twice, and it can be read once; give one of the two as a "
            "file."
        )

    def one(value: Any, role: Role) -> Dataset:
        return load(value, role, progress, columns, room)

    if data is not None and ground_truth is not None and run is None:
        return _pair(one(ground_truth, "ground_truth"), one(data, "run"), ground_truth, data)
    if data is not None and run is not None and ground_truth is None:
        return _pair(one(data, "ground_truth"), one(run, "run"), data, run)
    if data is not None:
        if ground_truth is not None:
            raise InvalidInput(
                "Three inputs are given: data, ground_truth and run; give one file that holds "
                "both, or a ground truth and a run."
            )
        return _from_one(one(data, "both"), data)
    if ground_truth is None or run is None:
        have, lack = ("run", "ground truth") if ground_truth is None else ("ground truth", "run")
        if ground_truth is None and run is None:
            raise InvalidInput(
                "Nothing is given to evaluate; give a file that holds results and ground truth, "
                "or a ground truth and a run, or questions and a retriever."
            )
        raise InvalidInput(f"A {have} is given without a {lack}; both are needed.")
    return _pair(one(ground_truth, "ground_truth"), one(run, "run"), ground_truth, run)


def _from_one(dataset: Dataset, data: Any) -> tuple[GroundTruth, Run]:
    name = _name(data)
    if dataset.ground_truth is None and dataset.run is None:
        raise InvalidInput(
            f"{name} has neither results nor a ground truth{_why(dataset)}; add 'retrieved' and "
            "'ground_truth' to its records."
        )
    # Only to our own records can anything be added.
    ours = dataset.kind == OURS.title
    if dataset.ground_truth is None:
        add = "add 'ground_truth' to its records, or " if ours else ""
        raise InvalidInput(
            f"{name} has no ground truth, only results{_why(dataset)}; {add}give a second file "
            "with --ground-truth (ground_truth= in Python)."
        )
    if dataset.run is None:
        add = "add 'retrieved' to its records, or " if ours else ""
        raise InvalidInput(
            f"{name} has no results, only a ground truth; {add}give a second file with --run, or "
            "a function to ask with --retriever (run= or retriever= in Python)."
        )
    return dataset.ground_truth, dataset.run


def _pair(
    truth: Dataset, run: Dataset, truth_given: Any, run_given: Any
) -> tuple[GroundTruth, Run]:
    a, b = _name(truth_given, "ground_truth"), _name(run_given, "run")
    for given, one, lacking in ((truth, a, "ground truth"), (run, b, "results")):
        if given.ground_truth is None and given.run is None:
            raise InvalidInput(f"The {lacking} of {one} cannot be found{_why(given)}.")
    if truth.ground_truth is None and run.run is None:
        raise InvalidInput(
            f"The two files are swapped: {a} holds results ({truth.kind}) and {b} holds a ground "
            f"truth ({run.kind}); exchange them."
        )
    if truth.ground_truth is None:
        raise InvalidInput(
            f"The ground truth is missing: {a} holds results ({truth.kind}) and nothing that "
            f"should be found{_why(truth)}; give a file with judgements as the ground truth."
        )
    if run.run is None:
        raise InvalidInput(
            f"The results are missing: {b} holds a ground truth ({run.kind}) and nothing that a "
            "retriever returned; give a file with results as the run."
        )
    if truth.run is None and run.ground_truth is None and _is_one_file(truth_given, run_given):
        _check_holds_both(truth, a)
    return truth.ground_truth, run.run


def _check_holds_both(truth: Dataset, name: str) -> None:
    """Refuse a file that was read once as the ground truth and once as the run."""
    from calipers.io.formats.rank_eval import RankEvalRatings

    if truth.kind == RankEvalRatings.title:
        return  # an answer holds hits and their ratings
    raise InvalidInput(
        f"{name} is given as the ground truth and as the run, so it would be measured by itself; "
        "give the results of a retriever as the run."
    )


def _is_one_file(one: Any, other: Any) -> bool:
    if not all(isinstance(given, str | os.PathLike) for given in (one, other)):
        return False
    return Path(one).is_file() and Path(other).is_file() and Path(one).samefile(other)


def _why(dataset: Dataset) -> str:
    return f": {dataset.no_truth}" if dataset.no_truth else ""


def _name(given: Any, otherwise: str = "data") -> str:
    return str(given) if isinstance(given, str | os.PathLike) else otherwise


def read_value(
    value: Any, role: Role, name: str, columns: Columns | None = None
) -> Dataset | RecordStream | None:
    """What a value without a file holds; None where it is of no kind that is known."""
    said = columns or Columns()
    if isinstance(value, Mapping):
        from calipers.io.tables.by_column import columns_of_object

        by_column = columns_of_object(value, name)
        if by_column is None:
            return _mapping(value, role, name)
        value = by_column
    if isinstance(value, list | tuple):
        return _records(value, role, name, said)
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        return _table(in_memory(value.lazy(), name).renamed(said), role)
    if all(hasattr(value, part) for part in WHOLE_PARTS):
        return _mapping({part: getattr(value, part) for part in WHOLE_PARTS}, role, name)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__"):
        table = in_memory(from_other_library(value, name).lazy(), name)
        return _table(table.renamed(said), role)
    return None


def _table(table: Table, role: Role) -> Dataset | RecordStream:
    """A table in a tool's own form, or with one row per item."""
    form = _claimed(table.columns, table.name)
    if form is None:
        from calipers.io.tables.long import read_long

        return read_long(table, role)
    from calipers.io.records.in_tables import stream_table

    return stream_table(form, table)


def scores_by_item(value: Any) -> Dataset | None:
    """The run in a mapping of query to item to score that can be nothing else; else None."""
    if not isinstance(value, Mapping):
        return None
    from calipers.io.formats.mapping import scored_run
    from calipers.io.tables.by_column import columns_of_object
    from calipers.io.unsupported import of_object as of_foreign_object

    name = ARGUMENT["run"]
    found = scored_run(value, name)
    if found is None or columns_of_object(value, name) is not None:
        return None
    return None if of_object(value) or of_foreign_object(value) is not None else found


def _mapping(value: Mapping[Any, Any], role: Role, name: str) -> Dataset | RecordStream:
    claimed = of_object(value)
    for form in claimed:
        if form.only in (None, role):
            return stream_whole(form, value, name)
    if claimed:
        raise InvalidInput(_two_forms(claimed, name, "say which it is: ground_truth= or run="))
    from calipers.io.unsupported import of_object as of_foreign_object

    other = of_foreign_object(value)
    if other is not None:
        raise InvalidInput(f"{name} {other}.")
    if _holds_documents(value):
        return _documents_by_query(value, role, name)
    from calipers.io.formats.mapping import read_mapping

    return read_mapping(value, role, name)


def _holds_documents(value: Mapping[Any, Any]) -> bool:
    from calipers.io.formats.mapping import kinds_of
    from calipers.io.records.documents import is_document

    return kinds_of(value) != {dict} and any(
        isinstance(items, list | tuple) and any(is_document(one) for one in islice(items, 1))
        for items in value.values()
    )


def _documents_by_query(value: Mapping[Any, Any], role: Role, name: str) -> RecordStream:
    """``{query: [document, …]}`` as the caller takes it: results, or what should be found."""
    if role == "both":
        raise InvalidInput(
            f"{name} is a mapping of query to documents, which can be a ground truth or a run; "
            "give the two separately (ground_truth= and run=)."
        )
    from calipers.io.records.documents import plain

    part = "retrieved" if role == "run" else "ground_truth"
    queries = list(value)

    def place(number: int) -> str:
        return f"{name}[{queries[number]!r}]"

    rows = (
        plain({"query": query, part: items}, partial(place, i))
        for i, (query, items) in enumerate(value.items())
    )
    return stream_rows(OURS, rows, place, name)


def _records(
    value: list[Any] | tuple[Any, ...], role: Role, name: str, said: Columns
) -> Dataset | RecordStream:
    from calipers.io.records.documents import plain

    if said.named:
        value = [said.renamed(row, name) if isinstance(row, Mapping) else row for row in value]
    first = value[0] if value and isinstance(value[0], Mapping) else {}
    keys = frozenset(map(str, first))
    form = _claimed(keys, name)
    if form is None and is_flat_table(keys) and all(isinstance(row, Mapping) for row in value):
        from calipers.io.tables.by_column import frame_of_rows
        from calipers.io.tables.long import read_long

        table = in_memory(frame_of_rows([dict(row) for row in value], name).lazy(), name)
        return read_long(replace(table, where=lambda row: f"{name}[{row}]"), role)
    hint = unknown_fields(keys, role) if form is None else ""
    form = form or OURS

    def place(number: int) -> str:
        return f"{name}[{number}]"

    rows = (
        plain(row, partial(place, i)) if isinstance(row, Mapping) else row
        for i, row in enumerate(value)
    )
    return replace(stream_rows(form, rows, place, name), hint=hint)


def _claimed(keys: frozenset[str], name: str) -> RowFormat | None:
    claimed = of_rows(keys)
    if len(claimed) > 1:
        raise InvalidInput(_two_forms(claimed, name, "take out the fields of one of them"))
    return claimed[0] if claimed else None


def _two_forms(claimed: Sequence[Format], name: str, advice: str) -> str:
    names = " or ".join(f"{form.title} ({form.name})" for form in claimed)
    return f"The form of {name} could be two: {names}; {advice}."
