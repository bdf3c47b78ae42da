"""What judges filled in, by pair of question and item and by judge, and the ground truth of it."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.records.entries import kept_records
from calipers.io.records.label_files import Placed, read_labels
from calipers.labels.choices import How, WhenTied
from calipers.labels.result import Judge, Merged, Opinions
from calipers.model.arrays import Floats
from calipers.model.labels import JUDGED_BY, MACHINE, Label, Pair, TargetsAs, source_of


class OpinionTable:
    """Every grade by pair and judge."""

    def __init__(self, labels: Any) -> None:
        """Take a path, a list of paths, or a mapping of judge to path or to a list of labels."""
        self._labelled: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        self._about: dict[Pair, Label] = {}
        self._grades: dict[Pair, dict[str, tuple[float, str]]] = {}
        self._by_file: set[str] = set()
        for name, placed in _files(labels):
            self._take(name, placed)
            if not isinstance(labels, Mapping) and any(not one.judge for _, one in placed):
                self._by_file.add(name)

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

    def sources(self, machine: str | None = None) -> dict[str, str]:
        """Whose the labels of each judge are; one known by the name of a file alone is left out."""
        found = {one: source_of(one) for one in self.names if one not in self._by_file}
        if machine is not None:
            found[machine] = MACHINE + machine.removeprefix(MACHINE)
        return found

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


def disagreements(opinions: Iterable[Opinions]) -> tuple[Opinions, ...]:
    """Where two judges differ, the largest difference first, else in the order of the files."""
    return tuple(sorted((one for one in opinions if one.spread > 0), key=lambda one: -one.spread))


def merged_grade(grades: Sequence[float], how: How, when_tied: WhenTied = "leave") -> float | None:
    """One grade out of several; None where two grades were given equally often.

    >>> merged_grade([1, 1, 0], "majority"), merged_grade([1, 0], "majority")
    (1, None)
    >>> merged_grade([1, 0], "majority", "max"), merged_grade([1, 0], "mean")
    (1, 0.5)
    """
    if how != "majority":
        return _combined(grades, how)
    counted = Counter(grades).most_common()
    most = [grade for grade, count in counted if count == counted[0][1]]
    if len(most) == 1:
        return most[0]
    return None if when_tied == "leave" else _combined(most, when_tied)


def _combined(grades: Sequence[float], how: str) -> float:
    if how == "mean":
        return fsum(grades) / len(grades)
    return max(grades) if how == "max" else min(grades)


def merge_opinions(
    opinions: Mapping[Pair, Opinions],
    how: How = "majority",
    when_tied: WhenTied = "leave",
    targets_as: TargetsAs = "id",
    sources: Mapping[str, str] | None = None,
) -> Merged:
    """One record per question, with a graded target for every item that was judged.

    ``sources`` says whose the labels of each judge are; a question is tagged with those it has,
    where they are known.
    """
    targets: dict[str, list[dict[str, Any]]] = {}
    texts: dict[str, str | None] = {}
    judges: dict[str, dict[str, None]] = {}
    tied: list[Opinions] = []
    for one in opinions.values():
        grade = merged_grade(list(one.grades.values()), how, when_tied)
        if grade is None:
            tied.append(one)
            continue
        query = one.about.query_id
        whole = int(grade) if float(grade).is_integer() else grade
        target = {**_target(one.about, targets_as), "grade": whole}
        targets.setdefault(query, []).append(target)
        texts[query] = texts.get(query) or one.about.query
        judges.setdefault(query, {}).update(dict.fromkeys(one.grades))
    known = sources or {}
    records = tuple(
        _record(q, texts[q], [known.get(one) for one in judges[q]], found)
        for q, found in targets.items()
    )
    return Merged(
        records,
        sum(map(len, targets.values())),
        tuple(tied),
        how,
        when_tied,
        _left_without(tied, targets),
    )


def _left_without(
    tied: list[Opinions], targets: Mapping[str, list[dict[str, Any]]]
) -> tuple[str, ...]:
    """Questions of tied pairs in which some judge saw something relevant, and nothing is left."""
    seen = (one.about.query_id for one in tied if any(grade > 0 for grade in one.grades.values()))
    return tuple(
        query
        for query in dict.fromkeys(seen)
        if not any(target["grade"] > 0 for target in targets.get(query, ()))
    )


def added_to(merged: Merged, add_to: Any) -> Merged:
    """The merged records, with the ground truth they are added to; contradictions are errors."""
    records = list(merged.records)
    if add_to is not None:
        records = _added(records, add_to)
    if not records:
        raise InvalidInput(
            "No grade is left to make a ground truth of: every pair is a tie; say which grade "
            "to take (--when-tied max, min or mean)."
        )
    load(records, "ground_truth")
    return replace(merged, records=tuple(records))


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


def _record(
    query: str, text: str | None, sources: list[str | None], targets: list[dict[str, Any]]
) -> dict[str, Any]:
    named = text is not None and text != query
    record: dict[str, Any] = {"id": query, "query": text} if named else {"query": query}
    said = sorted({one for one in sources if one is not None})
    if said and None not in sources:
        record["tags"] = {JUDGED_BY: ",".join(said)}
    record["ground_truth"] = targets
    return record


def _target(about: Label, targets_as: TargetsAs) -> dict[str, Any]:
    place = {"document": about.document, "start": about.start, "end": about.end}
    if targets_as == "span":
        lacking = [name for name, value in place.items() if value is None]
        if lacking:
            raise InvalidInput(_lacks(about, lacking[0], targets_as))
        return place
    known = {} if about.document is None else {"document": about.document}
    if targets_as == "id" and about.item is not None:
        return {"id": about.item, **known}
    if about.text is None:
        raise InvalidInput(_lacks(about, "text", targets_as))
    return {"quote": about.text, **known}


def _lacks(about: Label, what: str, targets_as: TargetsAs) -> str:
    return (
        f"The item {about.item!r:.60} of the query {about.query_id!r:.60} has no {what}, which a "
        f"ground truth by {targets_as} needs; write it by id, or draft again from runs that have "
        "it."
    )
