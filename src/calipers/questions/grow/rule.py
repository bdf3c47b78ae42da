"""Project what one run finds to a corpus of another size.

What is printed, and why not, is decided here: k of at least half the growth, ten queries for each
multiple, and an interval of at most 0.2. For less than the whole corpus, lists must be long enough
that targets behind their ends could hardly matter.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calipers.engines.scoring import refuse_beyond_returned, score
from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.measures import Metric
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.fact import Sentence, named
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.model.slicing import clusters_in, cut, cuts_of, query_weights_in
from calipers.present.scores import left_out
from calipers.questions.grow._standing import (
    counts_documents,
    first_of_each,
    standing_of_targets,
)
from calipers.questions.grow.result import (
    FEWEST,
    WIDEST,
    Growth,
    GrowthSlice,
    GrowthValue,
    NeededK,
    TodayValue,
)
from calipers.statistics.clusters import exact_mean
from calipers.statistics.growth import (
    Kind,
    Projection,
    Standing,
    needed_k,
    open_share,
    project,
)
from calipers.words import listed

QUERIES_PER_TIMES = 10
OPEN = 0.01
"""What targets behind the ends of lists may add at most in a part of the corpus."""
KINDS: dict[str, Kind] = {"recall": "found", "hit_rate": "found", "mrr": "reciprocal"}
"""The metrics that follow from where targets stand."""
USUAL_TIMES = (2.0, 4.0, 10.0)
USUAL_KS = (5, 10, 20)
LEADING_K = 10
_FURTHER_K = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
MOST_K = 1000


@dataclass(frozen=True)
class Asked:
    """What is projected."""

    metrics: tuple[Metric, ...]
    times: tuple[float, ...]
    by: tuple[str, ...] = ()
    corpus_size: int | None = None
    confidence: float = 0.95
    cluster: str | None = None
    weight_by: str | None = None


def chosen_times(
    times: Sequence[float] | None, to: Sequence[float] | None, corpus_size: int | None
) -> tuple[float, ...]:
    """The sizes to project to, as multiples of the corpus that was searched, rising."""
    if to is None:
        every = list(USUAL_TIMES if times is None else times)
    elif corpus_size is None:
        raise InvalidInput(
            "The size to grow to is given, and the size of the corpus that was searched is not; "
            "give it with --corpus-size N (corpus_size=N in Python), or grow by --times 2,4,10."
        )
    else:
        every = [size / corpus_size for size in to]
    for size in every:
        check_number(
            "The size of the corpus, in times today's,", size, above=0, such_as=10
        )
    if not every:
        raise InvalidInput(
            "No size is given; give at least one, such as 10 times the corpus."
        )
    return tuple(sorted(set(map(float, every))))


def grow_pair(pair: Matched, asked: Asked) -> Growth:
    """What every metric is today, and in a corpus of every size."""
    metrics = _that_follow(asked.metrics, pair)
    refuse_beyond_returned(pair.ground_truth, metrics, instead="hit_rate or mrr")
    scores = score(
        pair,
        metrics,
        confidence=asked.confidence,
        cluster=asked.cluster,
        weight_by=asked.weight_by,
    )
    everything = np.ones(pair.matches.n_queries, dtype=np.bool_)
    part = _Part(scores, everything)
    standing = _Standings(pair, metrics, thin=min(asked.times) < 1)
    growth = _project(part, standing, metrics, asked) if part.n >= FEWEST else ()
    slices = _slices(scores, standing, metrics, asked) if part.n >= FEWEST else ()
    settings = {
        **scores.settings,
        "times": list(asked.times),
        "policy": scores.policy.to_dict(),
    }
    return Growth(
        queries=pair.matches.n_queries,
        n=part.n,
        corpus_size=asked.corpus_size,
        by_documents=standing.clumps,
        today=_today(scores, metrics),
        leads=leading(growth, metrics),
        growth=growth,
        needed_k=_needed_k(part, standing, growth, metrics),
        slices=slices,
        notes=(
            *_left_out(scores),
            *_not_projected(asked.metrics),
            *scores.recorded.notes,
        ),
        fingerprints={
            name: one for name, one in scores.fingerprints.items() if name != "settings"
        },
        settings=settings,
    )


def _that_follow(metrics: Sequence[Metric], pair: Matched) -> tuple[Metric, ...]:
    """The metrics that follow from where targets stand; refused where none of them does."""
    usable = [metric for metric in metrics if _follows(metric)]
    if not usable:
        raise InvalidInput(
            f"How {listed([str(metric) for metric in metrics])} would change with the corpus does "
            "not follow from a run; recall@k, hit_rate@k and mrr@k do: -m recall."
        )
    return tuple(dict.fromkeys(metric.with_rel(pair.rel) for metric in usable))


def _follows(metric: Metric) -> bool:
    """Whether a metric follows from where targets stand."""
    return metric.name in KINDS and metric.k is not None


def _not_projected(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """A note on the metrics that the settings name and that cannot be projected."""
    others = [str(metric) for metric in metrics if not _follows(metric)]
    if not others:
        return ()
    verb = "does" if len(others) == 1 else "do"
    text = f"{listed(others)} {verb} not follow from where targets stand, and cannot be projected."
    return (Sentence(text, [named(other) for other in others]),)


def _left_out(scores: Scores) -> tuple[str, ...]:
    """Who leaves the mean of the first metric."""
    gone = left_out(scores, scores.metrics[0])
    return () if gone is None else (gone,)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the queries, with what they count."""

    scores: Scores
    chosen: Bools

    @property
    def n(self) -> int:
        """The queries, or clusters, for which the first metric is defined."""
        known = self.chosen & ~np.isnan(self.scores.values[:, 0])
        units = clusters_in(self.scores)
        return int(known.sum()) if units is None else int(np.unique(units[known]).size)

    def weights(self, metric: Metric) -> Floats:
        """How much each query counts in a metric; 0 where it is undefined."""
        known = self.chosen & ~np.isnan(self.scores.of(str(metric)))
        each = query_weights_in(self.scores)
        return known.astype(np.float64) if each is None else np.where(known, each, 0.0)

    def units(self) -> Ints | None:
        """The cluster of each query."""
        return clusters_in(self.scores)


