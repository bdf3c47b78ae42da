"""Everything about a retriever on one page, and single charts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.api.decide import compare
from calipers.api.keywords import Reading
from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.model.comparison import Comparison
    from calipers.model.plot import Plot
    from calipers.model.report import Report
    from calipers.model.scores import Scores


@operation(page="report", command="eval")
def report(
    data: Any = None,
    *,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    baseline: str | None = None,
    anyway: bool = False,
    comparison: "Comparison | None" = None,
    scores: "Scores | None" = None,
    name: str | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    corpus: Any = None,
    by: Iterable[str] | None = None,
    primary: str | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    **reading: Unpack[Reading],
) -> "Report":
    """Measure, sweep, diagnose and explain in one go; ``save`` writes the page.

    Give ``data`` as for ``evaluate``, or several ``systems`` as for ``compare`` (pairs, runs or
    records, not results measured before: a page shows rankings). The largest cut-off in
    ``metrics`` or ``k`` is the one that is described (default: 10). ``corpus`` tells more about
    misses; ``by`` are the tags to slice by (default: all that have a few values). ``name`` is
    what the page calls the retriever; ``comparison`` is what ``compare`` made of the same
    systems, and ``scores`` what ``evaluate`` made of the same data, where that was done already.

    >>> made = report([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a", "b"]}], k=2)
    >>> made.k, made.systems[0].head["recall@2"].mean
    (2, 0.5)
    >>> "recall" in made.to_markdown()
    True
    """
    from calipers.analyse.report import definitions_shown, describe
    from calipers.analyse.scoring import choose_metrics, deepest
    from calipers.api.inputs import like_of
    from calipers.api.keywords import DEPTH
    from calipers.api.systems import matched_to_report
    from calipers.errors import InvalidInput
    from calipers.model.report import Report

    chosen = choose_metrics(metrics, k, None, weights, like_of(data, reading))
    pairs = matched_to_report(data, systems, name, reading, looks=deepest(chosen, DEPTH))
    if scores is not None and len(pairs) > 1:
        raise InvalidInput("Scores are given beside several systems; they are those of one.")
    made = tuple(
        describe(
            one, pair, chosen, made=scores, weights=weights, corpus=corpus, by=by,
            confidence=confidence, cluster=cluster,
        )
        for one, pair in pairs.items()
    )  # fmt: skip
    if len(made) > 1 and comparison is None:
        comparison = compare(
            {one.name: one.scores for one in made}, baseline=baseline, anyway=anyway,
            metrics=None if metrics is None and k is None else
            [facts.name for facts in made[0].scores.metrics],
            primary=primary, cluster=cluster, confidence=confidence,
        )  # fmt: skip
    if comparison is not None:
        first = comparison.baseline
        made = tuple(sorted(made, key=lambda one: one.name != first))
    return Report(made, comparison, definitions_shown(made))


@operation(page="report", command="plot")
def plot(
    data: Any = None,
    chart: str | None = None,
    *,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    retrievers: Mapping[str, Any] | None = None,
    metrics: str | Iterable[str] | None = None,
    k: int | Sequence[int] | None = None,
    by: str | Iterable[str] | None = None,
    corpus: Any = None,
    baseline: str | None = None,
    anyway: bool = False,
    **reading: Unpack[Reading],
) -> "Plot":
    """Make one chart: "over-k" (default), "precision-recall", "waterfall" or "slices".

    Several ``systems`` or live ``retrievers``, as for ``compare``, make a chart of "differences"
    (default) or "head-to-head"; ``baseline`` and ``anyway`` are those of ``compare``.
    ``metrics`` and ``k`` mean what they mean to ``sweep``, to ``misses`` (the largest k) or to
    ``compare``. ``by`` names the tags of slices. The other arguments are those of ``read``.

    >>> made = plot([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a"]}])
    >>> made.chart, sorted(made.spec)[:3]
    ('over-k', ['$schema', 'background', 'columns'])
    """
    from calipers.analyse.plot import DEFAULT_K, chart_of_pair, check_chart
    from calipers.analyse.scoring import cutoffs, deepest
    from calipers.api.asking import below
    from calipers.api.inputs import matched, without_inputs
    from calipers.errors import InvalidInput
    from calipers.measures import parse
    from calipers.model.plot import Plot

    several = systems is not None or bool(retrievers)
    chart = check_chart(chart, several=several)
    if several:
        if data is not None or reading.get("run") is not None or reading.get("retriever"):
            raise InvalidInput(
                "Several systems are given together with one run or retriever; give all of them "
                "as systems and retrievers, and the questions as ground_truth."
            )
        compared = compare(
            systems or (), reading.get("ground_truth"), retrievers=retrievers,
            ask_for=reading.get("ask_for"), workers=reading.get("workers"),
            watch=reading.get("watch"), baseline=baseline, anyway=anyway, metrics=metrics, k=k,
            **without_inputs(reading),
        )  # fmt: skip
        return Plot(chart, compared, tuple(facts.name for facts in compared.metrics))
    cuts = cutoffs(k) or [DEFAULT_K]
    looks = below(deepest(parse(metrics or (), cuts), max(cuts)))
    pair = matched(data, keep=True, looks=looks, **reading)
    return chart_of_pair(pair, chart, metrics=metrics, k=k, by=by, corpus=corpus)
