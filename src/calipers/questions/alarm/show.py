"""An alarm in words and rows, for a terminal and for a chat."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.present.escape import for_markdown, number, printable, query_name, signed
from calipers.present.terminal import print_notes, show_with
from calipers.questions.alarm.result import Alarm, AlarmCheck, AlarmReference
from calipers.words import plural

MARKS = {"worse": "✗", "not shown": "✓", "untested": "–"}
SIGNS = {"worse": "❌", "not shown": "✅", "untested": "⚠️"}
COLOURS = {"worse": "red", "not shown": "green", "untested": "yellow"}
SENTENCES = 3
"""For how many metrics something is spelled out; the table has all."""
_NOTICEABLE = 0.0005
"""A move that would print as 0.001 at least."""
_HEADS = ("metric", "before → now", "difference", "added up", "alarm from")


def print_alarm(alarm: Alarm, console: Console, *, explain: bool = False) -> None:
    """Whether it is raised and since when, every check, the queries behind a drop."""
    colour = "red" if alarm.raised else "green"
    console.print(Text(headline(alarm), style=f"bold {colour}"))
    for line in map(printable, alarm.warnings):
        console.print(Text(line, style="yellow"))
    console.print()
    console.print(Text(_reference(alarm.reference)))
    console.print(_table(alarm.checks))
    for check in drops(alarm):
        console.print()
        console.print(Text(_drop(check), style="bold"))
        for line in _worst(check):
            console.print(Text(f"  {line}"), no_wrap=True, overflow="ellipsis")
    print_notes(notes(alarm), console, explain=explain)


def alarm_markdown(alarm: Alarm) -> str:
    """The same, fit for a chat or an issue."""
    sign = SIGNS["worse" if alarm.raised else "not shown"]
    blocks = [f"## {sign} {for_markdown(headline(alarm))}"]
    if alarm.warnings:
        blocks.append("\n".join(f"> ⚠️ {for_markdown(line)}" for line in alarm.warnings))
    blocks.append(for_markdown(_reference(alarm.reference)))
    head = f"| | {' | '.join(_HEADS)} |\n|---|---|---|---|---|---|"
    blocks.append("\n".join([head, *(_markdown_row(check) for check in alarm.checks)]))
    for check in drops(alarm):
        lines = [f"- {for_markdown(line)}" for line in _worst(check)]
        blocks.append("\n\n".join([for_markdown(_drop(check)), "\n".join(lines)]))
    blocks.append("\n".join(f"- {for_markdown(line)}" for line in notes(alarm)))
    return "\n\n".join(blocks) + "\n"


def headline(alarm: Alarm) -> str:
    """The answer in one sentence."""
    name = f"{printable(alarm.name)} (@{alarm.id[:8]}, {alarm.saved:%Y-%m-%d %H:%M} UTC)"
    if alarm.raised:
        metrics = list(dict.fromkeys(_where(check) for check in alarm.worse))
        rest = f" and {len(metrics) - 3} more" if len(metrics) > 3 else ""
        begun = min(check.since for check in alarm.worse if check.since)
        return (
            f"{name} is worse than the reference since about {begun:%Y-%m-%d}: "
            f"{', '.join(metrics[:3])}{rest}."
        )
    if all(check.status == "untested" for check in alarm.checks):
        return f"{name} could not be tested: no query can be compared."
    return f"{name}: no drop was shown in {plural(alarm.nights, 'evaluation')}."


def drops(alarm: Alarm) -> list[AlarmCheck]:
    """The drops to spell out, not too many."""
    return list(alarm.worse[:SENTENCES])


def notes(alarm: Alarm) -> list[str]:
    """What the ground truth did, and what the budget means."""
    checks = len(alarm.checks)
    together = f", over all {checks} checks together" if checks > 1 else ""
    return [
        *_by_ground_truth(alarm),
        "Losses add up from one evaluation to the next, in standard deviations of one of them; "
        f"a retriever that does not change raises at most about {alarm.false_alarms:g} in 365 "
        f"evaluations{together}.",
        *map(printable, alarm.notes),
    ]


def _by_ground_truth(alarm: Alarm) -> Iterator[str]:
    """How far the ground truth moved the means, where it changed."""
    if not alarm.reference.truth_changed:
        return
    for check in alarm.checks:
        part = check.by_ground_truth
        if part is not None and abs(part) >= _NOTICEABLE:
            yield (
                f"{check.metric} over all queries went {_value(check.whole_before)} → "
                f"{_value(check.whole_now)}; {signed(part)} of that comes with the changed ground "
                f"truth, {signed(check.difference or 0.0)} with the retriever."
            )


def _reference(reference: AlarmReference) -> str:
    counts = (
        (reference.new, "new"),
        (reference.gone, "gone"),
        (reference.rejudged, "with another question or ground truth"),
    )
    rest = ", ".join(f"{n:,} {words}" for n, words in counts if n)
    return (
        f"Against the first {plural(len(reference.evaluations), 'evaluation')} "
        f"({reference.oldest:%Y-%m-%d} to {reference.newest:%Y-%m-%d}), on "
        f"{plural(reference.shared, 'shared query', 'shared queries')}"
        f"{f' ({rest})' if rest else ''}:"
    )


def _table(checks: Sequence[AlarmCheck]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column(_HEADS[0], overflow="fold")
    for name in _HEADS[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    for check in checks:
        mark = Text(MARKS[check.status], style=COLOURS[check.status])
        table.add_row(mark, *map(Text, _cells(check)))
    return table


def _markdown_row(check: AlarmCheck) -> str:
    return f"| {SIGNS[check.status]} | {' | '.join(map(for_markdown, _cells(check)))} |"


def _cells(check: AlarmCheck) -> tuple[str, ...]:
    if check.status == "untested":
        return _where(check), check.why_not or "", "", "", ""
    difference = "" if check.difference is None else signed(check.difference)
    return (
        _where(check),
        _means(check),
        difference,
        f"{check.sum or 0.0:.1f}",
        f"{check.threshold or 0.0:.1f}",
    )


def _drop(check: AlarmCheck) -> str:
    since = f" since about {check.since:%Y-%m-%d}" if check.since else ""
    seen = f" (the alarm was first raised on {check.raised:%Y-%m-%d})" if check.raised else ""
    return (
        f"{_where(check)} is worse than the reference{since}{seen}: {_means(check)} over "
        f"{plural(check.n, 'query', 'queries')}."
    )


def _worst(check: AlarmCheck) -> list[str]:
    return [
        f"{number(one.baseline or 0.0)} → {number(one.value)}  {query_name(one.query, one.text)}"
        for one in check.worst
    ]


def _where(check: AlarmCheck) -> str:
    return check.metric + (f" for {printable(check.slice, 50)}" if check.slice else "")


def _means(check: AlarmCheck) -> str:
    return f"{_value(check.before)} → {_value(check.now)}"


def _value(value: float | None) -> str:
    return "undefined" if value is None else number(value)


show_with(Alarm, print_alarm)
