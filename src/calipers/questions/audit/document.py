"""An audit as a document: the differences the ground truth can detect, and its problems."""

from dataclasses import replace

from calipers.model.document import (
    Cell,
    Cells,
    Column,
    Document,
    Lines,
    Note,
    Table,
    of_claim,
)
from calipers.model.fact import Fact, Sentence, joined, sentence
from calipers.model.health import EXAMPLES, Example, Health, HealthFinding
from calipers.present.escape import printable
from calipers.words import number

SHOWN = 3
QUOTED = 100
"""Characters of a text that are shown."""


def document(health: Health) -> Document:
    """The claim, the findings with the most severe first, and what was checked."""
    answer = of_claim(health.claim) if health.claim else Document(counts(health))
    notes = [Note("counted", counts(health)), Note("counted", looked_at(health))]
    if health.findings:
        notes.append(Note("next", "What each finding means, and what to do: --explain"))
    return replace(
        answer,
        standing=None,  # nothing is tested: a sign is a verdict
        blocks=[
            *([_findings(health)] if health.findings else []),
            *(_finding(finding) for finding in health.findings),
            *([_to_add(health)] if health.to_add else []),
        ],
        notes=[*answer.notes, *health.notes, *notes],
        rows=lambda: health.findings,
    )


def _to_add(health: Health) -> Table:
    """The real questions that are furthest from those of the set."""
    rows: list[Cells] = [
        (
            printable(question.query, QUOTED),
            f"{question.asked:,}",
            number(question.distance),
            "" if question.nearest is None else printable(question.nearest, QUOTED),
        )
        for question in health.to_add
    ]
    columns = (
        Column("to add", words=True),
        "asked",
        "distance",
        Column("nearest", words=True),
    )
    return Table(columns, rows, "Real questions that are furthest from these")


def looked_at(health: Health) -> Sentence:
    """The size of the input: queries, targets and chunks."""
    facts = health.facts
    size = Fact(
        about="count", queries=facts["queries"], count=facts["targets"], text="targets"
    )
    text = sentence("{it.queries:query|queries}, {it.count:target|targets}", it=size)
    chunks = Fact(about="count", count=facts.get("chunks"), text="chunks")
    corpus = sentence("{it.count:chunk|chunks} in the corpus", it=chunks)
    return joined(
        joined(text, corpus if "chunks" in facts else None, by=", "), ".", by=""
    )


def counts(health: Health) -> Sentence:
    """The number of findings by severity, and of checks that found nothing."""
    names = {"error": "error", "warning": "warning", "info": "note"}
    parts = []
    for severity, name in names.items():
        many = sum(finding.severity == severity for finding in health.findings)
        fact = Fact(about="count", count=many, text=severity)
        parts.append(sentence("{it.count:" + f"{name}|{name}s" + "}", it=fact))
    passed = Fact(
        about="count", count=len(health.passed), text="checks that found nothing"
    )
    return sentence(
        "{parts}; {it.count:check|checks} found nothing.",
        parts=joined(*parts, by=", "),
        it=passed,
    )


def _findings(health: Health) -> Table:
    """One row per finding: its severity, name and count."""
    rows: list[Cells] = [
        (
            finding.severity,
            Cell(finding.name.replace("_", " "), strong=True),
            _often(finding),
        )
        for finding in health.findings
    ]
    columns = (
        Column("", words=True),
        Column("finding", words=True),
        Column("found", words=True),
    )
    return Table(columns, rows)


def _often(finding: HealthFinding) -> str:
    of = f" of {finding.of:,}" if finding.of is not None else ""
    return f"{finding.count:,}{of} {_noun(finding)}"


def _finding(finding: HealthFinding) -> Lines:
    lines = [f"  {finding.kind.meaning}"]
    if finding.detail:
        lines.append(f"  {finding.detail}")
    lines += [f"    · {_example(example)}" for example in finding.examples[:SHOWN]]
    # Fewer examples than the limit means no others exist; one example may count several
    # times.
    known = len(finding.examples) < EXAMPLES
    more = (len(finding.examples) if known else finding.count) - SHOWN
    if more > 0:
        lines.append(f"    … and {more:,} more")
    lines.append(f"  Do: {finding.kind.remedy}")
    title = f"{finding.severity:<8}{finding.name}  {_often(finding)}"
    return Lines(lines, title, prose=True, detail=True)


def _noun(finding: HealthFinding) -> str:
    many = finding.kind.counts
    if finding.of is not None or finding.count != 1:
        return many
    return (
        many.replace("queries", "query", 1)
        if many == "queries"
        else many.replace("s ", " ", 1)
    )


def _example(example: Example) -> str:
    parts = []
    if example.query is not None:
        parts.append(f"query {printable(example.query, QUOTED)}")
    if example.target is not None:
        parts.append(f"“{printable(example.target, QUOTED)}”")
    if example.detail is not None:
        parts.append(printable(example.detail, 2 * QUOTED))
    return ": ".join(parts)
