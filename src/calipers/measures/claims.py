"""Who may claim which target: each rank one at most, each target once."""

import numpy as np

from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matches import Matches


def claim_greedily(matches: Matches, relevant: Bools) -> tuple[Ints, Ints, Floats]:
    """Query, rank and grade of every claim, in rank order.

    Walking down the ranking, each rank claims the best-graded relevant target that it holds
    and that nobody above has claimed; a claimed target takes its alternatives with it.
    """
    edges = np.flatnonzero(relevant[matches.edge_target])
    if not matches.is_one_to_one:
        edges = _resolve_conflicts(matches, edges)
    grade = matches.target_grade[matches.edge_target[edges]]
    return matches.edge_query[edges], matches.edge_rank[edges], grade


def _resolve_conflicts(matches: Matches, edges: Ints) -> Ints:
    target = matches.edge_target[edges]
    unit = matches.target_unit[target]
    # Best grade first within a rank; the target's own order settles equal grades.
    order = np.lexsort(
        (target, -matches.target_grade[target], matches.edge_rank[edges], matches.edge_query[edges])
    )
    claimed: set[int] = set()
    last_claim: tuple[int, int] | None = None
    kept: list[int] = []
    queries = matches.edge_query[edges][order].tolist()
    ranks = matches.edge_rank[edges][order].tolist()
    for edge, query, rank, one_unit in zip(
        edges[order].tolist(), queries, ranks, unit[order].tolist(), strict=True
    ):
        if one_unit in claimed or (query, rank) == last_claim:
            continue
        claimed.add(one_unit)
        last_claim = (query, rank)
        kept.append(edge)
    return np.array(kept, dtype=np.int64)
