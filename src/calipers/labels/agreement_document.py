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


def verdict(agreement: Agreement) -> str:
    """How well the judges agree, worded by the interval of alpha."""
    if len([judge for judge in agreement.judges if judge.labelled]) < 2:
        return "One judge alone: there is nobody to agree with."
    seen = f"the same grade on {agreement.alike:,} of {plural(agreement.shared, 'shared result')}"
    if not agreement.shared:
        return "No result was labelled by two judges yet."
    if (alpha := agreement.alpha) is None:
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


def document(agreement: Agreement) -> Document:
    """How far the judges agree, and where they do not."""
    blocks: list[Block] = [_machine_table(machine) for machine in agreement.machines]
    if agreement.conflicts:
        shared = plural(agreement.shared, "result")
        title = f"Judges differ on {len(agreement.conflicts):,} of {shared}"
        blocks.append(Lines([*_conflicts(agreement.conflicts)], title))
    return Document(verdict(agreement), blocks=blocks, notes=[*_notes(agreement)])


def _machine_table(machine: MachineCheck) -> Table:
    """How well a machine's labels match those of human annotators."""
    relevant = machine.both + machine.missed
    others = machine.neither + machine.invented
    shares = (
        ("relevant", relevant, machine.sensitivity, machine.sensitivity_interval),
        ("not relevant", others, machine.specificity, machine.specificity_interval),
    )
    rows = []
    for words, n, value, ends in shares:
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
    for conflict in some[:EXAMPLES]:
        about = conflict.item.label
        yield printable(about.query or about.query_id, LONGEST)
        text = printable(" ".join((about.text or "").split()), LONGEST)
        named = ", ".join(
            printable(part, 40) for part in (about.item, about.title) if part
        )
        yield "  " + ": ".join(filter(None, (named, f"“{text}”" if text else "")))
        grades = (
            f"{printable(who, 30)} {grade:g}" for who, grade in conflict.grades.items()
        )
        yield f"  {', '.join(grades)}. {printable(conflict.verdict)}"
    if len(some) > EXAMPLES:
        yield f"… and {len(some) - EXAMPLES:,} more in the JSON"


def _notes(agreement: Agreement) -> Iterator[Note]:
    if agreement.left_out:
        yield Note(
            "missing",
            f"{plural(agreement.left_out, 'result')} left out as a tie: settle them.",
        )
    judges = [
        f"{printable(judge.judge, LONGEST)}: {plural(judge.labelled, 'label')}"
        + (f", {judge.skipped:,} skipped" if judge.skipped else "")
        for judge in agreement.judges
    ]
    if judges:
        yield Note("doubt", f"{'; '.join(judges)}.")
    if agreement.alpha:
        yield Note("marks", "An alpha of 1 is full agreement, 0 is what chance gives.")
        yield Note("method", "The interval is that of the jackknife over the results.")
