"""What must not be found and was, by name: a leak is never just a number."""

from dataclasses import replace

from calipers.model.matched import Matched
from calipers.questions.gate.result import Check, Leak

LEAKS = ("leak", "leak_rate")


def leaks_within(pair: Matched, k: int | None = None) -> tuple[Leak, ...]:
    """Every result of the first k that holds something forbidden, query by query."""
    leaked = pair.matches.leaked
    if leaked is None:
        return ()
    queries = pair.matches.queries
    rows = zip(
        leaked.query.tolist(),
        leaked.rank.tolist(),
        leaked.result.to_list(),
        leaked.name.to_list(),
        strict=True,
    )
    return tuple(
        Leak(queries["query"][query], queries["text"][query], rank, result, name)
        for query, rank, result, name in rows
        if k is None or rank <= k
    )


def with_leaks(check: Check, pair: Matched) -> Check:
    """A failed check of leaks with every leak in it; any other check as it is."""
    name, _, k = check.metric.partition("@")
    if check.status != "failed" or name not in LEAKS:
        return check
    found = leaks_within(pair, int(k))
    if check.slice is not None:
        # Of a slice, those of the queries with its tag.
        tag, _, value = check.slice.partition("=")
        tags = pair.ground_truth.tags[tag].to_list()
        names = pair.matches.queries["query"].to_list()
        among = {query for query, one in zip(names, tags, strict=True) if one == value}
        found = tuple(one for one in found if one.query in among)
    return replace(check, leaks=found)
