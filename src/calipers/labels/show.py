"""Drafts, agreement, pools and labels, in plain words."""

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calipers.labels.draft import Draft
from calipers.labels.result import (
    Agreement,
    Coefficient,
    Exported,
    Imported,
    MachineCheck,
    Merged,
    Opinions,
)
from calipers.labels.sample_result import SampleState
from calipers.model.scores import Interval
from calipers.present.escape import printable
from calipers.present.notes import MoreWith, Note, print_notes, where_read
from calipers.present.terminal import print_claims, print_verdict, show_lines, show_with
from calipers.words import first_results, number, plural

LONGEST = 64
MOST_PAIRS_OF_JUDGES = 10
NAMED = 5
"""Questions that a warning names."""
STRENGTHS = ((0.8, "agree well"), (0.6, "agree fairly well"), (0.4, "agree in part"))
"""From which value of alpha on judges agree how well."""


def draft_lines(draft: Draft, output: str | None = None) -> list[str]:
    """What is in a file to label, and what to do with it."""
    left_out = f"; {plural(draft.judged, 'pair')} judged before left out" if draft.judged else ""
    lines = []
    if draft.rows:
        lines.append(
            f"{plural(len(draft.rows), 'pair')} to label for "
            f"{plural(draft.queries, 'question')}: the {first_results(draft.k)} of "
            f"{plural(draft.runs, 'run')}, each once{left_out}."
        )
    else:
        lines.append(f"Nothing is left to label{left_out}, and so nothing to write.")
    if draft.silent:
        shown = ", ".join(printable(one, 40) for one in draft.silent[:3])
        more = ", …" if len(draft.silent) > 3 else ""
        lines.append(f"{plural(len(draft.silent), 'question')} without any result: {shown}{more}.")
    if draft.unknown:
        lines.append(
            f"{plural(draft.unknown, 'query', 'queries')} of the runs are not among the questions."
        )
    if draft.without_text:
        lines.append(
            f"{plural(draft.without_text, 'pair')} without a text, which nobody can judge; "
            "a corpus fills in texts."
        )
    if draft.rows:
        written = f"Written to {output}." if output else "Write it with write()."
        lines.append(
            f"{written} Fill in 'grade' (0 = does not help) and 'judge', one copy per "
            "judge; then: calipers labels agreement FILE…"
        )
    return lines


def print_agreement(
    found: Agreement,
    console: Console,
    *,
    written: str | None = None,
    examples: int = 3,
    explain: bool = False,
) -> None:
    """How far the judges agree, where they do not, and what was made of their labels."""
    print_verdict(verdict(found), console)
    if found.coefficients:
        console.print(_table(found.coefficients))
        console.print()
        _print_disagreements(found, console, examples)
        if found.machine is not None:
            console.print()
            for line in machine_lines(found.machine):
                console.print(Text(line))
    if found.merged is not None:
        _print_merged(found.merged, console, written, examples if explain else 0)
    print_notes(_notes(found), console, explain=explain)


def _notes(found: Agreement) -> list[Note]:
    """Who judged how much, and what the columns are."""
    judges = [
        f"{printable(one.name, LONGEST)}: {plural(one.labelled, 'label')}"
        + (f", {one.missing:,} without a grade" if one.missing else "")
        for one in found.judges
    ]
    said = [Note("counted", f"{'; '.join(judges)}.")]
    if not found.coefficients:
        return said
    if alone := len(found.opinions) - found.shared:
        said.append(Note("missing", f"{plural(alone, 'pair')} judged by one of them only."))
    scale = "1 is full agreement, 0 what chance gives; n counts pairs of question and item."
    interval = "The interval is that of the jackknife over these pairs."
    return [*said, Note("marks", scale), Note("method", interval)]


def verdict(found: Agreement) -> str:
    """How well the judges agree, by the measure over all of them."""
    if not found.coefficients:
        return "One judge alone: there is nobody to agree with."
    first = found.coefficients[0]
    if first.value is None:
        return f"How far the judges agree cannot be said: {first.why_not}."
    words = next((words for least, words in STRENGTHS if first.value >= least), "hardly agree")
    return (
        f"The judges {words}: {first.name} is {first.value:.3f} on "
        f"{plural(first.n, 'pair')}.".replace("-", "−")
    )


