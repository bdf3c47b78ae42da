"""A verdict in words and rows, the same for terminal, Markdown, JUnit and pytest."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.visibility import Visibility
from calipers.present.escape import between, number, p_in_words, printable, query_name, signed
from calipers.present.terminal import print_notes, show_with
from calipers.questions.compare.words import power_sentence, unseen_sentence
from calipers.questions.gate.result import Change, Check, Leak, Verdict, WorstQuery

NAMED = 4
"""Metrics that a note calls by name."""
MARKS = {"passed": "✓", "failed": "✗", "untested": "–", "supporting": " "}


@dataclass(frozen=True)
class CheckRow:
    """One check, ready to show."""

    status: str
    name: str
    value: str
    detail: str
    counts: str
    """The p-value and how many queries moved; empty for a condition."""
    visible: str
    because: str

    @property
    def mark(self) -> str:
        """The status as a sign."""
        return MARKS[self.status]


def headline(verdict: Verdict) -> str:
    """The verdict in one sentence."""
    deciding = [check for check in verdict.checks if check.status != "supporting"]
    n, failed = len(deciding), len(verdict.failed)
    untested = sum(check.status == "untested" for check in verdict.checks)
    rest = f", {untested} could not be tested" if untested else ""
    if failed:
        return f"Failed: {failed} of {_checks(n)} failed{rest}."
    return f"Passed: {_checks(n - untested)} held{rest}."


def condition_rows(verdict: Verdict) -> list[CheckRow]:
    """The conditions with what was measured."""
    return [
        CheckRow(
            check.status,
            printable(check.name, 80),
            _value(check.value, check.unit),
            _spread(check),
            "",
            "",
            ", ".join(check.because),
        )
        for check in verdict.checks
        if check.requirement
    ]


def baseline_rows(verdict: Verdict) -> list[CheckRow]:
    """The metrics and slices that were compared with the baseline."""
    rows = []
    for check in verdict.checks:
        change = check.change
        if change is None:
            continue
        place = f" for {printable(check.slice, 50)}" if check.slice else ""
        before = _value(change.baseline)
        rows.append(
            CheckRow(
                check.status,
                check.metric + place,
                f"{before} → {_value(check.value)}",
                _difference(change),
                _counts(change),
                _visible(change),
                _reason(check, change),
            )
        )
    return rows


def _reason(check: Check, change: Change) -> str:
    seen = change.visibility
    if check.status == "untested" and seen is not None:
        return f"too few queries: {seen.n} of {seen.fewest}"
    return "supporting" if check.status == "supporting" else ", ".join(check.because)


def baseline_heading(verdict: Verdict) -> str:
    """The rule by which the result was compared with the baseline, and what the baseline is."""
    saved = verdict.baseline_saved
    when = f", saved on {saved.date().isoformat()}" if saved else ""
    runs = f", the mean of {verdict.baseline_runs} runs" if verdict.baseline_runs > 1 else ""
    tests = _tests(verdict)
    corrected = f", corrected over {tests} slices (Holm)" if tests > 1 else ""
    beyond = f" of more than {verdict.allow:g}" if verdict.allow else ""
    rule = (
        f"passes only where it is shown that no more than {verdict.allow:g} is lost"
        if verdict.strict
        else f"fails where a loss{beyond} is shown"
    )
    supporting = any(check.status == "supporting" for check in verdict.checks)
    beside = " The other metrics are supporting and decide nothing." if supporting else ""
    return (
        f"Rule: {verdict.primary} {rule}, with {100 * verdict.confidence:g}% confidence "
        f"(one-sided paired test{corrected}), against the baseline "
        f"{printable(verdict.baseline or '', 60)}{when}{runs}. ▲ queries that got better, ▼ "
        f"worse.{beside}"
    )


def failures(verdict: Verdict) -> list[tuple[str, list[str]]]:
    """For each failed check a sentence, and lines about the queries that weigh most."""
    return [(failure_sentence(check), worst_lines(check)) for check in verdict.failed]


def failure_sentence(check: Check) -> str:
    """What failed, the value, its interval, and what was wanted."""
    if check.change is None:
        return (
            f"{printable(check.name, 80)} does not hold: {check.metric} is "
            f"{_value(check.value, check.unit)} ({_spread(check)})."
        )
    place = f" for {printable(check.slice, 50)}" if check.slice else ""
    return (
        f"{check.metric}{place} is {', and '.join(check.because)}: "
        f"{_value(check.change.baseline)} → {_value(check.value)}, {_difference(check.change)}, "
        f"{p_in_words(check.change.p_adjusted) or 'not tested'}, {check.change.better} better, "
        f"{check.change.worse} worse."
    )


def failure_message(verdict: Verdict) -> str:
    """Everything that failed, over several lines: what pytest shows."""
    lines = list(warnings(verdict))
    for sentence, worst in failures(verdict):
        lines.append(sentence)
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


def notes(verdict: Verdict) -> list[str]:
    """What the checks could not have seen, and what lies too near to call."""
    lines = [_near(check) for check in verdict.checks if _is_near(check)]
    return [*lines, *map(printable, verdict.notes), *_power(verdict)]


def warnings(verdict: Verdict) -> list[str]:
    """What was overridden to reach this verdict."""
    if not verdict.warnings:
        return []
    return [
        "Compared anyway, although the baseline should not be trusted:",
        *map(printable, verdict.warnings),
    ]


def _power(verdict: Verdict) -> list[str]:
    compared = [check for check in verdict.checks if check.change and check.slice is None]
    still = [c for c in compared if c.change and not c.change.better and not c.change.worse]
    lines = []
    if still:
        lines.append(
            f"No query changed in {_few([check.metric for check in still])}: "
            "the values are those of the baseline."
        )
    lines += [line for check in verdict.checks if (line := _undone(check, verdict.allow))]
    for check in compared:
        seen = check.change.visibility if check.change else None
        if check.status == "passed" and check not in still and seen is not None:
            lines.append(_would_miss(check.metric, seen, verdict.allow))
    return lines


def _undone(check: Check, allow: float) -> str | None:
    """What few queries may lack that would turn the verdict."""
    unseen = check.change.unseen if check.change else None
    if unseen is None:
        return None
    beyond = f" of more than {allow:g}" if allow else ""
    way, left = ("gained", "no") if check.status == "failed" else ("lost", "a")
    return unseen_sentence(unseen, f"{way} in {check.metric}", f"{left} loss{beyond}")


def _few(names: list[str]) -> str:
    """Names in a row, where they are not too many.

    >>> _few(["a", "b", "c", "d"]), _few(["a", "b", "c", "d", "e"])
    ('a, b, c, d', 'a and 4 other metrics')
    """
    if len(names) <= NAMED:
        return ", ".join(names)
    return f"{names[0]} and {len(names) - 1} other metrics"


def _would_miss(metric: str, seen: Visibility, allow: float) -> str:
    """A loss that would slip through, in the words of `power_sentence`."""
    if seen.smallest is None:
        return power_sentence(metric, seen)
    beyond = f" beyond the {allow:g} that is allowed" if allow else ""
    return (
        f"With these {seen.n:,} queries a loss of less than {seen.smallest:.2g}{beyond} in "
        f"{metric} would be missed more than one time in five (`calipers plan`)."
    )


def _tests(verdict: Verdict) -> int:
    changes = [check.change for check in verdict.checks if check.change]
    return sum(change.p_adjusted is not None for change in changes)


def _is_near(check: Check) -> bool:
    if check.requirement is None or check.interval is None:
        return False
    return check.interval.low < check.requirement.value < check.interval.high


def _near(check: Check) -> str:
    other = "failed" if check.status == "passed" else "passed"
    return (
        f"{printable(check.name, 80)} could as well have {other} with other queries of the same "
        f"kind: the interval of {check.metric} holds the required value."
    )


def _value(value: float | None, unit: str = "") -> str:
    return "undefined" if value is None else f"{number(value)} {unit}".rstrip()


def _spread(check: Check) -> str:
    n = f"{check.n:,} {'query' if check.n == 1 else 'queries'}"
    if check.undefined:
        n += f", {check.undefined:,} undefined"
    if check.interval is None:
        return n
    low, high = number(check.interval.low), number(check.interval.high)
    return f"{check.interval.level:.0%} interval {low}–{high}, {n}"


def _difference(change: Change) -> str:
    if change.difference is None:
        return ""
    return signed(change.difference) + (f" ({between(change.interval)})" if change.interval else "")


def _counts(change: Change) -> str:
    moved = f"{change.better} ▲ {change.worse} ▼"
    return ", ".join(filter(None, (p_in_words(change.p_adjusted), moved)))


def _visible(change: Change) -> str:
    seen = change.visibility
    if seen is None or seen.smallest is None:
        return "none" if seen is not None and seen.why_not == "too few queries" else ""
    return number(seen.smallest)


def _worst(one: WorstQuery, unit: str) -> str:
    before = "" if one.baseline is None else f"{number(one.baseline)} → "
    return f"{before}{_value(one.value, unit)}  {query_name(one.query, one.text)}"


def _checks(n: int) -> str:
    return f"{n} {'check' if n == 1 else 'checks'}"


COLOURS = {"passed": "green", "failed": "red", "untested": "yellow", "supporting": "dim"}


def print_gate(verdict: Verdict, console: Console, *, explain: bool = False) -> None:
    """The verdict, every check, the queries behind a failure, and what could not be seen."""
    colour = COLOURS["passed" if verdict.passed else "failed"]
    console.print(Text(headline(verdict), style=f"bold {colour}"))
    for line in warnings(verdict):
        console.print(Text(line, style="bold yellow"))
    if rows := condition_rows(verdict):
        console.print()
        console.print(_table(rows, ("condition", "value", "")))
    if rows := baseline_rows(verdict):
        console.print()
        console.print(Text(baseline_heading(verdict)))
        console.print(_table(rows, ("metric", "before → now", "difference"), visible=True))
    for sentence, worst in failures(verdict):
        console.print()
        console.print(Text(sentence, style="bold"))
        for line in worst:
            console.print(Text(f"  {line}"), no_wrap=True, overflow="ellipsis")
    print_notes(notes(verdict), console, explain=explain)


def _table(rows: list[CheckRow], names: tuple[str, str, str], *, visible: bool = False) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column(names[0], overflow="fold")
    table.add_column(names[1], justify="right", no_wrap=True)
    table.add_column(names[2], overflow="fold")
    if visible:
        table.add_column("would see", justify="right", no_wrap=True)
    for row in rows:
        style = COLOURS[row.status]
        detail = Text(row.detail)
        if row.status == "supporting":
            # One line each: there may be many of them, and none decides.
            detail = Text(f"{row.detail}  {row.counts}", style=style)
        elif row.counts:
            detail.append(f"\n{row.counts}", style="dim")
        if row.because and visible and row.status != "supporting":
            detail.append(f"\n{row.because}", style=style)
        cells = [Text(row.mark, style=style), Text(row.name), Text(row.value), detail]
        table.add_row(*cells, *([Text(row.visible)] if visible else []))
    return table


show_with(Verdict, print_gate)
