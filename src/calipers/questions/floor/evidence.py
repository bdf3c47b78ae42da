"""What the scores of each query say about floors: what would be found, returned and kept."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import FAILED, Matched
from calipers.model.slicing import clusters_of
from calipers.questions.floor.result import Goal
from calipers.questions.shown_facts import over_contexts
from calipers.questions.shown_results import Context, relevant_units
from calipers.questions.sweep.enough_k import more_needed
from calipers.statistics.clusters import as_shares

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
    unit, unit_query = relevant_units(matches, pair.rel)
    best = np.full(unit_query.size, EVERYTHING)
    parts: list[tuple[Ints, Floats, Bools]] = []
    rises = falls = 0
    for found in over_contexts(pair, partial(_of_block, k)):
        if found is None:
            parts = []
            break
        part, steps, targets, scores = found
        parts.append(part)
        rises, falls = rises + steps[0], falls + steps[1]
        held = unit[targets]
        np.maximum.at(best, held[held >= 0], scores[held >= 0])
    if not parts:
        raise InvalidInput(
            "A floor is a score, and not every result has one; give every result a 'score'."
        )
    _check_direction(rises, falls)
    code, score, useful = (np.concatenate(column) for column in zip(*parts, strict=True))
    # In the order of the ground truth, whatever that of the run.
    order = np.argsort(code, kind="stable")
    wanted = np.bincount(unit_query, minlength=matches.n_queries)
    sound = ~matches.having_status(FAILED)
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


@dataclass(frozen=True, eq=False)
class KeptResults:
    """What each query keeps under a floor, of those for which that is defined."""

    values: Floats
    clusters: Ints | None

    @classmethod
    def of(
        cls, evidence: FloorEvidence, floor: float, goal: Goal, among: Bools | None = None
    ) -> "KeptResults":
        """Under one floor for all queries, or for those in question."""
        values = kept_values(evidence, np.full(evidence.n_queries, floor), goal)
        known = ~np.isnan(values) if among is None else among & ~np.isnan(values)
        named = None if evidence.clusters is None else evidence.clusters[known]
        return cls(values[known], named)

    @property
    def mean(self) -> float:
        """What these queries keep."""
        return float(self.values.mean()) if self.values.size else 0.0

    def lowest(self, confidence: float, times: float = 1.0) -> float:
        """What others like them may keep at least."""
        return lowest_mean(self.values, confidence, self.clusters, times)

    def more_for(self, least: float, confidence: float) -> int | None:
        """How many more queries like these would show that so much is kept."""
        if self.mean <= least:
            return None
        return more_needed(
            lambda times: self.lowest(confidence, times) >= least, self.values.size, within=0.0
        )


def kept_values(evidence: FloorEvidence, floor: Floats, goal: Goal) -> Floats:
    """Per query its recall, or the share of what it finds without a floor; NaN: undefined."""
    of = evidence.wanted.astype(np.float64)
    if goal == "keep":
        of = evidence.found(np.full(evidence.n_queries, EVERYTHING))
    with np.errstate(invalid="ignore", divide="ignore"):
        values: Floats = np.where(of > 0, evidence.found(floor) / of, np.nan)
    return values


def lowest_mean(
    values: Floats, confidence: float, clusters: Ints | None = None, times: float = 1.0
) -> float:
    """The lowest mean that values between 0 and 1 leave possible, by Chernoff's bound.

    `times` asks as if there were so many times as many values, each as often as now.

    >>> round(lowest_mean(np.ones(59), 0.95), 3)
    0.95
    """
    if clusters is not None:
        shares, scale = as_shares(1.0 - values, clusters)
        return max(0.0, 1.0 - scale * (1.0 - lowest_mean(1.0 - shares, confidence, None, times)))
    mean = float(values.mean())
    budget = math.log(1 / (1 - confidence)) / (values.size * times)
    low, high = 0.0, mean
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(mean, middle) > budget else (low, middle)
    return high


def _divergence(p: float, q: float) -> float:
    """How unlike two shares are: Kullback and Leibler's measure."""
    if q <= 0:
        return math.inf if p > 0 else 0.0
    first = p * math.log(p / q) if p > 0 else 0.0
    if p >= 1:
        return first
    return math.inf if q >= 1 else first + (1 - p) * math.log((1 - p) / (1 - q))
