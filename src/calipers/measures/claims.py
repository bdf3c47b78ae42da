"""Which position each found target is paid at: one target a position, each target once."""

import numpy as np

from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matches import Matches


def claim_positions(matches: Matches, relevant: Bools) -> tuple[Ints, Ints, Floats]:
    """Query, position and grade of every target that was found, in order of position.

    The best grade first, each target takes the first free position at or after the rank that
    shows it first. So where no result holds two targets, positions are ranks. Of alternatives
    the one that is found first counts.
    """
    edges = np.flatnonzero(relevant[matches.edge_target])
    if matches.is_one_to_one:
        query, position = matches.edge_query[edges], matches.edge_rank[edges]
    else:
        edges = _first_found(matches, edges)
        query, position = matches.edge_query[edges], matches.edge_rank[edges].copy()
        _spread(query, position, matches.target_grade[matches.edge_target[edges]])
        order = np.lexsort((position, query))
        edges, query, position = edges[order], query[order], position[order]
    return query, position, matches.target_grade[matches.edge_target[edges]]


def _first_found(matches: Matches, edges: Ints) -> Ints:
    """The edge by which each unit is found: the first rank, and there the best grade."""
    target = matches.edge_target[edges]
    unit = matches.target_unit[target]
    order = np.lexsort((target, -matches.target_grade[target], matches.edge_rank[edges], unit))
    first = np.ones(edges.size, dtype=np.bool_)
    first[1:] = np.diff(unit[order]) != 0
    return np.sort(edges[order[first]])


def _spread(query: Ints, position: Ints, grade: Floats) -> None:
    """Give each target of a query a position of its own, in place (sorted by query and rank)."""
    shared = (np.diff(query) == 0) & (np.diff(position) == 0)
    crowded = np.flatnonzero(np.isin(query, query[1:][shared]))
    # Among equal grades the one that was found first, as they are sorted already.
    best_first = crowded[np.lexsort((-grade[crowded], query[crowded]))]
    next_free: dict[tuple[int, int], int] = {}
    for at in best_first.tolist():
        asked_by, place = int(query[at]), int(position[at])
        passed = []
        while (asked_by, place) in next_free:
            passed.append(place)
            place = next_free[asked_by, place]
        # All that was passed leads straight to what is free now, so that no way is gone twice.
        for taken in (*passed, place):
            next_free[asked_by, taken] = place + 1
        position[at] = place
