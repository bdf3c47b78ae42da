"""The score floor: results with a lower score are better not returned.

A floor is chosen by fixed-sequence testing: from the lowest floor upwards, each gets a one-sided
test of whether it keeps what was asked for, and the last before the first failure is chosen. The
chance that this floor keeps less is then at most one minus the confidence, however many floors
were tested. The test is Chernoff's bound for means of values between 0 and 1, which holds for any
distribution and any number of queries.

That is the safe floor. The best guess is the highest that loses at most half of the allowed loss in
these queries; it comes with its bound for new queries, and how many more would settle it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.claim import Claim
from calipers.model.matched import FAILED, Matched
from calipers.model.slicing import clusters_of
from calipers.questions.inputs import check_direction
from calipers.questions.shown_results import Context, over_contexts, relevant_units
from calipers.questions.sweep.floor_answer import (
    Floor,
    FloorGoal,
    FloorPoint,
    Goal,
    HeldOut,
    floor_claim,
)
from calipers.questions.sweep.rule import more_needed
from calipers.statistics.clusters import as_shares
from calipers.statistics.score_interval import mean_interval

EVERYTHING = -math.inf


@dataclass(frozen=True, eq=False)
class FloorEvidence:
    """The scores of each query's first k results and of its targets."""

    wanted: Ints
    """The number of targets per query; 0: no answer exists."""
    target_query: Ints
    target_score: Floats
    """The best score of a result that contains the target; minus infinity if none does."""
    result_query: Ints
    result_score: Floats
    useful: Bools
    """Which results contain a target."""
    clusters: Ints | None = None
    """Queries with the same number count as one unit."""

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.wanted.size

    def found(self, floor: Floats) -> Floats:
        """The number of targets found per query, given a floor for each."""
        kept = (self.target_score >= floor[self.target_query]) & np.isfinite(self.target_score)
        return np.bincount(self.target_query[kept], minlength=self.n_queries).astype(np.float64)

    def returned(self, floor: Floats, which: Bools | None = None) -> Floats:
        """The number of results (all, or those in ``which``) per query, given a floor for each."""
        kept = self.result_score >= floor[self.result_query]
        kept = kept if which is None else kept & which
        return np.bincount(self.result_query[kept], minlength=self.n_queries).astype(np.float64)


def gather(pair: Matched, k: int, cluster: str | None = None) -> FloorEvidence:
    """Collect the scores of the first k results of every query, and of each target."""
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
    check_direction(rises, falls)
    code, score, useful = (np.concatenate(column) for column in zip(*parts, strict=True))
    # In the order of the ground truth, not of the run.
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
    """Scores of the first k, how many rise and fall, and target scores; None without scores."""
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


@dataclass(frozen=True, eq=False)
class KeptResults:
    """What each query keeps under a floor, for the queries where that is defined."""

    values: Floats
    clusters: Ints | None

    @classmethod
    def of(
        cls, evidence: FloorEvidence, floor: float, goal: Goal, among: Bools | None = None
    ) -> "KeptResults":
        """The values under one floor, for all queries or those in ``among``."""
        values = kept_values(evidence, np.full(evidence.n_queries, floor), goal)
        known = ~np.isnan(values) & (True if among is None else among)
        return cls(values[known], None if evidence.clusters is None else evidence.clusters[known])

    @property
    def mean(self) -> float:
        """The mean that these queries keep."""
        return float(self.values.mean()) if self.values.size else 0.0

    def lowest(self, confidence: float, times: float = 1.0) -> float:
        """The lower bound of what new queries like these keep."""
        return lowest_mean(self.values, confidence, self.clusters, times)


def kept_values(evidence: FloorEvidence, floor: Floats, goal: Goal) -> Floats:
    """Recall per query, or the share kept of what it finds without a floor; NaN: undefined."""
    of = evidence.wanted.astype(np.float64)
    if goal == "keep":
        of = evidence.found(np.full(evidence.n_queries, EVERYTHING))
    with np.errstate(invalid="ignore", divide="ignore"):
        values: Floats = np.where(of > 0, evidence.found(floor) / of, np.nan)
    return values


