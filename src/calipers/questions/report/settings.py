"""Operations and their settings: names, types and defaults."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.operation import operation
from calipers.questions.compare.settings import compare
from calipers.questions.reading import Reading

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.questions.compare.result import Comparison
    from calipers.questions.report.result import Report


@operation(page="evaluate", command="eval")
def report(
    data: Any = None,
    *,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    baseline: str | None = None,
    anyway: bool = False,
    comparison: "Comparison | None" = None,
    name: str | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    corpus: Any = None,
    by: Collection[str] | None = None,
    primary: str | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    **reading: Unpack[Reading],
) -> "Report":
    """Measure, sweep, diagnose and explain one retriever, or compare several; as a page.

    Give ``data`` as for ``evaluate``, or several ``systems`` as for ``compare`` (pairs, runs or
    records, not results measured before: a page shows rankings). The largest cut-off of recall
    is the one that is described (default: 10). ``corpus`` tells more about
    misses; ``by`` are the tags to slice by (default: all that have a few values). ``name`` is
    what the page calls the retriever; ``comparison`` is what ``compare`` made of the same
    systems, where that was done already.

    >>> made = report([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a", "b"]}], k=2)
    >>> made.k, made.systems[0].scores["recall@2"].mean
    (2, 0.5)
    """
    from calipers.engines.scoring import choose_metrics, deepest, score
    from calipers.questions.inputs import like_of
    from calipers.questions.reading import DEPTH
    from calipers.questions.report.browse import Browse
    from calipers.questions.report.result import Report, SystemReport
    from calipers.questions.report.rule import describe
    from calipers.questions.systems import matched_to_report

    chosen = choose_metrics(metrics, k, like=like_of(data, reading))
    pairs = matched_to_report(data, systems, name, reading, looks=deepest(chosen, DEPTH))
    intervals: dict[str, Any] = {"confidence": confidence, "cluster": cluster}
    browsed = [
        Browse(one, score(pair, chosen, **intervals), pair, corpus=corpus)
        for one, pair in pairs.items()
    ]
    if len(browsed) == 1:
        return Report((describe(browsed[0], by=by, **intervals),))
    made = tuple(SystemReport(one, {}) for one in browsed)
    if comparison is None:
        comparison = compare(
            {one.name: one.scores for one in made},
            baseline=baseline,
            anyway=anyway,
            metrics=None
            if metrics is None and k is None
            else [facts.name for facts in made[0].scores.metrics],
            primary=primary,
            cluster=cluster,
            confidence=confidence,
        )
    first = comparison.baseline
    return Report(tuple(sorted(made, key=lambda one: one.name != first)), comparison)
