"""Lists in reverse order: a sweep of them would advise the largest k, and k is not the problem."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.scoring import compute
from calipers.measures import Metric
from calipers.model.arrays import Floats
from calipers.model.claim import Claim
from calipers.model.fact import Fact, Sentence, sentence
from calipers.model.matched import Matched, Matches
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_rows import paired_rows

LEAST = 0.03
"""Recall at some k that the reverse order must gain: what a cure must gain."""
DUE = 0.2
"""Where turning round gains recall over all k at this level, `diagnose` is asked."""


def reverse_claim(
    pair: Matched,
    metrics: Sequence[Metric],
    recall: Floats,
    confidence: float,
    cluster: str | None = None,
    shown: Sequence[int] = (),
) -> Claim | None:
    """That the lists are in reverse order, where `diagnose` says so; None where it does not.

    ``recall`` has a row for each query and a column for each of the ``metrics``, recall at a
    rising k; at one of the k ``shown`` it is said, if it can be seen there.
    """
    turned = _turned(pair.matches)
    if not _may_gain(pair, turned):
        return None
    after = compute(turned, metrics, pair.policy)
    gains = after.mean(axis=1) - recall.mean(axis=1)
    known = ~np.isnan(gains)
    if not known.any() or exact_mean(gains[known]) <= 0.0:
        return None
    if (paired_rows([gains])[0].p or 0.0) > DUE:
        return None
    # The k at which the two orders are furthest apart shows it best; the smallest of several.
    before_means = [exact_mean(column) for column in recall[known].T]
    after_means = [exact_mean(column) for column in after[known].T]
    apart = np.subtract(after_means, before_means).round(12)
    in_table = np.array([metric.k in shown for metric in metrics]) & (apart >= LEAST)
    at = int(np.argmax(np.where(in_table, apart, -1.0) if in_table.any() else apart))
    if apart[at] < LEAST:
        return None
    # Few sweeps get so far.
    from calipers.questions.diagnose.rule import are_reversed

    if not are_reversed(pair, confidence=confidence, cluster=cluster):
        return None
    better, worse = apart_at(recall[known, at], after[known, at])
    fact = Fact(
        about="difference",
        system="turned round",
        against="as recorded",
        metric=f"recall@{metrics[at].k}",
        value=after_means[at],
        before=before_means[at],
        difference=after_means[at] - before_means[at],
        better=better,
        worse=worse,
        queries=int(known.sum()),
        direction="better",
        sure=True,
    )
    return Claim(
        None,
        Sentence("k is not the problem: the lists are in reverse order."),
        sentence("Turned round, {it.metric} is {it.value}, not {it.before}.", it=fact),
        Sentence("Sort the other way round and sweep again."),
    )


def apart_at(before: Floats, after: Floats) -> tuple[int, int]:
    """How many queries are better and how many are worse after a change.

    >>> apart_at(np.array([0.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.0]))
    (1, 1)
    """
    return int((after > before).sum()), int((after < before).sum())


def _turned(matches: Matches) -> Matches:
    """The matches with every list from its end.

    Of an item that came twice only the first place is known, which is exact enough for this.
    """
    rank = matches.retrieved[matches.edge_query] + 1 - matches.edge_rank
    order = np.lexsort((matches.edge_target, rank, matches.edge_query))
    return replace(
        matches,
        edge_query=matches.edge_query[order],
        edge_rank=rank[order],
        edge_target=matches.edge_target[order],
        edge_overlap=matches.edge_overlap[order],
    )


def _may_gain(pair: Matched, turned: Matches) -> bool:
    """Whether relevant results stand nearer to the end of their lists, so that a test is due."""
    relevant = pair.matches.relevant(pair.rel)
    before = pair.matches.edge_rank[relevant[pair.matches.edge_target]]
    after = turned.edge_rank[relevant[turned.edge_target]]
    return bool(before.sum() > after.sum() and (turned.edge_rank > 0).all())
