"""Several opinions become one ground truth."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal, get_args

from calipers.errors import InvalidInput
from calipers.model.labels import Label, Pair, is_machine

How = Literal["majority", "mean", "max", "min"]
Ties = Literal["leave", "max", "min", "mean"]
By = Literal["id", "quote", "span"]
HOW: tuple[str, ...] = get_args(How)
TIES: tuple[str, ...] = get_args(Ties)
BY: tuple[str, ...] = get_args(By)


@dataclass(frozen=True)
class Opinions:
    """What every judge said about one question and one item."""

    about: Label
    """The pair itself: the question, the item, its text and place."""
    grades: Mapping[str, float]
    """By judge, in the order of the judges."""

    @property
    def spread(self) -> float:
        """The largest difference between two judges."""
        return max(self.grades.values()) - min(self.grades.values())

    def to_dict(self) -> dict[str, Any]:
        """The opinions as plain values."""
        return {
            "query_id": self.about.query_id, "query": self.about.query, "item": self.about.item,
            "text": self.about.text, "document": self.about.document,
            "grades": dict(self.grades), "spread": self.spread,
        }  # fmt: skip


def disagreements(opinions: Iterable[Opinions]) -> tuple[Opinions, ...]:
    """Where two judges differ, the largest difference first, else in the order of the files."""
    return tuple(sorted((one for one in opinions if one.spread > 0), key=lambda one: -one.spread))


def merged_grade(grades: Sequence[float], how: How, ties: Ties = "leave") -> float | None:
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
    return None if ties == "leave" else _combined(most, ties)


def _combined(grades: Sequence[float], how: str) -> float:
    if how == "mean":
        return fsum(grades) / len(grades)
    return max(grades) if how == "max" else min(grades)


@dataclass(frozen=True, eq=False)
class Merged:
    """A ground truth out of all opinions, in our form."""

    records: tuple[dict[str, Any], ...]
    targets: int
    """Pairs that have a grade now."""
    tied: tuple[Opinions, ...]
    """Pairs left out: no grade has more votes than every other."""
    how: How
    ties: Ties

    def to_dict(self) -> dict[str, Any]:
        """The counts and the ties; the records themselves go to a file."""
        return {
            "how": self.how, "ties": self.ties, "queries": len(self.records),
            "targets": self.targets, "tied": [one.to_dict() for one in self.tied],
        }  # fmt: skip


def merge(
    opinions: Mapping[Pair, Opinions], how: How = "majority", ties: Ties = "leave", by: By = "id"
) -> Merged:
    """One record per question, with a graded target for every item that was judged.

    A question all of whose grades come from a language model is tagged with its name.
    """
    targets: dict[str, list[dict[str, Any]]] = {}
    texts: dict[str, str | None] = {}
    judges: dict[str, dict[str, None]] = {}
    tied: list[Opinions] = []
    for one in opinions.values():
        grade = merged_grade(list(one.grades.values()), how, ties)
        if grade is None:
            tied.append(one)
            continue
        query = one.about.query_id
        target = {**_target(one.about, by), "grade": _whole(grade)}
        targets.setdefault(query, []).append(target)
        texts[query] = texts.get(query) or one.about.query
        judges.setdefault(query, {}).update(dict.fromkeys(one.grades))
    records = tuple(_record(q, texts[q], list(judges[q]), found) for q, found in targets.items())
    return Merged(records, sum(map(len, targets.values())), tuple(tied), how, ties)


def _record(
    query: str, text: str | None, judges: list[str], targets: list[dict[str, Any]]
) -> dict[str, Any]:
    named = text is not None and text != query
    record: dict[str, Any] = {"id": query, "query": text} if named else {"query": query}
    machines = [judge for judge in judges if is_machine(judge)]
    if machines:
        source = " and ".join(machines)
        record["tags"] = {"source": source if machines == judges else f"people and {source}"}
    record["ground_truth"] = targets
    return record


def _target(about: Label, by: By) -> dict[str, Any]:
    place = {"document": about.document, "start": about.start, "end": about.end}
    if by == "span":
        lacking = [name for name, value in place.items() if value is None]
        if lacking:
            raise InvalidInput(_lacks(about, lacking[0], by))
        return place
    known = {} if about.document is None else {"document": about.document}
    if by == "id" and about.item is not None:
        return {"id": about.item, **known}
    if about.text is None:
        raise InvalidInput(_lacks(about, "text", by))
    return {"quote": about.text, **known}


def _lacks(about: Label, what: str, by: By) -> str:
    return (
        f"The item {about.item!r:.60} of the query {about.query_id!r:.60} has no {what}, which a "
        f"ground truth by {by} needs; write it by id, or draft again from runs that have it."
    )


def _whole(grade: float) -> float | int:
    return int(grade) if float(grade).is_integer() else grade
