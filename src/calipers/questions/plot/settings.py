"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.operation import Setting, operation
from calipers.questions.compare.settings import compare
from calipers.questions.reading import (
    Against,
    Anyway,
    Reading,
)
from calipers.questions.spellings import cutoff_list, named_retrievers

if TYPE_CHECKING:
    from calipers.questions.plot.rule import Plot


@operation(page="report", command="plot")
def plot(
    data: Annotated[Any, Setting("", argument="[DATA]...", several=True, file="data")] = None,
    chart: Annotated[
        str | None,
        Setting(
            "For one retriever: over-k, precision-recall, waterfall or slices; for several: "
            "differences or head-to-head. [default: over-k, or differences]",
            metavar="CHART",
        ),
    ] = None,
    *,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    retrievers: Annotated[
        Mapping[str, Any] | None,
        Setting(
            "Ask this live retriever the questions in DATA: package.module:function, an address "
            "or cmd:command; give several to compare them.",
            "--retriever",
            "[NAME=]RETRIEVER",
            several=True,
            read=named_retrievers,
        ),
    ] = None,
    metrics: Annotated[
        str | Iterable[str] | None,
        Setting(
            "Metrics: without a cut-off for the charts over k, such as recall,ndcg; else also "
            "recall@10 (`calipers metrics` lists them).",
            "-m",
            "LIST",
            file="metrics",
        ),
    ] = None,
    k: Annotated[
        int | Sequence[int] | None,
        Setting(
            "Over k: which k to draw. Waterfall: how many results count. Else: cut-offs for "
            "metrics written without one.",
            "-k",
            "LIST",
            read=cutoff_list,
            file="k",
        ),
    ] = None,
    by: Annotated[
        str | Iterable[str] | None,
        Setting(
            "The tags to slice by; may be given several times. [default: all]",
            metavar="TAG",
            several=True,
        ),
    ] = None,
    corpus: Annotated[
        Any,
        Setting("The chunks that are searched, for the waterfall.", metavar="FILE", file="corpus"),
    ] = None,
    baseline: Against = None,
    anyway: Anyway = False,
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
    from calipers.engines.scoring import cutoffs, deepest
    from calipers.errors import InvalidInput
    from calipers.measures import parse
    from calipers.questions.asking import below
    from calipers.questions.inputs import matched, without_inputs
    from calipers.questions.plot.rule import DEFAULT_K, Plot, chart_of_pair, check_chart

    several = systems is not None or bool(retrievers)
    chart = check_chart(chart, several=several)
    if several:
        if data is not None or reading.get("run") is not None or reading.get("retriever"):
            raise InvalidInput(
                "Several systems are given together with one run or retriever; give all of them "
                "as systems and retrievers, and the questions as ground_truth."
            )
        compared = compare(
            systems or (),
            reading.get("ground_truth"),
            retrievers=retrievers,
            ask_for=reading.get("ask_for"),
            workers=reading.get("workers"),
            watch=reading.get("watch"),
            baseline=baseline,
            anyway=anyway,
            metrics=metrics,
            k=k,
            **without_inputs(reading),
        )
        return Plot(chart, compared, tuple(facts.name for facts in compared.metrics))
    cuts = cutoffs(k) or [DEFAULT_K]
    looks = below(deepest(parse(metrics or (), cuts), max(cuts)))
    pair = matched(data, keep=True, looks=looks, **reading)
    return chart_of_pair(pair, chart, metrics=metrics, k=k, by=by, corpus=corpus)
