"""A diagnosis in words on a terminal."""

from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from calipers.model.claim import moved
from calipers.present.escape import printable
from calipers.present.notes import Note, print_notes
from calipers.present.terminal import bullet, open_table, print_claims, print_verdict, show_with
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.show import print_answer
from calipers.questions.diagnose.result import Diagnosis, Finding, RuleList
from calipers.words import commands_in, first_results, number

CONFIDENCE_STYLE = {"high": "bold red", "moderate": "yellow", "low": "dim"}


FIRST_ADVICE = 2
"""Evidence and advice of each kind that a finding shows unless all of it is asked for."""


def print_diagnosis(diagnosis: Diagnosis, console: Console, *, explain: bool = False) -> None:
    """What is wrong, the findings with evidence and advice, and what could not be seen."""
    claim = diagnosis.claim
    # The advice stands below, with the finding it belongs to.
    print_claims([replace(claim, next=None)], console)
    changes, findings = diagnosis.changes, diagnosis.findings
    if findings and findings[0].rule not in changes:
        # Its title and what was seen first are the claim.
        _print_body(replace(findings[0], evidence=findings[0].evidence[1:]), console, explain)
        findings = findings[1:]
    console.print()
    console.print(Text(headline(diagnosis)))
    for finding in findings:
        console.print()
        _print_title(finding, changes.get(finding.rule), console)
        _print_body(finding, console, explain)
    if diagnosis.before and diagnosis.comparison:
        _print_changes(diagnosis, diagnosis.comparison, console)
    print_notes(remarks(diagnosis), console, explain=explain)


def headline(diagnosis: Diagnosis) -> str:
    """The main metrics in one line."""
    parts = [
        f"{one.metric} {number(one.mean)}"
        for one in diagnosis.summaries
        if one.mean is not None and not one.metric.startswith("judged")
    ]
    return f"{diagnosis.n:,} queries, {first_results(diagnosis.k)}: {', '.join(parts)}"


def remarks(diagnosis: Diagnosis) -> list[Note]:
    """What could not be checked, what was checked and is fine, and what confidence means."""
    lines = [Note("input", printable(line)) for line in diagnosis.settings["notes"]]
    for rule in diagnosis.unchecked:
        lines.append(Note("doubt", f"Not checked: {rule.title}, as {rule.reason}."))
    if diagnosis.findings and diagnosis.fine:
        lines.append(Note("counted", f"Checked and not found: {', '.join(diagnosis.fine)}."))
    if diagnosis.findings:
        how = (
            "Confidence is high where the whole interval lies beyond the threshold, low where "
            "fewer than 20 queries bear on it. `calipers diagnose --rules` lists the thresholds."
        )
        lines.append(Note("method", how))
    return lines


def print_rules(rules: list[dict[str, Any]], console: Console) -> None:
    """The table of rules with their thresholds."""
    print_verdict(f"{len(rules)} rules, in the order in which they are tried.", console)
    table = open_table("rule", "holds when")
    table.add_column("thresholds", no_wrap=True)
    for rule in rules:
        listed = "\n".join(f"{name}={value:g}" for name, value in rule["thresholds"].items())
        table.add_row(Text(rule["title"], style="bold"), rule["holds_when"], listed)
    console.print(table)


def _print_title(finding: Finding, change: str | None, console: Console) -> None:
    title = Text(_sentence_case(finding.title), style="bold")
    title.append(f"  confidence: {finding.confidence}", CONFIDENCE_STYLE[finding.confidence])
    if change:
        title.append(f"  {change}", "bold" if change == "new" else "dim")
    console.print(title)


def _print_body(finding: Finding, console: Console, explain: bool) -> None:
    most = None if explain else FIRST_ADVICE
    for line in finding.evidence[:most]:
        console.print(Padding(Text(printable(line)), (0, 0, 0, 2)))
    for line in finding.advice[:most]:
        console.print(bullet(Text("→", style="cyan"), Text(printable(line)), indent=2))
        for command in commands_in(line):
            console.print(Text(f"    {printable(command)}"), soft_wrap=True)


def _sentence_case(title: str) -> str:
    """A capital letter in front, except where the first word is k itself."""
    return title if title.startswith("k ") else title[:1].upper() + title[1:]


def _print_changes(diagnosis: Diagnosis, comparison: Comparison, console: Console) -> None:
    console.print()
    console.print(Text("What changed", style="bold"))
    print_answer(comparison, console)
    for line in _change_lines(diagnosis, comparison):
        console.print(Text(line))


def _change_lines(diagnosis: Diagnosis, comparison: Comparison) -> list[str]:
    """The metrics that nobody asked for, before and now, and the findings that went."""
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


show_with(Diagnosis, print_diagnosis, rows=lambda found: found.findings)


def _rule_row(rule: dict[str, Any]) -> dict[str, Any]:
    held = "; ".join(f"{name}={value:g}" for name, value in rule["thresholds"].items())
    return {**rule, "thresholds": held}


show_with(RuleList, print_rules, rows=lambda rules: map(_rule_row, rules))
