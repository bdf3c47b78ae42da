"""Lanes that add nothing: they are empty, find no target, or are another lane once more."""

from collections.abc import Mapping, Sequence

import numpy as np

from calipers.errors import NoCommonIds
from calipers.frozen import dataclass
from calipers.match.notes import likely_rule
from calipers.model.claim import Claim
from calipers.model.fact import Sentence, joined, named, sentence
from calipers.model.matched import Matched
from calipers.questions.fuse.lanes import Lanes

SAMPLE = 200
"""How many ids of two lanes are compared to see why they share none."""


@dataclass(frozen=True)
class IdleLane:
    """A lane that adds nothing, and why."""

    lane: int
    name: str
    why: Sentence


def idle_lanes(lanes: Lanes, pairs: Mapping[str, Matched]) -> list[IdleLane]:
    """The lanes that add nothing, if others find something."""
    finds = [bool(pair.matches.edge_query.size) for pair in pairs.values()]
    idle = []
    for lane, name in enumerate(lanes.names):
        if (twin := lanes.twin(lane)) is not None:
            why = sentence(
                "It holds the results of {lane.text} in the same order.",
                lane=named(lanes.names[twin]),
            )
        elif not lanes.answered[lane].any():
            why = Sentence("It returned no result.")
        elif not finds[lane] and any(finds):
            why = _why_nothing(lanes, lane, pairs)
        else:
            continue
        idle.append(IdleLane(lane, name, why))
    return idle


def _why_nothing(lanes: Lanes, lane: int, pairs: Mapping[str, Matched]) -> Sentence:
    """What a lane returned instead of targets; ids that are only written otherwise are refused."""
    others = lanes.rank.any(axis=1) & (lanes.rank[:, lane] == 0)
    is_shared = bool(
        ((lanes.rank[:, lane] > 0) & ((lanes.rank > 0).sum(axis=1) > 1)).any()
    )
    if is_shared:
        return Sentence("It finds no target.")
    ours = lanes.items(lane, SAMPLE)
    theirs = lanes.keys(np.flatnonzero(others)[:SAMPLE])
    truth = next(iter(pairs.values())).ground_truth
    if truth.kinds == {"item"}:
        theirs += truth.targets["item"][:SAMPLE].to_list()
    if (rule := likely_rule(ours, theirs)) is not None:
        raise NoCommonIds(
            f"{lanes.names[lane]} has no id in common with the other lanes and the ground truth: "
            f"its ids look like {ours[0]!r:.40}, theirs like {theirs[0]!r:.40}. {rule}"
        )
    return sentence(
        "It finds no target; its ids, such as {id.text}, are nowhere else.",
        id=named(f"{ours[0]!r:.40}"),
    )


def claim_without(idle: Sequence[IdleLane], lanes: Lanes) -> tuple[Claim, int] | None:
    """The answer where one lane is left, and that lane; None where several are."""
    dropped = {lane.lane for lane in idle}
    left = [lane for lane in range(lanes.n) if lane not in dropped]
    if len(left) != 1 or not idle:
        return None
    fact = sentence(
        "{lanes.text} {verb} nothing: use {left.text} alone.",
        lanes=named(" and ".join(lane.name for lane in idle)),
        verb="adds" if len(idle) == 1 else "add",
        left=named(lanes.names[left[0]]),
    )
    if len(idle) == 1:
        fact = joined(fact, idle[0].why)
    return Claim("no clear difference", fact), left[0]