def machine_lines(machine: MachineCheck) -> list[str]:
    """How far the labels of a machine can be trusted, by those of people."""
    relevant, irrelevant = machine.both + machine.missed, machine.neither + machine.invented
    name = printable(machine.judge, 40)
    split = (
        f" People are split on {plural(machine.undecided, 'pair')}, which are left out."
        if machine.undecided
        else ""
    )
    return [
        f"{name} against people: of {plural(relevant, 'pair')} that people find relevant it finds "
        f"{_share(machine.sensitivity, machine.sensitivity_interval)} (sensitivity), of "
        f"{irrelevant:,} that they do not it leaves out "
        f"{_share(machine.specificity, machine.specificity_interval)} (specificity).{split}"
    ]


def _share(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "none, as there are none"
    ends = f" ({interval.low:.0%}–{interval.high:.0%})" if interval else ""
    return f"{value:.0%}{ends}"


def _table(coefficients: tuple[Coefficient, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("measure")
    table.add_column("judges")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("interval", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    everybody, pairs = coefficients[:2], coefficients[2:]
    for one in everybody:
        table.add_row(one.name, f"all {len(one.judges)}", *_values(one))
    lowest = sorted(pairs, key=lambda one: (one.value is None, one.value or 0.0))
    for one in pairs if len(pairs) <= MOST_PAIRS_OF_JUDGES else lowest[:MOST_PAIRS_OF_JUDGES]:
        judges = " – ".join(printable(name, 30) for name in one.judges)
        table.add_row(one.name, Text(judges), *_values(one))
    if len(pairs) > MOST_PAIRS_OF_JUDGES:
        rest = len(pairs) - MOST_PAIRS_OF_JUDGES
        table.add_row("", f"… and {rest:,} pairs of judges that agree more")
    return table


def _values(one: Coefficient) -> tuple[str, str, str]:
    value = f"none: {one.why_not}" if one.value is None else f"{one.value:.3f}"
    ends = f"{one.interval.low:.3f} to {one.interval.high:.3f}" if one.interval else ""
    return value.replace("-", "−"), ends.replace("-", "−"), f"{one.n:,}"


def _print_disagreements(found: Agreement, console: Console, examples: int) -> None:
    if not found.disagreements:
        if found.shared:
            console.print(Text("No disagreement."))
        return
    console.print(
        Text(
            f"{len(found.disagreements):,} of {plural(found.shared, 'pair')} that several judged "
            "have different grades; the largest differences:",
            style="bold",
        )
    )
    _print_some(found.disagreements, console, examples)


def _print_some(some: tuple[Opinions, ...], console: Console, examples: int) -> None:
    for one in some[:examples]:
        about = one.about
        console.print(Padding(Text(f"· {_question(one)}"), (0, 0, 0, 2), expand=False))
        shown = ", ".join(printable(one, 40) for one in (about.item, about.title) if one)
        if about.text is not None:
            shown = f"{shown}: " if shown else ""
            shown += f"“{printable(' '.join(about.text.split()), LONGEST)}”"
        grades = ", ".join(f"{printable(who, 30)} {grade:g}" for who, grade in one.grades.items())
        console.print(Padding(Text(shown), (0, 0, 0, 4), expand=False))
        console.print(Padding(Text(grades), (0, 0, 0, 4), expand=False))
    if len(some) > examples:
        console.print(MoreWith(f"  … and {len(some) - examples:,} more", "--json", ".to_dict()"))


def _question(one: Opinions) -> str:
    query, text = one.about.query_id, one.about.query
    if text is None or text == query:
        return printable(query, LONGEST)
    return f"{printable(query, 30)}: {printable(text, LONGEST)}"


def _print_merged(merged: Merged, console: Console, written: str | None, examples: int) -> None:
    console.print()
    if merged.tied:
        end = ":" if examples else "."
        console.print(
            Text(
                f"{plural(len(merged.tied), 'pair')} left out of the ground truth: two grades have "
                f"equally many votes ({where_read('--when-tied', console)} max, min or mean "
                f"decides){end}",
                style="bold",
            )
        )
        if examples:
            _print_some(merged.tied, console, examples)
    if merged.left_without:
        names = ", ".join(printable(one, LONGEST) for one in merged.left_without[:NAMED])
        more = ", …" if len(merged.left_without) > NAMED else ""
        console.print(
            Text(
                f"Warning: {plural(len(merged.left_without), 'question')} with nothing relevant "
                f"left, as judges differ ({names}{more}): it would not be measured. Let a third "
                f"judge decide, or say {where_read('--when-tied', console)} max.",
                style="bold",
            )
        )
    console.print(
        Text(
            f"{plural(merged.targets, 'judgement')} merged by {merged.how}, "
            f"{plural(len(merged.records), 'question')}"
            + (f", written to {written}." if written else ".")
        )
    )


show_with(Agreement, print_agreement, rows=lambda found: found.coefficients)
show_lines(Draft, draft_lines, rows=lambda found: found.rows)


def print_sample(found: SampleState, console: Console, *, explain: bool = False) -> None:
    """What the sample says at its last look, how wide it is, and how good the machine is."""
    print_claims(found.claims, console)
    if found.slices:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("slice", no_wrap=True)
        for name in ("agreement", "interval", "machine only", "people only", "results"):
            table.add_column(name, justify="right", no_wrap=True)
        for one in found.slices:
            ends = one.interval
            table.add_row(
                Text(printable(one.where or "", LONGEST)),
                number(one.same),
                f"{number(ends.low)}–{number(ends.high)}" if ends else "",
                f"{one.invented:,}",
                f"{one.missed:,}",
                f"{one.results:,}",
            )
        console.print()
        console.print(table)
    print_notes(sample_notes(found), console, explain=explain)


def sample_notes(found: SampleState) -> list[Note]:
    """How it was drawn, and when it may be read."""
    draw = found.draw
    looks = ", ".join(f"{one:,}" for one in draw.looks)
    hold = (
        f"Looks at {looks}: the {draw.confidence:.0%} intervals of all of them hold together, so "
        "you may stop at any."
    )
    if len(draw.looks) == 1:
        hold = f"It is read once, at {looks}."
    drawn = f"drawn at random of {draw.total:,} (seed {draw.seed})"
    later = found.judged - (found.counted or 0)
    waits = f"{later:,} judged since the last look count at the next."
    name = printable(found.pool)
    return [
        *([Note("doubt", waits)] if found.counted and later else []),
        Note("counted", f"{name}: {plural(draw.looks[-1], *found.unit)} at most, {drawn}. {hold}"),
    ]


show_with(SampleState, print_sample, rows=lambda found: found.looks)


def exported_lines(found: Exported) -> list[str]:
    """What was written, and what was left out."""
    where = ", ".join(map(printable, found.files))
    if found.fingerprint is None:
        return [
            f"Written to {where}: {plural(found.labels, 'label')} of {found.targets:,} results to "
            f"{plural(found.queries, 'query', 'queries')}, each with its judge and time."
        ]
    lines = [
        f"Written to {where}: {found.targets:,} targets of {found.queries:,} queries, "
        f"{found.labels:,} of them labelled here; fingerprint {found.fingerprint[:12]}."
    ]
    if found.unsettled:
        lines.append(
            f"Left out: {found.unsettled:,} on which judges differ; settle them in the browser."
        )
    return lines


def imported_line(found: Imported) -> str:
    """What was read, and what was there already."""
    more = f", {found.known:,} were there already" if found.known else ""
    empty = f", {found.ungraded:,} rows have no grade" if found.ungraded else ""
    judges = ", ".join(printable(name, 40) for name in found.judges) or "nobody"
    return f"{found.added:,} labels by {judges} added to {printable(found.pool)}{more}{empty}."


show_lines(Exported, exported_lines)
show_lines(Imported, lambda found: [imported_line(found)])
