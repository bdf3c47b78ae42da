"""What judges filled in, by pair of question and item and by judge."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from calipers.errors import InvalidInput
from calipers.io.records.label_files import Placed, read_labels
from calipers.labels.agreement_result import Judge, Opinions
from calipers.model.arrays import Floats
from calipers.model.labels import Label, Pair


class OpinionTable:
    """Every grade by pair and judge."""

    def __init__(self, labels: Any) -> None:
        """Take a path, a list of paths, or a mapping of judge to path or to a list of labels."""
        self._labelled: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        self._about: dict[Pair, Label] = {}
        self._grades: dict[Pair, dict[str, tuple[float, str]]] = {}
        for name, placed in _files(labels):
            self._take(name, placed)

    def _take(self, name: str, placed: Iterable[Placed]) -> None:
        rows = list(placed)
        if not any(label.grade is not None for _, label in rows):
            raise InvalidInput(
                f"{name} has no grade in any of its {len(rows)} rows; fill in 'grade' first."
            )
        for place, label in rows:
            judge = (label.judge or "").strip() or name
            self._labelled.setdefault(judge, 0)
            self._missing.setdefault(judge, 0)
            if label.grade is None:
                self._missing[judge] += 1
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
            self._labelled[judge] += before[1] == place

    @property
    def names(self) -> list[str]:
        """The judges in the order in which they were read."""
        return list(self._labelled)

    def opinions(self) -> dict[Pair, Opinions]:
        """What was said about each pair."""
        return {
            pair: Opinions(
                self._about[pair].judged(None, None),
                {judge: given[judge][0] for judge in self.names if judge in given},
            )
            for pair, given in self._grades.items()
        }

    def judges(self) -> tuple[Judge, ...]:
        """The judges with how much of the work each has done."""
        return tuple(Judge(name, n, self._missing[name]) for name, n in self._labelled.items())

    def matrix(self) -> Floats:
        """One row per pair and one column per judge; NaN: no grade."""
        nothing = (np.nan, "")
        rows = [
            [given.get(judge, nothing)[0] for judge in self.names]
            for given in self._grades.values()
        ]
        return np.array(rows, dtype=np.float64)


def _files(labels: Any) -> list[tuple[str, list[Placed]]]:
    if isinstance(labels, str | os.PathLike):
        labels = [labels]
    if isinstance(labels, Mapping):
        return [(str(name), _placed(value, str(name))) for name, value in labels.items()]
    if not isinstance(labels, Iterable) or isinstance(labels, bytes):
        raise InvalidInput(
            f"The labels are a {type(labels).__name__}; give a path, several paths, or a mapping "
            "of judge to path or labels."
        )
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
    if not isinstance(value, Iterable) or not all(isinstance(one, Label) for one in value):
        raise InvalidInput(
            f"The labels of {name} are a {type(value).__name__}; give a path, or a list of labels."
        )
    return [(f"{name}[{number}]", label) for number, label in enumerate(value)]
