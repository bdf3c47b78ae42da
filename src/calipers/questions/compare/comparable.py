"""Whether results may be compared at all, and if so, on which queries and metrics."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints
from calipers.model.matched import EXAMPLES
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import clusters_of, query_weights_of
from calipers.words import did_you_mean, plural

# How the interval was computed, the version, and notes: none of them changes a value.
_WITHOUT_EFFECT = frozenset({"calipers", "confidence", "cluster", "resamples", "seed", "notes"})
# How ties are broken depends on the file format; each system may have its own rule. Whether
# nothing in common is an error decides no number.
_OWN_POLICY = frozenset({"ties", "nothing_in_common"})


def obstacles(systems: Mapping[str, Scores]) -> list[str]:
    """One sentence per reason not to compare the first system with another one."""
    names = list(systems)
    found: list[str] = []
    for other in names[1:]:
        sides = (names[0], systems[names[0]], other, systems[other])
        queries = [one.queries for one in (sides[1], sides[3])]
        both = queries[0].join(queries[1], on="query", how="inner", maintain_order="left")
        found += [*_queries(*sides, both), *_judgements(*sides, both), *different_ways(*sides)]
    return found


def shared_queries(systems: Mapping[str, Scores]) -> pl.DataFrame:
    """The id and text of the queries that every system has, sorted by id.

    Sharing none is an error, even with ``anyway``.
    """
    names = list(systems)
    first = systems[names[0]]
    shared = first.queries.select("query", "text")
    for other in names[1:]:
        shared = shared.join(
            systems[other].queries.select("query"), on="query", how="semi", maintain_order="left"
        )
        if not shared.height:
            ours, theirs = (some_queries(one.queries["query"]) for one in (first, systems[other]))
            raise InvalidInput(
                f"{names[0]} and {other} share no queries: {names[0]} has {ours}; {other} has "
                f"{theirs}. Compare results for the same queries."
            )
    return shared.sort("query")


def facts_shared(
    systems: Mapping[str, Scores], wanted: Sequence[str] | None
) -> tuple[MetricFacts, ...]:
    """The facts of the wanted metrics, by default of all that every system has."""
    each = {name: facts_by_name(scores) for name, scores in systems.items()}
    first = next(iter(each.values()))
    shared = [
        name
        for name, facts in first.items()
        if facts.aggregate != "geometric" and all(name in others for others in each.values())
    ]
    if wanted is None:
        if not shared:
            listed = "; ".join(f"{name} has {', '.join(facts)}" for name, facts in each.items())
            raise InvalidInput(
                f"The systems share no metric: {listed}. Measure them with the same metrics."
            )
        return tuple(first[name] for name in shared)
    for metric in wanted:
        for name, facts in each.items():
            if metric not in facts:
                raise InvalidInput(
                    f"There is no {metric!r} in {name}; it has {', '.join(facts)}."
                    f"{did_you_mean(metric, facts)} Choose another with -m, or measure again."
                )
        if first[metric].aggregate == "geometric":
            raise InvalidInput(
                f"{metric} is a geometric mean, and what is compared are differences query by "
                "query, which add up to no difference of it; name another metric, such as map."
            )
    return tuple(first[name] for name in dict.fromkeys(wanted))


def aligned(scores: Scores, queries: pl.DataFrame, facts: Sequence[MetricFacts]) -> Floats:
    """Return the values in the order of the shared queries."""
    table: Floats = np.column_stack([scores.of(metric.name) for metric in facts])
    return table[scores.rows_of(queries["query"])]


def clusters_shared(
    systems: Mapping[str, Scores], queries: pl.DataFrame, cluster: str | None
) -> Ints | None:
    """The cluster of each shared query, from the first system that has the tag."""
    scores = _having(systems, cluster)
    clusters = clusters_of(scores.tags, cluster, len(scores))
    return None if clusters is None else clusters[scores.rows_of(queries["query"])]


def weights_shared(
    systems: Mapping[str, Scores], queries: pl.DataFrame, weight_by: str | None
) -> Floats | None:
    """The weight of each shared query, from the first system that has the tag."""
    scores = _having(systems, weight_by)
    weights = query_weights_of(scores.tags, weight_by)
    return None if weights is None else weights[scores.rows_of(queries["query"])]


def _having(systems: Mapping[str, Scores], tag: str | None) -> Scores:
    """The first system that has a tag; else the first."""
    return next((one for one in systems.values() if tag in one.tags), next(iter(systems.values())))


def _queries(a: str, first: Scores, b: str, second: Scores, both: pl.DataFrame) -> Iterator[str]:
    only_a = first.queries.join(second.queries, on="query", how="anti", maintain_order="left")
    only_b = second.queries.join(first.queries, on="query", how="anti", maintain_order="left")
    if only_a.height or only_b.height:
        parts = [
            f"{plural(frame.height, 'query is', 'queries are')} only in {name} "
            f"({some_queries(frame['query'])})"
            for name, frame in ((a, only_a), (b, only_b))
            if frame.height
        ]
        yield f"{a} and {b} were measured on different queries: {'; '.join(parts)}."
    changed = both.filter(pl.col("text") != pl.col("text_right"))
    if changed.height:
        row = changed.row(0, named=True)
        yield (
            f"{a} and {b} ask different questions under the same id: {row['query']!r} is "
            f"{_short(row['text'])} in {a} and {_short(row['text_right'])} in {b}"
            f"{_and_more(changed.height)}."
        )


def _judgements(a: str, first: Scores, b: str, second: Scores, both: pl.DataFrame) -> Iterator[str]:
    ours, theirs = (one.fingerprints.get("ground_truth") for one in (first, second))
    if ours == theirs and ours is not None:
        return
    changed = both.filter(pl.col("targets") != pl.col("targets_right"))
    if changed.height:
        row = changed.row(0, named=True)
        yield (
            f"{a} and {b} were measured against different ground truth: query {row['query']!r} "
            f"has {row['targets']} relevant targets in {a} and {row['targets_right']} in {b}"
            f"{_and_more(changed.height)}."
        )
    elif ours != theirs and both.height == first.queries.height == second.queries.height:
        yield (
            f"{a} and {b} were measured against different ground truth: the queries are the same, "
            "the items, quotes or grades that should be found are not."
        )


def different_ways(a: str, first: Scores, b: str, second: Scores) -> Iterator[str]:
    """One sentence per policy, setting, weight or definition in which two results differ."""
    pairs: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any], frozenset[str]], ...] = (
        ("policy", first.policy.to_dict(), second.policy.to_dict(), _OWN_POLICY),
        ("setting", first.settings, second.settings, _WITHOUT_EFFECT),
    )
    for what, ours, theirs, ignored in pairs:
        for name in sorted({*ours, *theirs} - ignored):
            if ours.get(name) != theirs.get(name):
                yield (
                    f"{a} and {b} were measured in different ways: the {what} {name} is "
                    f"{ours.get(name)!r} in {a} and {theirs.get(name)!r} in {b}."
                )
    if first.weights and second.weights and dict(first.weights) != dict(second.weights):
        yield (
            f"{a} and {b} weigh their metrics differently: {dict(first.weights)} in {a} and "
            f"{dict(second.weights)} in {b}."
        )
    definitions = {facts.name: facts.definition for facts in second.metrics}
    for facts in first.metrics:
        if definitions.get(facts.name, facts.definition) != facts.definition:
            yield (
                f"{a} and {b} mean different things by {facts.name}: {facts.definition!r} in "
                f"{a} and {definitions[facts.name]!r} in {b}."
            )


def undefined_in_some(metric: str, columns: Mapping[str, Any], queries: pl.Series) -> list[str]:
    """A sentence where a metric is defined for a query in one system and undefined in another.

    Such a query would drop out of the pairs, which biases the comparison: a system that finds
    nothing would be compared on the other queries only.
    """
    missing = {name: np.isnan(values) for name, values in columns.items()}
    some = np.any(list(missing.values()), axis=0) & ~np.all(list(missing.values()), axis=0)
    if not some.any():
        return []
    worst = max(missing, key=lambda name: int((missing[name] & some).sum()))
    concerned = queries.filter(pl.Series(missing[worst] & some))
    return [
        f"{metric} is undefined for {plural(len(concerned), 'query', 'queries')} of {worst} "
        f"({some_queries(concerned)}) and defined in another system: leaving "
        "them out would flatter one side."
    ]


def some_queries(queries: pl.Series) -> str:
    """Name the first few queries in a sentence."""
    shown = ", ".join(map(_short, queries.head(EXAMPLES).to_list()))
    return shown + (", …" if len(queries) > EXAMPLES else "")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def _and_more(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""
