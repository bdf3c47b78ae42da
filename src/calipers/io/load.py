"""Anything a caller may hand in, as a ground truth and a run."""

import os
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.formats.ours import FORM as OURS
from calipers.io.memory import read_value
from calipers.io.registry import read_source
from calipers.io.source import Progress, Source
from calipers.model.dataset import Dataset, Role
from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run

ARGUMENT: dict[Role, str] = {"ground_truth": "ground_truth", "run": "run", "both": "data"}


def load(value: Any, role: Role, progress: Progress | None = None) -> Dataset:
    """A dataset from a path, a mapping, a list of records, or a polars, pandas or Arrow frame.

    Records and mappings may hold document objects of LangChain, LlamaIndex or Haystack.
    """
    if isinstance(value, Dataset):
        return value
    if isinstance(value, GroundTruth):
        return Dataset(ground_truth=value, kind="a ground truth")
    if isinstance(value, Run):
        return Dataset(run=value, kind="a run")
    if isinstance(value, str | os.PathLike):
        return read_source(Source(Path(value), progress), role)
    name = ARGUMENT[role]
    found = read_value(value, role, name)
    if found is not None:
        return found if isinstance(found, Dataset) else found.dataset()
    raise InvalidInput(
        f"{name} is a {type(value).__name__}; it can be a path, a mapping of query to items, a "
        "list of records, or a polars, pandas or Arrow table."
    )


def load_pair(
    data: Any, ground_truth: Any, run: Any, progress: Progress | None = None
) -> tuple[GroundTruth, Run]:
    """The ground truth and the run from one place or from two, with a sentence for mix-ups."""
    if data is not None and ground_truth is not None and run is None:
        return _pair(
            load(ground_truth, "ground_truth", progress), load(data, "run", progress),
            ground_truth, data,
        )  # fmt: skip
    if data is not None and run is not None and ground_truth is None:
        return _pair(load(data, "ground_truth", progress), load(run, "run", progress), data, run)
    if data is not None:
        if ground_truth is not None:
            raise InvalidInput(
                "Three inputs are given: data, ground_truth and run; give one file that holds "
                "both, or a ground truth and a run."
            )
        return _from_one(load(data, "both", progress), data)
    if ground_truth is None or run is None:
        have, lack = ("run", "ground truth") if ground_truth is None else ("ground truth", "run")
        if ground_truth is None and run is None:
            raise InvalidInput(
                "Nothing is given to evaluate; give a file that holds both, or a ground truth and "
                "a run."
            )
        raise InvalidInput(f"A {have} is given without a {lack}; both are needed.")
    return _pair(
        load(ground_truth, "ground_truth", progress), load(run, "run", progress), ground_truth, run
    )


def _from_one(dataset: Dataset, data: Any) -> tuple[GroundTruth, Run]:
    name = _name(data)
    if dataset.ground_truth is None and dataset.run is None:
        raise InvalidInput(
            f"{name} has neither results nor a ground truth; add 'retrieved' and 'ground_truth' "
            "to its records."
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
            f"{name} has no results, only a ground truth; {add}give a second file with --run "
            "(run= in Python)."
        )
    return dataset.ground_truth, dataset.run


def _pair(
    truth: Dataset, run: Dataset, truth_given: Any, run_given: Any
) -> tuple[GroundTruth, Run]:
    a, b = _name(truth_given, "ground_truth"), _name(run_given, "run")
    if truth.ground_truth is None and run.run is None:
        raise InvalidInput(
            f"The two files are swapped: {a} holds results ({truth.kind}) and {b} holds a ground "
            f"truth ({run.kind}); exchange them."
        )
    if truth.ground_truth is None:
        raise InvalidInput(
            f"The ground truth is missing: {a} holds results ({truth.kind}), as {b} does"
            f"{_why(truth)}; give a file with judgements as the ground truth."
        )
    if run.run is None:
        raise InvalidInput(
            f"The results are missing: {b} holds a ground truth ({run.kind}), as {a} does; give a "
            "file with results as the run."
        )
    return truth.ground_truth, run.run


def _why(dataset: Dataset) -> str:
    return f": {dataset.no_truth}" if dataset.no_truth else ""


def _name(given: Any, otherwise: str = "data") -> str:
    return str(given) if isinstance(given, str | os.PathLike) else otherwise
