"""What one chart of one retriever shows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

from calipers.engines.scoring import choose_metrics, score
from calipers.errors import InvalidInput
from calipers.measures import parse
from calipers.measures.spec import check_cutoff
from calipers.model.matched import Matched
from calipers.model.result import ShowsItself
from calipers.questions.compare.result import Comparison
from calipers.questions.misses.result import Misses
from calipers.questions.misses.rule import explain_misses
from calipers.questions.slices.result import Slices
from calipers.questions.slices.rule import slice_scores
from calipers.questions.sweep.result import Sweep
from calipers.questions.sweep.rule import sweep_over_k
from calipers.words import did_you_mean


@dataclass(frozen=True, eq=False, repr=False)
class Plot(ShowsItself):
    """What ``calipers.plot`` makes: save it, or show it in a notebook."""

    shown_by: ClassVar[str] = "calipers.questions.plot.show"

    chart: str
    subject: Sweep | Misses | Slices | Comparison
    metrics: tuple[str, ...]
    """The metrics to draw, as the chart names them; the first where it has room for one."""
    overall: float | None = None
    """The mean over all queries, for slices."""

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, as plain values."""
        spec: dict[str, Any] = self._shown.spec_of(self)
        return spec

    def save(self, path: str | PathLike[str], *, width: int | None = None) -> None:
        """Write it as .svg, .png, .html (answers to the pointer) or .json (the specification)."""
        self._shown.save_plot(self, path, width)


OF_ONE = ("over-k", "precision-recall", "waterfall", "slices")
OF_SEVERAL = ("differences", "head-to-head")
CHARTS = (*OF_ONE, *OF_SEVERAL)
DEFAULT_K = 10


def chart_of_pair(
    pair: Matched,
    chart: str,
    *,
    metrics: str | Iterable[str] | None,
    k: int | Sequence[int] | None,
    by: str | Iterable[str] | None,
    corpus: Any,
) -> Plot:
    """One chart of one retriever."""
    if chart in ("over-k", "precision-recall"):
        swept = sweep_over_k(pair, metrics=metrics, k=k)
        asked = (
            swept.metrics
            if metrics is None
            else tuple(dict.fromkeys(metric.stem for metric in parse(metrics, [1])))
        )
        return Plot(chart, swept, asked)
    deepest = max(k, default=DEFAULT_K) if isinstance(k, Sequence) else k or DEFAULT_K
    if chart == "waterfall":
        return Plot(chart, explain_misses(pair, check_cutoff(deepest), corpus=corpus), ())
    return _slices(pair, metrics, deepest, by)


def _slices(pair: Matched, metrics: Any, k: int, by: str | Iterable[str] | None) -> Plot:
    chosen = choose_metrics("recall" if metrics is None else metrics, k, pair.rel)
    if len(chosen) > 1:
        raise InvalidInput(
            f"The chart of slices shows one metric, and {len(chosen)} are named: "
            f"{', '.join(map(str, chosen))}; name one, such as {chosen[0]}."
        )
    scores = score(pair, chosen)
    cuts = [by] if isinstance(by, str) else list(by or pair.ground_truth.tags)
    if not cuts:
        raise InvalidInput(
            "There is nothing to slice by: the queries have no tags; give them some, or name "
            "'length' or 'targets'."
        )
    name = scores.metrics[0].name
    found = slice_scores(scores, cuts, metrics=[name])
    return Plot("slices", found, (name,), scores[name].mean)


def check_chart(chart: str | None, *, several: bool) -> str:
    """The chart of that name, or the usual one; refused where it needs more or fewer systems."""
    chart = chart or ("differences" if several else "over-k")
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
