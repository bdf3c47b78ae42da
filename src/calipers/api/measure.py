"""Read once, then ask anything of the pair: how good, at which k, why it fails."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from calipers.api.keywords import Reading
from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.model.bounds import Bounds
    from calipers.model.calls import CallTable
    from calipers.model.diagnosis import Diagnosis
    from calipers.model.levels import Levels
    from calipers.model.matched import Matched
    from calipers.model.misses import Misses
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
    resamples: int = 2000,
    seed: int = 0,
    **reading: Unpack[Reading],
) -> "Scores":
    """Score a run against a ground truth, query by query.

    ``data`` is a pair that ``read`` made, or anything that ``read`` takes; further arguments are
    those of ``read``. ``metrics`` are names such as ``"recall@1,5,10"``; ``k`` serves those
    written without a cut-off. ``weights`` combine metrics into one score. ``confidence``,
    ``resamples`` and ``seed`` are those of the intervals.

    >>> scores = evaluate(ground_truth={"q": {"a": 1}}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> scores["mrr"].mean
    0.5
    """
    from calipers.analyse.scoring import choose_metrics, deepest, score
    from calipers.api.inputs import like_of, matched

    chosen = choose_metrics(metrics, k, None, weights, like_of(data, reading))
    pair = matched(data, looks=deepest(chosen), **reading)
    return score(
        pair, chosen, weights=weights, confidence=confidence, resamples=resamples, seed=seed
    )


@operation(page="slices", command="eval")
def slices(
    scores: "Scores | str | PathLike[str]",
    by: str | Iterable[str],
    *,
    metrics: str | Iterable[str] | None = None,
    resamples: int = 10_000,
) -> "Slices":
    """Each slice of the queries with its mean and interval, tested against the rest.

    ``scores`` are those of ``evaluate``, or the file in which they were written.
    ``by`` is a tag of the queries, "length" (words of the query) or "targets" (how many relevant
    targets it has), or several of these. ``metrics`` are names that the scores have (default:
    recall, precision and ndcg at their largest cut-off, and mrr). A slice that differs
    significantly from the rest is marked; p-values are corrected over all slices and metrics.

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
    from calipers.api.inputs import scores_of

    return slice_scores(
        scores_of(scores),
        [by] if isinstance(by, str) else list(by),
        metrics=[metrics] if isinstance(metrics, str) else list(metrics) if metrics else None,
        resamples=resamples,
    )


@operation(page="ground-truth", command="eval")
def levels(
    data: Any = None,
    *,
    at: str | Iterable[str] = "all",
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
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
        intervals={"confidence": confidence, "resamples": resamples, "seed": seed},
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
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    **reading: Unpack[Reading],
) -> "Sweep":
    """Measure at every k (1 to the longest list, or the ``k`` given) and advise one.

    ``data`` is a pair, or anything that ``read`` takes. ``metrics`` are names without a cut-off.
    ``tokens`` is a budget per query and ``price`` the price of a million tokens; the tokens come
    from the data, from ``tokenizer`` (a function, or its import path "package:function"), or
    from the length of the texts, and the result says which.

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
        confidence=confidence, resamples=resamples, seed=seed,
    )  # fmt: skip


@operation(page="diagnose", command="diagnose")
def diagnose(
    data: Any = None,
    *,
    before: Any = None,
    k: int | None = None,
    thresholds: Mapping[str, float] | None = None,
    by: str | Iterable[str] | None = None,
    price: float | None = None,
    tokenizer: str | Callable[[str], Any] | None = None,
    anyway: bool = False,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    **reading: Unpack[Reading],
) -> "Diagnosis":
    """Look for the known failure modes in the first k results (default: 10, or fewer if shorter).

    ``data`` is a pair, or anything that ``read`` takes. Each finding has its evidence, a
    confidence and what to do. ``thresholds`` override single thresholds by name, such as
    ``{"too_wide.recall": 0.7}`` (`rules` lists them). ``before`` is an earlier run or evaluation
    of the same queries: then the result says what changed. ``by`` are the tags to look for a
    collapsed slice in (default: all, and "length" and "targets"). ``price`` is the price of a
    million tokens, for what is wasted.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": ["a"], "ground_truth": ["a", "b", "c"]}
    ...     for i in range(30)
    ... ]
    >>> [finding.title for finding in diagnose(records).findings]
    ['too selective', 'k too small for this ground truth']
    """
    from calipers.analyse.diagnose import diagnose_pair, thresholds_in_force
    from calipers.api.asking import below
    from calipers.api.inputs import matched, matched_like

    thresholds_in_force(thresholds)
    now = matched(data, keep=True, looks=below(k), **reading)
    return diagnose_pair(
        now, None if before is None else matched_like(now, before, reading), k=k,
        thresholds=thresholds, by=by, price=price, tokenizer=tokenizer, anyway=anyway,
        confidence=confidence, resamples=resamples, seed=seed,
    )  # fmt: skip


@operation(page="diagnose", command="diagnose")
def rules() -> list[dict[str, Any]]:
    """Every rule of ``diagnose`` as plain values: when it holds, and its thresholds.

    >>> rules()[0]["thresholds"]
    {'too_selective.precision': 0.6, 'too_selective.recall': 0.5}
    """
    from calipers.analyse.diagnose import list_rules

    return list_rules()


@operation(page="misses", command="misses")
def misses(
    data: Any = None,
    *,
    k: int = 10,
    corpus: Any = None,
    candidates: Any = None,
    exact: Any = None,
    **reading: Unpack[Reading],
) -> "Misses":
    """One reason for each piece of ground truth that is not in the first k results.

    ``data`` is a pair, or anything that ``read`` takes. ``corpus`` holds the chunks that are
    searched; with it, what is not there and what is split over chunks can be told.
    ``candidates`` (the list before the reranker) and ``exact`` (exact search beside an
    approximate index) are runs; records may hold them too, under ``stages``.

    >>> result = misses(ground_truth={"q": ["a", "b", "c"]}, run={"q": ["a", "x", "b"]}, k=2)
    >>> result.reasons
    {'below_k': 1, 'not_returned': 1}
    """
    from calipers.analyse.misses import explain_misses
    from calipers.api.asking import below
    from calipers.api.inputs import matched
    from calipers.measures.spec import check_cutoff

    k = check_cutoff(k)
    pair = matched(data, keep=True, looks=below(k), **reading)
    return explain_misses(pair, k, corpus=corpus, candidates=candidates, exact=exact)


@operation(page="calls", command="calls")
def calls(data: Any = None, *, k: int | None = None, **reading: Unpack[Reading]) -> "CallTable":
    """What each further call of a retriever adds: recall after it, and its tokens.

    ``data`` is a pair, or anything that ``read`` takes, whose results say in ``call`` which call
    returned them. ``k`` results of each call count (default: all).

    >>> record = {"query": "q", "ground_truth": ["a", "b"], "retrieved": [
    ...     {"id": "a", "call": 1}, {"id": "x", "call": 1}, {"id": "b", "call": 2}]}
    >>> [(one.recall, one.added) for one in calls([record]).calls]
    [(0.5, 0.5), (1.0, 0.5)]
    """
    from calipers.analyse.calls import follow_calls
    from calipers.api.inputs import matched
    from calipers.measures.spec import check_cutoff

    return follow_calls(matched(data, keep=True, **reading), None if k is None else check_cutoff(k))


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


@operation(page="metrics", command="metrics")
def metrics(name: str | None = None) -> list[dict[str, Any]]:
    """Every metric as plain values, or the one that a name in any spelling stands for.

    >>> metrics("P_5")[0]["name"]
    'precision'
    """
    from calipers.measures.listing import list_metrics

    return list_metrics(name)