class _Standings:
    """Where targets stand, for each threshold of relevance, and the first of each query."""

    def __init__(self, pair: Matched, metrics: Sequence[Metric], *, thin: bool) -> None:
        deepest = max(metric.k or 0 for metric in metrics)
        self._of_targets = {
            rel: standing_of_targets(pair, rel, deepest=deepest, thin=thin)
            for rel in {metric.rel for metric in metrics}
        }
        self._firsts = {rel: first_of_each(one) for rel, one in self._of_targets.items()}
        self.depth = pair.depth
        self.clumps = counts_documents(pair) and any(
            of_target.sizes.size > 1 for of_target in self._of_targets.values()
        )

    def of(self, metric: Metric) -> Standing:
        """What the metric is computed from."""
        every = self._of_targets if metric.name == "recall" else self._firsts
        return every[metric.rel]


def _project(
    part: _Part, standings: _Standings, metrics: Sequence[Metric], asked: Asked
) -> tuple[GrowthValue, ...]:
    """A value for each size and metric."""
    found: dict[tuple[float, Metric], GrowthValue] = {}
    for together in _by_stem(metrics):
        first = together[0]
        standing = standings.of(first)
        weights = part.weights(first)
        ks = [metric.k or 0 for metric in together]
        table = project(
            standing,
            asked.times,
            ks,
            kind=KINDS[first.name],
            weights=weights,
            units=part.units(),
            confidence=asked.confidence,
        )
        for metric, k in zip(together, ks, strict=True):
            most = _Needed(0)
            for times in asked.times:
                value = table[times, k]
                # A larger corpus never takes fewer queries than a smaller one.
                queries = _needed_queries(times, value, part.n)
                if times > 1:
                    queries = most = _larger(queries, most)
                reason = _reason(times, k, value, part.n, standings.depth, queries)
                if metric.name == "mrr" and times > 2:
                    reason = "rests on the first ranks, which can be told up to 2×"
                if reason is None and times < 1:
                    reason = _too_short(standing, times, k, weights)
                row = GrowthValue(times, str(metric), *value, reason is None, reason)
                found[times, metric] = row
    return tuple(found[times, metric] for times in asked.times for metric in metrics)


def _by_stem(metrics: Sequence[Metric]) -> list[list[Metric]]:
    """The metrics that differ in k alone, together: they share a fit."""
    groups: dict[str, list[Metric]] = {}
    for metric in metrics:
        groups.setdefault(metric.stem, []).append(metric)
    return list(groups.values())


class _Needed(NamedTuple):
    """How many queries it takes to tell a value."""

    queries: int
    is_about: bool = False
    """Whether the number follows from the width of an interval."""

    def __str__(self) -> str:
        return f"{'about ' if self.is_about else ''}{self.queries:,} queries"


def _needed_queries(times: float, value: Projection, n: int) -> _Needed:
    """What the size takes, and an interval that is narrow enough where this one is not."""
    least = _Needed(math.ceil(QUERIES_PER_TIMES * times))
    width = value.high - value.low
    if width <= WIDEST:
        return least
    about = _Needed(_rounded_up(n * (width / WIDEST) ** 2), is_about=True)
    return _larger(least, about)


