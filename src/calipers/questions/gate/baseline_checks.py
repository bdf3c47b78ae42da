"""Compare scores with a baseline, query by query: is there a loss, and is it significant?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.model.arrays import Floats, Ints
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import (
    everything,
    query_weights_in,
    slices_by,
    units_of,
)
from calipers.questions.baseline import Baseline
from calipers.questions.compare.comparable import (
    facts_shared,
    obstacles,
    shared_queries,
    undefined_in_some,
)
from calipers.questions.compare.paired_claim import claim_of, gains_of, turned_interval
from calipers.questions.default_metrics import asked_metrics
from calipers.questions.gate.conditions import summary_of
from calipers.questions.gate.result import (
    SIGNIFICANT,
    Change,
    Check,
    GateRule,
    Status,
    check_of,
    worst_queries,
)
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_rows import SMALLEST, PairedRow, paired_rows, sign_test

SIGN_LEVEL = 0.01
"""A row whose one-sided sign test for a loss is below this p does not pass."""
FEWEST_LOST = 3
"""A slice fails by its mean only if at least this many more queries lost than gained."""
ACCEPT = "Is the loss meant? Make it the baseline: `calipers gate --accept 'why it is meant'`"


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


def check_baseline(
    scores: Scores,
    kept: Baseline,
    wanted: Sequence[Metric],
    rule: GateRule,
    *,
    named: bool,
    primary: str | None,
    by: Sequence[str],
    clusters: Ints | None,
    cluster: str | None,
    anyway: bool,
) -> tuple[list[Check], list[str], list[str]]:
    """Check every deciding metric and slice for a loss, and for a significant one.

    Returned are the checks, the metrics that decide, and what ``anyway`` overrode. All rows are
    tested together, as in a comparison.
    """
    facts, before, overridden = _paired(scores, kept, wanted, anyway=anyway)
    asked = asked_metrics(list(facts.values()), primary, named=named)
    places = [
        (part, name) for part in (everything(scores), *slices_by(scores, by)) for name in asked
    ]
    gains = [
        np.where(part.chosen, gains_of(scores.of(name), before[name], facts[name]), np.nan)
        for part, name in places
    ]
    units = clusters if cluster else units_of(scores.queries, {}, None)
    weights = query_weights_in(scores)
    rows = paired_rows(gains, units, alpha=rule.alpha, weights=weights)
    checks = []
    for (part, name), column, row in zip(places, gains, rows, strict=True):
        old, now = (np.where(part.chosen, one, np.nan) for one in (before[name], scores.of(name)))
        change = _change(old, now, facts[name], row, weights)
        status, because = standing(row, rule, whole=part.name is None)
        claim = claim_of(
            row,
            facts[name],
            change.baseline,
            change.now,
            place=part.name or "",
            standing=status,
            unit="cluster" if cluster else "query",
        )
        place = "" if part.name is None else f" for {part.name}"
        checks.append(
            check_of(
                summary_of(scores, name, part, clusters),
                name=f"{name} not worse than {kept.name}{place}",
                metric=name,
                slice=part.name,
                status=status,
                change=change,
                because=because,
                claim=replace(claim, next=ACCEPT) if status == "failed" else claim,
                worst=worst_queries(scores, np.where(column < 0, column, np.nan), now, old),
            )
        )
    return checks, asked, overridden


def _paired(
    scores: Scores, kept: Baseline, wanted: Sequence[Metric], *, anyway: bool
) -> tuple[dict[str, MetricFacts], dict[str, Floats], list[str]]:
    """The facts of each metric, the baseline's values by query, and reasons not to trust them.

    The values are in the order of the scores; NaN where the baseline lacks the query. A baseline
    that cannot be trusted is an error without ``anyway``.
    """
    both = {"this result": scores, f"the baseline {kept.name}": kept.scores}
    found = [sentence[:1].upper() + sentence[1:] for sentence in obstacles(both)]
    shared_queries(both)
    names = [str(metric) for metric in wanted]
    names += ["score"] if scores.weights and kept.scores.weights else []
    if not names:
        raise InvalidInput(
            f"The baseline {kept.name} holds no metric of which more or less is better; save it "
            "again with the metrics to watch."
        )
    facts = {one.name: one for one in facts_shared(both, names)}
    rows = kept.scores.rows_of(scores.queries["query"])
    known = rows >= 0
    before: dict[str, Floats] = {}
    for name in facts:
        before[name] = np.where(known, kept.scores.of(name)[rows], np.nan)
        sides = {"this result": scores.of(name)[known], "the baseline": before[name][known]}
        queries = scores.queries["query"].filter(pl.Series(known))
        found += undefined_in_some(name, sides, queries)
    if found and not anyway:
        raise InvalidInput(
            " ".join(found) + " Save the baseline again (`calipers gate save`), or "
            "compare all the same with --anyway."
        )
    return facts, before, found


def _change(
    old: Floats, now: Floats, facts: MetricFacts, row: PairedRow, weights: Floats | None
) -> Change:
    """The paired row of a metric, with both means over the queries that have a pair."""
    known = ~np.isnan(old) & ~np.isnan(now)
    each = None if weights is None else weights[known]
    before, after = (
        as_units(one[known], None, each).mean if known.any() else None for one in (old, now)
    )
    return Change(
        baseline=before,
        now=after,
        difference=None if row.difference is None else facts.turn * row.difference,
        loss=-(row.difference or 0.0),
        interval=turned_interval(row, facts),
        p_value=row.p,
        p_adjusted=row.adjusted,
        standing=row.standing,
        better=row.better,
        worse=row.worse,
        same=row.same,
        unpaired=int((np.isnan(old) != np.isnan(now)).sum()),
    )
