"""Operations and their settings: names, types and defaults."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.operation import operation
from calipers.questions.reading import Reading

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.questions.report.result import Report


@operation(page="evaluate", command="eval")
def report(
    data: Any = None,
    *,
    name: str | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    corpus: Any = None,
    by: Collection[str] | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    **reading: Unpack[Reading],
) -> "Report":
    """Measure, sweep, diagnose and explain one retriever, as a page.

    Give ``data`` as for ``evaluate``. The largest cut-off of recall is the one that is described
    (default: 10). ``corpus`` tells more about misses; ``by`` are the tags to slice by (default:
    all that have a few values). ``name`` is what the page calls the retriever.

    >>> made = report([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a", "b"]}], k=2)
    >>> made.k, made.systems[0].scores["recall@2"].mean
    (2, 0.5)
    """
    from calipers.engines.scoring import choose_metrics, deepest, score
    from calipers.questions.inputs import like_of, matched
    from calipers.questions.reading import DEPTH
    from calipers.questions.report.browse import Browse
    from calipers.questions.report.result import Report
    from calipers.questions.report.rule import describe
    from calipers.questions.systems import name_of

    chosen = choose_metrics(metrics, k, like=like_of(data, reading))
    given = (reading.get("retriever"), reading.get("run"), data)
    called = name or name_of(next((one for one in given if one is not None), None))
    pair = matched(data, reading, again=True, looks=deepest(chosen, DEPTH))
    intervals: dict[str, Any] = {"confidence": confidence, "cluster": cluster}
    browse = Browse(called, score(pair, chosen, **intervals), pair, corpus=corpus)
    return Report((describe(browse, by=by, **intervals),))
