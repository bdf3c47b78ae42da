"""An audit, on a terminal."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from calipers.model.health import EXAMPLES, Example, Health, HealthFinding
from calipers.present.escape import printable
from calipers.present.notes import Note, print_notes
from calipers.present.terminal import bullet, print_claims, show_with
from calipers.words import plural

COLOURS = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
SHOWN = 3
QUOTED = 100
"""Characters of a text that are shown."""


def print_health(health: Health, console: Console, *, explain: bool = False) -> None:
    """What the set can tell apart, the findings, the gravest first, and what was looked at."""
    print_claims([health.claim] if health.claim else [], console)
    console.print(Text(counts(health)))
    for finding in health.findings:
        console.print()
        console.print(_title(finding))
        for line in _body(finding):
            console.print(line)
    said = (Note("input", printable(line)) for line in health.notes)
    print_notes([Note("counted", looked_at(health)), *said], console, explain=explain)


def looked_at(health: Health) -> str:
    """What the audit had before it."""
    facts = health.facts
    words = f"{plural(facts['queries'], 'query', 'queries')}, {plural(facts['targets'], 'target')}"
    if "chunks" in facts:
        words += f", {plural(facts['chunks'], 'chunk')} in the corpus"
    return words + "."


def counts(health: Health) -> str:
    """How many findings of which gravity, and what was fine."""
    names = {"error": "error", "warning": "warning", "info": "note"}
    found = [
        plural(sum(finding.severity == severity for finding in health.findings), name)
        for severity, name in names.items()
    ]
    return f"{', '.join(found)}; {plural(len(health.passed), 'check')} found nothing."


def _title(finding: HealthFinding) -> Text:
    of = f" of {finding.of:,}" if finding.of is not None else ""
    title = Text()
    title.append(f"{finding.severity:<8}", COLOURS[finding.severity])
    title.append(finding.name, "bold")
    title.append(f"  {finding.count:,}{of} {_noun(finding)}")
    return title


def _noun(finding: HealthFinding) -> str:
    many = finding.kind.counts
    if finding.of is not None or finding.count != 1:
        return many
    return many.replace("queries", "query", 1) if many == "queries" else many.replace("s ", " ", 1)


def _body(finding: HealthFinding) -> list[Padding]:
    lines = [_indented(Text(finding.kind.meaning))]
    if finding.detail:
        lines.append(_indented(Text(printable(finding.detail))))
    lines += [_example(one) for one in finding.examples[:SHOWN]]
    # Fewer examples than are kept at most: there are no others, though one may count for several.
    known = len(finding.examples) < EXAMPLES
    more = (len(finding.examples) if known else finding.count) - SHOWN
    if more > 0:
        lines.append(_indented(Text(f"  … and {more:,} more", style="dim")))
    lines.append(bullet(Text("→"), Text(finding.kind.remedy), indent=2))
    return lines


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2))


def _example(example: Example) -> Padding:
    parts = []
    if example.query is not None:
        parts.append(f"query {printable(example.query, QUOTED)}")
    if example.target is not None:
        parts.append(f"“{printable(example.target, QUOTED)}”")
    if example.detail is not None:
        parts.append(printable(example.detail, 2 * QUOTED))
    return bullet(Text("·", style="dim"), Text(": ".join(parts), style="dim"), indent=4)


show_with(Health, print_health, rows=lambda found: found.findings)
