"""What the scores of each query say about floors: what would be found, and what returned."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import FAILED, Matched
from calipers.model.slicing import clusters_of
from calipers.questions.shown_facts import over_contexts
from calipers.questions.shown_results import Context, wanted_per_query

EVERYTHING = -math.inf


@dataclass(frozen=True, eq=False)
class FloorEvidence:
    """What each query has in its first k results, by score."""

    wanted: Ints
    """Targets to find, per query; 0: no answer exists."""
    target_query: Ints
    target_score: Floats
    """The best score of a result that holds the target; minus infinity where none does."""
    result_query: Ints
    result_score: Floats
    useful: Bools
    """Which results hold a target."""
    clusters: Ints | None = None
    """Queries with the same number count as one unit."""

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.wanted.size

    def found(self, floor: Floats) -> Floats:
        """Targets found per query, under a floor for each query."""
        kept = (self.target_score >= floor[self.target_query]) & np.isfinite(self.target_score)
        return np.bincount(self.target_query[kept], minlength=self.n_queries).astype(np.float64)

    def returned(self, floor: Floats, which: Bools | None = None) -> Floats:
        """Results returned per query, all or some of them, under a floor for each query."""
        kept = self.result_score >= floor[self.result_query]
        kept = kept if which is None else kept & which
        return np.bincount(self.result_query[kept], minlength=self.n_queries).astype(np.float64)


def gather(pair: Matched, k: int, cluster: str | None = None) -> FloorEvidence:
    """The scores of the first k results of every query, and of what holds each target."""
    matches = pair.matches
    relevant = matches.relevant(pair.rel)
    unit, unit_of = np.unique(matches.target_unit[relevant], return_inverse=True)
    unit_query = np.zeros(unit.size, dtype=np.int64)
    unit_query[unit_of] = matches.target_query[relevant]
    row = np.full(relevant.size, -1)
    row[relevant] = unit_of
    best = np.full(unit.size, EVERYTHING)
    parts: list[tuple[Ints, Floats, Bools]] = []
    rises = falls = 0
    for found in over_contexts(pair, partial(_of_block, k)):
        if found is None:
            parts = []
            break
        part, steps, targets, scores = found
        parts.append(part)
        rises, falls = rises + steps[0], falls + steps[1]
        held = row[targets]
        np.maximum.at(best, held[held >= 0], scores[held >= 0])
    if not parts:
        raise InvalidInput(
            "A floor is a score, and not every result has one; give every result a 'score'."
        )
    _check_direction(rises, falls)
    code, score, useful = (np.concatenate(column) for column in zip(*parts, strict=True))
    # In the order of the ground truth, whatever that of the run.
    order = np.argsort(code, kind="stable")
    failed = matches.having_status(FAILED)
    wanted = wanted_per_query(matches, pair.rel)
    sound = ~failed
    number = np.cumsum(sound) - 1
    clusters = clusters_of(pair.ground_truth.tags, cluster, matches.n_queries)
    return FloorEvidence(
        wanted[sound],
        number[unit_query[sound[unit_query]]],
        best[sound[unit_query]],
        number[code[order]],
        score[order],
        useful[order],
        None if clusters is None else clusters[sound],
    )


def _of_block(
    k: int, block: Context
) -> tuple[tuple[Ints, Floats, Bools], tuple[int, int], Ints, Floats] | None:
    """Scores of the first k, how many rise and fall, and those of targets; None without scores."""
    if "score" not in block.frame.columns or block.frame["score"].null_count():
        return None
    score = block.frame["score"].to_numpy()
    step = np.diff(score)[block.code[1:] == block.code[:-1]]
    within = np.flatnonzero(block.rank <= k)
    code = block.codes[block.code[within]]
    held = block.matches.edge_rank <= k
    place = block.place(block.matches.edge_query[held], block.matches.edge_rank[held])
    return (
        (code, score[within], block.holds_target[within]),
        (int((step > 0).sum()), int((step < 0).sum())),
        block.target_rows[block.matches.edge_target[held]],
        score[place],
    )


def _check_direction(rises: int, falls: int) -> None:
    """Scores that rise down the ranking are distances, of which less is better."""
    if rises > falls:
        raise InvalidInput(
            "The scores rise down the ranking, so they look like distances, of which less is "
            "better; a floor needs scores of which more is better. Give them with a minus sign."
        )
