"""Load a ground truth and a run from any input a caller may give."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from calipers.errors import LOOK, InvalidInput, NoGroundTruth, SealedQueries, Settled
from calipers.io.build import MemoryBudget, with_ids
from calipers.io.files.open import Source, is_standard_input
from calipers.io.files.probe import Probe
from calipers.io.format import WholeFormat, is_of_spark
from calipers.io.records.json_files import MOST_COLUMNS, rows_of_columns
from calipers.io.registry import formats, read_probe, read_source
from calipers.io.tables.columns import Columns
from calipers.io.tables.scan import from_other_library, in_memory
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import RISING, Run
from calipers.shell import join_words

ARGUMENT: dict[Role, str] = {"ground_truth": "ground_truth", "run": "run", "both": "data"}
PLAIN = (list, tuple, dict, set, str, int, float, pl.DataFrame, pl.LazyFrame, type(None))
"""Types whose attributes need no inspection, also as the first value of a mapping."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def read_value(
    value: object,
    role: Role,
    name: str,
    columns: Columns | None = None,
    room: MemoryBudget | None = None,
) -> Dataset | None:
    """Read a value in memory; None if its type is unknown."""
    said = Columns() if columns is None else columns
    if is_of_spark(value):
        from calipers.io.spark import read_frame

        value = read_frame(value, role, name, said)
        if isinstance(value, Dataset):
            return value
    first = next(iter(value.values()), None) if isinstance(value, Mapping) else value
    if not isinstance(first, PLAIN):
        value = plain_object(value, name)
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        value = in_memory(value.lazy(), name)
    elif hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__"):
        value = in_memory(from_other_library(value, name).lazy(), name)
    elif not isinstance(value, Mapping | list | tuple):
        return None
    return read_probe(Probe(Source(Path(name)), said, value, room), role)


def scores_by_item(value: object) -> Dataset | None:
    """The run in a mapping of query to item to score; None unless it is clearly one."""
    if not isinstance(value, Mapping):
        return None
    from calipers.io.formats.mapping import scored_run

    name = ARGUMENT["run"]
    found = scored_run(value, name)
    if found is None:
        return None
    if rows_of_columns(value, name):
        return None
    probe = Probe(Source(Path(name)), given=value)
    is_other = any(
        isinstance(one, WholeFormat) and one.detect(probe) for one in formats()
    )
    return None if is_other else found


def grades_by_item(value: object) -> Dataset | None:
    """The ground truth in a large mapping of query to item to grade; None unless it is clearly one.

    A smaller one may be a table by columns or the object of another tool, which takes longer to
    rule out than to read it.
    """
    if not isinstance(value, Mapping) or len(value) <= MOST_COLUMNS:
        return None
    from calipers.io.formats.mapping import graded_truth
    from calipers.io.records.layout import question_in

    first = next(iter(value.values()))
    if not isinstance(first, dict) or question_in(first) is not None:
        return None  # records by number or id

    return graded_truth(value, ARGUMENT["ground_truth"])


def plain_object(value: Any, name: str) -> Any:
    """The content of an object of Hugging Face or ragas; any other value unchanged.

    >>> class Samples:
    ...     samples = ["one"]
    ...     def to_list(self):
    ...         return [{"user_input": "Who?"}]
    >>> plain_object(Samples(), "data")
    [{'user_input': 'Who?'}]
    """
    if isinstance(value, Mapping):
        return _one_split(value, name)
    if hasattr(value, "samples") and callable(getattr(value, "to_list", None)):
        # ragas: samples are objects, and ``to_list`` leaves out fields that are not set.
        return value.to_list()
    if _is_dataset(value):
        return _rows_of_dataset(value)
    return value


def _is_dataset(value: object) -> bool:
    """Whether a value is a Hugging Face ``Dataset`` or ``IterableDataset``."""
    attributes = ("features", "column_names", "with_format", "info")
    return all(hasattr(value, attribute) for attribute in attributes) and hasattr(
        value, "__iter__"
    )


def _rows_of_dataset(value: Any) -> Any:
    if hasattr(value, "__getitem__") and hasattr(value, "__len__"):
        # By its own method: its tables ignore what was selected, shuffled or sorted.
        return value.with_format("arrow")[:]
    return [dict(row) for row in value.with_format(None)]


def _one_split(value: Mapping[object, object], name: str) -> object:
    """The one dataset in a mapping of splits; any other mapping unchanged."""
    if not value or not all(_is_dataset(one) for one in value.values()):
        return value
    if len(value) > 1:
        splits = [str(one) for one in value]
        raise InvalidInput(
            f"{name} holds several splits: {', '.join(splits)}; give the one you mean, such as "
            f"{name}[{splits[0]!r}]."
        )
    return _rows_of_dataset(next(iter(value.values())))


