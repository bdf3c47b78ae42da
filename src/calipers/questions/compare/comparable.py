"""Whether results may be compared at all, and if so, on which queries and metrics."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Floats, Ints
from calipers.model.matched import EXAMPLES
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import clusters_of, query_weights_of
from calipers.words import did_you_mean, plural

# How the interval was computed, the version, and notes: none of them changes a value. How
# ties are broken depends on the file format, and whether nothing in common is an error
# decides no number.
_WITHOUT_EFFECT = {
    *(f"setting {name}" for name in ("calipers", "confidence", "cluster", "notes")),
    *(f"policy {name}" for name in ("ties", "nothing_in_common")),
}


@dataclass(frozen=True, eq=False)
class Aligned:
    """Some metrics of several results, on the queries that all of them have, sorted by id."""

    queries: pl.DataFrame
    facts: tuple[MetricFacts, ...]
    values: dict[str, Floats]
    """One row per query and one column per metric."""
    overridden: list[str]
    """Reasons not to compare that ``anyway`` overrode."""

    def gains(self, system: str, over: str, metric: str) -> Floats:
        """The difference of each query, positive where the system is better."""
        at = [fact.name for fact in self.facts].index(metric)
        gains: Floats = (
            self.facts[at].turn * (self.values[system] - self.values[over])[:, at]
        )
        return gains


def align(
    systems: Mapping[str, Scores],
    wanted: Sequence[str] | None,
    *,
    anyway: bool,
    repair: str,
) -> Aligned:
    """Bring results together that were measured in the same way; others are an error.

    ``wanted`` are metrics (default: all that they share); ``repair`` is what the error
    advises.
    """
    blocked = obstacles(systems)
    if blocked and not anyway:
        raise InvalidInput(f"These cannot be compared: {' '.join(blocked)} {repair}")
    queries = shared_queries(systems)
    facts = facts_shared(systems, wanted)
    values = {}
    for name, scores in systems.items():
        columns = [scores.of(metric.name) for metric in facts]
        values[name] = np.column_stack(columns)[scores.rows_of(queries["query"])]
    for column, metric in enumerate(facts):
        by_system = {name: table[:, column] for name, table in values.items()}
        blocked += undefined_in_some(metric.name, by_system, queries["query"])
    if blocked and not anyway:
        raise InvalidInput(f"These cannot be compared: {' '.join(blocked)} {repair}")
    return Aligned(queries, facts, values, blocked)


def obstacles(systems: Mapping[str, Scores]) -> list[str]:
    """One sentence per reason not to compare the first system with another one."""
    (a, first), *others = systems.items()
    reasons: list[str] = []
    for b, second in others:
        reasons += [
            *_different_queries(a, first, b, second),
            *different_ways(a, first, b, second),
        ]
    return reasons


def shared_queries(systems: Mapping[str, Scores]) -> pl.DataFrame:
    """The id and text of the queries that every system has, sorted by id.

    Sharing none is an error, even with ``anyway``.
    """
    (a, first), *others = systems.items()
    shared = first.queries.select("query", "text")
    for b, second in others:
        shared = shared.join(
            second.queries, on="query", how="semi", maintain_order="left"
        )
        if not shared.height:
            ours, theirs = (
                some_queries(scores.queries["query"]) for scores in (first, second)
            )
            raise InvalidInput(
                f"{a} and {b} share no queries: {a} has {ours}; {b} has {theirs}. "
                "Compare results for the same queries."
            )
    return shared.sort("query")


def facts_shared(
    systems: Mapping[str, Scores], wanted: Sequence[str] | None
) -> tuple[MetricFacts, ...]:
    """The facts of the wanted metrics, by default of all that every system has."""
    each = {name: facts_by_name(scores) for name, scores in systems.items()}
    first = next(iter(each.values()))
    if wanted is None:
        wanted = [
            name for name in first if all(name in others for others in each.values())
        ]
        if not wanted:
            listed = "; ".join(
                f"{name} has {', '.join(facts)}" for name, facts in each.items()
            )
            raise InvalidInput(
                f"The systems share no metric: {listed}. Measure them with the same "
                "metrics."
            )
    for metric in wanted:
        for name, facts in each.items():
            if metric not in facts:
                raise InvalidInput(
                    f"There is no {metric!r} in {name}; it has {', '.join(facts)}."
                    f"{did_you_mean(metric, facts)} Choose another with -m, or measure again."
                )
    return tuple(first[name] for name in dict.fromkeys(wanted))


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
    return next(
        (system for system in systems.values() if tag in system.tags),
        next(iter(systems.values())),
    )


def _different_queries(a: str, first: Scores, b: str, second: Scores) -> Iterator[str]:
    """Queries that only one has, other questions, and other ground truth."""
    both = first.queries.join(
        second.queries, on="query", how="inner", maintain_order="left"
    )
    parts = []
    for name, scores in ((a, first), (b, second)):
        only = scores.queries.join(both, on="query", how="anti", maintain_order="left")[
            "query"
        ]
        parts += (
            [f"{len(only):,} only in {name} ({some_queries(only)})"] if len(only) else []
        )
    if parts:
        yield f"{a} and {b} were measured on different queries: {'; '.join(parts)}."
    pairs = [("text", "text", "with different questions")]
    ours, theirs = (scores.fingerprints.get("ground_truth") for scores in (first, second))
    if ours is None or ours != theirs:
        pairs.append(("targets", "number of targets", "against different ground truth"))
    changed = both.clear()
    for column, what, how in pairs:
        changed = both.filter(pl.col(column) != pl.col(f"{column}_right"))
        if changed.height:
            row = changed.row(0, named=True)
            more = f" (and {changed.height - 1} more)" if changed.height > 1 else ""
            yield (
                f"{a} and {b} were measured {how}: the {what} of query {row['query']!r} "
                f"is {row[column]!r:.60} in {a} and {row[f'{column}_right']!r:.60} in "
                f"{b}{more}."
            )
    if ours != theirs and not parts and not changed.height:
        yield (
            f"{a} and {b} were measured against different ground truth: other items or "
            "grades."
        )


def _ways(scores: Scores, metrics: Collection[str]) -> dict[str, object]:
    """How a result was measured: its policies, its settings, and what these metrics mean."""
    ways: dict[str, object] = {}
    for name, value in scores.policy.to_dict().items():
        ways[f"policy {name}"] = value
    for name, value in scores.settings.items():
        ways[f"setting {name}"] = value
    for metric in scores.metrics:
        # A metric that only one side has is not compared.
        if metric.name in metrics:
            ways[f"definition of {metric.name}"] = metric.definition
    return ways


def different_ways(a: str, first: Scores, b: str, second: Scores) -> Iterator[str]:
    """One sentence per policy, setting or definition in which two results differ."""
    both = {facts.name for facts in first.metrics} & {
        facts.name for facts in second.metrics
    }
    ours = _ways(first, both)
    theirs = _ways(second, both)
    # The size of the corpus changes no way of measuring, but for what counts the rest of
    # it.
    counts_the_rest = any(name.startswith("tn@") for name in both)
    ignored = _WITHOUT_EFFECT | (set() if counts_the_rest else {"setting corpus_size"})
    for name in sorted({*ours, *theirs} - ignored):
        if ours.get(name) != theirs.get(name):
            yield (
                f"{a} and {b} were measured in different ways: the {name} is "
                f"{ours.get(name)!r} in {a} and {theirs.get(name)!r} in {b}."
            )


def undefined_in_some(
    metric: str, columns: Mapping[str, Floats], queries: pl.Series
) -> list[str]:
    """A sentence where a metric is defined for a query in one system and undefined in another.

    Such a query would drop out of the pairs, which biases the comparison: a system that
    finds nothing would be compared on the other queries only.
    """
    missing = {name: np.isnan(values) for name, values in columns.items()}
    some = np.any(list(missing.values()), axis=0) & ~np.all(
        list(missing.values()), axis=0
    )
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
    named = ", ".join(f"{query!r:.60}" for query in queries.head(EXAMPLES))
    return named + (", …" if len(queries) > EXAMPLES else "")
