"""What the metrics could be if everything were judged."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from calipers.analyse.bounds import bound_all, has_bounds, unjudged_results
from calipers.analyse.listing import list_results
from calipers.api.evaluate import choose_metrics
from calipers.api.prepare import prepare
from calipers.audit.counts import audit_counts, enforce
from calipers.errors import InvalidInput
from calipers.metrics import Metric
from calipers.metrics.spec import check_cutoff
from calipers.model.bounds import Bounds

DEPTH = 100


def bounds(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    metrics: str | Iterable[str | Metric] | None = None,
    k: int | Sequence[int] | None = None,
    rel: float | None = None,
    depth: int = DEPTH,
    **preparing: Any,
) -> Bounds:
    """Each metric as it is, with the lowest and highest value that more judgements could give.

    Every result that nobody judged is taken as irrelevant or as relevant (with the highest
    grade of the ground truth), in all ways; unjudged results that were not returned are not
    considered. For a metric without a cut-off, neither are those below ``depth``.

    >>> found = bounds(ground_truth={"q": ["a"]}, run={"q": ["x", "a"]}, metrics="mrr,recall@1")
    >>> [(one.metric, one.lowest, one.value, one.highest) for one in found.bounds]
    [('mrr', 0.5, 0.5, 1.0), ('recall@1', 0.0, 0.0, 0.5)]
    """
    check_cutoff(depth)
    chosen = choose_metrics(metrics, k, rel)
    bounded = [metric for metric in chosen if has_bounds(metric)]
    if not bounded:
        raise InvalidInput(
            f"None of the metrics has bounds: {', '.join(map(str, chosen))}; name one that counts "
            "relevant results, such as recall@10."
        )
    prepared = prepare(data, ground_truth=ground_truth, run=run, rel=rel, **preparing)
    matches, policy = prepared.matches, prepared.policy
    enforce(policy, audit_counts(
        prepared.ground_truth, matches, prepared.tally, depth=None, rel=rel
    ))  # fmt: skip
    deepest = max([depth if one.k is None else one.k for one in bounded])
    listing = list_results(prepared.run, matches, policy.ties, deepest)
    unjudged = unjudged_results(matches, listing)
    grade = max(matches.highest_grade, rel or 0.0) or 1.0
    return Bounds(
        bounds=bound_all(matches, listing, bounded, policy, grade=grade, depth=depth),
        grade=grade,
        depth=deepest,
        unjudged=int(unjudged.added.sum()),
        shown=listing.filter(~pl.col("repeated")).height,
        skipped=tuple(str(metric) for metric in chosen if not has_bounds(metric)),
    )
