"""Compare systems with a baseline: paired differences, tests, power."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from calipers.engines.scoring import uneven_clusters
from calipers.engines.summary import interval_of_metric
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints, frozen_array
from calipers.model.claim import Visibility
from calipers.model.fact import Fact, Sentence, facts_of, named, sentence
from calipers.model.matched import FAILED, MISSING
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import copies_in_words, tag_cuts, units_of
from calipers.present.scores import who_is_left_out, why_undefined
from calipers.questions.compare.comparable import (
    Aligned,
    align,
    clusters_shared,
    weights_shared,
)
from calipers.questions.compare.moved_slices import SliceTests
from calipers.questions.compare.paired_claim import claim_of, difference_of
from calipers.questions.compare.result import (
    Comparison,
    Difference,
    SystemMean,
)
from calipers.questions.default_metrics import asked_metrics
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.statistics.queries_needed import visibility
from calipers.statistics.queries_to_detect import queries_to_detect
from calipers.version import __version__
from calipers.words import did_you_mean

REPAIR = (
    "Repair that, or compare all the same with --anyway (anyway=True in Python); the "
    "result will say so."
)


def compare_scores(
    systems: Mapping[str, Scores],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    primary: str | None = None,
    named: bool = False,
    cluster: str | None = None,
    weight_by: str | None = None,
    anyway: bool = False,
    level: float = 0.95,
    latency_ms: Mapping[str, float] | None = None,
) -> Comparison:
    """Compare results that were measured in the same way; others are an error.

    ``baseline`` is the system that the others are compared with (default: the first).
    ``metrics`` are names that every result has (default: all they share). Where the user
    ``named`` them all decide, else one for finding and one for order; ``primary`` leads.
    A system is better or worse where p, adjusted for all that decides, is at most 1 -
    level. ``cluster`` is a tag whose queries count as one unit (default: equal texts do);
    ``weight_by`` one that says how much each query counts (default: as in the results).
    """
    baseline = _checked_baseline(systems, baseline)
    aligned = align(systems, metrics, anyway=anyway, repair=REPAIR)
    queries = aligned.queries
    gone = np.any([np.isnan(table) for table in aligned.values.values()], axis=0)
    complete = _without(aligned, gone)
    asked = asked_metrics(aligned.facts, primary, named=named)
    clusters = clusters_shared(systems, queries, cluster)
    units = clusters if cluster else units_of(queries, {}, None)
    weight_by = weight_by or systems[baseline].recorded.weight_by
    weights = weights_shared(systems, queries, weight_by)
    means = _means(complete.values, aligned.facts, level, clusters, weights)
    pairs = _Pairs(complete, baseline, asked, round(1.0 - level, 12), units, weights)
    tested = pairs.tested()
    ranking = _ranked(means, aligned.facts, asked)
    notes = [
        *uneven_clusters(clusters, cluster),
        *copies_in_words(queries, cluster),
        *_left_out(systems, queries["query"], aligned.facts, gone, asked),
        *_notes(systems),
    ]
    return Comparison(
        systems=tuple(systems),
        baseline=baseline,
        metrics=aligned.facts,
        queries=queries,
        values={name: frozen_array(table) for name, table in aligned.values.items()},
        means=means,
        differences=_differences(tested, means, baseline, aligned.facts, asked, cluster),
        primary=asked[0] if asked else None,
        asked=tuple(asked),
        visibility=_visibility(pairs, tested),
        ranking=ranking,
        near_best=pairs.near_best(ranking, tested),
        moved_slices=_moved_slices(
            pairs, systems[baseline], tested, {cluster, weight_by}
        ),
        overridden=tuple(aligned.overridden),
        fingerprints={name: dict(each.fingerprints) for name, each in systems.items()},
        latency_ms=latency_ms or {},
        settings=_settings(level, cluster, weight_by, pairs.decided(tested), notes),
    )


def _without(aligned: Aligned, gone: Bools) -> Aligned:
    """The same with NaN wherever any system has no value, so that means stay comparable."""
    complete = {
        name: np.where(gone, np.nan, table) for name, table in aligned.values.items()
    }
    return replace(aligned, values=complete)


def _settings(
    level: float,
    cluster: str | None,
    weight_by: str | None,
    tests: int,
    notes: Sequence[str],
) -> dict[str, object]:
    """What a comparison records about how it was made; a tag only where one was used."""
    record: dict[str, object] = {"calipers": __version__, "confidence": level}
    if cluster is not None:
        record["cluster"] = cluster
    if weight_by is not None:
        record["weight_by"] = weight_by
    record["tests"] = tests
    record["notes"] = list(dict.fromkeys(notes))
    return record


def _left_out(
    systems: Mapping[str, Scores],
    queries: pl.Series,
    facts: Sequence[MetricFacts],
    gone: Bools,
    asked: Sequence[str],
) -> Iterator[Sentence]:
    """Who leaves the means of the first deciding metric, and why; nothing where nobody does."""
    names = [metric.name for metric in facts]
    column = names.index(asked[0]) if asked else 0
    rows = np.flatnonzero(gone[:, column])
    if not rows.size or rows.size == len(queries):
        return
    gone_queries = queries.gather(rows)
    ended = [
        scores.queries.filter(pl.col("query").is_in(gone_queries.implode()))["status"]
        for scores in systems.values()
    ]
    kind = facts[column].kind
    why = why_undefined(kind)
    if any(statuses.is_in([FAILED, MISSING]).any() for statuses in ended):
        why = "not every system has a value for {them}"
    yield who_is_left_out(gone_queries.to_list(), len(queries), kind, why)


Tested = dict[tuple[str, str], PairedRow]
"""The test of the gains over the baseline, by system and metric."""


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The systems of a comparison, and how each is tested against another."""

    aligned: Aligned
    baseline: str
    asked: Sequence[str]
    """The metrics that decide."""
    alpha: float
    units: Ints | None
    weights: Floats | None

    def tested(self) -> Tested:
        """The test of every system in every metric against the baseline."""
        places = [
            (name, metric.name)
            for name in self.aligned.values
            if name != self.baseline
            for metric in self.aligned.facts
        ]
        columns = [
            self.aligned.gains(name, self.baseline, metric) for name, metric in places
        ]
        rows = self._rows(columns, [metric in self.asked for _, metric in places])
        return dict(zip(places, rows, strict=True))

    def decided(self, tested: Tested) -> int:
        """How many of the tests decide."""
        return sum(metric in self.asked for _, metric in tested)

    def near_best(self, ranking: Sequence[str], tested: Tested) -> tuple[str, ...]:
        """The best system, and those that no deciding metric separates from it."""
        marked = {
            name
            for (name, metric), row in tested.items()
            if metric in self.asked and row.standing != "no clear difference"
        }
        return tuple(name for name in ranking if self._is_near(name, ranking[0], marked))

    def _is_near(self, name: str, best: str, marked: Collection[str]) -> bool:
        """Whether no deciding metric separates a system from the best.

        By the test that makes the marks, as if the two were compared alone.
        """
        if name == best or (best == self.baseline and name in marked):
            return name == best
        columns = [self.aligned.gains(name, best, metric) for metric in self.asked]
        apart = self._rows(columns, [True] * len(columns))
        return all(row.standing == "no clear difference" for row in apart)

    def _rows(
        self, columns: Sequence[Floats], marked: Sequence[bool]
    ) -> Sequence[PairedRow]:
        """The paired tests of some columns of gains, corrected for those that are marked."""
        return paired_rows(
            columns, self.units, alpha=self.alpha, marked=marked, weights=self.weights
        )


