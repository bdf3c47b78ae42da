"""A verdict as a document."""

from collections.abc import Iterator, Sequence

from calipers.model.document import (
    Cell,
    Cells,
    Column,
    Document,
    Lines,
    Note,
    Table,
    note_of,
    ties_may_make,
)
from calipers.model.fact import Fact, facts_of, named, sentence
from calipers.present.escape import for_markdown, printable, query_name
from calipers.present.scores import document as scores_document
from calipers.questions.baseline import Baseline
from calipers.questions.gate.result import ACCEPT, Check, Leak, Verdict, WorstQuery
from calipers.words import number, signed

NAMED = 3
"""Queries that a line names."""


def document(verdict: Verdict) -> Document:
    """The verdict, every check, and the queries behind a failure."""
    # A slice that passed decides nothing.
    checks = verdict.worst_first
    passed = [
        check
        for check in checks
        if check.slice and check.status == "passed" and check.change
    ]
    return Document(
        _sentence(verdict),
        verdict.standing,
        blocks=[
            _checks([check for check in checks if check not in passed]),
            *([_checks(passed, "Slices that passed", detail=True)] if passed else []),
            *(
                Lines(list(map(_leak, check.leaks)), check.name)
                for check in verdict.failed
                if check.leaks
            ),
            *_worst(verdict),
        ],
        notes=[*_notes(verdict)],
        rows=lambda: verdict.checks,
    )


def _sentence(verdict: Verdict) -> str:
    """The most important fact, and the questions on which the retriever failed."""
    first = verdict.claims[0].fact
    if verdict.standing == "failed":
        return sentence("Failed: {first}", first=first)
    if verdict.standing != "passed":
        return first
    compared = (check.claim for check in verdict.worst_first if check.change is not None)
    if claim := next(compared, None):
        return claim.fact
    checks = Fact(about="count", count=len(verdict.checks), text="conditions")
    if checks.count == 1:
        return sentence("Passed: {first}", first=first)
    if checks.count == 2:
        return sentence("Passed: both conditions hold.", it=checks)
    return sentence("Passed: all {it.count} conditions hold.", it=checks)


def _checks(checks: Sequence[Check], title: str = "", *, detail: bool = False) -> Table:
    """One row per check."""
    rows: list[Cells] = []
    compares = any(check.change is not None for check in checks)
    for check in checks:
        sign = Cell("", check.status)
        change = check.change
        # The name of a condition says what is required.
        why = "" if check.requirement else next(iter(check.because), "")
        if change is not None:
            moved = "" if change.difference is None else signed(change.difference)
            called = check.metric
            if check.slice is not None:
                # Short, so that no row of a slice wraps: the sign says what is not clear.
                called = f"{called} {check.slice}"
                why = why.removesuffix(": no clear difference")
            rows.append(
                (sign, called, _value(change.before), _value(change.now), moved, why)
            )
        else:
            now = _value(check.value)
            rows.append((sign, check.name, *(("", now, "") if compares else (now,)), why))
    numbers = ("before", "now", "change") if compares else ("now",)
    heads = (
        Column("", words=True),
        Column("check", words=True),
        *numbers,
        Column("", prose=True),
    )
    return Table(heads, rows, title, detail=detail)


def _worst(verdict: Verdict) -> Iterator[Lines]:
    """The queries that cost each failed check most, each query once."""
    named: set[str] = set()
    for check in verdict.worst_first:
        further = [query for query in check.worst if query.query not in named]
        if check.status == "failed" and further:
            named |= {query.query for query in further}
            lines = list(map(_line, further))
            yield Lines(lines, f"{check.name}: the queries that weigh most", detail=True)


