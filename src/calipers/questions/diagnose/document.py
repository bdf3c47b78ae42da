"""A diagnosis as a document: what is wrong, the evidence, and what to do."""

from dataclasses import replace

from calipers.model.document import (
    Block,
    Cell,
    Cells,
    Column,
    Document,
    Lines,
    Note,
    Table,
    of_claim,
)
from calipers.questions.diagnose.result import Diagnosis, Finding
from calipers.questions.diagnose.symptoms import RULES
from calipers.words import first_results, number

FINE = {rule.title: rule.fine for rule in RULES}
"""A short name for what is fine when a rule finds nothing."""


def document(diagnosis: Diagnosis) -> Document:
    """What is wrong, the findings with evidence and advice, and what could not be checked."""
    blocks: list[Block] = [_summary(diagnosis), *map(_finding, diagnosis.findings)]
    claim = diagnosis.claim
    if diagnosis.findings:  # their advice is in the table
        claim = replace(claim, next=None)
    return of_claim(claim, *_remarks(diagnosis), blocks=blocks, rows=lambda: diagnosis.findings)


def _summary(diagnosis: Diagnosis) -> Table:
    """What to do, what is fine, and what could not be checked."""
    rows: list[Cells] = [
        (Cell("Do", strong=True), f"{_sentence_case(one.title)}: {one.advice[0]}")
        for one in diagnosis.findings
        if one.advice
    ]
    if diagnosis.fine:
        fine = ", ".join(FINE.get(name, name) for name in diagnosis.fine)
        rows.append((Cell("Fine", strong=True), fine))
    unknown = "; ".join(f"{rule.title} ({rule.reason})" for rule in diagnosis.unchecked)
    if unknown:
        rows.append((Cell("Unknown", strong=True), unknown))
    return Table((Column("", words=True), Column("", prose=True)), rows)


def _finding(finding: Finding) -> Lines:
    title = f"{_sentence_case(finding.title)}  (confidence: {finding.confidence})"
    evidence = [f"  {one}" for one in finding.evidence]
    advice = [f"  → {one}" for one in finding.advice]
    return Lines([*evidence, *advice], title, prose=True, detail=True)


def _remarks(diagnosis: Diagnosis) -> list[Note]:
    """How the input was read, the main metrics, and what confidence means."""
    notes = [Note("input", line) for line in diagnosis.settings["notes"]]
    means = ", ".join(
        f"{one.metric} {number(one.mean)}"
        for one in diagnosis.summaries
        if one.mean is not None and not one.metric.startswith("judged")
    )
    shown = f"{diagnosis.n:,} queries, {first_results(diagnosis.k)}: {means}."
    notes.append(Note("counted", shown))
    if diagnosis.findings:
        how = (
            "Confidence is high where the whole interval lies beyond the threshold, low where "
            "fewer than 20 queries bear on it."
        )
        notes.append(Note("method", how))
    return notes


def _sentence_case(title: str) -> str:
    """Capitalise the first letter, unless the first word is k."""
    return title if title.startswith("k ") else title[:1].upper() + title[1:]
