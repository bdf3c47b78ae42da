"""An alarm in words and rows, for a terminal and for a chat."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.claim import SIGNS, p_text
from calipers.present.escape import for_markdown, printable, query_name
from calipers.present.notes import Note, note_lines, print_notes
from calipers.present.terminal import STYLES, claims_markdown, open_table, print_claims, show_with
from calipers.questions.history.result import Alarm, AlarmCheck, AlarmReference
from calipers.words import number, plural, signed

SENTENCES = 3
"""For how many metrics something is spelled out; the table has all."""
_NOTICEABLE = 0.0005
"""A move that would print as 0.001 at least."""
_HEADS = ("metric", "before → now", "difference", "lost", "gained", "of", "p", "rings at p ≤")


def print_alarm(alarm: Alarm, console: Console, *, explain: bool = False) -> None:
    """What was seen and whether it rings, what it was compared with, the queries behind a loss."""
    print_claims(alarm.claims[:SENTENCES], console)
    for line in map(printable, alarm.warnings):
        console.print(Text(line, style="yellow"))
    if alarm.reference is None:
        return
    console.print()
    console.print(Text(_compared(alarm, alarm.reference)))
    if len(alarm.checks) > 1:
        console.print(_table(alarm.checks))
    for check in losses(alarm):
        console.print()
        console.print(Text(_heading(check), style="bold"))
        for line in _worst(check):
            console.print(Text(f"  {line}"), no_wrap=True, overflow="ellipsis")
    print_notes(notes(alarm), console, explain=explain)


def alarm_markdown(alarm: Alarm) -> str:
    """The same, fit for a chat or an issue."""
    blocks = [claims_markdown(alarm.claims[:SENTENCES]).rstrip()]
    if alarm.warnings:
        blocks.append("\n".join(f"> ⚠️ {for_markdown(line)}" for line in alarm.warnings))
    if alarm.reference is None:
        return "\n\n".join(blocks) + "\n"
    blocks.append(for_markdown(_compared(alarm, alarm.reference)))
    if len(alarm.checks) > 1:
        head = f"| | {' | '.join(_HEADS)} |\n|---|---|" + "---:|" * (len(_HEADS) - 1)
        cells = ((SIGNS[one.standing], *map(for_markdown, _cells(one))) for one in alarm.checks)
        blocks.append("\n".join([head, *(f"| {' | '.join(row)} |" for row in cells)]))
    for check in losses(alarm):
        lines = [f"- {for_markdown(line)}" for line in _worst(check)]
        blocks.append("\n\n".join([for_markdown(_heading(check)), "\n".join(lines)]))
    blocks.append("\n".join(f"- {for_markdown(line)}" for line in note_lines(notes(alarm))))
    return "\n\n".join(blocks) + "\n"


def losses(alarm: Alarm) -> list[AlarmCheck]:
    """The losses whose queries are listed, not too many."""
    told = [check for check in alarm.checks if check.standing != "passed" and check.worst]
    return told[:SENTENCES]


def notes(alarm: Alarm) -> list[Note]:
    """What the ground truth did, and what the budget means."""
    checks = len(alarm.checks)
    together = f", over all {checks} checks together" if checks > 1 else ""
    return [
        *(Note("doubt", line) for line in _by_ground_truth(alarm)),
        *(Note("input", printable(line)) for line in alarm.notes),
        Note(
            "method",
            f"It rings where a loss of more than {alarm.allow:g} is shown (--allow); a retriever "
            f"that does not change rings at most {alarm.false_alarms:g} time"
            f"{'' if alarm.false_alarms == 1 else 's'} in 365 evaluations{together}.",
        ),
    ]


def _by_ground_truth(alarm: Alarm) -> Iterator[str]:
    """How far the ground truth moved the means, where it changed."""
    if alarm.reference is None or not alarm.reference.truth_changed:
        return
    for check in alarm.checks:
        part = check.by_ground_truth
        if part is not None and abs(part) >= _NOTICEABLE:
            yield (
                f"{check.metric} over all queries went {_value(check.whole_before)} → "
                f"{_value(check.whole_now)}; {signed(part)} of that comes with the changed ground "
                f"truth, {signed(check.difference or 0.0)} with the retriever."
            )


def _compared(alarm: Alarm, reference: AlarmReference) -> str:
    counts = (
        (reference.new, "new"),
        (reference.gone, "gone"),
        (reference.rejudged, "with another question or ground truth"),
    )
    rest = ", ".join(f"{n:,} {words}" for n, words in counts if n)
    count = len(reference.evaluations)
    first, last = f"{reference.oldest:%Y-%m-%d}", f"{reference.newest:%Y-%m-%d}"
    period = first if count == 1 or first == last else f"{first} to {last}"
    if reference.left_out:
        period += f"; without {reference.left_out} that clearly lost"
    return (
        f"{printable(alarm.name)} (@{alarm.id[:8]}, {alarm.saved:%Y-%m-%d %H:%M} UTC) against "
        f"the first {plural(count, 'evaluation') if count > 1 else 'evaluation'} ({period}), on "
        f"{plural(reference.shared, 'shared query', 'shared queries')}"
        f"{f' ({rest})' if rest else ''}."
    )


def _table(checks: Sequence[AlarmCheck]) -> Table:
    table = open_table("", _HEADS[0], numbers=_HEADS[1:])
    for check in checks:
        mark = Text(SIGNS[check.standing], style=STYLES[check.standing])
        table.add_row(mark, *map(Text, _cells(check)))
    return table


def _cells(check: AlarmCheck) -> tuple[str, ...]:
    where = printable(check.where, 70)
    if check.before is None or check.recent is None:
        return where, "no query can be compared", "", "", "", "", "", ""
    return (
        where,
        f"{number(check.before)} → {number(check.recent)}",
        signed(check.recent - check.before),
        f"{check.lost:,}",
        f"{check.gained:,}",
        f"{check.n:,}",
        "" if check.p is None else p_text(check.p).removeprefix("p ").removeprefix("= "),
        "" if check.level is None else f"{check.level:.1g}",
    )


def _heading(check: AlarmCheck) -> str:
    since = f", below the reference since {check.since:%Y-%m-%d}" if check.since else ""
    return f"What lost most in {printable(check.where, 70)}{since}:"


def _worst(check: AlarmCheck) -> list[str]:
    return [
        f"{number(one.baseline or 0.0)} → {number(one.value)}  {query_name(one.query, one.text)}"
        for one in check.worst
    ]


def _value(value: float | None) -> str:
    return "undefined" if value is None else number(value)


show_with(Alarm, print_alarm, rows=lambda found: found.checks)
