"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Unpack

from calipers.operation import operation
from calipers.questions.reading import Cluster, Confidence, Cutoffs, Data, Metrics, Reading, Weights

if TYPE_CHECKING:
    from calipers.model.matched import Matched
    from calipers.model.scores import Scores


@operation(page="evaluate")
def read(data: Data = None, *, keep: bool = True, **reading: Unpack[Reading]) -> "Matched":
    """Read a ground truth and a run and match them, once for everything that is asked later.

    Give ``data`` that holds both, or ``ground_truth`` and ``run``; each may be a path ("-" is
    standard input), a mapping of query to items, a list of records or a table. In place of a run
    give a live ``retriever``; ``ask_for`` says how many results it is asked for. Every operation
    takes the pair in place of files. What was read stays in memory; without ``keep`` a large
    run does not, and an operation that needs its results reads the file again.

    >>> from calipers import misses
    >>> pair = read(ground_truth={"q": ["a", "b"]}, run={"q": ["b", "x", "a"]})
    >>> pair
    <Matched by id: 1 query, 3 results, 2 of 2 targets returned>
    >>> evaluate(pair, metrics="recall@1")["recall@1"].mean
    0.5
    >>> misses(pair, k=2).reasons
    {'below_k': 1}
    """
    from calipers.questions.inputs import matched

    return matched(data, keep=keep, **reading)


@operation(page="evaluate", command="eval")
def evaluate(
    data: Data = None,
    *,
    metrics: Metrics = None,
    k: Cutoffs = None,
    weights: Weights = None,
    confidence: Confidence = 0.95,
    cluster: Cluster = None,
    **reading: Unpack[Reading],
) -> "Scores":
    """Score a run against a ground truth, query by query.

    ``data`` is a pair that ``read`` made, or anything that ``read`` takes; further arguments are
    those of ``read``. ``metrics`` are names such as ``"recall@1,5,10"``; ``k`` serves those
    written without a cut-off. ``weights`` combine metrics into one score. ``confidence`` is that
    of the intervals. ``cluster`` is a tag: queries that share its value, such as paraphrases of
    one intent, count as one unit in every interval.

    >>> scores = evaluate(ground_truth={"q": {"a": 1}}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> scores["mrr"].mean
    0.5
    """
    from calipers.engines.scoring import choose_metrics, deepest, score
    from calipers.questions.inputs import like_of, matched

    chosen = choose_metrics(metrics, k, None, weights, like_of(data, reading))
    pair = matched(data, looks=deepest(chosen), **reading)
    return score(pair, chosen, weights=weights, confidence=confidence, cluster=cluster)


NEEDS: dict[str, tuple[str, frozenset[str]]] = {
    **{
        name: (f"--{name.replace('_', '-')}", frozenset({"measuring"}))
        for name in (*Reading.__annotations__, "confidence")
        if name != "store"
    },
    "data": ("DATA", frozenset({"this machine"})),
    "retriever": ("--retriever", frozenset({"this machine", "a run"})),
    "level": ("--level", frozenset({"a run"})),
    "weights": ("--score", frozenset({"a run", "one result"})),
    "per_query": ("--per-query", frozenset({"a run", "one result"})),
    "by": ("--by", frozenset({"one result"})),
    "bounds": ("--bounds", frozenset({"pair", "one result"})),
    "corrected_by": ("--corrected-by", frozenset({"pair", "one result"})),
    "csv": ("--csv", frozenset({"one result"})),
    "html": ("--html", frozenset({"pair", "one result"})),
    "markdown": ("--markdown", frozenset({"pair", "one result"})),
    "save": ("--save", frozenset({"pair", "one result"})),
    "mlflow": ("--mlflow", frozenset({"pair", "one result"})),
    "corpus": ("--corpus", frozenset({"this machine"})),
    "cluster": ("--cluster", frozenset({"measuring", "every value"})),
}
