"""Lists of grades beside the lists of targets that they grade."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from calipers.errors import Unclear
from calipers.io.records.schema import At
from calipers.io.tables.columns import IGNORE, Pairs
from calipers.io.tables.grades import grade_of
from calipers.names import JUDGING, NO_GRADES, PARALLEL, plain_name


def with_parallel_grades(
    record: Mapping[str, object], truth: Sequence[object] | Mapping[str, object], at: At
) -> Any:
    """The targets with the grades that stand at their places in ``grade``.

    Another list that seems to grade them is refused.
    """
    grades = record.get("grade")
    if isinstance(grades, list) and isinstance(truth, list) and len(grades) == len(truth):
        truth = list(map(_with_grade, truth, grades))
    for key in _beside_targets(record, truth):
        by_place: tuple[Pairs, ...] = ()
        values = record[key]
        if (
            isinstance(values, list)
            and len(values) == len(truth)
            and all(map(_grades_one, values))
        ):
            by_place = ((("grade", key),),)
        raise Unclear(
            f"the field {key!r} at {at()} seems to grade the targets",
            *by_place,
            ((IGNORE, key),),
            otherwise='Write each target with its grade, {"id": "a", "grade": 2}',
        )
    return truth


def _beside_targets(
    record: Mapping[str, object], truth: Sequence[object] | Mapping[str, object]
) -> Iterator[str]:
    """The fields that list grades by their name, or by a word in it and their length.

    >>> results = {"retrieved": ["a", "b", "c"], "relevance_scores": [2, 1]}
    >>> [*_beside_targets(results, ["a", "d"])], [*_beside_targets(results, ["a"])]
    (['relevance_scores'], [])
    """
    results = record.get("retrieved")
    returned = len(results) if isinstance(results, list) else 0
    for key, values in record.items():
        if not isinstance(values, list) or key == "grade":
            continue
        name = plain_name(str(key))
        grades = name in PARALLEL and not any(
            isinstance(one, Mapping | list) for one in values
        )
        as_long = 0 < len(values) == len(truth) != returned
        if grades or (as_long and says_grades(name) and all(map(_is_step, values))):
            yield key


@lru_cache(maxsize=256)
def says_grades(name: str) -> bool:
    """Whether a word in a name says that its numbers are grades.

    >>> says_grades("relevance_scores"), says_grades("relevant_pages"), says_grades("scores")
    (True, False, False)
    """
    words = {*plain_name(name).split("_")}
    return bool(words & JUDGING) and not words & NO_GRADES


def _is_step(value: object) -> bool:
    """Whether a value is a step of a scale from 0 to 10."""
    return isinstance(value, int | float) and value in range(11)


def _grades_one(value: object) -> bool:
    """Whether a value is a grade, as a number or in words."""
    return value is not None and grade_of(value) is not None


def _with_grade(target: object, grade: object) -> dict[str, object]:
    """A target with the grade that stands at its place in another list."""
    named = target if isinstance(target, Mapping) else {"id": target}
    return {**named, "grade": grade}