def lowest_mean(
    values: Floats, confidence: float, clusters: Ints | None = None, times: float = 1.0
) -> float:
    """The lower confidence bound of the mean of values between 0 and 1, by Chernoff's bound.

    `times` gives the bound for that many times as many values in the same proportions.

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
    """The Kullback-Leibler divergence of two shares."""
    if q <= 0:
        return math.inf if p > 0 else 0.0
    first = p * math.log(p / q) if p > 0 else 0.0
    if p >= 1:
        return first
    return math.inf if q >= 1 else first + (1 - p) * math.log((1 - p) / (1 - q))


MOST_FLOORS = 200
"""The most floors that are tried; with more distinct scores, their quantiles."""
USUAL = FloorGoal("keep", 0.95, 0.95)
"""The default goal."""
SHOWN = 20
"""The number of floors in the result."""
FOLDS = 5
"""The parts into which queries are split, to try a floor on unseen ones."""


def find_floor(
    pair: Matched, k: int, asked: FloorGoal = USUAL, cluster: str | None = None
) -> Floor:
    """The highest floor that keeps what was asked for, and its result on held-out queries."""
    return floor_of(gather(pair, k, cluster), k, asked)


def floor_of(evidence: FloorEvidence, k: int, asked: FloorGoal) -> Floor:
    """The floor that the scores of some queries allow."""
    answerable = evidence.wanted > 0
    if not answerable.any():
        raise InvalidInput(
            "No query of the ground truth has an answer, so there is no recall that a floor could "
            "keep; label some queries that have one."
        )
    floors = candidates(evidence)
    chosen = choose(evidence, np.ones(evidence.n_queries, dtype=np.bool_), floors, asked)
    guess = _guess(evidence, floors, asked, chosen)
    keeps = more = None
    if guess is not None:
        kept = KeptResults.of(evidence, guess, asked.goal)
        keeps = kept.lowest(asked.confidence)
        if guess != chosen and kept.mean > asked.least:
            more = more_needed(
                lambda times: kept.lowest(asked.confidence, times) >= asked.least,
                kept.values.size,
                within=0.0,
            )
    found = Floor(
        k=k,
        goal=asked.goal,
        least=asked.least,
        confidence=asked.confidence,
        answerable=int(answerable.sum()),
        unanswerable=int((~answerable).sum()),
        without=point(evidence, EVERYTHING),
        guess=None if guess is None else point(evidence, guess),
        guess_keeps=keeps,
        more=more,
        chosen=None if chosen is None else point(evidence, chosen),
        claim=Claim("no clear difference", ""),
        points=tuple(point(evidence, floor) for floor in _some(floors, chosen, guess)),
        held_out=_held_out(evidence, floors, asked),
        notes=(),
    )
    n = KeptResults.of(evidence, EVERYTHING, asked.goal).values.size
    return replace(found, claim=floor_claim(found, n), notes=tuple(_notes(found, n)))


def candidates(evidence: FloorEvidence) -> Floats:
    """The floors to try in rising order: scores that occur."""
    scores = np.unique(evidence.result_score)
    if scores.size > MOST_FLOORS:
        scores = np.unique(
            np.quantile(scores, np.linspace(0, 1, MOST_FLOORS), method="closest_observation")
        )
    return scores


def choose(evidence: FloorEvidence, among: Bools, floors: Floats, asked: FloorGoal) -> float | None:
    """The last floor before the first failure, over the queries in ``among``; None if all fail."""

    def keeps_enough(floor: float) -> bool:
        kept = KeptResults.of(evidence, floor, asked.goal, among)
        return kept.values.size > 0 and kept.lowest(asked.confidence) >= asked.least

    # No query keeps more under a higher floor, so bisection finds the first failure.
    passed, failed = 0, floors.size
    while passed < failed:
        middle = (passed + failed) // 2
        passed, failed = (middle + 1, failed) if keeps_enough(floors[middle]) else (passed, middle)
    return float(floors[passed - 1]) if passed else None


def _guess(
    evidence: FloorEvidence, floors: Floats, asked: FloorGoal, safe: float | None
) -> float | None:
    """The highest floor with at most half of the allowed loss in these queries, or the safe one."""
    now = KeptResults.of(evidence, EVERYTHING, asked.goal).mean
    half = 0.5 * (now + asked.least) - 1e-12
    tried = floors.tolist() if now >= asked.least else ()
    known = [one for one in tried if KeptResults.of(evidence, one, asked.goal).mean >= half]
    return max(known if safe is None else [*known, safe], default=None)


def point(evidence: FloorEvidence, floor: float | Floats) -> FloorPoint:
    """All measures under one floor, or under a floor for each query."""
    each = np.broadcast_to(np.asarray(floor, dtype=np.float64), evidence.n_queries)
    returned, answerable = evidence.returned(each), evidence.wanted > 0
    useful = evidence.returned(each, evidence.useful)
    return FloorPoint(
        floor=floor if isinstance(floor, float) and floor > EVERYTHING else None,
        precision=float(useful.sum() / returned.sum()) if returned.sum() else None,
        recall=_mean(kept_values(evidence, each, "recall")),
        kept=_mean(kept_values(evidence, each, "keep")),
        wrongly_answered=_mean(returned[~answerable] > 0),
        wrongly_refused=_mean(returned[answerable] == 0),
        results=float(returned.mean()),
    )


def _mean(values: Floats | Bools) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def _held_out(evidence: FloorEvidence, floors: Floats, asked: FloorGoal) -> HeldOut | None:
    units = np.arange(evidence.n_queries)
    if evidence.clusters is not None:
        units = np.unique(evidence.clusters, return_inverse=True)[1]
    n = int(units.max()) + 1
    if n < 2 * FOLDS:
        return None
    # A cluster stays in one fold: a paraphrase in another would not be a new query.
    fold = folds_of(n)[units]
    chosen = [choose(evidence, fold != one, floors, asked) for one in range(FOLDS)]
    each = np.array([EVERYTHING if one is None else one for one in chosen])[fold]
    values = kept_values(evidence, each, asked.goal)
    interval = mean_interval(values, asked.confidence, clusters=evidence.clusters)
    return HeldOut(FOLDS, tuple(chosen), point(evidence, each), interval)


def folds_of(n: int) -> Ints:
    """The fold of each of n queries; folds have nearly equal sizes."""
    parts: Ints = np.random.default_rng(0).permutation(n) % FOLDS
    return parts


def _some(floors: Floats, *named: float | None) -> Sequence[float]:
    """A few evenly spread floors, and those named."""
    if not floors.size:
        return ()
    at = np.unique(np.linspace(0, floors.size - 1, SHOWN).round().astype(int))
    return sorted({*floors[at].tolist(), *(one for one in named if one is not None)})


def _notes(found: Floor, n: int) -> Iterator[str]:
    sure = f"{found.least:g} with {found.confidence:.0%} confidence"
    needed = math.ceil(math.log(1 - found.confidence) / math.log(found.least))
    recall = found.without.recall or 0.0
    if found.chosen is None:
        why = f"it cannot keep {sure}: even the lowest loses too much for so few queries."
        if found.goal == "recall" and recall < found.least:
            why = (
                f"without a floor the recall is {recall:.3f}, below the {found.least:g} asked for."
            )
        elif n < needed:
            why = f"{n} queries say too little, and at least {needed} are needed to keep {sure}."
        yield f"No floor can be promised: {why}"
    if not found.unanswerable:
        yield (
            "Every query has an answer, so how often a question without one would be answered is "
            "not known; add queries with an empty ground truth."
        )
    if found.held_out is None:
        yield "There are too few queries to try a floor on queries that did not choose it."
    elif None in found.held_out.floors and found.chosen is not None:
        yield (
            "Without some of the queries no floor can be promised; those were measured without one."
        )
