"""Compare scores with a baseline, query by query: is there a loss, and is it significant?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.model.arrays import Floats, Ints
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import (
    QuerySlice,
    everything,
    query_weights_in,
    slices_by,
    units_of,
)
from calipers.questions.baseline import Baseline
from calipers.questions.compare.comparable import (
    check_paired,
    obstacles,
    some_queries,
    undefined_in_some,
)
from calipers.questions.compare.paired_claim import claim_of, gains_of, turned_interval
from calipers.questions.default_metrics import asked_metrics
from calipers.questions.gate.condition_checks import check_of
from calipers.questions.gate.result import (
    SIGNIFICANT,
    Change,
    Check,
    GateRule,
    Status,
    worst_queries,
)
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_rows import (
    SMALLEST,
    PairedRow,
    paired_rows,
    sign_test,
)
from calipers.words import did_you_mean

SIGN_LEVEL = 0.01
"""A row whose one-sided sign test for a loss is below this p does not pass."""
FEWEST_LOST = 3
"""A slice fails by its mean only if at least this many more queries lost than gained."""


def standing(row: PairedRow, rule: GateRule, *, whole: bool) -> tuple[Status, tuple[str, ...]]:
    """The status of one row, of all queries (``whole``) or of a slice, and the reasons.

    Whether these queries lost is a fact; whether new ones would is left to the paired test.
    """
    loss = -(row.difference or 0.0)
    failed = []
    if row.standing == "worse":
        failed.append(SIGNIFICANT)
    fell = loss > rule.allow + SMALLEST and (whole or row.net_lost >= FEWEST_LOST)
    if fell and not rule.only_shown:
        failed.append(f"over the {rule.allow:g} allowed")
    if failed:
        return "failed", tuple(failed)
    gained = row.standing == "better" or (loss < 0 and row.better > row.worse)
    sides = ((row.better, "better"), (row.worse, "worse"))
    counts = ", ".join(f"{many:,} {way}" for many, way in sides if many)
    if (gained or not row.worse) and sign_test(row.worse, row.better) >= SIGN_LEVEL:
        return "passed", (counts,) if row.better else ("no query changed",) if row.n else ()
    return "no clear difference", (f"{counts}: no clear difference",)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two results on the queries that both have, in the order of the first."""

    now: Scores
    before: Scores
    rows_now: np.ndarray
    rows_before: np.ndarray

    def baseline(self, metric: str) -> Floats:
        """The values of the baseline, in the order of the queries of ``now``."""
        column = np.full(len(self.now), np.nan)
        column[self.rows_now] = self.before.of(metric)[self.rows_before]
        return column


def pair(now: Scores, before: Scores) -> Pairing:
    """Pair two results by query; sharing none is an error."""
    rows = before.rows_of(now.queries["query"])
    shared = np.flatnonzero(rows >= 0)
    if not shared.size:
        ours, theirs = (some_queries(one.queries["query"].head(3)) for one in (now, before))
        raise InvalidInput(
            f"The result and the baseline share no query: the result has {ours}; the "
            f"baseline has {theirs}. Save a baseline for these queries."
        )
    return Pairing(now, before, shared, rows[shared])


@dataclass(frozen=True, eq=False)
class AgainstBaseline:
    """A result compared with its baseline."""

    pairing: Pairing
    asked: list[str]
    """The metrics that decide."""
    checks: list[Check]
    warnings: list[str]
    """Reasons not to trust the baseline that ``anyway`` overrode."""


def against_baseline(
    scores: Scores,
    kept: Baseline,
    wanted: Sequence[Metric],
    rule: GateRule,
    *,
    named: bool,
    primary: str | None,
    tags: Sequence[str],
    clusters: Ints | None,
    cluster: str | None,
    anyway: bool,
) -> AgainstBaseline:
    """Compare every metric and slice with the baseline; one that cannot be trusted is an error."""
    both = {"this result": scores, f"the baseline {kept.name}": kept.scores}
    warnings = [sentence[:1].upper() + sentence[1:] for sentence in obstacles(both)]
    pairing = pair(scores, kept.scores)
    names = _names(wanted, scores, kept)
    facts = [facts_by_name(scores)[name] for name in names]
    for one in facts:
        check_paired(one)
    asked = asked_metrics(facts, primary, named=named)
    warnings += _undefined(pairing, names)
    if warnings and not anyway:
        raise InvalidInput(
            " ".join(warnings) + " Save the baseline again (`calipers gate save`), or "
            "compare all the same with --anyway."
        )
    checks = check_baseline(
        pairing,
        asked,
        [everything(scores), *slices_by(scores, tags)],
        baseline=kept.name,
        rule=rule,
        clusters=clusters,
        cluster=cluster,
    )
    return AgainstBaseline(pairing, asked, checks, warnings)


