"""How far judges agree beyond chance: Krippendorff's alpha and Cohen's kappa.

Every coefficient is computed from a table with one row per judged item and one column
per judge; NaN is a label that is missing. A value of 1 is full agreement, 0 is what chance gives,
below 0 is worse than chance. Where only one grade was ever used, chance alone explains everything
and there is no value.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from calipers.labels.result import (
    Agreement,
    Coefficient,
    Conflict,
    Counted,
    JudgeSummary,
    MachineCheck,
)
from calipers.model.arrays import Bools, Floats
from calipers.model.labels import is_machine
from calipers.model.scores import Interval
from calipers.statistics.agreement_interval import agreement_interval
from calipers.statistics.score_interval import wilson
from calipers.store.pool import LabelState, LogEntry, PoolItem

LEAST_SHARED = 10
"""The smallest number of results that two judges must share for a coefficient."""
CONFIDENCE = 0.95
NOTHING_SHARED = "nobody judged the same thing"
ONE_GRADE = "only one grade was used"


def cohen_kappa(table: Floats, judges: Sequence[str] = ("first", "second")) -> Coefficient:
    """Cohen's kappa of two judges, over the items that both judged.

    >>> table = np.array([[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15, float)
    >>> round(cohen_kappa(table).value, 3)
    0.4
    """
    both = table[~np.isnan(table).any(axis=1)]
    known: dict[str, Any] = {"name": "Cohen's kappa", "judges": tuple(judges), "n": len(both)}
    grades = np.unique(both)
    if len(grades) < 2:
        return Coefficient(**known, value=None, why_not=ONE_GRADE if len(both) else NOTHING_SHARED)
    shares = [(both[:, column, None] == grades).mean(axis=0) for column in (0, 1)]
    same, chance = float((both[:, 0] == both[:, 1]).mean()), float(shares[0] @ shares[1])
    value = (same - chance) / (1 - chance)
    return Coefficient(**known, value=value, observed=same, expected=chance)


def krippendorff_alpha(table: Floats, judges: Sequence[str]) -> Coefficient:
    """Krippendorff's alpha for an ordinal scale, over the items that at least two judged.

    >>> table = np.array([[1, 1, 1], [0, 0, np.nan], [1, 0, 1], [0, np.nan, np.nan]])
    >>> found = krippendorff_alpha(table, ["a", "b", "c"])
    >>> round(found.value, 3), found.n
    (0.533, 3)
    """
    paired = table[(~np.isnan(table)).sum(axis=1) >= 2]
    known: dict[str, Any] = {
        "name": "Krippendorff's alpha, ordinal",
        "judges": tuple(judges),
        "n": len(paired),
    }
    grades = np.unique(paired[~np.isnan(paired)])
    if len(grades) < 2:
        why = ONE_GRADE if len(paired) else NOTHING_SHARED
        return Coefficient(**known, value=None, why_not=why)
    # Coincidence matrix: how often two judges of one item give c and k; each label counts once.
    counts = (paired[:, :, None] == grades).sum(axis=1)
    share = counts / (counts.sum(axis=1) - 1)[:, None]
    together = share.T @ counts - np.diag(share.sum(axis=0))
    # The ordinal distance of two grades counts the labels given between them.
    used = counts.sum(axis=0).astype(float)
    place = np.cumsum(used) - used / 2
    distance = np.subtract.outer(place, place) ** 2
    total = used.sum()
    observed = float((together * distance).sum() / total)
    expected = float((np.outer(used, used) * distance).sum() / (total * (total - 1)))
    value = 1 - observed / expected
    return Coefficient(**known, value=value, observed=observed, expected=expected)


def coefficients(table: Floats, judges: Sequence[str]) -> tuple[Coefficient, ...]:
    """Alpha over all judges and kappa for each pair with ten shared results or more."""

    def measured(some: Floats, measure: Callable[[Floats], Coefficient]) -> Iterator[Coefficient]:
        one = measure(some)
        if one.n >= LEAST_SHARED:
            ends = agreement_interval(some, lambda drawn: measure(drawn).value, CONFIDENCE)
            yield replace(one, interval=ends and Interval(*ends, CONFIDENCE, "jackknife"))

    if len(judges) < 2:
        return ()
    # Alpha ignores who gave which grade, so far fewer distinct rows remain.
    found = [*measured(np.sort(table, axis=1), lambda some: krippendorff_alpha(some, judges))]
    for a, b in combinations(range(len(judges)), 2):
        names = (judges[a], judges[b])
        found += measured(table[:, [a, b]], lambda some, names=names: cohen_kappa(some, names))  # type: ignore[misc]
    return tuple(found)


def compare_with_people(
    judge: str, machine: Bools, people: Bools, confidence: float = CONFIDENCE, undecided: int = 0
) -> MachineCheck:
    """Compare a machine's relevant labels with those of human annotators."""
    pairs = (machine & people, ~machine & people, machine & ~people, ~machine & ~people)
    both, missed, invented, neither = (int(np.count_nonzero(pair)) for pair in pairs)

    def share(count: int, n: int) -> tuple[float | None, Interval | None]:
        ends = wilson(count, n, confidence)
        return (count / n, Interval(*ends, confidence, "wilson")) if ends else (None, None)

    found = (*share(both, both + missed), *share(neither, neither + invented))
    return MachineCheck(judge, both, missed, invented, neither, *found, undecided)


@dataclass(frozen=True)
class Decision:
    """The labels of one item, and the grade they result in."""

    labels: Mapping[str, LogEntry]
    grade: float | None
    how: Counted
    final: LogEntry | None

    @property
    def grades(self) -> dict[str, float]:
        """The grades by judge."""
        return {who: one.grade for who, one in self.labels.items() if one.grade is not None}


def decide(state: LabelState, item: int, *, machines: bool = False) -> Decision | None:
    """Return the final or the majority grade of an item; None without any label.

    Labels of language models count only with ``machines``.
    """
    labels = {
        who: one for who, one in state.labels(item).items() if machines or not is_machine(who)
    }
    final = state.final(item)
    if final is not None:
        return Decision(labels, final.grade, "final", final)
    if not labels:
        return None
    counted = Counter(one.grade for one in labels.values()).most_common()
    reopened = state.reopened(item)
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return Decision(labels, None, "tie", reopened)
    how: Counted = "majority" if len(counted) > 1 else "agreed" if len(labels) > 1 else "one"
    return Decision(labels, counted[0][0], how, reopened)


def agreement(items: Sequence[PoolItem], state: LabelState) -> Agreement:
    """How far the judges of some items agree; language models are compared with humans."""
    decided = {item: one for item in state.touched() if (one := decide(state, item)) is not None}
    grades = {item: one.grades for item, one in decided.items() if one.labels}
    people = list(dict.fromkeys(who for said in grades.values() for who in said))
    shared = [said for said in grades.values() if len(said) > 1]
    table = np.array([[said.get(who, np.nan) for who in people] for said in grades.values()])
    conflicts = [
        Conflict(items[item], one.grades, one.grade, one.how, one.final, state.notes(item))
        for item, one in decided.items()
        if len(set(one.grades.values())) > 1 or (one.how == "final" and one.grades)
    ]
    machines = [one for one in state.judges() if is_machine(one)]
    everybody = [
        one
        for one in state.judges()
        if one not in machines and any(entry.kind != "final" for entry in state.of_judge(one))
    ]
    return Agreement(
        tuple(_summary(one, state, grades) for one in everybody),
        len(grades),
        len(shared),
        sum(len(set(said.values())) == 1 for said in shared),
        coefficients(table, people) if people else (),
        tuple(sorted(conflicts, key=lambda one: -_spread(one.grades))),
        tuple(found for name in machines if (found := _machine(name, state, decided)) is not None),
    )


def _spread(grades: Mapping[str, float]) -> float:
    return max(grades.values()) - min(grades.values())


def _summary(
    judge: str, state: LabelState, grades: Mapping[int, Mapping[str, float]]
) -> JudgeSummary:
    pairs = [
        (said[judge], [grade for who, grade in said.items() if who != judge])
        for said in grades.values()
        if judge in said and len(said) > 1
    ]
    n, entries = len(pairs), state.of_judge(judge)
    given = [state.current(item, judge) for item in {one.item for one in entries}]
    kinds = Counter(one.kind for one in given if one is not None)
    return JudgeSummary(
        judge,
        kinds["label"],
        kinds["skip"],
        len({one.item for one in entries if one.note}),
        entries[-1].saved if entries else None,
        n,
        sum(others.count(own) / len(others) for own, others in pairs) / n if n else None,
        sum(own - sum(others) / len(others) for own, others in pairs) / n if n else None,
    )


def _machine(name: str, state: LabelState, decided: Mapping[int, Decision]) -> MachineCheck | None:
    """Compare a machine with the human grade, on items that both labelled."""
    said = [(state.current(item, name), one.grade) for item, one in decided.items()]
    both = [(one.grade, grade) for one, grade in said if one is not None and one.grade is not None]
    used = np.array([(mine > 0, theirs > 0) for mine, theirs in both if theirs is not None])
    if not len(used):
        return None
    return compare_with_people(name, used[:, 0], used[:, 1], undecided=len(both) - len(used))
