"""What each further call of a retriever adds."""

from typing import ClassVar

import numpy as np

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.match.calls import numbered
from calipers.match.pair import match_call
from calipers.measures.views import NEVER
from calipers.model.arrays import Ints
from calipers.model.document import Document, Note, Table
from calipers.model.fact import Fact, sentence
from calipers.model.matched import Matched
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run
from calipers.questions.shown_results import relevant_units
from calipers.words import first_results, number


@dataclass(frozen=True)
class Call:
    """The n-th call, over all queries that made at least n calls."""

    call: int
    queries: int
    """Queries that made this call."""
    recall: float | None
    """The mean recall up to and including this call; a query that stopped keeps its last
    value."""
    added: float | None
    """How much recall this call added, over all queries."""
    results: float
    """Results per call."""


@dataclass(frozen=True, repr=False)
class CallTable(Plain, HasRows):
    """The calls in order, over all queries of the ground truth."""

    shown_by: ClassVar[str] = "calipers.questions.evaluate.calls"

    calls: tuple[Call, ...]
    k: int | None
    """The number of results of each call that count; None: all."""
    queries: int
    """Queries that have an answer: the means are over these."""


def follow_calls(pair: Matched, k: int | None = None) -> CallTable:
    """Recall after each call, and the results of each."""
    run = pair.as_read[1]
    if not run.has("call"):
        raise InvalidInput(
            "The run does not say which call returned a result; give every result its "
            "'call', numbered from 1."
        )
    matches = pair.matches
    frame = numbered(run)
    codes = matches.queries.select("query").with_row_index("code")
    frame = frame.join(codes, on="query", how="inner", maintain_order="left")
    if frame.is_empty():
        raise InvalidInput(
            "There are no calls to follow: no query of the ground truth got any results."
        )
    unit, unit_query = relevant_units(matches, pair.rel)
    wanted = np.bincount(unit_query, minlength=matches.n_queries)
    is_found = np.zeros(unit_query.size, dtype=np.bool_)
    steps: list[Call] = []
    most = NEVER if k is None else k
    for nth in sorted(frame["call"].unique()):
        results = frame.filter(frame["call"] == nth)
        listed = results.drop("call", "first", "code")
        matched = match_call(
            pair, Run.from_frame(listed, order="rank", queries=run.queries)
        )
        held = unit[matched.edge_target[matched.edge_rank <= most]]
        is_found[held[held >= 0]] = True
        shown = results["code"].filter(results["rank"] <= most)
        per_query = np.bincount(shown.to_numpy(), minlength=matches.n_queries)
        after = _mean(
            np.bincount(unit_query[is_found], minlength=matches.n_queries), wanted
        )
        steps.append(
            Call(
                call=nth,
                queries=int(np.count_nonzero(per_query)),
                recall=after,
                added=None
                if after is None
                else after - (steps[-1].recall or 0 if steps else 0),
                results=float(per_query[per_query > 0].mean()),
            )
        )
    return CallTable(tuple(steps), k, int((wanted > 0).sum()))


def _mean(counts: Ints, wanted: Ints) -> float | None:
    """The mean recall over queries that have a target."""
    some = wanted > 0
    return float((counts[some] / wanted[some]).mean()) if some.any() else None


COLUMNS = ("call", "queries", "recall@calls", "added", "results")


def document(call_table: CallTable) -> Document:
    """What the calls add, and one row per call: recall after it, what it added, its results."""
    rows = []
    for call in call_table.calls:
        values = (call.recall, call.added, call.results)
        shown = ["–" if value is None else number(value) for value in values]
        rows.append((f"{call.call}", f"{call.queries:,}", *shown))
    return Document(
        _verdict(call_table),
        blocks=[Table(COLUMNS, rows)],
        notes=[_over(call_table)],
        rows=lambda: call_table.calls,
    )


def _verdict(call_table: CallTable) -> str:
    """What the first call finds, and what all of them find."""
    first = call_table.calls[0]
    last = call_table.calls[-1]
    if first.recall is None or last.recall is None:
        return "Nothing can be said: no query has anything to find."
    alone = Fact(about="mean", system="first call", metric="recall", value=first.recall)
    if first is last:
        return sentence("One call finds {it.value:%} of what it should.", it=alone)
    return sentence(
        "The first call finds {it.value:%} of what it should, all {every.count} together "
        "{every.value:%}.",
        it=alone,
        every=Fact(
            about="mean",
            system="all calls",
            metric="recall",
            value=last.recall,
            count=len(call_table.calls),
        ),
    )


def _over(call_table: CallTable) -> Note:
    """Which queries and results the columns are computed over."""
    shown = (
        "all results" if call_table.k is None else f"the {first_results(call_table.k)}"
    )
    return Note(
        "marks",
        sentence(
            "Recall after each call and all before it, over {it.queries:query|queries} with "
            "an answer, with {shown} of each call.",
            it=Fact(about="count", queries=call_table.queries, k=call_table.k),
            shown=shown,
        ),
    )
