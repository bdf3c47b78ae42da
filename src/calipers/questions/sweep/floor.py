"""The score floor: results with a lower score are better not returned.

A floor is chosen by fixed-sequence testing: from the lowest floor upwards, each gets a
one-sided test of whether it keeps what was asked for, and the last before the first
failure is chosen. The chance that this floor keeps less is then at most one minus the
confidence, however many floors were tested. The test is Chernoff's bound for means of
values between 0 and 1, which holds for any distribution and any number of queries.

That is the safe floor. The best guess is the highest that loses at most half of the
allowed loss in these queries; it comes with its bound for new queries, and how many
detect a loss.
"""

import math
from collections.abc import Iterator
from dataclasses import astuple, replace
from functools import partial
from typing import ClassVar

import numpy as np

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.claim import Claim, QueriesToDetect
from calipers.model.document import Cell, Cells, Column, Document, Note, Table, of_claim
from calipers.model.fact import Fact, Sentence, joined, sentence
from calipers.model.matched import FAILED, Matched
from calipers.model.result import HasRows, Plain
from calipers.model.slicing import clusters_of
from calipers.questions.inputs import check_direction
from calipers.questions.recall_advice import CONFIDENCE
from calipers.questions.shown_results import Context, over_contexts, relevant_units
from calipers.statistics.clusters import as_shares
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_to_detect import queries_to_detect
from calipers.words import number

EVERYTHING = -math.inf
KEEP = 0.95
"""The share of what is found that a floor keeps by default."""
MOST_FLOORS = 200
"""The most floors that are tried; with more distinct scores, their quantiles."""
SHOWN = 20
"""The number of floors in the result."""


@dataclass(frozen=True)
class FloorPoint:
    """What happens when only results with a score of at least ``floor`` are returned."""

    floor: float | None
    """None: no floor, everything is returned."""
    precision: float | None
    """The share of returned results, over all queries, that contain a target."""
    recall: float | None
    """The mean recall of the queries that have an answer."""
    kept: float | None
    """The share of what is found without a floor that is still found; mean over
    queries."""
    wrongly_answered: float | None
    """The share of queries without an answer for which something is returned."""
    wrongly_refused: float | None
    """The share of queries with an answer for which nothing is returned."""
    results: float
    """Results returned per query."""


