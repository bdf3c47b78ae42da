"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.operation import operation
from calipers.questions.reading import Reading

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.questions.bounds.rule import Bounds


@operation(page="evaluate", command="eval")
def bounds(
    data: Any = None,
    *,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    depth: int = 100,
    **reading: Unpack[Reading],
) -> "Bounds":
    """Each metric as it is, with the lowest and highest value that more judgements could give.

    ``data`` is a pair, or anything that ``read`` takes. Every result that nobody judged is taken
    as irrelevant or as relevant (with the highest grade of the ground truth), in all ways;
    unjudged results that were not returned are not considered. For a metric without a cut-off,
    neither are those below ``depth``.

    >>> found = bounds(ground_truth={"q": ["a"]}, run={"q": ["x", "a"]}, metrics="mrr,recall@1")
    >>> [(one.metric, one.lowest, one.value, one.highest) for one in found.bounds]
    [('mrr', 0.5, 0.5, 1.0), ('recall@1', 0.0, 0.0, 0.5)]
    """
    from calipers.engines.scoring import choose_metrics, deepest
    from calipers.measures.spec import check_cutoff
    from calipers.questions.bounds.rule import bound_metrics, check_bounded
    from calipers.questions.inputs import like_of, matched

    check_cutoff(depth)
    check_bounded(chosen := choose_metrics(metrics, k, like=like_of(data, reading)))
    pair = matched(data, again=True, looks=deepest(chosen, depth), **reading)
    return bound_metrics(pair, [one.with_rel(pair.rel) for one in chosen], depth=depth)
