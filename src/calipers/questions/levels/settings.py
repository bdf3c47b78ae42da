"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.operation import operation
from calipers.questions.reading import Reading

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.questions.levels.rule import Levels


@operation(page="ground-truth", command="eval")
def levels(
    data: Any = None,
    *,
    at: str | Collection[str] = "all",
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    **reading: Unpack[Reading],
) -> "Levels":
    """Score a run at several levels: "all", or a list such as "evidence,document".

    The input is read once. A level that cannot be computed is left out and explained; if none
    can, that is an error. Further arguments are those of ``read``.

    >>> chunk = {"text": "The GIL is a lock.", "document": "faq"}
    >>> record = {"query": "q", "retrieved": [chunk],
    ...           "ground_truth": [{"quote": "many threads", "document": "faq"}]}
    >>> found = levels([record], metrics="recall@1")
    >>> {level: scores["recall@1"].mean for level, scores in found.scores.items()}
    {'evidence': 0.0, 'chunk': 0.0, 'document': 1.0}
    """
    from calipers.engines.scoring import choose_metrics, deepest
    from calipers.questions.inputs import as_read, like_of
    from calipers.questions.levels.rule import level_names, score_at_levels

    names = level_names(at)
    chosen = choose_metrics(metrics, k, like=like_of(data, reading))
    truth, run, matching = as_read(data, reading, deepest(chosen))
    return score_at_levels(
        truth,
        run,
        names,
        chosen,
        matching=matching,
        intervals={"confidence": confidence, "cluster": cluster},
    )
