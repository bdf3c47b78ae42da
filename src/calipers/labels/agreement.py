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
    pairs = (machine & people, ~machine & people, machine & ~people, ~machine & ~people)
    both, missed, invented, neither = (int(np.count_nonzero(pair)) for pair in pairs)

    def share(count: int, n: int) -> tuple[float | None, Interval | None]:
        ends = wilson(count, n, CONFIDENCE)
        return (
            (count / n, Interval(*ends, CONFIDENCE, "wilson")) if ends else (None, None)
        )

    shares = (*share(both, both + missed), *share(neither, neither + invented))
    return MachineCheck(judge, both, missed, invented, neither, *shares, undecided)


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
    how: Counted = (
        "majority" if len(counted) > 1 else "agreed" if len(labels) > 1 else "one"
    )
    return Decision(labels, counted[0][0], how, reopened)


def agreement(items: Sequence[PoolItem], state: LabelState) -> Agreement:
    """How far the judges of some items agree; language models are compared with humans."""
    decided = {
        item: decision
        for item in state.touched()
        if (decision := decide(state, item)) is not None
    }
    grades = {
        item: decision.grades for item, decision in decided.items() if decision.labels
    }
    people = list(dict.fromkeys(who for grade in grades.values() for who in grade))
    shared = [grade for grade in grades.values() if len(grade) > 1]
    table = np.array(
        [[grade.get(who, np.nan) for who in people] for grade in grades.values()]
    )
    conflicts = (
        Conflict(
            decision.labels,
            decision.counts,
            decision.how,
            decision.final,
            items[item],
            state.notes(item),
        )
        for item, decision in decided.items()
        if len(set(decision.grades.values())) > 1
        or (decision.how == "final" and decision.grades)
    )
    by_judge = {name: state.of_judge(name) for name in state.judges()}
    judges = [
        judge
        for judge in by_judge
        if not is_machine(judge) and {e.kind for e in by_judge[judge]} != {"final"}
    ]
    checks = (_machine(name, state, decided) for name in by_judge if is_machine(name))
    return Agreement(
        tuple(_summary(judge, state) for judge in judges),
        len(grades),
        len(shared),
        sum(len(set(grades_of_item.values())) == 1 for grades_of_item in shared),
        alpha_of(table) if len(people) > 1 else None,
        tuple(
            sorted(
                conflicts,
                key=lambda conflict: (
                    min(conflict.grades.values()) - max(conflict.grades.values())
                ),
            )
        ),
        tuple(check for check in checks if check is not None),
    )


def _summary(judge: str, state: LabelState) -> JudgeSummary:
    entries = state.of_judge(judge)
    latest = [state.current(item, judge) for item in {entry.item for entry in entries}]
    kinds = Counter(entry.kind for entry in latest if entry is not None)
    notes = len({entry.item for entry in entries if entry.note})
    return JudgeSummary(judge, kinds["label"], kinds["skip"], notes, entries[-1].saved)


def _machine(
    name: str, state: LabelState, decided: Mapping[int, Decision]
) -> MachineCheck | None:
    """Compare a machine with the human grade, on items that both labelled."""
    compared = [
        (state.current(item, name), decision.counts) for item, decision in decided.items()
    ]
    both = [
        (entry.grade, grade)
        for entry, grade in compared
        if entry is not None and entry.grade is not None
    ]
    used = np.array(
        [(mine > 0, theirs > 0) for mine, theirs in both if theirs is not None]
    )
    if not len(used):
        return None
    return compare_with_people(name, used[:, 0], used[:, 1], len(both) - len(used))
