"""One value per query and metric, from a matched pair."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.summary import audit_counts, enforce, summarise
from calipers.errors import InvalidInput, is_command_line
from calipers.measures import Metric, parse
from calipers.measures.parameter import Value
from calipers.measures.spec import check_cutoff, find_name
from calipers.model.arrays import Bools, Floats, Ints, as_series, frozen_array
from calipers.model.fact import Fact, joined, named, sentence
from calipers.model.fingerprint import Fingerprints, fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import FAILED, MISSING, Matched, Matches
from calipers.model.policy import Policy
from calipers.model.recorded import Recorded
from calipers.model.scores import MetricFacts, Scores
from calipers.statistics.score_interval import check_confidence
from calipers.version import __version__

DEFAULT_METRICS = ("hit_rate", "precision", "recall", "f1", "ndcg")
DEFAULT_WITHOUT_CUTOFF = ("mrr", "map")
DEFAULT_KS = (1, 3, 5, 10)
FAR = 3
"""A cut-off so many times the longest list was meant for longer lists."""
MOST_NAMED = 3
SHALLOWEST = 10
"""Metrics without a cut-off, such as mrr, look at so many results at least."""


def score(
    pair: Matched,
    metrics: Sequence[Metric],
    *,
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
    further: Mapping[str, Any] | None = None,
) -> Scores:
    """The scores of a matched pair, so that several questions need only one reading.

    ``weight_by`` is a tag that says how much each query counts. ``further`` are
    settings to record beside those of the pair and its intervals.
    """
    check_confidence(confidence)
    refuse_beyond_returned(pair.ground_truth, metrics)
    matches = pair.matches
    policy = pair.policy
    metrics = tuple(dict.fromkeys(metric.with_rel(pair.rel) for metric in metrics))
    audit = audit_counts(
        pair.ground_truth,
        matches,
        pair.tally,
        depth=deepest_cutoff(metrics),
        rel=pair.rel,
    )
    enforce(policy, audit)
    record: dict[str, Any] = {
        "calipers": __version__,
        **pair.settings,
        **(further or {}),
        "confidence": confidence,
        **({} if cluster is None else {"cluster": cluster}),
        **({} if weight_by is None else {"weight_by": weight_by}),
        **({"only_returned": True} if pair.ground_truth.only_returned else {}),
    }
    longest = int(matches.retrieved.max(initial=0))
    clusters = _clusters(pair, cluster)
    each = None
    if weight_by is not None:
        from calipers.model.slicing import query_weights_of

        each = query_weights_of(pair.ground_truth.tags, weight_by)
    facts = tuple(facts_of(metric) for metric in metrics)
    values = frozen_array(compute(matches, metrics, policy))
    record["notes"] = [
        *([ONLY_RETURNED] if pair.ground_truth.only_returned else []),
        *uneven_clusters(clusters, cluster),
        *weights_in_words(each, weight_by),
        *Recorded(record).notes,
        *looks_below_the_end(metrics, longest, pair.run.asked_for),
        *estimated_tokens(matches, metrics),
    ]
    return Scores(
        metrics=facts,
        values=values,
        queries=lambda: query_table(matches, pair.rel),
        tags=pair.ground_truth.tags,
        audit=audit,
        policy=policy,
        fingerprints=Fingerprints(
            {
                **_contents(pair),
                "settings": lambda: settings_fingerprint(facts, policy, record),
            }
        ),
        settings=record,
        summaries=summarise(facts, values, confidence, clusters, each),
        find_name=find_name,
    )


OF_RETURNED = frozenset(
    (
        "hit_rate",
        "precision",
        "mrr",
        "first_rank",
        "tp",
        "fp",
        "dcg",
        "rbp",
        "judged",
        "tokens",
    )
)
"""Metrics that need no more than a judgement of what was returned."""
ONLY_RETURNED = (
    "Only what was returned was judged, so recall, F1, nDCG and MAP cannot be measured; "
    "--judged complete says that nothing else is relevant."
)


def of_returned(truth: GroundTruth, metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """The metrics that can be measured: all of them, unless only returned rows were judged."""
    if not truth.only_returned:
        return tuple(metrics)
    beyond = {*beyond_returned(metrics)}
    return tuple(metric for metric in metrics if str(metric) not in beyond)


def beyond_returned(metrics: Sequence[Metric]) -> list[str]:
    """The metrics that need judgements of what was not returned."""
    return [
        str(metric) for metric in metrics if metric.definition.name not in OF_RETURNED
    ]


def refuse_beyond_returned(
    truth: GroundTruth,
    metrics: Sequence[Metric],
    instead: str = "precision, hit_rate or mrr",
) -> None:
    """Refuse metrics that need what was not returned, where only returned rows were judged."""
    beyond = beyond_returned(metrics) if truth.only_returned else []
    if not beyond:
        return
    named = ", ".join(beyond[:MOST_NAMED])
    raise InvalidInput(
        f"Measure {instead}, or say {_all_judged()} if nothing else is relevant: {named} cannot be "
        "measured, as only what was returned was judged."
    )


def missed_is_unknown() -> InvalidInput:
    """The error where it is asked what was missed, and only returned rows were judged."""
    return InvalidInput(
        f"Say {_all_judged()} if nothing else is relevant: only what was returned was judged, so "
        "what was missed is not known."
    )


def _all_judged() -> str:
    return "--judged complete" if is_command_line() else 'judged="complete"'


def _clusters(pair: Matched, cluster: str | None) -> Ints | None:
    if cluster is None:
        return None
    # Most evaluations take queries as they are.
    from calipers.model.slicing import clusters_of

    return clusters_of(pair.ground_truth.tags, cluster, pair.matches.n_queries)


def uneven_clusters(clusters: Ints | None, tag: str | None) -> list[str]:
    """A note where a few clusters are so large that intervals are too narrow."""
    if clusters is None:
        return []
    from calipers.statistics.clusters import cluster_sizes

    sizes = cluster_sizes(clusters)
    if not sizes.uneven:
        return []
    is_one = sizes.largest**2 > 0.5 * sizes.queries**2 / sizes.effective
    return [
        sentence(
            "{who}: the largest by {tag.text} holds {largest.count} of "
            "{largest.of:query|queries}, and {all.count:cluster|clusters} of such different "
            "sizes tell as much as about {all.value:.2g} of one size. Intervals of means are "
            "too narrow then, and tests rest on few: add queries of other clusters, or look at "
            "the large ones by themselves (--by {tag.text}).",
            who="One large cluster decides" if is_one else "A few large clusters decide",
            tag=named(tag or ""),
            largest=Fact(about="count", count=sizes.largest, of=sizes.queries),
            all=Fact(about="count", count=sizes.clusters, value=sizes.effective),
        )
    ]


def weights_in_words(weights: Floats | None, tag: str | None) -> list[str]:
    """A note on how far the weights of queries go."""
    if tag is None:
        return []
    by = named(tag)
    if weights is None:
        return [
            sentence("Weighted by {by.text}: every query has the same weight.", by=by)
        ]
    from calipers.statistics.clusters import EVEN, effective_queries

    n = weights.size
    worth = effective_queries(weights)
    text = sentence(
        "Weighted by {by.text}: {it.count:query tells|queries tell} as much as about "
        "{it.value:.3g} of one weight.",
        by=by,
        it=Fact(about="count", count=n, value=worth, text="weights"),
    )
    few = "A few of them decide, so intervals of means are too narrow."
    return [joined(text, few) if worth < EVEN * n else text]


def looks_below_the_end(
    metrics: Sequence[Metric], longest: int, limit: int | None
) -> list[str]:
    """A note where cut-offs go far beyond the longest list; an error if more could be requested."""
    if limit is not None and longest >= limit:
        deep = next(
            (metric for metric in metrics if max(metric.cutoffs, default=0) > limit), None
        )
        if deep is not None:
            k = max(deep.cutoffs)
            raise InvalidInput(
                f"{deep} looks at {k} results, and the retriever was asked for {limit}; "
                f"ask for more with --ask-for {k} (ask_for={k} in Python)."
            )
    # A retriever that was asked for more than it ever gives has a limit of its own.
    limited = limit is not None and longest < limit
    end = longest + 1 if limited else FAR * longest
    # Only what divides by k changes where a list is shorter than k.
    divided = [(metric.k or 0, metric) for metric in metrics if metric.name in DIVIDED]
    cut = max((k for k, _ in divided), default=0)
    if not longest:
        return []
    if cut < end:
        deepest = max((max(metric.cutoffs, default=0) for metric in metrics), default=0)
        return [never_as_many(longest, limit)] if limit and longest < deepest else []
    plain = any(k == cut and metric.name == "precision" for k, metric in divided)
    return [
        sentence(
            "Lists end at {it.count:result|results}; {metric} still divides by {it.k}.",
            it=Fact(about="count", count=longest, k=cut, text="longest list"),
            metric=f"precision@{cut}" if plain else f"the precision in f1@{cut}",
        )
    ]


def never_as_many(longest: int, limit: int) -> str:
    """A note on a retriever whose lists all end before the number that was asked for."""
    return sentence(
        "The retriever never gave more than {it.count} of the {it.of:result|results} that it "
        "was asked for.",
        it=Fact(about="count", count=longest, of=limit, text="longest list"),
    )


DIVIDED = ("precision", "f1", "f")
"""Metrics that divide by the cut-off, however long the list is."""


def estimated_tokens(matches: Matches, metrics: Sequence[Metric]) -> list[str]:
    """A note where tokens are no counts but estimates."""
    if not any(metric.name == "tokens" for metric in metrics):
        return []
    if matches.tokens is None or matches.tokens.source == "data":
        return []
    text = "Tokens are estimated as characters / {it.count}; 'tokens' in the results are exact."
    return [sentence(text, it=Fact(about="setting", count=4))]


def settings_fingerprint(
    metrics: Sequence[MetricFacts],
    policy: Policy,
    settings: Mapping[str, object],
) -> str:
    """The fingerprint of metrics, policies and settings, without the notes."""
    names = [metric.name for metric in metrics]
    return fingerprint_settings([names, policy.to_dict(), {**settings, "notes": None}])


def _contents(pair: Matched) -> dict[str, Callable[[], str]]:
    """Functions that compute the fingerprints of what was measured."""
    truth = pair.ground_truth
    of_run = pair.tally.fingerprint
    if of_run is None:
        return {}
    return {"ground_truth": lambda: truth.fingerprint, "run": of_run.hexdigest}


def choose_metrics(
    metrics: str | Iterable[str | Metric] | None,
    k: int | Sequence[int] | None,
    rel: float | None = None,
    like: str | None = None,
) -> tuple[Metric, ...]:
    """The metrics asked for, or the usual ones.

    ``like`` names a tool whose parameters are the defaults.
    """
    ks = cutoffs(k)
    if metrics is None:
        chosen = (
            *parse(DEFAULT_METRICS, ks or DEFAULT_KS),
            *parse(DEFAULT_WITHOUT_CUTOFF),
        )
    else:
        chosen = parse(metrics, ks, like)
    if not chosen:
        raise InvalidInput("No metric is named; name at least one, such as recall@10.")
    return tuple(dict.fromkeys(metric.with_rel(rel) for metric in chosen))


def deepest(metrics: Iterable[Metric], least: int = SHALLOWEST) -> int:
    """How many results these metrics look at, at least ``least``."""
    return max(least, deepest_cutoff(metrics) or 0)


def deepest_cutoff(metrics: Iterable[Metric]) -> int | None:
    """The largest cut-off; None where no metric has one."""
    return max((k for metric in metrics for k in metric.cutoffs), default=None)


def cutoffs(k: object) -> list[int] | None:
    """The cut-offs that were given, as one number or several; None where none was."""
    if k is None:
        return None
    several = [k] if isinstance(k, str) or not hasattr(k, "__iter__") else list(k)
    if not several:
        raise InvalidInput("No cut-off is given in k; give at least one, such as 10.")
    return [check_cutoff(k) for k in several]


@lru_cache(1000)
def facts_of(metric: Metric) -> MetricFacts:
    """What a reader of a result must know about a metric."""
    definition = metric.definition
    return MetricFacts(
        str(metric),
        metric.stem,
        metric.k,
        definition.better,
        definition.bounds,
        definition.summary,
        definition.aggregate,
    )


def query_table(matches: Matches, rel: float | None) -> pl.DataFrame:
    """One row per query: name, text, status, and the numbers of results and targets."""
    targets = np.bincount(
        matches.target_query[matches.relevant(rel)], minlength=matches.n_queries
    )
    return matches.queries.hstack(
        [
            as_series(matches.retrieved).alias("retrieved"),
            as_series(targets).alias("targets"),
        ]
    )


ViewKey = tuple[Any, tuple[tuple[str, Value], ...]]
"""A view, and the parameters of a metric that belong to the view."""


def compute(matches: Matches, metrics: Sequence[Metric], policy: Policy) -> Floats:
    """One column of values per metric, one row per query; NaN where it is undefined."""
    # Column by column in memory, as all readers access them.
    values = np.empty((matches.n_queries, len(metrics)), order="F")
    if any(metric.definition.takes_parts for metric in metrics):
        return _with_scores(matches, metrics, policy)
    views = {
        (view, parameters): view.of(matches, **dict(parameters))
        for view, parameters in dict.fromkeys(map(_view_key, metrics))
    }
    hopeless = {
        rel: ~matches.answerable(rel) for rel in {metric.rel for metric in metrics}
    }
    left_out = _left_out(matches, policy)

    for column, metric in enumerate(metrics):
        view = views[_view_key(metric)]
        own = _own_parameters(metric)
        value = np.array(metric.definition.function(view, **own), dtype=np.float64)
        if metric.definition.without_targets == "undefined":
            _settle_unanswerable(value, hopeless[metric.rel], metric, policy)
        value[left_out] = np.nan
        values[:, column] = value
    return values


def _with_scores(matches: Matches, metrics: Sequence[Metric], policy: Policy) -> Floats:
    """As ``compute``, where some metrics are the weighted means of others."""
    parts_of = {metric: metric.parts or ((metric, 1.0),) for metric in metrics}
    each = [part for parts in parts_of.values() for part, _ in parts]
    column_of = {part: column for column, part in enumerate(dict.fromkeys(each))}
    plain = compute(matches, tuple(column_of), policy)
    values = np.zeros((matches.n_queries, len(metrics)), order="F")
    for column, metric in enumerate(metrics):
        if not metric.definition.takes_parts:
            values[:, column] = plain[:, column_of[metric]]
            continue
        total = sum(weight for _, weight in parts_of[metric])
        for part, weight in parts_of[metric]:
            values[:, column] += plain[:, column_of[part]] * (weight / total)
        # Rounding must not lead out of the bounds.
        np.clip(values[:, column], 0.0, 1.0, out=values[:, column])
    return values


def _view_key(metric: Metric) -> ViewKey:
    names = metric.definition.view_parameters
    return metric.definition.view, tuple(
        (n, v) for n, v in metric.parameters if n in names
    )


def _own_parameters(metric: Metric) -> dict[str, Value | None]:
    """The parameters that the metric's function takes itself."""
    definition = metric.definition
    own: dict[str, Value | None] = {
        name: value
        for name, value in metric.parameters
        if name not in definition.view_parameters
    }
    return own if definition.cutoff == "none" else {**own, "k": metric.k}


def _settle_unanswerable(
    value: Floats, hopeless: Bools, metric: Metric, policy: Policy
) -> None:
    if policy.unanswerable == "zero":
        # 0 is the worst value only where more is better; a first rank of 0 would be the
        # best.
        if metric.definition.better == "higher":
            value[hopeless & np.isnan(value)] = metric.definition.bounds[0]
    else:
        value[hopeless] = np.nan


def _left_out(matches: Matches, policy: Policy) -> Bools:
    out = np.zeros(matches.n_queries, dtype=np.bool_)
    if policy.missing == "exclude":
        out |= matches.having_status(MISSING)
    if policy.errors == "exclude":
        out |= matches.having_status(FAILED)
    return out
