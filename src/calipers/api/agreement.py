"""Read labelled files back: do the judges agree, and what is the ground truth they make?"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calipers.analyse.agreement import (
    SCALES,
    WEIGHTS,
    Coefficient,
    Scale,
    Weights,
    check_choice,
    coefficients,
)
from calipers.analyse.merging import (
    BY,
    HOW,
    TIES,
    By,
    How,
    Merged,
    Opinions,
    Ties,
    disagreements,
)
from calipers.analyse.merging import merge as merge_opinions
from calipers.errors import InvalidInput
from calipers.io.kept_records import kept_records, write_records
from calipers.io.labels import Placed, read_labels
from calipers.io.load import load
from calipers.model.labels import Label, Pair


@dataclass(frozen=True)
class Judge:
    """One judge, and how much of the work is done."""

    name: str
    labelled: int
    missing: int
    """Rows without a grade."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far judges agree, where they do not, and the ground truth they make together."""

    judges: tuple[Judge, ...]
    opinions: Mapping[Pair, Opinions]
    """Every pair of question and item that somebody judged."""
    coefficients: tuple[Coefficient, ...]
    disagreements: tuple[Opinions, ...]
    scale: Scale
    weights: Weights
    merged: Merged | None = None
    """Where a merge was asked for."""

    @property
    def shared(self) -> int:
        """Pairs that at least two judged."""
        return sum(len(one.grades) > 1 for one in self.opinions.values())

    def write(self, path: str | Path) -> None:
        """The merged ground truth as JSON lines, whole or not at all."""
        if self.merged is None:
            raise InvalidInput("There is no merged ground truth to write; ask for one with merge=.")
        write_records(list(self.merged.records), path)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {
            "judges": [
                {"name": one.name, "labelled": one.labelled, "missing": one.missing}
                for one in self.judges
            ],
            "pairs": len(self.opinions),
            "pairs_judged_by_several": self.shared,
            "scale": self.scale,
            "weights": self.weights,
            "coefficients": [one.to_dict() for one in self.coefficients],
            "disagreements": [one.to_dict() for one in self.disagreements],
            "merged": None if self.merged is None else self.merged.to_dict(),
        }


def agreement(
    labels: Any,
    *,
    scale: Scale = "ordinal",
    weights: Weights = "none",
    merge: How | None = None,
    ties: Ties = "leave",
    by: By = "id",
    add_to: Any = None,
) -> Agreement:
    """Read what judges filled in and say how far they agree.

    ``labels`` is a path, a list of paths, or a mapping of judge to path or to a list of labels;
    a row without a judge belongs to the judge that its file is named for. ``scale`` is that of
    Krippendorff's alpha, ``weights`` ("none", "linear", "quadratic") those of Cohen's kappa.

    ``merge`` ("majority", "mean", "max", "min") makes one ground truth of all opinions. In a
    majority, two grades with equally many votes are left out and reported, unless ``ties`` says
    which to take ("max", "min", "mean"). Its targets are recognised ``by`` "id", "quote" or
    "span". ``add_to`` is a ground truth to which the new judgements are added.

    >>> anna = [Label("q", item="a", grade=1), Label("q", item="b", grade=0)]
    >>> bo = [Label("q", item="a", grade=1), Label("q", item="b", grade=2)]
    >>> found = agreement({"anna": anna, "bo": bo}, merge="majority")
    >>> found.disagreements[0].grades
    {'anna': 0, 'bo': 2}
    >>> found.merged.records
    ({'query': 'q', 'ground_truth': [{'id': 'a', 'grade': 1}]},)
    """
    check_choice("scale", scale, SCALES)
    check_choice("weights", weights, WEIGHTS)
    check_choice("ties", ties, TIES)
    check_choice("by", by, BY)
    if merge is not None:
        check_choice("merge", merge, HOW)
    table = _Table()
    for name, placed in _files(labels):
        table.take(name, placed)
    opinions = table.opinions()
    merged = None if merge is None else merge_opinions(opinions, merge, ties, by)
    if merged is not None:
        merged = _checked(merged, add_to)
    return Agreement(
        judges=table.judges(), opinions=opinions,
        coefficients=coefficients(table.matrix(), list(table.labelled), scale, weights),
        disagreements=disagreements(opinions.values()), scale=scale, weights=weights,
        merged=merged,
    )  # fmt: skip


