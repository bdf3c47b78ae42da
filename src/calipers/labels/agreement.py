"""Which grade counts, and how far judges agree beyond chance."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from calipers.labels.agreement_result import (
    LEAST_SHARED,
    Agreement,
    Alpha,
    Conflict,
    Counted,
    Decision,
    JudgeSummary,
    MachineCheck,
)
from calipers.model.arrays import Bools, Floats
from calipers.model.labels import is_machine
from calipers.model.scores import Interval
from calipers.statistics.agreement_interval import agreement_interval, krippendorff_alpha
from calipers.statistics.score_interval import wilson
from calipers.store.pool import LabelState, PoolItem

CONFIDENCE = 0.95


def alpha_of(table: Floats) -> Alpha | None:
    """Alpha over all judges; None with fewer than ten shared results.

    The table has one row per judged item and one column per judge; NaN is a missing
    label.
    """
    # Alpha ignores who gave which grade, so far fewer distinct rows remain.
    every = np.sort(table, axis=1)
    value, n = krippendorff_alpha(every)
    if n < LEAST_SHARED:
        return None
    ends = agreement_interval(every, CONFIDENCE)
    return Alpha(value, n, ends and Interval(*ends, CONFIDENCE, "jackknife"))


def compare_with_people(
    judge: str, machine: Bools, people: Bools, undecided: int
) -> MachineCheck:
    """Compare a machine's relevant labels with those of human annotators."""
    both = int(np.count_nonzero(machine & people))
    missed = int(np.count_nonzero(~machine & people))
    invented = int(np.count_nonzero(machine & ~people))
    neither = int(np.count_nonzero(~machine & ~people))
    relevant = both + missed
    irrelevant = neither + invented
    return MachineCheck(
        judge,
        both=both,
        missed=missed,
        invented=invented,
        neither=neither,
        sensitivity=both / relevant if relevant else None,
        sensitivity_interval=_share_interval(both, relevant),
        specificity=neither / irrelevant if irrelevant else None,
        specificity_interval=_share_interval(neither, irrelevant),
        undecided=undecided,
    )


def _share_interval(count: int, n: int) -> Interval | None:
    """The interval of a share; None of nothing."""
    ends = wilson(count, n, CONFIDENCE)
    return Interval(*ends, CONFIDENCE, "wilson") if ends else None


def decide(state: LabelState, item: int, *, machines: bool = False) -> Decision | None:
    """Return the final or the majority grade of an item; None without any label.

    Labels of language models count only with ``machines``.
    """
    labels = {
        who: label
        for who, label in state.labels(item).items()
        if machines or not is_machine(who)
    }
    final = state.final(item)
    if final is not None:
        return Decision(labels, final.grade, "final", final)
    if not labels:
        return None
    counted = Counter(label.grade for label in labels.values()).most_common()
    reopened = state.reopened(item)
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return Decision(labels, None, "tie", reopened)
    how: Counted = "one"
    if len(counted) > 1:
        how = "majority"
    elif len(labels) > 1:
        how = "agreed"
    return Decision(labels, counted[0][0], how, reopened)


def agreement(items: Sequence[PoolItem], state: LabelState) -> Agreement:
    """How far the judges of some items agree; language models are compared with humans."""
    decided: dict[int, Decision] = {}
    for item in state.touched():
        decision = decide(state, item)
        if decision is not None:
            decided[item] = decision
    grades = [decision.grades for decision in decided.values() if decision.labels]
    shared = [grades_of_item for grades_of_item in grades if len(grades_of_item) > 1]
    alike = [
        grades_of_item
        for grades_of_item in shared
        if len(set(grades_of_item.values())) == 1
    ]
    machines = [judge for judge in state.judges() if is_machine(judge)]
    checks = [_machine(judge, state, decided) for judge in machines]
    return Agreement(
        judges=tuple(_summary(judge, state) for judge in _people(state)),
        judged=len(grades),
        shared=len(shared),
        alike=len(alike),
        alpha=_alpha_of_people(grades),
        conflicts=_conflicts(decided, items, state),
        machines=tuple(check for check in checks if check is not None),
    )


def _people(state: LabelState) -> list[str]:
    """The people who judged; who only settled what others disagreed on is none of them."""
    people = []
    for judge in state.judges():
        kinds = {entry.kind for entry in state.of_judge(judge)}
        if not is_machine(judge) and kinds != {"final"}:
            people.append(judge)
    return people


def _alpha_of_people(grades: Sequence[Mapping[str, float]]) -> Alpha | None:
    """Alpha over the grades of people, item by item; None where one person judged alone."""
    people = list(dict.fromkeys(who for of_item in grades for who in of_item))
    if len(people) < 2:
        return None
    rows = []
    for of_item in grades:
        rows.append([of_item.get(who, np.nan) for who in people])
    return alpha_of(np.array(rows))


def _conflicts(
    decided: Mapping[int, Decision], items: Sequence[PoolItem], state: LabelState
) -> tuple[Conflict, ...]:
    """The items on which people differ, or differed until it was settled, the widest first."""
    conflicts = []
    for item, decision in decided.items():
        differ = len(set(decision.grades.values())) > 1
        if differ or (decision.how == "final" and decision.grades):
            conflicts.append(
                Conflict(
                    decision.labels,
                    decision.counts,
                    decision.how,
                    decision.final,
                    items[item],
                    state.notes(item),
                )
            )
    return tuple(sorted(conflicts, key=_distance, reverse=True))


def _distance(conflict: Conflict) -> float:
    """How far apart the lowest and the highest grade are."""
    return max(conflict.grades.values()) - min(conflict.grades.values())


def _summary(judge: str, state: LabelState) -> JudgeSummary:
    """What one judge did: of each item the latest entry counts."""
    entries = state.of_judge(judge)
    latest = [state.current(item, judge) for item in {entry.item for entry in entries}]
    kinds = Counter(entry.kind for entry in latest if entry is not None)
    notes = len({entry.item for entry in entries if entry.note})
    return JudgeSummary(judge, kinds["label"], kinds["skip"], notes, entries[-1].saved)


def _machine(
    name: str, state: LabelState, decided: Mapping[int, Decision]
) -> MachineCheck | None:
    """Compare a machine with the human grade, on items that both labelled."""
    by_machine: list[bool] = []
    by_people: list[bool] = []
    undecided = 0
    for item, decision in decided.items():
        entry = state.current(item, name)
        if entry is None or entry.grade is None:
            continue
        if decision.counts is None:
            undecided += 1
            continue
        by_machine.append(entry.grade > 0)
        by_people.append(decision.counts > 0)
    if not by_machine:
        return None
    return compare_with_people(name, np.array(by_machine), np.array(by_people), undecided)
