"""A diagnosis as a document: what is wrong, the evidence, and what to do."""

from dataclasses import replace
from typing import Any

from calipers.model.claim import moved
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
from calipers.present.terminal import first_line
from calipers.questions.compare.result import Comparison
from calipers.questions.diagnose.result import Diagnosis, Finding, RuleList
from calipers.words import first_results, number

FINE = {
    "the retriever fails on queries": "failures",
    "the same answer for every query": "variety",
    "a hub document first in every list": "hubs",
    "nothing returned for some queries": "empty results",
    "duplicates crowd the list": "duplicates",
    "k too small for this ground truth": "k",
    "too selective": "length of the lists",
    "right document, wrong chunk": "chunks",
    "a slice collapses": "slices",
    "finds too little": "recall",
    "ground truth too thin": "labels",
    "ordered badly": "order",
    "k larger than needed": "tokens",
}
"""A short name for what is fine when a rule finds nothing."""


def document(diagnosis: Diagnosis) -> Document:
    """What is wrong, the findings with evidence and advice, and what could not be checked."""
    blocks: list[Block] = [_summary(diagnosis)]
    for finding in diagnosis.findings:
        blocks.append(_finding(finding, diagnosis.changes.get(finding.rule)))
    if diagnosis.before and diagnosis.comparison:
        lines = _change_lines(diagnosis, diagnosis.comparison)
        answer = first_line(diagnosis.comparison.document())
        blocks.append(Lines([answer, *lines], "What changed"))
    claim = diagnosis.claim
    if diagnosis.findings:  # their advice is in the table
        claim = replace(claim, next=None)
    return of_claim(claim, *remarks(diagnosis), blocks=blocks, rows=lambda: diagnosis.findings)


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


def _finding(finding: Finding, change: str | None) -> Lines:
    title = f"{_sentence_case(finding.title)}  (confidence: {finding.confidence})"
    title += f"  {change}" if change else ""
    evidence = [f"  {one}" for one in finding.evidence]
    advice = [f"  → {one}" for one in finding.advice]
    return Lines([*evidence, *advice], title, prose=True, detail=True)


def headline(diagnosis: Diagnosis) -> str:
    """The main metrics in one line."""
    parts = [
        f"{one.metric} {number(one.mean)}"
        for one in diagnosis.summaries
        if one.mean is not None and not one.metric.startswith("judged")
    ]
    return f"{diagnosis.n:,} queries, {first_results(diagnosis.k)}: {', '.join(parts)}"


def remarks(diagnosis: Diagnosis) -> list[Note]:
    """How the input was read, the main metrics, and what confidence means."""
    notes = [Note("input", line) for line in diagnosis.settings["notes"]]
    notes.append(Note("counted", f"{headline(diagnosis)}."))
    if diagnosis.findings:
        how = (
            "Confidence is high where the whole interval lies beyond the threshold, low where "
            "fewer than 20 queries bear on it."
        )
        notes += [Note("method", how), Note("method", "Thresholds: `calipers diagnose --rules`")]
    return notes


def rules_document(rules: RuleList) -> Document:
    """The rules with their thresholds."""
    blocks = [
        Lines(
            [
                rule["holds_when"],
                ", ".join(f"{name}={value:g}" for name, value in rule["thresholds"].items()),
            ],
            rule["title"],
            prose=True,
        )
        for rule in rules
    ]
    return Document(
        f"{len(rules)} rules, in the order in which they are tried.",
        blocks=blocks,
        rows=lambda: map(_rule_row, rules),
    )


def _sentence_case(title: str) -> str:
    """Capitalise the first letter, unless the first word is k."""
    return title if title.startswith("k ") else title[:1].upper() + title[1:]


def _change_lines(diagnosis: Diagnosis, comparison: Comparison) -> list[str]:
    """The supporting metrics before and now, and the findings that disappeared."""
    lines = []
    for metric in comparison.metrics:
        found = comparison.difference("now", metric.name)
        before = comparison.mean("before", metric.name).mean
        now = comparison.mean("now", metric.name).mean
        if found.claim is None and before is not None and now is not None:
            lines.append(f"{metric.name} {moved(before, now, found.wins, found.losses, found.n)}")
    before_findings = diagnosis.before.findings if diagnosis.before else ()
    titles = {finding.rule: finding.title for finding in before_findings}
    gone = [titles[rule] for rule, change in diagnosis.changes.items() if change == "gone"]
    return [*lines, *([f"Gone: {', '.join(gone)}."] if gone else [])]


def _rule_row(rule: dict[str, Any]) -> dict[str, Any]:
    listed = "; ".join(f"{name}={value:g}" for name, value in rule["thresholds"].items())
    return {**rule, "thresholds": listed}
