"""A verdict in words and rows, the same for terminal, Markdown, JUnit and pytest."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.claim import SIGNS, Claim, p_text
from calipers.present.escape import printable, query_name
from calipers.present.notes import Note, print_notes
from calipers.present.scores import notes_of, print_score_table, summary_rows
from calipers.present.scores import verdict as verdict_of
from calipers.present.terminal import STYLES, open_table, print_claims, print_verdict, show_with
from calipers.questions.baseline import Baseline
from calipers.questions.compare.words import between, unseen_sentence
from calipers.questions.gate.result import (
    Change,
    Check,
    Leak,
    Status,
    Verdict,
    WorstQuery,
    spread_of,
)
from calipers.words import number, signed


@dataclass(frozen=True)
class CheckRow:
    """One check, ready to show."""

    status: Status
    name: str
    value: str
    detail: str
    counts: str = ""
    """The p-value and how many queries moved; empty for a condition."""
    because: str = ""

    @property
    def mark(self) -> str:
        """The status as a sign; a metric that decides nothing has none."""
        return "" if self.status == "supporting" else SIGNS[self.status]


def headline(verdict: Verdict) -> Claim:
    """The fact that matters most, with the standing of the whole."""
    first = verdict.claims[0]
    if verdict.accepted is not None:
        return replace(first, next=f"Accepted, and the baseline from now on: {verdict.accepted}")
    if verdict.moved_up:
        return replace(first, next="This result is better, and the baseline from now on.")
    return first


def condition_rows(verdict: Verdict) -> list[CheckRow]:
    """The conditions, and what must be so whatever the mean says, with what was measured."""
    return [
        CheckRow(
            check.status,
            printable(check.name, 80),
            _value(check.value, check.unit),
            spread_of(check, f", {check.undefined:,} undefined" if check.undefined else ""),
            because=printable(", ".join(check.because if check.requirement is None else ()), 160),
        )
        for check in verdict.checks
        if check.change is None
    ]


def baseline_rows(verdict: Verdict) -> list[CheckRow]:
    """The metrics and slices that were compared with the baseline."""
    rows = []
    for check in verdict.checks:
        change = check.change
        if change is None:
            continue
        place = f" for {printable(check.slice, 50)}" if check.slice else ""
        rows.append(
            CheckRow(
                check.status,
                check.metric + place,
                f"{_value(change.baseline)} → {_value(change.now)}",
                _difference(change),
                _counts(change),
                "not asked for" if check.status == "supporting" else "; ".join(check.because),
            )
        )
    return rows


def baseline_heading(verdict: Verdict) -> str:
    """The rule by which the result was compared with the baseline, and what the baseline is."""
    saved = verdict.baseline_saved
    when = f", saved on {saved.date().isoformat()}" if saved else ""
    runs = f", the mean of {verdict.baseline_runs} runs" if verdict.baseline_runs > 1 else ""
    rows = sum(check.change is not None for check in verdict.deciding)
    corrected = f", corrected over {rows} rows (Holm)" if rows > 1 else ""
    fact = "" if verdict.only_shown else f"where its mean fell by more than {verdict.allow:g}, or "
    supporting = any(check.status == "supporting" for check in verdict.checks)
    beside = " A row without a sign was not asked for and decides nothing." if supporting else ""
    return (
        f"A row fails {fact}where a loss is shown with {100 * verdict.confidence:g}% confidence "
        f"(one-sided paired test{corrected}). The baseline is "
        f"{printable(verdict.baseline or '', 60)}{when}{runs}.{beside}"
    )


def failures(verdict: Verdict) -> list[tuple[str, list[str]]]:
    """For each failed check its claim, and lines about the queries that weigh most, once."""
    found: list[tuple[str, list[str]]] = []
    for check in verdict.worst_first:
        if check.status == "failed":
            lines = worst_lines(check)
            named = any(lines == others for _, others in found)
            found.append((failure_sentence(check), [] if named else lines))
    return found


def failure_sentence(check: Check) -> str:
    """What failed: the fact and its standing."""
    return printable(check.claim.line if check.claim else check.name)


def failure_message(verdict: Verdict) -> str:
    """Everything that failed, over several lines: what pytest shows."""
    lines = [printable(headline(verdict).line), *warnings(verdict)]
    for sentence, worst in failures(verdict):
        lines += [sentence] if sentence != lines[0] else []
        if worst:
            lines.append("  worst queries:")
            lines += [f"    {line}" for line in worst]
    return "\n".join(lines)


def worst_lines(check: Check) -> list[str]:
    """One line per query that weighs on the check, or per leak."""
    if check.leaks:
        return [_leak(one) for one in check.leaks]
    return [_worst(one, check.unit) for one in check.worst]


def _leak(one: Leak) -> str:
    forbidden = printable(one.forbidden, 60)
    # A document or a quote is forbidden by name; the result that holds it has a name of its own.
    held = "" if one.result in (None, one.forbidden) else f" in {printable(one.result or '', 60)}"
    return f"rank {one.rank}: {forbidden}{held}  {query_name(one.query, one.text)}"


def notes(verdict: Verdict) -> list[Note]:
    """What lies too near to call, every question that raised, and what was not checked."""
    raised = [
        Note(
            "failed",
            f"Failed in the retriever: {query_name(one.query, one.text)}"
            + (f" ({printable(one.error, 200)})" if one.error else ""),
        )
        for one in verdict.raised[1:]
    ]
    said = (Note("doubt", printable(one)) for one in verdict.notes)
    return [*raised, *_undone(verdict), *_near(verdict), *said]


def _undone(verdict: Verdict) -> Iterator[Note]:
    """What the smallest loss or gain that is shown would not survive."""
    known = [
        (change.unseen, check, change)
        for check in verdict.deciding
        if (change := check.change) is not None and change.unseen is not None
    ]
    if known:
        unseen, check, change = min(known, key=lambda one: one[0].change)
        units = f"queries with {printable(check.slice, 50)}" if check.slice else "queries"
        said = unseen_sentence(unseen, check.metric, units, is_gain=change.loss < 0)
        yield Note("doubt", said)


def warnings(verdict: Verdict) -> list[str]:
    """What was overridden to reach this verdict."""
    if not verdict.warnings:
        return []
    return [
        "Compared anyway, although the baseline should not be trusted:",
        *map(printable, verdict.warnings),
    ]


def _near(verdict: Verdict) -> Iterator[Note]:
    for check in verdict.checks:
        ends, wanted = check.interval, check.requirement
        if ends is not None and wanted is not None and ends.low < wanted.value < ends.high:
            other = "failed" if check.status == "passed" else "passed"
            yield Note(
                "doubt",
                f"{printable(check.name, 80)} could as well have {other} with other queries of the "
                f"same kind: the interval of {check.metric} holds the required value.",
            )


def _value(value: float | None, unit: str = "") -> str:
    return "undefined" if value is None else f"{number(value)} {unit}".rstrip()


def _difference(change: Change) -> str:
    if change.difference is None:
        return ""
    ends = between(change.interval)
    return signed(change.difference) + (f" ({ends})" if ends else "")


def _counts(change: Change) -> str:
    n = change.better + change.worse + change.same
    moved = f"{change.better:,} better, {change.worse:,} worse of {n:,}"
    return moved if change.p_adjusted is None else f"{moved}, {p_text(change.p_adjusted)}"


def _worst(one: WorstQuery, unit: str) -> str:
    before = "" if one.baseline is None else f"{number(one.baseline)} → "
    return f"{before}{_value(one.value, unit)}  {query_name(one.query, one.text)}"


def print_gate(verdict: Verdict, console: Console, *, explain: bool = False) -> None:
    """The fact that matters most, every check, the queries behind a failure, and notes."""
    print_claims([headline(verdict)], console)
    for line in warnings(verdict):
        console.print(Text(line, style="bold yellow"))
    if rows := condition_rows(verdict):
        console.print()
        console.print(_table(rows, ("condition", "value", "")))
    if rows := baseline_rows(verdict):
        console.print()
        console.print(Text(baseline_heading(verdict)))
        console.print(_table(rows, ("metric", "before → now", "difference")))
    first = headline(verdict)
    for sentence, worst in failures(verdict):
        if not worst:
            continue
        console.print()
        if sentence != printable(first.line):
            console.print(Text(sentence, style="bold"))
        for line in worst:
            console.print(Text(f"  {line}"), no_wrap=True, overflow="ellipsis")
    print_notes(notes(verdict), console, explain=explain)


def _table(rows: list[CheckRow], names: tuple[str, str, str]) -> Table:
    table = open_table("", names[0], numbers=names[1:2])
    table.add_column(names[2], overflow="fold")
    for row in rows:
        style = "dim" if row.status == "supporting" else STYLES[row.status]
        detail = Text(row.detail)
        if row.status == "supporting":
            # One line each: there may be many of them, and none decides.
            detail = Text(f"{row.detail}  {row.counts}", style=style)
        else:
            if row.counts:
                detail.append(f"\n{row.counts}", style="dim")
            if row.because:
                detail.append(f"\n{row.because}", style=style)
        table.add_row(Text(row.mark, style=style), Text(row.name), Text(row.value), detail)
    return table


show_with(Verdict, print_gate, rows=lambda found: found.checks)


def print_baseline(found: Baseline, console: Console, *, explain: bool = False) -> None:
    """What it is called, since when, and its scores."""
    when = f"saved on {found.saved:%Y-%m-%d at %H:%M} UTC" if found.saved else "without a date"
    runs = f", {len(found.runs)} runs, of which the first" if found.further else ""
    name = printable(found.name, 60)
    print_verdict(f"Baseline {name}, {when}{runs}: {verdict_of(found.scores)}", console)
    print_score_table(found.scores, console)
    accepted = [] if found.accepted is None else [f"Accepted: {printable(found.accepted)}"]
    print_notes([*accepted, *notes_of(found.scores)], console, explain=explain)


show_with(Baseline, print_baseline, rows=lambda found: summary_rows(found.scores))
