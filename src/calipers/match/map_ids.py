"""Ids that are written in two ways, brought into one: without a prefix, an extension, or case."""

from dataclasses import replace

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth
from calipers.model.matching import IdMap
from calipers.model.run import Run

_COLUMNS = ("item", "document")


def map_ids(ground_truth: GroundTruth, run: Run, how: IdMap) -> tuple[GroundTruth, Run]:
    """Both sides with their ids, and the names of their documents, written in one way.

    Two ids of the ground truth that become the same are an error, and so are two ids of the run
    that become the id of one target: nobody could tell which of them is meant. What is forbidden
    is mapped too, so that no leak hides behind another spelling.
    """
    targets, forbidden, meant = ground_truth.targets, ground_truth.forbidden, {}
    for column in _COLUMNS:
        names = _mapping(targets[column], how)
        closed = {} if forbidden is None else _mapping(forbidden[column], how)
        meant[column] = _alone({**names, **closed}, "ground truth")
        targets = _renamed(targets, column, names)
        forbidden = None if forbidden is None else _renamed(forbidden, column, closed)
    truth = GroundTruth.from_targets(
        targets, queries=ground_truth.queries, tags=ground_truth.tags
    )  # checked again, as alternatives may have become one
    renamed = replace(
        truth,
        repeated=ground_truth.repeated + truth.repeated,
        notes=ground_truth.notes,
        forbidden=forbidden,
    )
    return renamed, _mapped_run(run, how, {column: set(names) for column, names in meant.items()})


def _mapped_run(run: Run, how: IdMap, wanted: dict[str, set[str]]) -> Run:
    seen: dict[str, dict[str, str]] = {column: {} for column in _COLUMNS}

    def mapped(frame: pl.DataFrame) -> pl.DataFrame:
        for column in _COLUMNS:
            if column in frame.columns:
                names = _mapping(frame[column], how)
                ours = {old: new for old, new in names.items() if new in wanted[column]}
                _alone(ours, "run", seen[column])
                frame = _renamed(frame, column, names)
        return frame

    def stages() -> dict[str, Run]:
        return {name: _mapped_run(stage, how, wanted) for name, stage in run.stages.items()}

    # Where the rows were on other machines, they are brought here.
    return replace(run, scan=lambda: map(mapped, run.scan()), stages=stages, stays=False, notes=())


def _mapping(column: pl.Series, how: IdMap) -> dict[str, str]:
    return {name: how.of(name) for name in column.drop_nulls().unique(maintain_order=True)}


def _renamed(frame: pl.DataFrame, column: str, names: dict[str, str]) -> pl.DataFrame:
    if not names:
        return frame
    return frame.with_columns(
        pl.col(column).replace_strict(list(names), list(names.values()), return_dtype=pl.String)
    )


def _alone(
    names: dict[str, str], side: str, before: dict[str, str] | None = None
) -> dict[str, str]:
    """By new id the old one; an error where two old ones have become the same."""
    found = {} if before is None else before
    for old, new in names.items():
        if found.setdefault(new, old) != old:
            raise InvalidInput(
                f"The ids {found[new]!r} and {old!r} of the {side} both become {new!r}, and nobody "
                "could tell which is meant; take less off the ids."
            )
    return found
