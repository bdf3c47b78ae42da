"""How far judges agree, in words, with the results on which they differ."""

from collections.abc import Iterator, Sequence

from calipers.labels.agreement_result import (
    LEAST_SHARED,
    Agreement,
    Conflict,
    MachineCheck,
)
from calipers.model.document import Block, Column, Document, Lines, Note, Table
from calipers.present.escape import printable
from calipers.words import plural

STRENGTHS = ((0.8, "well"), (0.6, "fairly well"), (0.4, "in part"))
"""Thresholds of alpha with the words for them; below the last, judges hardly agree."""
WEAKEST = "hardly"
STEP = 0.2
"""How far these thresholds are apart: a wider interval spans two strengths."""
LONGEST = 64
EXAMPLES = 3
"""The characters of a text and the disagreements that are printed."""


def verdict(found: Agreement) -> str:
    """How well the judges agree, worded by the interval of alpha."""
    if len([judge for judge in found.judges if judge.labelled]) < 2:
        return "One judge alone: there is nobody to agree with."
    seen = f"the same grade on {found.alike:,} of {plural(found.shared, 'shared result')}"
    if not found.shared:
        return "No result was labelled by two judges yet."
    if (alpha := found.alpha) is None:
        return f"Judges gave {seen}; a coefficient needs {LEAST_SHARED}."
    if alpha.value is None or alpha.interval is None:
        why = "only one grade was used" if alpha.value is None else "too few"
        return f"Judges gave {seen}; a coefficient cannot be said: {why}."
    low, high = (
        next((words for least, words in STRENGTHS if end >= least), WEAKEST)
        for end in (alpha.interval.low, alpha.interval.high)
    )
    words = "The judges hardly agree" if low == WEAKEST else f"The judges agree {low}"
    if low != high:
        sure = low != WEAKEST
        words = (
            f"The judges agree at least {low}"
            if sure
            else "How far judges agree is not clear"
        )
    ends = f"{alpha.interval.low:.3f}–{alpha.interval.high:.3f}"
    named = f"Krippendorff's ordinal alpha is {alpha.value:.3f} ({ends})"
    clearer = ""
    if low == WEAKEST != high:
        clearer = f" An interval at most {STEP:g} wide would be clear."
    return f"{words}: {named}, {seen}.{clearer}".replace("-", "−")


def document(found: Agreement) -> Document:
    """How far the judges agree, and where they do not."""
    blocks: list[Block] = [_machine_table(machine) for machine in found.machines]
    if found.conflicts:
        title = f"Judges differ on {len(found.conflicts):,} of {plural(found.shared, 'result')}"
        blocks.append(Lines([*_conflicts(found.conflicts)], title))
    return Document(verdict(found), blocks=blocks, notes=[*_notes(found)])


def _machine_table(machine: MachineCheck) -> Table:
    """How well a machine's labels match those of human annotators."""
    relevant = machine.both + machine.missed
    others = machine.neither + machine.invented
    found = (
        ("relevant", relevant, machine.sensitivity, machine.sensitivity_interval),
        ("not relevant", others, machine.specificity, machine.specificity_interval),
    )
    rows = []
    for words, n, value, ends in found:
        share = "none" if value is None else f"{value:.0%}"
        rows.append(
            (words, f"{n:,}", share, f"{ends.low:.0%}–{ends.high:.0%}" if ends else "")
        )
    heads = (
        Column("to people", words=True),
        "results",
        "the same to the machine",
        "interval",
    )
    return Table(heads, rows, title=f"{printable(machine.judge, 40)} against people")


def _conflicts(some: Sequence[Conflict]) -> Iterator[str]:
    for one in some[:EXAMPLES]:
        about = one.item.label
        yield printable(about.query or about.query_id, LONGEST)
        text = printable(" ".join((about.text or "").split()), LONGEST)
        named = ", ".join(
            printable(part, 40) for part in (about.item, about.title) if part
        )
        yield "  " + ": ".join(filter(None, (named, f"“{text}”" if text else "")))
        grades = (f"{printable(who, 30)} {grade:g}" for who, grade in one.grades.items())
        yield f"  {', '.join(grades)}. {printable(one.verdict)}"
    if len(some) > EXAMPLES:
        yield f"… and {len(some) - EXAMPLES:,} more in the JSON"


def _notes(found: Agreement) -> Iterator[Note]:
    if found.left_out:
        yield Note(
            "missing",
            f"{plural(found.left_out, 'result')} left out as a tie: settle them.",
        )
    judges = [
        f"{printable(judge.judge, LONGEST)}: {plural(judge.labelled, 'label')}"
        + (f", {judge.skipped:,} skipped" if judge.skipped else "")
        for judge in found.judges
    ]
    if judges:
        yield Note("doubt", f"{'; '.join(judges)}.")
    if found.alpha:
        yield Note("marks", "An alpha of 1 is full agreement, 0 is what chance gives.")
        yield Note("method", "The interval is that of the jackknife over the results.")