@dataclass(frozen=True, repr=False)
class Floor(Plain, HasRows):
    """The best guess, the safe floor, and the measures at other floors."""

    shown_by: ClassVar[str] = "calipers.questions.sweep.floor"

    k: int
    least: float
    """The share of what is found that is to be kept."""
    confidence: float
    answerable: int
    unanswerable: int
    without: FloorPoint
    guess: FloorPoint | None
    """The highest floor that loses at most half of the allowed loss here, or is safe."""
    guess_keeps: float | None
    """The lower confidence bound of what the guess keeps on queries like these."""
    takes: QueriesToDetect | None
    """How many queries detect that more is lost than allowed; None where the guess is
    safe, or where too few queries lost anything to tell."""
    chosen: FloorPoint | None
    """The safe floor: the highest that passed the test; None: return everything."""
    claim: Claim
    points: tuple[FloorPoint, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FloorEvidence:
    """The scores of each query's first k results and of its targets."""

    wanted: Ints
    """The number of targets per query; 0: no answer exists."""
    target_query: Ints
    target_score: Floats
    """The best score of a result that contains the target; minus infinity if none
    does."""
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

    def found(self, floor: float) -> Floats:
        """The number of targets found per query."""
        kept = (self.target_score >= floor) & np.isfinite(self.target_score)
        return np.bincount(self.target_query[kept], minlength=self.n_queries).astype(
            np.float64
        )

    def returned(self, floor: float) -> Floats:
        """The number of results per query."""
        kept = self.result_score >= floor
        return np.bincount(self.result_query[kept], minlength=self.n_queries).astype(
            np.float64
        )

    def kept(self, floor: float) -> Floats:
        """The share kept of what each query finds without a floor; NaN where it finds nothing."""
        of = self.found(EVERYTHING)
        share = np.full(len(of), np.nan)
        np.divide(self.found(floor), of, where=of > 0, out=share)
        return share

    def lowest(self, floor: float, confidence: float) -> float:
        """The lower bound of what new queries like these keep; 0 where nothing is found."""
        kept = self.kept(floor)
        known = ~np.isnan(kept)
        clusters = None if self.clusters is None else self.clusters[known]
        return lowest_mean(kept[known], confidence, clusters) if known.any() else 0.0


def gather(pair: Matched, k: int, cluster: str | None = None) -> FloorEvidence:
    """Collect the scores of the first k results of every query, and of each target."""
    matches = pair.matches
    unit, unit_query = relevant_units(matches, pair.rel)
    best = np.full(unit_query.size, EVERYTHING)
    parts: list[tuple[Ints, Floats, Bools]] = []
    rises = falls = 0
    for over_context in over_contexts(pair, partial(_of_block, k)):
        if over_context is None:
            parts = []
            break
        part, steps, targets, scores = over_context
        parts.append(part)
        rises = rises + steps[0]
        falls = falls + steps[1]
        held = unit[targets]
        np.maximum.at(best, held[held >= 0], scores[held >= 0])
    if not parts:
        raise InvalidInput(
            "A floor is a score, and not every result has one; give every result a "
            "'score'."
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


def lowest_mean(values: Floats, confidence: float, clusters: Ints | None = None) -> float:
    """The lower confidence bound of the mean of values between 0 and 1, by Chernoff's bound.

    >>> round(lowest_mean(np.ones(59), 0.95), 3)
    0.95
    """
    if clusters is not None:
        shares, scale = as_shares(1.0 - values, clusters)
        return max(0.0, 1.0 - scale * (1.0 - lowest_mean(1.0 - shares, confidence)))
    mean = float(values.mean())
    budget = math.log(1 / (1 - confidence)) / values.size
    low = 0.0
    high = mean
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _divergence(mean, middle) > budget else (low, middle)
        )
    return high


def _divergence(p: float, q: float) -> float:
    """The Kullback-Leibler divergence of two shares."""
    if q <= 0:
        return math.inf if p > 0 else 0.0
    first = p * math.log(p / q) if p > 0 else 0.0
    if p >= 1:
        return first
    return math.inf if q >= 1 else first + (1 - p) * math.log((1 - p) / (1 - q))


def find_floor(
    pair: Matched,
    k: int,
    least: float = KEEP,
    confidence: float = CONFIDENCE,
    cluster: str | None = None,
) -> Floor:
    """The highest floor that keeps the share asked for."""
    evidence = gather(pair, k, cluster)
    answerable = evidence.wanted > 0
    if not answerable.any():
        raise InvalidInput(
            "No query of the ground truth has an answer, so there is nothing that a "
            "floor could keep; label some queries that have one."
        )
    floors = candidates(evidence)
    chosen = choose(evidence, floors, least, confidence)
    n = int(np.count_nonzero(evidence.found(EVERYTHING)))
    # At most half of the allowed loss in these queries, or the safe one.
    half = 0.5 * (1.0 + least) - 1e-12
    good = [
        floor
        for floor in floors.tolist()
        if n and np.nanmean(evidence.kept(floor)) >= half
    ]
    guess = max([*good, *([] if chosen is None else [chosen])], default=None)
    keeps = takes = None
    if guess is not None:
        keeps = evidence.lowest(guess, confidence)
        if guess != chosen:
            [row] = paired_rows([1.0 - evidence.kept(guess)], evidence.clusters)
            takes = queries_to_detect(row, 1.0 - least)
    some = np.unique(np.linspace(0, floors.size - 1, SHOWN).round().astype(int))
    shown = {
        *floors[some].tolist(),
        *(floor for floor in (chosen, guess) if floor is not None),
    }
    floor = Floor(
        k=k,
        least=least,
        confidence=confidence,
        answerable=int(answerable.sum()),
        unanswerable=int((~answerable).sum()),
        without=point(evidence, EVERYTHING),
        guess=None if guess is None else point(evidence, guess),
        guess_keeps=keeps,
        takes=takes,
        chosen=None if chosen is None else point(evidence, chosen),
        claim=Claim(None, ""),
        points=tuple(point(evidence, floor) for floor in sorted(shown)),
        notes=(),
    )
    return replace(floor, claim=_claim(floor, n), notes=tuple(_notes(floor, n)))


def candidates(evidence: FloorEvidence) -> Floats:
    """The floors to try in rising order: scores that occur."""
    scores = np.unique(evidence.result_score)
    if scores.size > MOST_FLOORS:
        scores = np.unique(
            np.quantile(
                scores, np.linspace(0, 1, MOST_FLOORS), method="closest_observation"
            )
        )
    return scores


def choose(
    evidence: FloorEvidence, floors: Floats, least: float, confidence: float
) -> float | None:
    """The last floor before the first that may keep too little; None if all may."""
    # No query keeps more under a higher floor, so all before the first failure pass.
    passed = [
        floor for floor in floors.tolist() if evidence.lowest(floor, confidence) >= least
    ]
    return max(passed, default=None)


def point(evidence: FloorEvidence, floor: float) -> FloorPoint:
    """All measures under one floor."""
    returned = evidence.returned(floor)
    answerable = evidence.wanted > 0
    useful = np.count_nonzero(evidence.useful & (evidence.result_score >= floor))
    return FloorPoint(
        floor=floor if floor > EVERYTHING else None,
        precision=float(useful / returned.sum()) if returned.sum() else None,
        recall=_mean(evidence.found(floor)[answerable] / evidence.wanted[answerable]),
        kept=_mean(evidence.kept(floor)),
        wrongly_answered=_mean(returned[~answerable] > 0),
        wrongly_refused=_mean(returned[answerable] == 0),
        results=float(returned.mean()),
    )


def _mean(values: Floats | Bools) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def _claim(floor: Floor, n: int) -> Claim:
    """What the best guess keeps in ``n`` queries, its bound on new ones, and what is safe.

    ``found`` is a result without a claim. It has no standing: a choice of a floor is no
    verdict.
    """
    without = floor.without
    guess = floor.guess
    keeps = floor.guess_keeps
    safe = floor.chosen
    if guess is None or keeps is None:
        return Claim(
            None, Sentence("Nothing is found without a floor, so no floor can keep it.")
        )
    here = Fact(about="count", count=n, text="queries that find something")
    among = "in these {here.count} queries" if n > 1 else "in this one query"
    asked = Fact(about="setting", value=floor.least, low=floor.confidence, text="to keep")
    if guess.results == without.results:
        half = Fact(
            about="setting", value=0.5 * (1.0 - floor.least), text="half of the loss"
        )
        return Claim(
            None,
            sentence(
                "Every floor that takes anything away loses more than {half.value} of what is "
                "found " + among + ".",
                half=half,
                here=here,
            ),
            None,
            sentence(
                "Ask for less than {it.value:g}, or return everything: nothing is lost "
                "then.",
                it=asked,
            ),
        )
    fact = _floor_fact(floor, guess, here, among)
    bound = Fact(about="bound", value=keeps, text="kept")
    level = Fact(about="setting", value=floor.confidence, text="confidence")
    possible = sentence(
        "It could keep as little as {it.value} of what is found ({level.value:g%}).",
        it=bound,
        level=level,
    )
    before = without.wrongly_answered
    after = guess.wrongly_answered
    if before is not None and after is not None and after >= before:
        nothing = (
            "It refuses no query that has no answer: such a floor costs and does not "
            "help."
        )
        return Claim(None, fact, possible, Sentence(nothing))
    if safe is not None and safe.floor == guess.floor:
        sure = (
            "It keeps at least {it.value} of what is found on new queries "
            "({level.value:g%})."
        )
        return Claim(None, fact, sentence(sure, it=bound, level=level))
    return Claim(
        None,
        joined(fact, "that may not hold on new queries.", by="; "),
        possible,
        _until(floor, n),
    )


def _floor_fact(floor: Floor, guess: FloorPoint, here: Fact, among: str) -> Sentence:
    """What the best guess keeps, and what it answers wrongly."""
    lost = 1.0 - (guess.kept or 0.0)
    choice = Fact(about="choice", value=guess.floor, difference=lost, text="floor")
    kept = (
        "loses {it.difference} of what is found"
        if lost > 1e-12
        else "keeps all that is found"
    )
    fact = sentence("Floor {it.value:.4g} " + kept + " " + among, it=choice, here=here)
    before = floor.without.wrongly_answered
    after = guess.wrongly_answered
    if before is None or after is None:
        return fact
    wrongly = Fact(about="choice", value=after, before=before, text="wrongly answered")
    return joined(
        fact,
        sentence(
            "{it.value:.0%} of those without an answer are answered, {it.before:.0%} "
            "without it",
            it=wrongly,
        ),
        by="; ",
    )


def _until(floor: Floor, n: int) -> Sentence:
    """What a loss takes, and what is safe until more queries are there."""
    takes = floor.takes.sentence if floor.takes and floor.takes.high > n else None
    # Returning everything is safe for recall only: queries without an answer get one,
    # too.
    until = "Until more queries are there, only returning everything loses nothing."
    if floor.chosen is not None:
        safe = Fact(about="choice", value=floor.chosen.floor, text="safe floor")
        until = sentence(
            "Until more queries are there, floor {it.value:.4g} is safe.", it=safe
        )
    return joined(takes, until)


def _notes(floor: Floor, n: int) -> Iterator[str]:
    level = Fact(about="setting", value=floor.confidence, text="confidence")
    fact = Fact(about="setting", value=floor.least, text="to keep")
    sure = sentence(
        "{it.value:g} with {level.value:.0%} confidence", it=fact, level=level
    )
    needed = math.ceil(math.log(1 - floor.confidence) / math.log(floor.least))
    if floor.chosen is None and n < needed:
        yield sentence(
            "No floor can be promised: {it.count} queries say too little, and at least "
            "{it.of} are needed to keep {sure}.",
            it=Fact(about="takes", count=n, of=needed, text="queries"),
            sure=sure,
        )
    elif floor.chosen is None:
        yield sentence(
            "No floor can be promised: it cannot keep {sure}: even the lowest loses too "
            "much for so few queries.",
            sure=sure,
        )
    if not floor.unanswerable:
        yield (
            "Every query has an answer, so how often a question without one would be "
            "answered is not known; add queries with an empty ground truth."
        )


COLUMNS = (
    "floor",
    "precision",
    "recall",
    "kept",
    "wrongly answered",
    "wrongly refused",
    "results",
)


def document(found: Floor) -> Document:
    """The floor to use, and a table of floors."""
    advised = (found.chosen and found.chosen.floor, found.guess and found.guess.floor)
    rows: list[Cells] = []
    for point in (found.without, *found.points):
        floor, *values = astuple(point)
        name = "none" if floor is None else f"{floor:.4g}"
        taken = floor is not None and floor in advised
        rows.append((Cell(name, strong=taken), *map(_value, values)))
    heads = [Column(column, spare=column in ("kept", "results")) for column in COLUMNS]
    return of_claim(
        found.claim,
        *(Note("doubt", note) for note in found.notes),
        blocks=[Table(heads, rows)],
        rows=lambda: (found.without, *found.points),
    )


def _value(value: float | None) -> str:
    return "–" if value is None else number(value)