def _names(wanted: Sequence[Metric], scores: Scores, kept: Baseline) -> list[str]:
    names = [str(metric) for metric in wanted]
    if scores.weights and kept.scores.weights:
        names.append("score")
    for what, has, again in (
        (f"The baseline {kept.name}", list(kept.scores), "save the baseline again"),
        ("This result", list(scores), "measure again"),
    ):
        for name in names:
            if name not in has:
                raise InvalidInput(
                    f"{what} has no {name}; it has {', '.join(has)}.{did_you_mean(name, has)} "
                    f"Choose among these with -m, or {again} with the metric."
                )
    if not names:
        raise InvalidInput(
            f"The baseline {kept.name} holds no metric of which more or less is better; save it "
            "again with the metrics to watch."
        )
    return names


def _undefined(pairing: Pairing, names: Sequence[str]) -> list[str]:
    queries = pairing.now.queries["query"].gather(pairing.rows_now)
    found = []
    for name in names:
        columns = {
            "this result": pairing.now.of(name)[pairing.rows_now],
            "the baseline": pairing.before.of(name)[pairing.rows_before],
        }
        sentence = undefined_in_some(name, columns, queries)
        if sentence:
            found.append(sentence)
    return found


def check_baseline(
    pairing: Pairing,
    asked: Sequence[str],
    slices: Sequence[QuerySlice],
    *,
    baseline: str,
    rule: GateRule,
    clusters: Ints | None = None,
    cluster: str | None = None,
) -> list[Check]:
    """Check every deciding metric and slice for a loss, and for a significant one.

    All rows are tested together, as in a comparison.
    """
    facts = facts_by_name(pairing.now)
    places = [(name, part) for part in slices for name in asked]
    before = {name: pairing.baseline(name) for name, _ in places}
    gains = [
        np.where(part.chosen, gains_of(pairing.now.of(name), before[name], facts[name]), np.nan)
        for name, part in places
    ]
    units = clusters if cluster else units_of(pairing.now.queries, {}, None)
    weights = query_weights_in(pairing.now)
    rows = paired_rows(gains, units, alpha=rule.alpha, weights=weights)
    checks = []
    for (name, part), column, row in zip(places, gains, rows, strict=True):
        change = _change(pairing, before[name], facts[name], part, row, weights)
        place = "" if part.name is None else f" for {part.name}"
        called = f"{name} not worse than {baseline}{place}"
        check = check_of(pairing.now, name, part, called, clusters)
        status, because = standing(row, rule, whole=part.name is None)
        lost = np.where(column < 0, column, np.nan)
        claim = claim_of(
            row,
            facts[name],
            change.baseline,
            change.now,
            place=part.name or "",
            standing=status,
            unit="cluster" if cluster else "query",
        )
        checks.append(
            replace(
                check,
                status=status,
                change=change,
                because=because,
                claim=replace(claim, next=ACCEPT) if status == "failed" else claim,
                worst=worst_queries(pairing.now, lost, pairing.now.of(name), before[name]),
            )
        )
    return checks


ACCEPT = "Is the loss meant? Make it the baseline: `calipers gate --accept 'why it is meant'`"


def _change(
    pairing: Pairing,
    column: Floats,
    facts: MetricFacts,
    part: QuerySlice,
    row: PairedRow,
    weights: Floats | None,
) -> Change:
    before, now = column[part.chosen], pairing.now.of(facts.name)[part.chosen]
    known = ~np.isnan(before) & ~np.isnan(now)
    each = None if weights is None else weights[part.chosen][known]
    means = [as_units(one[known], None, each).mean for one in (before, now)] if known.any() else ()
    return Change(
        baseline=means[0] if means else None,
        now=means[1] if means else None,
        difference=None if row.difference is None else facts.turn * row.difference,
        loss=-(row.difference or 0.0),
        interval=turned_interval(row, facts),
        p_value=row.p,
        p_adjusted=row.adjusted,
        standing=row.standing,
        better=row.better,
        worse=row.worse,
        same=row.same,
        unpaired=int((np.isnan(before) != np.isnan(now)).sum()),
    )