def _visibility(pairs: _Pairs, tested: Tested) -> Visibility | None:
    """The smallest detectable difference, for the system whose differences vary most."""
    asked = pairs.asked
    first = {
        name: row
        for (name, metric), row in tested.items()
        if [metric] == asked[:1] and row.n
    }
    if not first:
        return None
    hardest = max(first, key=lambda name: first[name].spread)
    gains = pairs.aligned.gains(hardest, pairs.baseline, asked[0])
    facts = pairs.aligned.facts
    low, high = next(fact.bounds for fact in facts if fact.name == asked[0])
    units = pairs.units
    if pairs.weights is not None:
        # Plain values that vary like the weighted mean.
        gains = as_units(gains, units, pairs.weights).values
        units = None
    largest = None if high is None else high - low
    row = first[hardest]
    seen = visibility(gains, row.alpha, clusters=units, largest=largest)
    return (
        replace(seen, takes=queries_to_detect(row, seen.wanted)) if seen.wanted else seen
    )


def _moved_slices(
    pairs: _Pairs, scores: Scores, tested: Tested, without: set[str | None]
) -> tuple[Sentence, ...]:
    """The slices that moved much more than all queries in the first deciding metric."""
    if not pairs.asked or not tag_cuts(scores.tags):
        return ()
    first = pairs.asked[0]
    metric = next(fact for fact in pairs.aligned.facts if fact.name == first)
    wholes = {name: row for (name, other), row in tested.items() if other == first}
    tests = SliceTests(
        pairs.aligned, pairs.baseline, metric, pairs.alpha, pairs.units, pairs.weights
    )
    return tests.moved(scores, wholes, without)


