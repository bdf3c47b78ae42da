"""An alarm in words and rows, for a terminal and for a chat."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.alarm import Alarm, AlarmCheck, AlarmReference
from calipers.present.answer import print_notes
from calipers.present.comparison import between, p_in_words, power_sentence, query_name, signed
from calipers.present.escape import for_markdown
from calipers.present.plain import printable
from calipers.present.table import number

MARKS = {"worse": "✗", "better": "▲", "not shown": "✓", "untested": "–"}
SIGNS = {"worse": "❌", "better": "🔼", "not shown": "✅", "untested": "⚠️"}
COLOURS = {"worse": "red", "better": "green", "not shown": "green", "untested": "yellow"}
SENTENCES = 3
"""For how many metrics something is spelled out; the table has all."""
NOTICEABLE = 0.0005
"""A move that would print as 0.001 at least."""


def print_alarm(alarm: Alarm, console: Console, *, explain: bool = False) -> None:
    """Whether it is raised, every check, the queries behind a drop, what could not be seen."""
    colour = "red" if alarm.raised else "green"
    console.print(Text(headline(alarm), style=f"bold {colour}"))
    for line in map(printable, alarm.warnings):
        console.print(Text(line, style="yellow"))
    for reference in alarm.references:
        console.print()
        console.print(Text(_reference(reference)))
        console.print(_table([c for c in alarm.checks if c.against == reference.against]))
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
    for reference in alarm.references:
        blocks.append(for_markdown(_reference(reference)))
        rows = [c for c in alarm.checks if c.against == reference.against]
        head = "| | metric | before → now | difference | could see |\n|---|---|---|---|---|"
        blocks.append("\n".join([head, *(_markdown_row(check) for check in rows)]))
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
        return f"{name} is significantly worse than before: {', '.join(metrics[:3])}{rest}."
    if all(check.status == "untested" for check in alarm.checks):
        return f"{name} could not be tested: too few queries can be compared."
    return f"{name}: no significant drop."


def drops(alarm: Alarm) -> list[AlarmCheck]:
    """The drops to spell out: each metric and slice once, and not too many."""
    once: dict[tuple[str, str | None], AlarmCheck] = {}
    for check in alarm.worse:
        once.setdefault((check.metric, check.slice), check)
    return list(once.values())[:SENTENCES]


def notes(alarm: Alarm) -> list[str]:
    """What the ground truth did, and what could not have been seen."""
    lines = list(_by_ground_truth(alarm))
    quiet = [
        check
        for check in alarm.checks
        if check.slice is None and check.against == "previous" and check.status != "worse"
    ]
    still = [
        c.metric for c in quiet if not c.change.better and not c.change.worse and c.change.same
    ]
    if still:
        lines.append(f"No query changed in {', '.join(still)} since the previous evaluation.")
    moved = [check for check in quiet if check.metric not in still]
    lines += [
        power_sentence(check.metric, check.change.visibility, alarm.tests)
        for check in moved[:SENTENCES]
    ]
    corrected = f", corrected over {alarm.tests} tests (Holm)" if alarm.tests > 1 else ""
    lines.append(f"Paired sign-flip test at {alarm.alpha:g}{corrected}.")
    return [*lines, *map(printable, alarm.notes)]


def _by_ground_truth(alarm: Alarm) -> Iterator[str]:
    """How far the ground truth moved the means, where it changed."""
    changed = {one.against for one in alarm.references if one.truth_changed}
    for check in alarm.checks:
        part = check.by_ground_truth
        if check.against != "previous" or check.against not in changed or part is None:
            continue
        if abs(part) >= NOTICEABLE:
            yield (
                f"{check.metric} over all queries went {_value(check.whole_before)} → "
                f"{_value(check.whole_now)}; {signed(part)} of that comes with the changed ground "
                f"truth, {signed(check.change.difference or 0.0)} with the retriever."
            )


def _reference(reference: AlarmReference) -> str:
    queries = "query" if reference.shared == 1 else "queries"
    if reference.against == "previous":
        what = (
            f"Against the previous (@{reference.evaluations[0][:8]}, "
            f"{reference.newest:%Y-%m-%d %H:%M})"
        )
    else:
        what = (
            f"Against the mean of the {len(reference.evaluations)} before "
            f"({reference.oldest:%Y-%m-%d} to {reference.newest:%Y-%m-%d})"
        )
    counts = (
        (reference.new, "new"),
        (reference.gone, "gone"),
        (reference.rejudged, "with another question or ground truth"),
    )
    rest = ", ".join(f"{n:,} {words}" for n, words in counts if n)
    return f"{what}, on {reference.shared:,} shared {queries}{f' ({rest})' if rest else ''}:"


def _table(checks: Sequence[AlarmCheck]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("metric", overflow="fold")
    table.add_column("before → now", justify="right", no_wrap=True)
    table.add_column("difference", overflow="fold")
    table.add_column("could see", justify="right", no_wrap=True)
    for check in checks:
        style = COLOURS[check.status]
        detail = Text(_difference(check))
        detail.append(f"\n{_counts(check)}", style="dim")
        table.add_row(
            Text(MARKS[check.status], style=style), Text(_where(check)), Text(_means(check)),
            detail, Text(_visible(check)),
        )  # fmt: skip
    return table


def _markdown_row(check: AlarmCheck) -> str:
    cells = (
        SIGNS[check.status], for_markdown(_where(check)), _means(check),
        for_markdown(f"{_difference(check)}, {_counts(check)}".strip(", ")), _visible(check),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _drop(check: AlarmCheck) -> str:
    since = "the previous evaluation" if check.against == "previous" else "the mean before"
    return (
        f"{_where(check)} is significantly worse than {since}: {_means(check)}, "
        f"{_difference(check)}, {_counts(check)}."
    )


def _worst(check: AlarmCheck) -> list[str]:
    return [
        f"{number(one.baseline or 0.0)} → {number(one.value)}  {query_name(one.query, one.text)}"
        for one in check.worst
    ]


def _where(check: AlarmCheck) -> str:
    return check.metric + (f" for {printable(check.slice, 50)}" if check.slice else "")


def _means(check: AlarmCheck) -> str:
    return f"{_value(check.change.baseline)} → {_value(check.now)}"


def _difference(check: AlarmCheck) -> str:
    change = check.change
    if change.difference is None:
        return ""
    return signed(change.difference) + (f" ({between(change.interval)})" if change.interval else "")


def _counts(check: AlarmCheck) -> str:
    if check.status == "untested":
        seen = check.change.visibility
        return f"too few queries: {seen.n} of {seen.fewest}"
    moved = f"{check.change.better} ▲ {check.change.worse} ▼"
    return ", ".join(filter(None, (p_in_words(check.change.p_adjusted), moved)))


def _visible(check: AlarmCheck) -> str:
    seen = check.change.visibility
    if seen.smallest is None:
        return "none" if seen.why_not == "too few queries" else ""
    return number(seen.smallest)


def _value(value: float | None) -> str:
    return "undefined" if value is None else number(value)