def _larger(one: _Needed, other: _Needed) -> _Needed:
    """The larger need; the first where both are alike."""
    return one if one.queries >= other.queries else other


def _reason(
    times: float, k: int, value: Projection, n: int, depth: int, needed: _Needed
) -> str | None:
    """Why a value is not sure enough to be shown; None where it is."""
    if k > depth:
        return f"needs lists of {k:,} results"
    if k < times / 2:
        return f"needs k of {math.ceil(times / 2):,} or more"
    if n < QUERIES_PER_TIMES * times or value.high - value.low > WIDEST:
        return f"needs {needed}"
    return None


def _too_short(standing: Standing, times: float, k: int, weights: Floats) -> str | None:
    """What length of lists a part of the corpus needs, where these are too short for it."""
    if open_share(standing, times, k, weights) <= OPEN:
        return None
    # Enough that fewer than k of them stay in one case of a hundred.
    spread = 2.33 * math.sqrt(k * (1 - times))
    return f"needs lists of about {_rounded_up((k + spread) / times):,} results"


def _rounded_up(number: float) -> int:
    """A number rounded up to 1, 1.5, 2, 3, 4, 5 or 7 times a power of ten.

    >>> _rounded_up(9.2), _rounded_up(131), _rounded_up(1000)
    (10, 150, 1000)
    """
    power = 10 ** math.floor(math.log10(number))
    return next(
        int(power * step)
        for step in (1, 1.5, 2, 3, 4, 5, 7, 10)
        if power * step >= number
    )


def _today(scores: Scores, metrics: Sequence[Metric]) -> tuple[TodayValue, ...]:
    """Every metric as `eval` gives it."""
    values = [scores[str(metric)] for metric in metrics]
    return tuple(
        TodayValue(value.metric, value.mean or 0.0, value.interval) for value in values
    )


def leading(
    growth: Sequence[GrowthValue], metrics: Sequence[Metric]
) -> GrowthValue | None:
    """The printed value that leads: at the largest size, of the first metric, at k = 10."""
    shown = [row for row in growth if row.printed]
    grown = [row for row in shown if row.times > 1] or shown
    if not grown:
        return None
    largest = max(row.times for row in grown)
    at_largest = [row for row in grown if row.times == largest]
    order = {str(metric): metric for metric in metrics}
    stem = order[at_largest[0].metric].stem
    same = [row for row in at_largest if order[row.metric].stem == stem]
    usual = [row for row in same if order[row.metric].k == LEADING_K]
    return (usual or same[-1:])[0]


def _needed_k(
    part: _Part,
    standings: _Standings,
    growth: Sequence[GrowthValue],
    metrics: Sequence[Metric],
) -> NeededK | None:
    """The larger k that finds as much in the largest corpus as the leading metric today.

    None where the same k does, and for `mrr`, which a larger k hardly raises.
    """
    row = leading(growth, metrics)
    if row is None or row.times <= 1:
        return None
    metric = next(metric for metric in metrics if str(metric) == row.metric)
    today = part.scores[row.metric].mean
    k = metric.k
    # Half a point less is as much: nobody sees the difference.
    enough = (today or 0.0) - 0.005
    if not today or k is None or row.mean >= enough or KINDS[metric.name] != "found":
        return None
    most = min(MOST_K, 50 * k)
    steps = [int(power * step) for power in (1, 10, 100, 1000) for step in _FURTHER_K]
    ks = sorted({step for step in steps if k <= step <= most} | {k})
    found = needed_k(
        standings.of(metric),
        row.times,
        enough,
        ks,
        weights=part.weights(metric),
    )
    return NeededK(row.times, row.metric, found, most)


def _slices(
    scores: Scores, standings: _Standings, metrics: Sequence[Metric], asked: Asked
) -> tuple[GrowthSlice, ...]:
    """The same for every slice; those of few queries without a projection."""
    slices = []
    for name in cuts_of(scores, asked.by) if asked.by else ():
        for value, chosen in cut(scores, name):
            part = _Part(scores, chosen)
            today = tuple(_today_of(part, metric) for metric in metrics)
            enough = part.n >= FEWEST
            growth = _project(part, standings, metrics, asked) if enough else ()
            slices.append(GrowthSlice(name, value, part.n, today, growth))
    return tuple(slices)


def _today_of(part: _Part, metric: Metric) -> TodayValue:
    """The mean of a metric over some queries."""
    weights = part.weights(metric)
    known = weights > 0
    values = part.scores.of(str(metric))[known]
    if not known.any():
        return TodayValue(str(metric), 0.0, None)
    if query_weights_in(part.scores) is None:
        return TodayValue(str(metric), exact_mean(values), None)
    return TodayValue(str(metric), float(values @ weights[known] / weights.sum()), None)