SEAL = "calipers-seal"
"""The tag of sealed queries; every record has it, so that a copy is sealed as well."""


def load(
    value: object,
    role: Role,
    columns: Columns | None = None,
    room: MemoryBudget | None = None,
    *,
    sealed: bool = False,
) -> Dataset:
    """Load a dataset from a path, a mapping, a list of records, or a polars, pandas or Arrow frame.

    Records and mappings may hold document objects of LangChain, LlamaIndex or Haystack. ``columns``
    maps columns to fields; ``room`` limits the memory for results in records. Every command reads
    its ground truth here, so sealed queries are refused here.
    """
    said = Columns() if columns is None else columns
    try:
        found = _read(value, role, said, room or MemoryBudget())
        if "distance" in said.named:
            found = _of_distances(found)
        return found if sealed else not_sealed(found, role, value)
    except InvalidInput as error:
        # Of two files each may lack what is said for the other.
        vain = said.other_sheets() if said.beside else said.said_in_vain()
        if not vain:
            raise
        if isinstance(error, Settled):
            raise Settled(f"{error}{vain}", *error.answers) from None
        raise type(error)(f"{error}{vain}") from None


def _of_distances(dataset: Dataset) -> Dataset:
    """The data without the note that scores rise: the user said that they are distances."""
    run = dataset.run
    if run is None or not any(RISING in note for note in run.notes):
        return dataset
    notes = tuple(note for note in run.notes if RISING not in note)
    return replace(dataset, run=replace(run, notes=notes))


def not_sealed(dataset: Dataset, role: Role, value: object) -> Dataset:
    """Refuse a sealed ground truth; if only the run is wanted, return it without."""
    truth = dataset.ground_truth
    if truth is None or SEAL not in truth.tags:
        return dataset
    if role == "run" and dataset.run is not None:
        return replace(dataset, ground_truth=None)
    name = _name(value, "The ground truth")
    file = join_words([_name(value, "FILE")])
    n = truth.n_queries - truth.tags[SEAL].null_count()
    raise SealedQueries(
        f"{name} holds sealed queries ({n:,} of {truth.n_queries:,}); give the open part that "
        f"`calipers seal` wrote, or ask for one answer: `calipers confirm OLD NEW --sealed {file}`."
    )


def _read(value: object, role: Role, columns: Columns, room: MemoryBudget) -> Dataset:
    if isinstance(value, Dataset):
        return value
    if isinstance(value, GroundTruth):
        return Dataset(ground_truth=value, kind="a ground truth")
    if isinstance(value, Run):
        return Dataset(run=value, kind="a run")
    if isinstance(value, str | os.PathLike):
        return _at(value, role, columns, room)

    if role == "ground_truth" and not columns:
        graded = grades_by_item(value)
        if graded is not None:
            return graded
    name = ARGUMENT[role]
    dataset = read_value(value, role, name, columns, room)
    if dataset is not None:
        return dataset
    raise InvalidInput(
        f"{name} is a {type(value).__name__}; it can be a path, a mapping of query to items, a "
        "list of records, or a polars, pandas or Arrow table."
    )


def _at(
    place: str | os.PathLike[str], role: Role, columns: Columns, room: MemoryBudget
) -> Dataset:
    """Read a file or a folder in a known format."""
    path = Path(place)
    if _ADDRESS.match(str(place)):
        parts = urlsplit(str(place))
        # An address may hold a password or a signature.
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        raise InvalidInput(
            f"{shown} is an address, and data is read from files; download it first."
        )
    return read_source(Source(path), role, columns, room)


def load_run(
    value: object,
    name: str | None = None,
    columns: Columns | None = None,
    room: MemoryBudget | None = None,
) -> Run:
    """Load a run: what a retriever returned."""
    found = load(value, "run", columns, room)
    if found.run is None:
        called = _name(value, name or "What is given")
        if found.proposal and found.ground_truth is None:
            raise _missing(found, called, "results", "")
        raise InvalidInput(
            f"{called} holds no results ({found.kind}); give what a retriever "
            "returned, such as a file of `calipers retrieve`."
        )
    return found.run


def load_ground_truth(value: object, columns: Columns | None = None) -> GroundTruth:
    """Load a ground truth: what should be found."""
    found = load(value, "ground_truth", columns)
    if found.ground_truth is None:
        called = _name(value, "What is given")
        if found.proposal and found.run is None:
            raise _missing(found, called, "ground truth", "")
        raise InvalidInput(
            f"{called} holds no ground truth ({found.kind}); name another."
        )
    return found.ground_truth


