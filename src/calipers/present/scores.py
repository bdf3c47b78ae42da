"""Scores as a document: how much is found, the means, and notes on the data."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.measures.no_answer import FORBIDDEN, UNANSWERABLE
from calipers.model.document import (
    Cell,
    Column,
    Document,
    Heads,
    Note,
    NoteKind,
    Table,
    note_of,
)
from calipers.model.fact import Fact, Sentence, joined, replaced, sentence
from calipers.model.matched import FAILED, MISSING, Matched
from calipers.model.policy import Policy
from calipers.model.scores import InputCounts, MetricFacts, Scores, Summary
from calipers.present.escape import printable
from calipers.words import first_results, is_far, number, percent, plural, share

if TYPE_CHECKING:
    from calipers.model.evaluation import Evaluation

SCORED = {"zero": "scored 0", "exclude": "left out"}
WHOLE = "all"
"""The heading of the column for metrics without a cut-off."""
AGGREGATED = {"mean": "on average", "sum": "in all"}
NOTHING = "Nothing can be said: no query has anything to find."
ALL_ANSWERED = "Nothing can be said: {} needs queries without targets."
NEVER_TOGETHER = "Nothing can be said: no query has a value in all parts of {}."


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
    matches = pair.matches
    targets = pair.ground_truth.targets.height
    targets_found = np.unique(matches.edge_target).size
    fact = Fact(
        about="count",
        queries=matches.n_queries,
        k=int(matches.retrieved.sum()),
        count=targets_found,
        of=targets,
        text=pair.recorded.match,
    )
    return Document(
        sentence(
            "{it.queries:query|queries} and {it.k:result|results} matched by {it.text}: "
            "{it.count} of {it.of:target|targets} returned.",
            it=fact,
        ),
        notes=[*pair.recorded.notes],
    )


def verdict(scores: Scores) -> Sentence:
    """The leading metric in plain words, and how often the retriever failed."""
    failed = Fact(
        about="count", count=scores.audit.errors, of=scores.audit.queries, text="failed"
    )
    if not failed.count:
        return joined(_found(scores), ".", by="")
    return sentence(
        "{found}; the retriever failed on {it.count} of {it.of} ({counted}).",
        found=_found(scores),
        it=failed,
        counted=SCORED[scores.policy.errors],
    )


USUAL = ("hit_rate", "precision", "recall", "f1", "ndcg", "mrr", "map")
"""The metrics where none is named: there recall leads."""


def leading(scores: Scores) -> MetricFacts:
    """The first metric that has a value, at its largest cut-off."""
    known = [metric for metric in scores.metrics if scores[metric.name].mean is not None]
    first = (known or scores.metrics)[0]
    if tuple(dict.fromkeys(metric.kind for metric in scores.metrics)) == USUAL:
        first = next((metric for metric in known if metric.kind == "recall"), first)
    alike = [metric for metric in known if metric.stem == first.stem]
    return max(alike, key=lambda metric: metric.k or 0, default=first)


def _unknown(scores: Scores, facts: MetricFacts) -> str:
    """Why the leading metric has no value."""
    if facts.kind in UNANSWERABLE:
        return ALL_ANSWERED.format(facts.kind)
    if facts.kind == "score" and scores.audit.unanswerable < scores.audit.queries:
        return NEVER_TOGETHER.format(facts.name)
    return NOTHING


def _found(scores: Scores) -> Sentence:
    facts = leading(scores)
    summary = scores[facts.name]
    if summary.mean is None:
        return Sentence(_unknown(scores, facts).removesuffix("."))
    ends = summary.interval
    fact = Fact(
        about="mean",
        metric=facts.name,
        value=summary.mean,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        queries=summary.n,
        k=facts.k,
    )
    plain = facts.k is None or _is_far(scores, facts.k)
    where = "in its results" if plain else f"in the {first_results(facts.k or 0)}"
    behind = f" ({_between(summary)}{_counted(scores, summary)})"
    text = _measured(scores, facts.name, summary, AGGREGATED[facts.aggregate])
    if facts.kind == "recall":
        text = f"Finds {share(summary.mean)} of what it should {where}{behind}"
    elif facts.kind == "hit_rate":
        text = f"For {share(summary.mean)} of the queries a target stands {where}{behind}"
    return Sentence(text, [fact])


def _is_far(scores: Scores, k: int) -> bool:
    """Whether every list ends far above a cut-off, so that all results are within it."""
    audit = scores.audit
    within = audit.retrieved if audit.depth is None else audit.shown
    # The values have a row for each query, and need no table of them.
    queries = len(scores.values)
    return is_far(k, queries=queries, returned=audit.retrieved, within=within)


def _counted(scores: Scores, summary: Summary) -> str:
    """How many queries there are, and what weighs them."""
    tag = scores.recorded.weight_by
    weighed = f" weighted by {printable(tag, 40)}" if tag else ""
    return plural(summary.n, "query", "queries") + weighed


def _measured(scores: Scores, name: str, summary: Summary, how: str) -> str:
    mean = 0.0 if summary.mean is None else summary.mean
    behind = f"({_between(summary, percent=False)}{_counted(scores, summary)})"
    return f"{name} is {number(mean)} {how} {behind}"


def _between(summary: Summary, *, percent: bool = True) -> str:
    """The interval in the unit of the sentence, to be followed by the count."""
    ends = summary.interval
    if ends is None:
        return ""
    if percent:
        low = round(ends.low * 100)
        high = round(ends.high * 100)
        return f"{low}–{high}%, "
    return f"{ends.shown}, "


def score_table(
    scores: Scores, ceilings: Mapping[str, float] = MappingProxyType({})
) -> Table:
    """The means: a row for each metric, a column for each cut-off, the interval of the last.

    ``ceilings`` is the best possible value by metric, shown in a row below it.
    """
    ks: list[int | None] = [
        *sorted({metric.k for metric in scores.metrics if metric.k is not None})
    ]
    if any(metric.k is None for metric in scores.metrics):
        ks.append(None)
    rows: dict[str, dict[int | None, Summary]] = {}
    for metric in scores.metrics:
        rows.setdefault(metric.stem, {})[metric.k] = scores[metric.name]
    cells: list[list[Cell | str]] = []
    for name, by_k in rows.items():
        last = [by_k[k] for k in ks if k in by_k][-1]
        means = (_mean(by_k.get(k)) for k in ks)
        cells.append([Cell(name, strong=True), *means, _interval(last)])
        most = [ceilings.get(by_k[k].metric) if k in by_k else None for k in ks]
        if any(value is not None for value in most):
            best = ("" if value is None else number(value) for value in most)
            cells.append([f"{name}, at best", *best, ""])
    heads = [WHOLE if k is None else f"@{k}" for k in ks]
    level = f"{100 * scores.recorded.confidence:g}% interval"
    has_intervals = any(row[-1] for row in cells)
    columns: Heads = [Column("metric"), *heads, *([level] if has_intervals else [])]
    return Table(columns, [row[: len(columns)] for row in cells])


def interval_table(scores: Scores) -> Table:
    """Every mean with its interval and its number of queries."""
    rows = [
        (
            Cell(summary.metric, strong=True),
            _mean(summary),
            _interval(summary),
            f"{summary.n:,}",
        )
        for summary in scores.summaries.values()
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
    audit = scores.audit
    policy = scores.policy
    gone = left_out(scores, leading(scores))
    notes = [] if gone is None else [Note("left out", gone)]
    notes += (note_of(replaced(note, printable(note))) for note in scores.recorded.notes)
    notes.append(_size(audit))
    if audit.unanswerable:
        notes.append(_unanswerable(audit, policy))
    notes += _not_returned(audit, policy)
    notes += _counted_once(audit, policy)
    if audit.unjudged_rate:
        notes.append(_unjudged_share(scores, audit.unjudged_rate))
    notes += (Note("method", text) for text in _chosen_policies(policy))
    notes.append(_about_intervals(scores))
    return notes


def _size(audit: InputCounts) -> Note:
    """How many queries, targets and results there are."""
    size = Fact(
        about="count", count=audit.queries, of=audit.targets, queries=audit.retrieved
    )
    template = (
        "{it.count:query|queries}, {it.of:relevant target|relevant targets}, "
        "{it.queries:result|results}."
    )
    return Note("counted", sentence(template, it=size))


def _count_note(kind: NoteKind, template: str, count: int, name: str = "") -> Note:
    """A note on a number of queries, results or judgements."""
    fact = Fact(about="count", count=count, of=0, text=name or None)
    return Note(kind, sentence(template, it=fact, how=SCORED.get(name, name)))


def _not_returned(audit: InputCounts, policy: Policy) -> Iterator[Note]:
    """Queries without results, each kind with how it is scored, and results without a query."""
    # The note on queries without a target already covers them.
    hopeless = audit.unanswerable_silent and policy.unanswerable == "exclude"
    among = " where there was something to find" if hopeless else ""
    if audit.missing:
        examples = _names(audit.missing_examples, audit.missing)
        names = f"({examples}): {SCORED[policy.missing]}"
        template = "{it.count:query|queries} missing from the run {it.text}" + among + "."
        yield _count_note("missing", template, audit.missing, names)
    if audit.errors:
        names = f"{SCORED[policy.errors]}{among}.{_errors(audit)}"
        template = "{it.count:query|queries} on which the retriever failed: {it.text}"
        yield _count_note("failed", template, audit.errors, names)
    if audit.empty:
        template = "{it.count:query|queries} without results: {how}" + among + "."
        yield _count_note("missing", template, audit.empty, "zero")
    if audit.unknown:
        names = f"({_names(audit.unknown_examples, audit.unknown)})"
        template = (
            "{it.count:query|queries} of the run not in the ground truth {it.text}: not "
            "measured."
        )
        yield _count_note("missing", template, audit.unknown, names)


def _counted_once(audit: InputCounts, policy: Policy) -> Iterator[Note]:
    """Results and judgements that stand twice, and targets whose rank a tie decides."""
    if audit.duplicates:
        template = (
            "{it.count:result|results} returned a second time for the same query: each "
            "takes up its rank and earns nothing."
        )
        yield _count_note("counted", template, audit.duplicates)
    if audit.ties_on_targets:
        template = (
            "{it.count:target|targets} found among equal scores: their rank is decided "
            "by ties={it.text}."
        )
        yield _count_note("counted", template, audit.ties_on_targets, policy.ties or "")
    if audit.repeated_judgements:
        template = "{it.count:judgement|judgements} given twice: counted once."
        yield _count_note("counted", template, audit.repeated_judgements)


def _unjudged_share(scores: Scores, rate: float) -> Note:
    """The share of the first results that nobody judged."""
    depth = scores.audit.depth
    fact = Fact(about="count", value=rate, k=depth, text="unjudged")
    first = "the first {it.k} results" if depth != 1 else "the first results"
    where = first if depth and not _is_far(scores, depth) else "all results"
    rounded = percent(rate)
    rounded = rounded[:1].upper() + rounded[1:]
    template = rounded + " of " + where + " {how}; they count as not relevant."
    return Note("unjudged", sentence(template, it=fact, how=_unjudged(scores)))


NAMED = 3
"""Queries that a note names."""


def left_out(scores: Scores, facts: MetricFacts) -> Sentence | None:
    """Who leaves the mean of a metric, and why; None where nobody does, or everybody."""
    gone = np.isnan(scores.of(facts.name))
    rows = np.flatnonzero(gone).tolist()
    if not rows or len(rows) == len(scores):
        return None
    queries = scores.queries
    statuses = queries["status"].gather(rows)
    why = why_undefined(facts.kind)
    if (statuses == FAILED).all():
        why = "the retriever failed on {them}"
    elif (statuses == MISSING).all() and scores.policy.missing == "exclude":
        why = "the run lacks {them}"
    return who_is_left_out(
        queries["query"].gather(rows).to_list(), len(scores), facts.kind, why
    )


def why_undefined(kind: str) -> str:
    """Why a kind of metric has no value for a query that was asked."""
    if kind in UNANSWERABLE:
        return "{they} an answer"
    return NOTHING_FORBIDDEN if kind in FORBIDDEN else NOTHING_KNOWN


NOTHING_KNOWN = "nothing relevant is known for {them}"
NOTHING_FORBIDDEN = "nothing is forbidden for {them}"


def who_is_left_out(names: Sequence[str], of: int, metric: str, why: str) -> Sentence:
    """How many queries leave a mean, why, and the first of their names.

    >>> who_is_left_out(["b"], 8, "recall", NOTHING_KNOWN)
    '1 of 8 queries is left out of recall: nothing relevant is known for it (b).'
    """
    shown = ", ".join(printable(name, 40) for name in names[:NAMED])
    more = ", …" if len(names) > NAMED else ""
    is_one = len(names) == 1
    return sentence(
        "{it.count} of {it.of:query|queries} {verb} left out of {it.metric}: "
        + why
        + " ({it.text}).",
        it=Fact(
            about="left out", metric=metric, count=len(names), of=of, text=shown + more
        ),
        verb="is" if is_one else "are",
        them="it" if is_one else "them",
        they="it has" if is_one else "they have",
    )


def _unanswerable(audit: InputCounts, policy: Policy) -> Note:
    """How many queries have no relevant target, how they count, and what came back for them."""
    fact = Fact(about="count", count=audit.unanswerable, of=audit.unanswerable_silent)
    silence = "nothing was returned for {it.of} of them"
    if not audit.unanswerable_silent:
        silence = "something was returned for each of them"
    if audit.unanswerable == 1:
        silence = (
            f"{'nothing' if audit.unanswerable_silent else 'something'} was returned for "
            "it"
        )
    template = (
        "{it.count:query|queries} without any relevant target: {how}; " + silence + "."
    )
    return Note("counted", sentence(template, it=fact, how=SCORED[policy.unanswerable]))


def _errors(audit: InputCounts) -> str:
    """Some of the failed questions, with their errors."""
    kinds = "; ".join(
        printable(error_example, 200) for error_example in audit.error_examples
    )
    more = "; …" if audit.errors > len(audit.error_examples) else ""
    return f" {kinds}{more}" if kinds else ""


def _chosen_policies(policy: Policy) -> list[str]:
    """The policies that differ from the defaults, even if they applied to no query."""
    usual = vars(Policy())
    chosen = [
        f"{name}={value}"
        for name, value in vars(policy).items()
        if value != usual[name] and (name != "ties" or value == "error")
    ]
    return [f"Policies other than the usual ones: {', '.join(chosen)}."] if chosen else []


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
    level = Fact(about="setting", value=scores.recorded.confidence, text="confidence")
    how = "; ".join(words for method, words in METHODS.items() if method in methods)
    if not how:
        return Note("doubt", "No intervals: they need at least two queries.")
    cluster = scores.recorded.cluster
    units = (
        f"; queries with the same {printable(cluster, 40)} are one unit"
        if cluster
        else ""
    )
    return Note(
        "method",
        sentence(
            "Each mean with its {it.value:g%} interval ({how}{units}).",
            it=level,
            how=how,
            units=units,
        ),
    )


def _names(examples: tuple[str, ...], count: int) -> str:
    shown = ", ".join(printable(name, 40) for name in examples)
    return shown + (", …" if count > len(examples) else "")


def summary_rows(scores: "Scores | Evaluation") -> Iterator[dict[str, Any]]:
    """One row per metric: mean, median, interval, n, undefined; full precision."""
    for summary in scores.summaries.values():
        ends = summary.interval
        yield {
            "metric": summary.metric,
            "mean": summary.mean,
            "median": summary.median,
            "low": ends and ends.low,
            "high": ends and ends.high,
            "level": ends and ends.level,
            "method": ends and ends.method,
            "n": summary.n,
            "undefined": summary.undefined,
        }
