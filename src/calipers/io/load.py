"""Anything a caller may hand in, as a ground truth and a run."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput, NoGroundTruth, SealedQueries
from calipers.io.files.open import Progress, Source, is_standard_input
from calipers.io.formats.ours import Ours
from calipers.io.records.gather import Room
from calipers.io.registry import read_source
from calipers.io.tables.columns import Columns
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import Run

SEAL = "calipers-seal"
"""The tag of sealed queries: it stands in every record, so that a copy is sealed as well."""


def load(
    value: Any,
    role: Role,
    progress: Progress | None = None,
    columns: Columns | None = None,
    room: Room | None = None,
    *,
    sealed: bool = False,
) -> Dataset:
    """A dataset from a path, a mapping, a list of records, or a polars, pandas or Arrow frame.

    Records and mappings may hold document objects of LangChain, LlamaIndex or Haystack.
    ``columns`` says which column is what; results in records may take ``room`` in memory. Every
    command that reads a ground truth comes here, so it is here that sealed queries are refused.
    """
    said = columns or Columns()
    try:
        found = _read(value, role, progress, said, room or Room())
        return found if sealed else not_sealed(found, role, value)
    except InvalidInput as error:
        if vain := said.said_in_vain():
            raise type(error)(f"{error}{vain}") from None
        raise


def not_sealed(found: Dataset, role: Role, value: Any) -> Dataset:
    """The same without a ground truth that is sealed; results beside one are nobody's secret."""
    truth = found.ground_truth
    if truth is None or SEAL not in truth.tags:
        return found
    if role == "run" and found.run is not None:
        return replace(found, ground_truth=None)
    name, file = _name(value, "The ground truth"), _name(value, "FILE")
    n = truth.n_queries - truth.tags[SEAL].null_count()
    raise SealedQueries(
        f"{name} holds sealed queries ({n:,} of {truth.n_queries:,}), which nothing is tuned on, "
        "so that they can tell luck from a gain; give the open part that `calipers seal` wrote, "
        f"or ask for one answer: `calipers confirm NEW OLD --sealed {file}`."
    )


def _read(value: Any, role: Role, progress: Progress | None, said: Columns, room: Room) -> Dataset:
    if isinstance(value, Dataset):
        return value
    if isinstance(value, GroundTruth):
        return Dataset(ground_truth=value, kind="a ground truth")
    if isinstance(value, Run):
        return Dataset(run=value, kind="a run")
    if isinstance(value, str | os.PathLike):
        return _at(value, role, progress, said, room)
    from calipers.io.values import ARGUMENT, read_value

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
        from calipers.io.tables.scan import in_memory
        from calipers.io.values import read_table

        address = str(place)
        found = read_table(in_memory(open_remote(address), shown(address)).renamed(said), role)
        return found if isinstance(found, Dataset) else found.dataset(room)
    if str(place).lower().startswith(("http://", "https://", "ftp://")):
        raise InvalidInput(
            f"{shown(str(place))} is an address of the web, and data is read from files and object "
            "stores (s3://, gs://, az://, hf://); download it first."
        )
    from calipers.io.files.folder import read_path

    return read_path(place, role, progress, said, room)


def load_run(
    value: Any,
    name: str | None = None,
    columns: Columns | None = None,
    room: Room | None = None,
    progress: Progress | None = None,
) -> Run:
    """What a retriever returned."""
    found = load(value, "run", progress, columns, room)
    if found.run is None:
        called = _name(value, name or "What is given")
        raise InvalidInput(
            f"{called} holds no results ({found.kind}); give what a retriever "
            "returned, such as a file of `calipers retrieve`."
        )
    return found.run


def load_ground_truth(value: Any, columns: Columns | None = None) -> GroundTruth:
    """What should be found."""
    found = load(value, "ground_truth", None, columns)
    if found.ground_truth is None:
        called = _name(value, "What is given")
        raise InvalidInput(f"{called} holds no ground truth ({found.kind}); name another.")
    return found.ground_truth


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

    if data is not None and (ground_truth is None) != (run is None):
        # Beside one that is named, it is the other.
        run = data if run is None else run
        ground_truth = data if ground_truth is None else ground_truth
    elif data is not None:
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
    ours = dataset.kind == Ours.title
    if dataset.ground_truth is None:
        add = "add 'ground_truth' to its records, or " if ours else ""
        raise NoGroundTruth(
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