def load_pair(
    data: object,
    ground_truth: object,
    run: object,
    columns: Columns | None = None,
    room: MemoryBudget | None = None,
) -> tuple[GroundTruth, Run]:
    """Load ground truth and run from one input or two, with clear errors for mix-ups."""
    if sum(map(is_standard_input, (data, ground_truth, run))) > 1:
        raise InvalidInput(
            "Standard input (-) is given twice, and it can be read once; give one of the two as a "
            "file."
        )

    def one(value: object, role: Role) -> Dataset:
        return load(value, role, columns, room)

    if data is not None and (ground_truth is None) != (run is None):
        # If one of the two is named, ``data`` is the other.
        run = data if run is None else run
        ground_truth = data if ground_truth is None else ground_truth
    elif data is not None:
        if ground_truth is not None:
            raise InvalidInput(
                "Three inputs are given: data, ground_truth and run; give one file that holds "
                "both, or a ground truth and a run."
            )
        both = one(data, "both")
        return _pair(both, both, data, data)
    if ground_truth is None or run is None:
        have, lack = (
            ("run", "ground truth") if ground_truth is None else ("ground truth", "run")
        )
        if ground_truth is None and run is None:
            raise InvalidInput(
                "Nothing is given to evaluate; give a file that holds results and ground truth, "
                "or a ground truth and a run, or questions and a retriever."
            )
        raise InvalidInput(f"A {have} is given without a {lack}; both are needed.")
    columns = Columns() if columns is None else columns
    if not any(map(is_standard_input, (ground_truth, run))):
        columns.beside["ground_truth"] = lambda said: load(run, "run", said, room)
        columns.beside["run"] = lambda said: load(ground_truth, "ground_truth", said)
    return _pair(one(ground_truth, "ground_truth"), one(run, "run"), ground_truth, run)


def _pair(
    truth: Dataset, run: Dataset, truth_given: object, run_given: object
) -> tuple[GroundTruth, Run]:
    """The ground truth of one dataset and the run of another, or of the same."""
    alone = truth is run
    a = _name(truth_given, "data" if alone else "ground_truth")
    b = _name(run_given, "data" if alone else "run")
    if (
        None not in (truth.run, run.ground_truth)
        and truth.ground_truth is None is run.run
    ):
        raise InvalidInput(
            f"The two files are swapped: {a} holds results ({truth.kind}) and {b} holds a ground "
            f"truth ({run.kind}); exchange them."
        )
    if truth.ground_truth is None:
        fix = "give one with --ground-truth (ground_truth= in Python)"
        raise _missing(
            truth, a, "ground truth", fix, NoGroundTruth if alone else InvalidInput
        )
    if run.run is None:
        fix = "give them with --run, or --retriever to ask (run= or retriever= in Python)"
        raise _missing(run, b, "results", fix)
    if (
        not alone
        and truth.run is None
        and run.ground_truth is None
        and _is_one_file(truth_given, run_given)
    ):
        raise InvalidInput(
            f"{a} is given as the ground truth and as the run, so it would be measured by itself; "
            "give the results of a retriever as the run."
        )
    return with_ids(truth.ground_truth, run.run), run.run


def _missing(
    dataset: Dataset,
    name: str,
    what: str,
    fix: str,
    error: type[InvalidInput] = InvalidInput,
) -> InvalidInput:
    """The error for a dataset without a part: the options that name it first, if there are any."""
    said = f"{name} has no {what}, only {'results' if dataset.run else 'a ground truth'}"
    said += f" ({dataset.kind})" if dataset.kind else ""
    if dataset.ground_truth is None and dataset.run is None:
        said = f"{name} has neither results nor a ground truth"
        fix = "add 'retrieved' and 'ground_truth' to its records, or name them with --column"
    if dataset.proposal:
        lines, *looks = dataset.proposal.split(LOOK)
        return error(LOOK.join([f"Say {lines}; {said}.", *looks]))
    why = (
        f": {dataset.no_truth}"
        if dataset.no_truth and dataset.ground_truth is None
        else ""
    )
    return error(f"{said}{why}; {fix}.")


def _is_one_file(one: Any, other: Any) -> bool:
    if not all(isinstance(given, str | os.PathLike) for given in (one, other)):
        return False
    return Path(one).is_file() and Path(other).is_file() and Path(one).samefile(other)


def _name(given: object, otherwise: str = "data") -> str:
    return str(given) if isinstance(given, str | os.PathLike) else otherwise
