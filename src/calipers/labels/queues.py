"""Who judges what next: questions for everybody, parts, slices, and what was lent to somebody."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.labels.result import JudgeProgress
from calipers.model.ground_truth import GroundTruth
from calipers.model.result import from_moment
from calipers.store.pool import Assignment, LabelState, LogEntry, PoolItem
from calipers.words import did_you_mean

PACE_OVER = 20
"""Labels that the pace is taken from."""
LONGEST_PAUSE = 300.0
"""Seconds between two labels that are a pause and no part of the pace."""


@dataclass(frozen=True)
class JudgeQueue:
    """What one judge is to look at, done or not."""

    judge: str
    items: Sequence[PoolItem]
    given: Sequence[LogEntry | None]
    """What the judge said of each."""
    elsewhere: int
    pace: float | None

    @property
    def left(self) -> list[PoolItem]:
        """What the judge has not looked at."""
        return [item for item, one in zip(self.items, self.given, strict=True) if one is None]

    @property
    def progress(self) -> JudgeProgress:
        """How far the judge is."""
        labelled = sum(one is not None and one.kind == "label" for one in self.given)
        left = len(self.left)
        skipped = len(self.items) - labelled - left
        total = len(self.items)
        return JudgeProgress(self.judge, total, labelled, skipped, left, self.pace, self.elsewhere)


def queue_of(
    judge: str,
    ordered: Sequence[PoolItem],
    state: LabelState,
    judges_of: Callable[[PoolItem], Sequence[str]],
    leases: Mapping[int, tuple[str, str]],
    now: str,
    *,
    in_turn: bool,
) -> JudgeQueue:
    """The queue of a judge, in its order.

    Questions that are not for everybody are divided evenly. A judge who is done with their part
    goes on with what nobody has taken of the others', so that nothing waits for somebody who does
    not come back. With ``in_turn`` nobody has a part: what is first is judged first.
    """
    queue, others, elsewhere, left = [], [], 0, False
    taken = {one.item for one in state.labels() if one.judge != judge}
    for item in ordered:
        if state.current(item.position, judge) is not None:
            queue.append(item)
            continue
        judges, share = judges_of(item), item.share
        if judge not in judges:
            continue
        if share is None:
            queue.append(item)
            left = True
            continue
        if item.position in taken:
            continue
        who, until = leases.get(share, ("", ""))
        lent = until > now
        if lent and who != judge:
            elsewhere += 1
        elif lent or in_turn or judges[share % len(judges)] == judge:
            queue.append(item)
            left = True
        else:
            others.append(item)
    if not left:
        queue += others
    given = [state.current(one.position, judge) for one in queue]
    return JudgeQueue(judge, queue, given, elsewhere, _pace(state.of_judge(judge)))


def assigned_judges(
    truth: GroundTruth | None, assigned: Iterable[Assignment]
) -> dict[str, tuple[str, ...]]:
    """Who judges the questions of slices that are somebody's, by question.

    A question in several of them goes to the judges of each.
    """
    found: dict[str, tuple[str, ...]] = {}
    for one in assigned:
        tag = None if truth is None else truth.tags.get(one.tag)
        if truth is None or tag is None:
            continue
        for query in truth.queries["query"].filter(tag.cast(pl.String) == one.value):
            found[query] = tuple(dict.fromkeys((*found.get(query, ()), *one.judges)))
    return found


def read_assigned(given: Mapping[str, Any] | Iterable[str]) -> tuple[Assignment, ...]:
    """Slices with their judges: "topic=law:anna,ben", or {"topic=law": ["anna", "ben"]}.

    >>> read_assigned(["topic=law:anna, ben"])
    (Assignment(tag='topic', value='law', judges=('anna', 'ben')),)
    """
    if not isinstance(given, Mapping):
        pairs = [one.rpartition(":") for one in given]
        given = {part or judges: judges.split(",") if part else () for part, _, judges in pairs}
    found = []
    for part, judges in given.items():
        tag, equals, value = part.partition("=")
        names = tuple(one.strip() for one in judges if one.strip())
        if not (tag and equals and value and names):
            raise InvalidInput(
                f"The assignment {part[:60]!r} cannot be read; write TAG=VALUE:JUDGES, such as "
                "topic=law:anna,ben."
            )
        found.append(Assignment(tag, value, names))
    return tuple(found)


def check_assigned(truth: GroundTruth | None, assigned: Iterable[Assignment]) -> None:
    """Refuse slices that no question is in."""
    for one in assigned:
        tags = {} if truth is None else truth.tags
        if one.tag not in tags:
            there = f"there are {', '.join(tags)}" if tags else "it has none"
            raise InvalidInput(
                f"A slice is assigned by {one.tag!r:.60}, which is no tag of the ground truth; "
                f"{there}.{did_you_mean(one.tag, list(tags))}"
            )
        values = [str(value) for value in tags[one.tag].drop_nulls().unique().sort()]
        if one.value not in values:
            raise InvalidInput(
                f"No question has {one.tag}={one.value!s:.60}; there are "
                f"{', '.join(values[:8])}.{did_you_mean(one.value, values)}"
            )


def _pace(entries: Sequence[LogEntry]) -> float | None:
    times = [from_moment(one.saved).timestamp() for one in entries[-PACE_OVER - 1 :]]
    steps = [after - before for before, after in pairwise(times) if after - before < LONGEST_PAUSE]
    total = sum(steps)
    return 60 * len(steps) / total if steps and total > 0 else None