class _Table:
    """Opinions as they are read: by pair and judge."""

    def __init__(self) -> None:
        self.labelled: dict[str, int] = {}
        self.missing: dict[str, int] = {}
        self._about: dict[Pair, Label] = {}
        self._grades: dict[Pair, dict[str, tuple[float, str]]] = {}

    def take(self, name: str, placed: Iterable[Placed]) -> None:
        rows = list(placed)
        if not any(label.grade is not None for _, label in rows):
            raise InvalidInput(
                f"{name} has no grade in any of its {len(rows)} rows; fill in 'grade' first."
            )
        for place, label in rows:
            judge = (label.judge or "").strip() or name
            self.labelled.setdefault(judge, 0)
            self.missing.setdefault(judge, 0)
            if label.grade is None:
                self.missing[judge] += 1
                continue
            self._about.setdefault(label.pair, label)
            given = self._grades.setdefault(label.pair, {})
            before = given.setdefault(judge, (label.grade, place))
            if before[0] != label.grade:
                raise InvalidInput(
                    f"The judge {judge!r} gave two grades to one item: query {label.query_id!r}, "
                    f"item {label.item or label.text!r:.60} is graded {before[0]:g} at {before[1]} "
                    f"and {label.grade:g} at {place}; keep one, or name the judges apart."
                )
            self.labelled[judge] += before[1] == place

    def opinions(self) -> dict[Pair, Opinions]:
        order = list(self.labelled)
        return {
            pair: Opinions(
                self._about[pair].judged(None, None),
                {judge: given[judge][0] for judge in order if judge in given},
            )
            for pair, given in self._grades.items()
        }

    def judges(self) -> tuple[Judge, ...]:
        return tuple(Judge(name, n, self.missing[name]) for name, n in self.labelled.items())

    def matrix(self) -> Any:
        nothing = (np.nan, "")
        rows = [
            [given.get(judge, nothing)[0] for judge in self.labelled]
            for given in self._grades.values()
        ]
        return np.array(rows, dtype=np.float64)


def _files(labels: Any) -> list[tuple[str, list[Placed]]]:
    if isinstance(labels, str | os.PathLike):
        labels = [labels]
    if isinstance(labels, Mapping):
        return [(str(name), _placed(value, str(name))) for name, value in labels.items()]
    paths = list(labels)
    if not paths:
        raise InvalidInput("No labelled file is given; give at least one.")
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise InvalidInput(
                f"A labelled file is given as a {type(path).__name__}; give paths, or a mapping of "
                "judge to labels."
            )
    stems = [Path(path).name.split(".")[0] or str(path) for path in paths]
    names = stems if len(set(stems)) == len(stems) else list(map(str, paths))
    return [(name, read_labels(path)) for name, path in zip(names, paths, strict=True)]


def _placed(value: Any, name: str) -> list[Placed]:
    if isinstance(value, str | os.PathLike):
        return read_labels(value)
    return [(f"{name}[{number}]", label) for number, label in enumerate(value)]


def _checked(merged: Merged, add_to: Any) -> Merged:
    """The merged records, with the ground truth they are added to; contradictions are errors."""
    records = list(merged.records)
    if add_to is not None:
        records = _added(records, add_to)
    if not records:
        raise InvalidInput(
            "No grade is left to make a ground truth of: every pair is a tie; say which grade "
            "to take (--ties max, min or mean)."
        )
    load(records, "ground_truth")
    return Merged(tuple(records), merged.targets, merged.tied, merged.how, merged.ties)


def _added(records: list[dict[str, Any]], add_to: Any) -> list[dict[str, Any]]:
    found = load(add_to, "ground_truth")
    if found.ground_truth is None:
        raise InvalidInput(f"{add_to} holds no ground truth ({found.kind}); name another.")
    before = {
        str(record.get("id") or record["query"]): dict(record)
        for record in kept_records(add_to, found)
    }
    for record in records:
        key = str(record.get("id") or record["query"])
        known = before.setdefault(key, record)
        if known is not record:
            known["ground_truth"] = [*_as_list(known["ground_truth"]), *record["ground_truth"]]
    return list(before.values())


def _as_list(targets: Any) -> list[Any]:
    if isinstance(targets, Mapping):
        return [{"id": item, "grade": grade} for item, grade in targets.items()]
    return list(targets)
