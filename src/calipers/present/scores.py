"""Scores as a document: how much is found, the means, and notes on the data."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.measures.no_answer import UNANSWERABLE
from calipers.model.document import (
    Cell,
    Column,
    Document,
    Heads,
    Note,
    NoteKind,
    Table,
)
from calipers.model.matched import Matched
from calipers.model.policy import Policy
from calipers.model.scores import InputCounts, MetricFacts, Scores, Summary
from calipers.present.escape import printable
from calipers.words import first_results, number, plural, share

if TYPE_CHECKING:
    from calipers.model.evaluation import Evaluation

SCORED = {"zero": "scored 0", "exclude": "left out"}
WHOLE = "all"
"""The heading of the column for metrics without a cut-off."""
AGGREGATED = {"mean": "on average", "sum": "in all"}
NOTHING = "Nothing can be said: no query has anything to find."
ALL_ANSWERED = "Nothing can be said: {} needs queries without targets."


def document(scores: Scores) -> Document:
    """How much the retriever finds, the means, and notes on the data."""
    return Document(
        verdict(scores),
        blocks=[score_table(scores), interval_table(scores)],
        notes=notes_of(scores),
        rows=lambda: summary_rows(scores),
    )


def matched_document(pair: Matched) -> Document:
    """How many targets were returned, and how ground truth and results were matched."""
    matches, targets = pair.matches, pair.ground_truth.targets.height
    found = np.unique(matches.edge_target).size
    return Document(
        f"{plural(matches.n_queries, 'query', 'queries')} and "
        f"{plural(int(matches.retrieved.sum()), 'result')} matched by {pair.recorded.match}: "
        f"{found:,} of {plural(targets, 'target')} returned.",
        notes=[*pair.recorded.notes],
    )


def verdict(scores: Scores) -> str:
    """The most informative metric in plain words, and how often the retriever failed."""
    failed, queries = scores.audit.errors, scores.audit.queries
    if not failed:
        return _found(scores)
    counted = SCORED[scores.policy.errors]
    return f"{_found(scores)[:-1]}; the retriever failed on {failed:,} of {queries:,} ({counted})."


def _found(scores: Scores) -> str:
    facts = _deepest(scores, "recall") or _deepest(scores, "hit_rate") or scores.metrics[0]
    found = scores[facts.name]
    if found.mean is None:
        return ALL_ANSWERED.format(facts.kind) if facts.kind in UNANSWERABLE else NOTHING
    much = share(found.mean)
    where = f"in the {first_results(facts.k)}" if facts.k else "in its results"
    behind = f" ({_between(found)}{_counted(scores, found)})."
    if facts.kind == "recall":
        return f"Finds {much} of what it should {where}{behind}"
    if facts.kind == "hit_rate":
        return f"For {much} of the queries a target stands {where}{behind}"
    return _measured(scores, facts.name, found, AGGREGATED[facts.aggregate])


def _deepest(scores: Scores, kind: str) -> MetricFacts | None:
    """The metric of that type with the largest cut-off, if it was measured and is defined."""
    some = [m for m in scores.metrics if m.kind == kind]
    defined = [m for m in some if scores[m.name].mean is not None]
    return max(defined or some, key=lambda one: one.k or 0, default=None)


def _counted(scores: Scores, found: Summary) -> str:
    """How many queries there are, and what weighs them."""
    tag = scores.recorded.weight_by
    weighed = f" weighted by {printable(tag, 40)}" if tag else ""
    return plural(found.n, "query", "queries") + weighed


def _measured(scores: Scores, name: str, found: Summary, how: str) -> str:
    if found.mean is None:
        return NOTHING
    return (
        f"{name} is {number(found.mean)} {how} ({_between(found, percent=False)}"
        f"{_counted(scores, found)})."
    )


def _between(found: Summary, *, percent: bool = True) -> str:
    """The interval in the unit of the sentence, to be followed by the count."""
    ends = found.interval
    if ends is None:
        return ""
    if percent:
        low, high = round(ends.low * 100), round(ends.high * 100)
        return f"{low}–{high}%, "
    return f"{ends.shown}, "


def score_table(scores: Scores, ceilings: Mapping[str, float] = MappingProxyType({})) -> Table:
    """The means: a row for each metric, a column for each cut-off, the interval of the last.

    ``ceilings`` is the best possible value by metric, shown in a row below it.
    """
    ks: list[int | None] = [*sorted({one.k for one in scores.metrics if one.k is not None})]
    if any(one.k is None for one in scores.metrics):
        ks.append(None)
    rows: dict[str, dict[int | None, Summary]] = {}
    for metric in scores.metrics:
        rows.setdefault(metric.stem, {})[metric.k] = scores[metric.name]
    cells: list[list[Cell | str]] = []
    for name, found in rows.items():
        last = [found[k] for k in ks if k in found][-1]
        means = (_mean(found.get(k)) for k in ks)
        cells.append([Cell(name, strong=True), *means, _interval(last)])
        most = [ceilings.get(found[k].metric) if k in found else None for k in ks]
        if any(one is not None for one in most):
            best = ("" if one is None else number(one) for one in most)
            cells.append([f"{name}, at best", *best, ""])
    heads = [WHOLE if k is None else f"@{k}" for k in ks]
    level = f"{100 * scores.recorded.confidence:g}% interval"
    has_intervals = any(row[-1] for row in cells)
    columns: Heads = [Column("metric"), *heads, *([level] if has_intervals else [])]
    return Table(columns, [row[: len(columns)] for row in cells])


def interval_table(scores: Scores) -> Table:
    """Every mean with its interval and its number of queries."""
    rows = [
        (Cell(one.metric, strong=True), _mean(one), _interval(one), f"{one.n:,}")
        for one in scores.summaries.values()
    ]
    columns = (Column("metric", words=True), "mean", "interval", "queries")
    return Table(columns, rows, "Every mean with its interval", detail=True)


def _mean(summary: Summary | None) -> str:
    if summary is None:
        return ""
    return "undefined" if summary.mean is None else number(summary.mean)


def _interval(summary: Summary) -> str:
    return summary.interval.shown if summary.mean is not None and summary.interval else ""


def notes_of(scores: Scores) -> list[Note]:
    """One sentence per thing a reader must know to trust the table."""
    audit, policy = scores.audit, scores.policy
    lines = [Note("input", printable(note)) for note in scores.recorded.notes]

    def add(kind: NoteKind, text: str) -> None:
        lines.append(Note(kind, text))

    add(
        "counted",
        f"{plural(audit.queries, 'query', 'queries')}, "
        f"{plural(audit.targets, 'relevant target')}, {plural(audit.retrieved, 'result')}.",
    )
    if audit.unanswerable:
        add(
            "counted",
            f"{plural(audit.unanswerable, 'query', 'queries')} without any relevant target: "
            f"{SCORED[policy.unanswerable]}; {_silence(audit)}.",
        )
    # The line above already covers the queries without a target.
    hopeless = audit.unanswerable_silent and policy.unanswerable == "exclude"
    among = " where there was something to find" if hopeless else ""
    if audit.missing:
        add(
            "missing",
            f"{plural(audit.missing, 'query', 'queries')} missing from the run "
            f"({_names(audit.missing_examples, audit.missing)}): {SCORED[policy.missing]}{among}.",
        )
    if audit.errors:
        add(
            "failed",
            f"{plural(audit.errors, 'query', 'queries')} on which the retriever failed: "
            f"{SCORED[policy.errors]}{among}.{_errors(audit)}",
        )
    if audit.empty:
        count = plural(audit.empty, "query", "queries")
        add("missing", f"{count} without results: scored 0{among}.")
    if audit.unknown:
        add(
            "missing",
            f"{plural(audit.unknown, 'query', 'queries')} of the run not in the ground truth "
            f"({_names(audit.unknown_examples, audit.unknown)}): not measured.",
        )
    if audit.duplicates:
        add(
            "counted",
            f"{plural(audit.duplicates, 'result')} returned a second time for the same query: "
            "each takes up its rank and earns nothing.",
        )
    if audit.ties_on_targets:
        add(
            "counted",
            f"{plural(audit.ties_on_targets, 'target')} found among equal scores: their rank is "
            f"decided by ties={policy.ties}.",
        )
    if audit.repeated_judgements:
        given_twice = plural(audit.repeated_judgements, "judgement")
        add("counted", f"{given_twice} given twice: counted once.")
    if audit.unjudged_rate:
        first = f"the first {audit.depth} results" if audit.depth != 1 else "the first results"
        where = first if audit.depth else "all results"
        rate = f"{audit.unjudged_rate:.0%}"
        add("unjudged", f"{rate} of {where} {_unjudged(scores)}; they count as not relevant.")
    lines += (Note("method", text) for text in _chosen_policies(policy))
    lines.append(_about_intervals(scores))
    return lines


def _errors(audit: InputCounts) -> str:
    """Some of the failed questions, with their errors."""
    said = "; ".join(printable(one, 200) for one in audit.error_examples)
    more = "; …" if audit.errors > len(audit.error_examples) else ""
    return f" {said}{more}" if said else ""


def _chosen_policies(policy: Policy) -> list[str]:
    """The policies that differ from the defaults, even if they applied to no query."""
    usual = vars(Policy())
    chosen = [
        f"{name}={value}"
        for name, value in vars(policy).items()
        if value != usual[name] and (name != "ties" or value == "error")
    ]
    return [f"Policies other than the usual ones: {', '.join(chosen)}."] if chosen else []


def _silence(audit: InputCounts) -> str:
    """Of the queries without targets, for how many the retriever returned nothing."""
    if audit.unanswerable == 1:
        return f"{'nothing' if audit.unanswerable_silent else 'something'} was returned for it"
    return f"nothing was returned for {audit.unanswerable_silent:,} of them"


def _unjudged(scores: Scores) -> str:
    by_id = scores.recorded.match in ("id", "document")
    return "were never judged" if by_id else "hold no target"


METHODS = {
    "score": "Wilson's score interval with the effective number of queries",
    "t": "Student's t where a metric has no upper bound",
    "bootstrap": "bootstrap",
    "wilson": "Wilson's for shares of queries",
    "normal": "normal approximation",
}


def _about_intervals(scores: Scores) -> Note:
    methods = {s.interval.method for s in scores.summaries.values() if s.interval}
    level = scores.recorded.confidence
    how = "; ".join(said for method, said in METHODS.items() if method in methods)
    if not how:
        return Note("doubt", "No intervals: they need at least two queries.")
    cluster = scores.recorded.cluster
    units = f"; queries with the same {printable(cluster, 40)} are one unit" if cluster else ""
    return Note("method", f"Each mean with its {100 * level:g}% interval ({how}{units}).")


def _names(examples: tuple[str, ...], count: int) -> str:
    shown = ", ".join(printable(name, 40) for name in examples)
    return shown + (", …" if count > len(examples) else "")


def summary_rows(scores: "Scores | Evaluation") -> Iterator[dict[str, Any]]:
    """One row per metric: mean, median, interval, n, undefined; full precision."""
    for one in scores.summaries.values():
        ends = one.interval
        yield {
            "metric": one.metric,
            "mean": one.mean,
            "median": one.median,
            "low": ends and ends.low,
            "high": ends and ends.high,
            "level": ends and ends.level,
            "method": ends and ends.method,
            "n": one.n,
            "undefined": one.undefined,
        }
