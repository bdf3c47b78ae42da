"""One chart of one retriever, or of several."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calipers.analyse.slices import slice_scores
from calipers.api.compare import compare
from calipers.api.evaluate import choose_metrics, score
from calipers.api.misses import misses
from calipers.api.prepare import prepare
from calipers.api.sweep import sweep
from calipers.errors import InvalidInput
from calipers.metrics import parse
from calipers.model.plot import Plot
from calipers.suggest import did_you_mean

OF_ONE = ("over-k", "precision-recall", "waterfall", "slices")
OF_SEVERAL = ("differences", "head-to-head")
CHARTS = (*OF_ONE, *OF_SEVERAL)
DEFAULT_K = 10


def plot(
    data: Any = None,
    chart: str | None = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    metrics: str | Iterable[str] | None = None,
    k: int | Sequence[int] | None = None,
    by: str | Iterable[str] | None = None,
    corpus: Any = None,
    baseline: str | None = None,
    **settings: Any,
) -> Plot:
    """Make one chart: "over-k" (default), "precision-recall", "waterfall" or "slices".

    Of several ``systems``: "differences" (default) or "head-to-head". ``metrics`` and ``k`` are
    those of ``sweep``, of ``misses`` (the largest k) or of ``compare``; ``by`` are the tags of
    slices. The other arguments are those of ``evaluate``.

    >>> made = plot([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a"]}])
    >>> made.chart, sorted(made.spec)[:3]
    ('over-k', ['$schema', 'background', 'columns'])
    """
    several = systems is not None
    chart = _checked(chart or ("differences" if several else "over-k"), several)
    if systems is not None:
        compared = compare(
            systems, ground_truth, baseline=baseline, metrics=metrics, k=k, **settings
        )
        return Plot(chart, compared, tuple(facts.name for facts in compared.metrics))
    given = {"ground_truth": ground_truth, "run": run, **settings}
    if chart in ("over-k", "precision-recall"):
        swept = sweep(data, metrics=metrics, k=k, **given)
        asked = swept.metrics if metrics is None else tuple(
            dict.fromkeys(metric.stem for metric in parse(metrics, [1]))
        )  # fmt: skip
        return Plot(chart, swept, asked)
    deepest = max(k, default=DEFAULT_K) if isinstance(k, Sequence) else k or DEFAULT_K
    if chart == "waterfall":
        matching = {n: v for n, v in given.items() if n not in ("confidence", "resamples", "seed")}
        return Plot(chart, misses(data, k=deepest, corpus=corpus, **matching), ())
    return _slices(data, metrics, deepest, by, given)


def _slices(
    data: Any, metrics: Any, k: int, by: str | Iterable[str] | None, given: dict[str, Any]
) -> Plot:
    intervals = {n: given.pop(n) for n in ("confidence", "resamples", "seed") if n in given}
    prepared = prepare(data, **given)
    chosen = choose_metrics("recall" if metrics is None else metrics, k, prepared.rel)
    if len(chosen) > 1:
        raise InvalidInput(
            f"The chart of slices shows one metric, and {len(chosen)} are named: "
            f"{', '.join(map(str, chosen))}; name one, such as {chosen[0]}."
        )
    scores = score(prepared, chosen, **intervals)
    cuts = [by] if isinstance(by, str) else list(by or prepared.ground_truth.tags)
    if not cuts:
        raise InvalidInput(
            "There is nothing to slice by: the queries have no tags; give them some, or name "
            "'length' or 'targets'."
        )
    name = scores.metrics[0].name
    found = slice_scores(scores, cuts, metrics=[name])
    return Plot("slices", found, (name,), scores[name].mean)


def _checked(chart: str, several: bool) -> str:
    if chart not in CHARTS:
        raise InvalidInput(
            f"There is no chart {chart!r}; there are {', '.join(CHARTS)}."
            f"{did_you_mean(chart, CHARTS)}"
        )
    if several != (chart in OF_SEVERAL):
        one, other = ("several systems", OF_ONE) if several else ("one retriever", OF_SEVERAL)
        allowed = OF_SEVERAL if several else OF_ONE
        raise InvalidInput(
            f"The chart {chart!r} is not one of {one}, which is what is given; for that there are "
            f"{', '.join(allowed)}. ({', '.join(other)} need "
            f"{'one retriever' if several else 'two systems or more'}.)"
        )
    return chart