def _notes(systems: Mapping[str, Scores]) -> list[str]:
    """The notes of all systems, each once; one that only some have names them."""
    by_system = {name: scores.recorded.notes for name, scores in systems.items()}
    every = list(dict.fromkeys(note for notes in by_system.values() for note in notes))
    owners = {
        note: [name for name, notes in by_system.items() if note in notes]
        for note in every
    }
    ties = [note for note in every if len(owners[note]) < len(systems) and _ties_in(note)]
    alone = [
        note if len(having) == len(systems) else _of_some(having, note)
        for note, having in owners.items()
        if note not in ties
    ]
    if not ties:
        return alone
    facts = [
        replace(fact, system=name)
        for name in systems
        for note in ties
        if name in owners[note]
        for fact in _ties_in(note)
    ]
    # Few runs have ties that matter, so most comparisons never load it.
    from calipers.questions.cautions import ties_of_systems

    return [*alone, ties_of_systems(facts)]


def _ties_in(note: str) -> list[Fact]:
    """The means that equal scores decide, where a note is about them."""
    return [
        fact for fact in facts_of(note) if (fact.about, fact.text) == ("bound", "ties")
    ]


def _of_some(names: Sequence[str], note: str) -> Sentence:
    """A note that only some systems have, with their names."""
    return sentence("{it.text}: {note}", it=named(", ".join(names)), note=note)


def _checked_baseline(systems: Mapping[str, Scores], baseline: str | None) -> str:
    if len(systems) < 2:
        raise InvalidInput(
            "A comparison needs at least two systems: found "
            f"{', '.join(systems) or 'none'}; give another run (`calipers retrieve` asks "
            "a live retriever and keeps what it returns)."
        )
    if baseline is None:
        return next(iter(systems))
    if baseline not in systems:
        raise InvalidInput(
            f"The baseline {baseline!r} is none of the systems; they are "
            f"{', '.join(systems)}.{did_you_mean(baseline, systems)}"
        )
    return baseline


def _differences(
    tested: Tested,
    means: Sequence[SystemMean],
    baseline: str,
    facts: Sequence[MetricFacts],
    asked: Sequence[str],
    cluster: str | None,
) -> tuple[Difference, ...]:
    """Every system and metric against the baseline; only deciding metrics get a verdict."""
    at = {(mean.system, mean.metric): mean.mean for mean in means}
    by_name = {metric.name: metric for metric in facts}
    differences = []
    for (system, name), row in tested.items():
        metric = by_name[name]
        decides = name in asked
        names = (baseline, system)
        both = (at[baseline, name], at[system, name])
        unit = "cluster" if cluster else "query"
        claim = claim_of(row, metric, *both, names=names, unit=unit) if decides else None
        differences.append(
            difference_of(row, metric, names, both, decides=decides, claim=claim)
        )
    return tuple(differences)


def _ranked(
    means: Sequence[SystemMean], facts: Sequence[MetricFacts], asked: Sequence[str]
) -> tuple[str, ...]:
    """The systems by the first deciding metric, best first; empty where it is undefined."""
    turn = next((fact.turn for fact in facts if fact.name in asked[:1]), 1.0)
    known = [mean for mean in means if mean.metric in asked[:1] and mean.mean is not None]
    return tuple(
        mean.system for mean in sorted(known, key=lambda mean: -turn * (mean.mean or 0.0))
    )


def _means(
    values: Mapping[str, Floats],
    facts: Sequence[MetricFacts],
    level: float,
    clusters: Ints | None,
    weights: Floats | None,
) -> tuple[SystemMean, ...]:
    """The mean of every system in every metric, over the queries that all systems have."""
    summaries = []
    for at, metric in enumerate(facts):
        each = None if metric.aggregate == "sum" else weights
        for name, table in values.items():
            column = table[:, at]
            n = int(np.count_nonzero(~np.isnan(table[:, at])))
            mean = as_units(column, None, each).mean if n else None
            ends = interval_of_metric(column, metric, level, clusters, each)
            summaries.append(
                SystemMean(name, metric.name, mean, ends, n, len(column) - n)
            )
    return tuple(summaries)
