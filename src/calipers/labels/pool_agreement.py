"""How far the judges of a pool agree, computed anew only when a label changed."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from calipers.labels.agreement import coefficients
from calipers.labels.opinions import disagreements
from calipers.labels.result import Agreement, Conflict, Judge, Opinions, PoolAgreement
from calipers.model.labels import Pair, is_machine
from calipers.store.pool import LabelState, LogEntry, PoolItem


class KnownAgreement:
    """The agreement of a pool with and without machines, as it was last asked for."""

    def __init__(self) -> None:
        self._held: dict[bool, tuple[int, Agreement | None, Mapping[Pair, PoolItem]]] = {}

    def of(
        self,
        items: Sequence[PoolItem],
        state: LabelState,
        lock: AbstractContextManager[object],
        machines: bool,
    ) -> PoolAgreement:
        """How far judges agree now, and every item on which they differ."""
        held = self._held.get(machines)
        # What settles a conflict and what is noted beside it changes no agreement.
        if held is None or held[0] != state.labelled:
            with lock:
                upto, given = state.labelled, list(state.labels())
            people = [one for one in given if machines or not is_machine(one.judge)]
            by_pair = {items[one.item].label.pair: items[one.item] for one in people}
            held = self._held[machines] = (upto, _agreement(items, people), by_pair)
        _, found, about = held
        if found is None:
            return PoolAgreement(None, ())
        with lock:
            conflicts = [
                Conflict(item, one, state.settled(item.position), state.notes(item.position))
                for one in found.disagreements
                for item in [about[one.about.pair]]
            ]
        return PoolAgreement(found, tuple(conflicts))


def _agreement(items: Sequence[PoolItem], given: Sequence[LogEntry]) -> Agreement | None:
    opinions: dict[int, dict[str, float]] = {}
    for one in given:
        if one.grade is not None:
            opinions.setdefault(one.item, {})[one.judge] = one.grade
    if not opinions:
        return None
    names = list(dict.fromkeys(one.judge for one in given))
    table = np.array(
        [[said.get(name, np.nan) for name in names] for said in opinions.values()], dtype=float
    )
    counted = (~np.isnan(table)).sum(axis=0)
    by_pair = {
        items[item].label.pair: Opinions(items[item].label, said) for item, said in opinions.items()
    }
    return Agreement(
        judges=tuple(Judge(name, int(n), 0) for name, n in zip(names, counted, strict=True)),
        opinions=by_pair,
        coefficients=coefficients(table, names),
        disagreements=disagreements(by_pair.values()),
        scale="ordinal",
        weights="none",
    )
