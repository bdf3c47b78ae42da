"""Read once, then ask anything of the pair: how good, at which k, why it fails."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from calipers.api.keywords import Reading
from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.model.bounds import Bounds
    from calipers.model.corrected import CorrectedScores
    from calipers.model.levels import Levels
    from calipers.model.matched import Matched
    from calipers.model.scores import Scores
    from calipers.model.slices import Slices
    from calipers.model.sweep import Sweep


@operation(page="evaluate")
def read(data: Any = None, *, keep: bool = True, **reading: Unpack[Reading]) -> "Matched":
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
    from calipers.api.inputs import matched

    return matched(data, keep=keep, **reading)


@operation(page="evaluate", command="eval")
def evaluate(
    data: Any = None,
    *,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
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
    from calipers.analyse.scoring import choose_metrics, deepest, score
    from calipers.api.inputs import like_of, matched

    chosen = choose_metrics(metrics, k, None, weights, like_of(data, reading))
    pair = matched(data, looks=deepest(chosen), **reading)
    return score(pair, chosen, weights=weights, confidence=confidence, cluster=cluster)


@operation(page="slices", command="eval")
def slices(
    scores: "Scores | str | PathLike[str]",
    by: str | Iterable[str],
    *,
    metrics: str | Iterable[str] | None = None,
    primary: str | None = None,
) -> "Slices":
    """Each slice of the queries with its mean and interval, tested against the rest.

    ``scores`` are those of ``evaluate``, or the file in which they were written.
    ``by`` is a tag of the queries, "length" (words of the query) or "targets" (how many relevant
    targets it has), or several of these. ``metrics`` are names that the scores have (default:
    recall, precision and ndcg at their largest cut-off, and mrr). A slice that differs from the
    rest in the ``primary`` metric (default: recall at the largest cut-off) is marked, corrected
    over all slices; the other metrics are shown beside it.

    >>> records = [
    ...     {"query": f"{i}", "retrieved": ["a" if i % 2 else "b"], "ground_truth": ["a"],
    ...      "tags": {"type": "odd" if i % 2 else "even"}}
    ...     for i in range(20)
    ... ]
    >>> found = slices(evaluate(records, metrics="recall@1"), "type")
    >>> [(row.value, row.mean, row.standing) for row in found.rows]
    [('even', 0.0, 'below'), ('odd', 1.0, 'above')]
    """
    from calipers.analyse.slices import slice_scores
    from calipers.api.systems import scores_of

    return slice_scores(
        scores_of(scores),
        [by] if isinstance(by, str) else list(by),
        metrics=[metrics] if isinstance(metrics, str) else list(metrics) if metrics else None,
        primary=primary,
    )


@operation(page="ground-truth", command="eval")
def levels(
    data: Any = None,
    *,
    at: str | Iterable[str] = "all",
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
    from calipers.analyse.levels import level_names, score_at_levels
    from calipers.analyse.scoring import choose_metrics, deepest
    from calipers.api.inputs import as_read, like_of

    names = level_names(at)
    chosen = choose_metrics(metrics, k, like=like_of(data, reading))
    truth, run, matching = as_read(data, reading, deepest(chosen))
    return score_at_levels(
        truth, run, names, chosen, matching=matching,
        intervals={"confidence": confidence, "cluster": cluster},
    )  # fmt: skip


@operation(page="which-k", command="sweep")
def sweep(
    data: Any = None,
    *,
    metrics: str | Iterable[str] | None = None,
    k: int | Sequence[int] | None = None,
    tokens: int | None = None,
    price: float | None = None,
    tokenizer: str | Callable[[str], Any] | None = None,
    margin: float = 0.05,
    confidence: float = 0.95,
    cluster: str | None = None,
    **reading: Unpack[Reading],
) -> "Sweep":
    """Measure at every k (1 to the longest list, or the ``k`` given) and advise one.

    ``data`` is a pair, or anything that ``read`` takes. ``metrics`` are names without a cut-off.
    ``tokens`` is a budget per query and ``price`` the price of a million tokens; the tokens come
    from the data, from ``tokenizer`` (a function, or its import path "package:function"), or
    from the length of the texts, and the result says which. The k that is advised loses, with
    the ``confidence``, at most a ``margin`` of recall against the largest.

    >>> found = sweep([{"query": "q", "retrieved": ["x", "a", "b"], "ground_truth": ["a", "b"]}])
    >>> [point.values["recall"].mean for point in found.points]
    [0.0, 0.5, 1.0]
    >>> found.f1.k
    3
    """
    from calipers.analyse.scoring import cutoffs
    from calipers.analyse.sweep import check_costs, sweep_over_k
    from calipers.api.inputs import matched
    from calipers.api.keywords import DEPTH

    check_costs(tokens, price)
    pair = matched(data, keep=True, looks=max(cutoffs(k) or [DEPTH]), **reading)
    return sweep_over_k(
        pair, metrics=metrics, k=k, tokens=tokens, price=price, tokenizer=tokenizer,
        margin=margin, confidence=confidence, cluster=cluster,
    )  # fmt: skip


@operation(page="bounds", command="eval")
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
    from calipers.analyse.bounds import bound_metrics, check_bounded
    from calipers.analyse.scoring import choose_metrics, deepest
    from calipers.api.inputs import like_of, matched
    from calipers.measures.spec import check_cutoff

    check_cutoff(depth)
    check_bounded(chosen := choose_metrics(metrics, k, like=like_of(data, reading)))
    pair = matched(data, keep=True, looks=deepest(chosen, depth), **reading)
    return bound_metrics(pair, [one.with_rel(pair.rel) for one in chosen], depth=depth)


@operation(page="make-ground-truth", command="eval")
def corrected(
    data: Any = None,
    *,
    people: Any,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    **reading: Unpack[Reading],
) -> "CorrectedScores":
    """Metrics by labels of a machine, corrected by those of people on a sample of the queries.

    ``data`` is a pair, or anything that ``read`` takes; its ground truth is the machine's.
    ``people`` is a ground truth for some of the same queries, drawn at random. Each metric is what
    people would have found over all queries, with an interval that counts how often the machine
    was wrong on the sample (prediction-powered inference). With a ``cluster``, people's sample
    is one of clusters.

    >>> queries = [f"q{i}" for i in range(12)]
    >>> run = {query: ["a", "b"] for query in queries}
    >>> machine = {query: {"a": 1} for query in queries}
    >>> people = {query: {"a" if i % 2 else "b": 1} for i, query in enumerate(queries[:6])}
    >>> found = corrected(ground_truth=machine, run=run, people=people, metrics="mrr")
    >>> found["mrr"].machine, found["mrr"].value
    (1.0, 0.75)
    """
    from calipers.analyse.correct import correct_scores
    from calipers.analyse.scoring import choose_metrics, score
    from calipers.api.inputs import judged_by, like_of, matched

    chosen = choose_metrics(metrics, k, like=like_of(data, reading))
    pair = matched(data, keep=True, **reading)
    by_people = judged_by(pair, people)
    machine = score(pair, chosen, cluster=cluster)
    return correct_scores(machine, score(by_people, chosen), confidence)


@operation(page="metrics", command="metrics")
def metrics(name: str | None = None) -> list[dict[str, Any]]:
    """Every metric as plain values, or the one that a name in any spelling stands for.

    >>> metrics("P_5")[0]["name"]
    'precision'
    """
    from calipers.measures.listing import list_metrics

    return list_metrics(name)