def _notes(verdict: Verdict) -> Iterator[Note]:
    """What was overridden, which queries lost most, and which checks are too close to call."""
    if verdict.warnings:
        yield Note("failed", f"Compared anyway: {' '.join(verdict.warnings)}")
    for raised in verdict.raised[1:]:
        why = f" ({printable(raised.error, 200)})" if raised.error else ""
        yield Note(
            "failed",
            f"Failed in the retriever: {query_name(raised.query, raised.text)}{why}",
        )
    if verdict.accepted is not None:
        yield Note(
            "missing", f"Accepted, and the baseline from now on: {verdict.accepted}"
        )
    elif verdict.moved_up:
        yield Note("missing", "This result is better, and the baseline from now on.")
    failed = next(
        (check for check in verdict.worst_first if check.status == "failed"), None
    )
    if failed and failed.worst:
        worst = failed.worst[:NAMED]
        called = [printable(query.text or query.query, 18) for query in worst]
        if len(set(called)) < len(called):
            # Texts that begin alike: their ids are shorter.
            called = [printable(query.query, 18) for query in worst]
        names = ", ".join(f'"{name}"' for name in called)
        head = "Lost most" if failed.change else "Worst"
        yield Note("missing", sentence("{head}: {it.text}.", head=head, it=named(names)))
    first, *others = verdict.claims
    if failed and failed.change and first.next != ACCEPT and verdict.accepted is None:
        yield Note("missing", ACCEPT)
    if first.range:
        yield Note("doubt", first.range)
    if first.next and verdict.accepted is None:
        yield Note("next", first.next)
    for text in verdict.notes:
        note = note_of(text, "doubt")
        decides = note.kind != "ties" or _may_be_ties(verdict, text)
        yield note if decides else Note("counted", text)
    if verdict.baseline is None:
        yield from (Note("counted", other.range) for other in others if other.range)
        return
    saved = verdict.baseline_saved
    when = f", saved on {saved.date().isoformat()}" if saved else ""
    allow = Fact(about="setting", value=verdict.allow, text="allowed")
    fell = sentence("its mean fell by more than {it.value:g}, or ", it=allow)
    yield Note(
        "method",
        sentence(
            "A row fails where {fell}a loss is significant at {level.value:.2g} "
            "(two-sided paired test, adjusted over all rows). The baseline is {it.text}.",
            fell="" if verdict.only_shown else fell,
            level=Fact(about="setting", value=1 - verdict.confidence, text="level"),
            it=named(f"{verdict.baseline}{when}"),
        ),
    )


def _may_be_ties(verdict: Verdict, text: str) -> bool:
    """Whether equal scores may make a change, or hold a mean that is required."""
    ranges = {fact.metric: fact for fact in facts_of(text)}
    for check in verdict.checks:
        tied = ranges.get(check.metric)
        if check.requirement is None or tied is None:
            continue
        # The ties of a slice are not known apart.
        if check.slice or (tied.low or 0.0) <= check.requirement.value <= (
            tied.high or 0.0
        ):
            return True
    changes = [
        (check.metric, check.change.difference)
        for check in verdict.checks
        if check.change
    ]
    return ties_may_make(changes, text)


def _value(value: float | None) -> str:
    return "undefined" if value is None else number(value)


def _line(worst_query: WorstQuery) -> str:
    before = (
        ""
        if worst_query.baseline is None
        else f" (it was {number(worst_query.baseline)})"
    )
    return (
        f"{_value(worst_query.value)}{before}  "
        f"{query_name(worst_query.query, worst_query.text)}"
    )


def _leak(leak: Leak) -> str:
    # A document or a quote is forbidden by name; the result that contains it has its own
    # id.
    within = "" if leak.result in (None, leak.forbidden) else f" in {leak.result}"
    return (
        f"rank {leak.rank}: {leak.forbidden}{within}  {query_name(leak.query, leak.text)}"
    )


def baseline_document(baseline: Baseline) -> Document:
    """The name, date and scores of a baseline."""
    when = (
        f"saved on {baseline.saved:%Y-%m-%d at %H:%M} UTC"
        if baseline.saved
        else "without a date"
    )
    scores = scores_document(baseline.scores)
    accepted = [] if baseline.accepted is None else [f"Accepted: {baseline.accepted}"]
    about = named(f"Baseline {printable(baseline.name, 60)}, {when}")
    return Document(
        sentence("{it.text}: {scores}", it=about, scores=scores.sentence),
        blocks=scores.blocks,
        notes=[*accepted, *scores.notes],
        rows=scores.rows,
    )


def error_markdown(sentence: str) -> str:
    """The summary of a gate that could not be decided; it must not look like a pass."""
    return f"## ✗ Could not be checked\n\n{for_markdown(sentence)}\n"
