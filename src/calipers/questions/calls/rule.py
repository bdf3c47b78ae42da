"""What each further call of a retriever adds, and what it costs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calipers.errors import InvalidInput
from calipers.match.calls import numbered
from calipers.match.pair import edges_by_call
from calipers.model.arrays import Ints
from calipers.model.matched import Matched
from calipers.model.result import HasRows, Plain
from calipers.questions.shown_results import relevant_units
from calipers.questions.tokens import count_tokens


@dataclass(frozen=True)
class Call:
    """The first, the second … call of every query that made so many."""

    call: int
    queries: int
    """Queries that made this call."""
    recall: float | None
    """The mean recall after this call and all before it; a query that stopped keeps its own."""
    added: float | None
    """How much recall this call added, over all queries."""
    useless: float | None
    """The share of these calls, of queries with an answer, that found nothing new."""
    results: float
    """Results per call."""
    tokens: float | None
    """Tokens per call; None where the results have neither tokens nor texts."""


@dataclass(frozen=True, repr=False)
class CallTable(Plain, HasRows):
    """Every call in its order, over all queries of the ground truth."""

    shown_by: ClassVar[str] = "calipers.questions.calls.document"

    calls: tuple[Call, ...]
    k: int | None
    """How many results of each call count; None: all."""
    queries: int
    """Queries that have an answer: those that the means are over."""
    tokens_from: str | None
    """Where the tokens come from: "data", or "estimate" from the texts."""


def follow_calls(pair: Matched, k: int | None = None) -> CallTable:
    """Recall after the first call, after the second and so on, and the tokens of each."""
    edges = edges_by_call(pair)
    if edges is None:
        raise InvalidInput(
            "The run does not say which call returned a result; give every result its 'call', "
            "numbered from 1."
        )
    matches = pair.matches
    frame = numbered(pair.as_read[1])
    codes = matches.queries.select("query").with_row_index("code")
    frame = frame.join(codes, on="query", how="inner", maintain_order="left")
    if k is not None:
        frame = frame.filter(frame["rank"] <= k)
    if frame.is_empty():
        raise InvalidInput(
            "There are no calls to follow: no query of the ground truth got any results."
        )
    source, counts = next(count_tokens(frame), (None, None))
    call, code = (frame[name].to_numpy().astype(np.int64) for name in ("call", "code"))
    unit, unit_query = relevant_units(matches, pair.rel)
    wanted = np.bincount(unit_query, minlength=matches.n_queries)
    first = np.full(unit_query.size, np.iinfo(np.int64).max)
    counts_here = (unit[edges.target] >= 0) & (k is None or edges.rank <= k)
    np.minimum.at(first, unit[edges.target[counts_here]], edges.call[counts_here])
    steps: list[Call] = []
    before = np.zeros(matches.n_queries, dtype=np.int64)
    for number in np.unique(call).tolist():
        made = np.bincount(code[call == number], minlength=matches.n_queries)
        found = np.bincount(unit_query[first <= number], minlength=matches.n_queries)
        tokens = None
        if counts is not None:
            tokens = float(counts[call == number].sum() / np.count_nonzero(made))
        answerable = (wanted > 0) & (made > 0)
        after = _mean(found, wanted)
        steps.append(
            Call(
                call=number,
                queries=int(np.count_nonzero(made)),
                recall=after,
                added=None if after is None else after - (steps[-1].recall or 0 if steps else 0),
                useless=float((found == before)[answerable].mean()) if answerable.any() else None,
                results=float(made[made > 0].mean()),
                tokens=tokens,
            )
        )
        before = found
    return CallTable(tuple(steps), k, int((wanted > 0).sum()), source)


def _mean(found: Ints, wanted: Ints) -> float | None:
    """The mean share of what is wanted, over queries that want anything."""
    some = wanted > 0
    return float((found[some] / wanted[some]).mean()) if some.any() else None
