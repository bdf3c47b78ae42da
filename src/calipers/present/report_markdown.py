"""A report as Markdown, fit for a pull request."""

from collections.abc import Iterator

from calipers.model.misses import REASONS
from calipers.model.report import Report, SystemReport
from calipers.present.comparison import query_name
from calipers.present.comparison_text import comparison_markdown
from calipers.present.escape import for_markdown
from calipers.present.headline import headline, stem_of
from calipers.present.notes import notes
from calipers.present.plain import printable
from calipers.present.sweep import advice
from calipers.present.table import number, score_table

WORST = 5


def report_markdown(report: Report) -> str:
    """The sentence, numbers, findings and worst queries; of several, the comparison."""
    if report.comparison is None:
        lines = list(_system(report.systems[0]))
    else:
        lines = ["## Retrieval compared", "", comparison_markdown(report.comparison).rstrip()]
        for one in report.systems:
            name = for_markdown(headline(one, printable(one.name, 40)))
            lines += ["", f"**{for_markdown(one.name, 40)}**: {name}"]
    return "\n".join(lines) + "\n"


def _system(system: SystemReport) -> Iterator[str]:
    yield f"## {for_markdown(headline(system, printable(system.name, 40)))}"
    yield ""
    table = score_table(system.scores)
    yield f"| metric | {' | '.join(for_markdown(name) for name in table.columns)} |"
    yield "|---" + "|--:" * len(table.columns) + "|"
    for name, cells in table.rows:
        shown = (f"{c.mean}<br>{c.interval}" if c else "" for c in cells)
        yield f"| {for_markdown(name)} | {' | '.join(shown)} |"
    if system.sweep:
        yield ""
        yield from (f"- {for_markdown(line)}" for line in advice(system.sweep))
    yield from _findings(system)
    yield from _losses(system)
    yield from _worst(system)
    yield from ("", "<details><summary>What was counted</summary>", "")
    yield from (f"- {for_markdown(line)}" for line in notes(system.scores))
    yield from ("", "</details>")


def _findings(system: SystemReport) -> Iterator[str]:
    if not system.diagnosis or not system.diagnosis.findings:
        return
    yield from ("", "### Diagnosis", "")
    for finding in system.diagnosis.findings:
        yield f"- **{for_markdown(finding.title)}** (confidence: {finding.confidence})"
        yield from (f"  - {for_markdown(line)}" for line in finding.evidence)
        yield from (f"  - → {for_markdown(line)}" for line in finding.advice)


def _losses(system: SystemReport) -> Iterator[str]:
    if not system.misses or not system.misses.reasons:
        return
    yield from (
        "",
        "### Where recall is lost",
        "",
        "| misses | reason | what to do |",
        "|--:|---|---|",
    )
    for reason in REASONS:
        if count := system.misses.reasons.get(reason.name):
            remedy = for_markdown(system.misses.remedy(reason))
            yield f"| {count:,} | {for_markdown(reason.means)} | {remedy} |"


def _worst(system: SystemReport) -> Iterator[str]:
    name = stem_of(system, "recall").metric
    table = system.head.per_query.filter(system.head.per_query[name].is_not_null())
    worst = table.sort(name, maintain_order=True).head(WORST)
    if not worst.height or worst[name][0] >= 1:
        return
    yield from ("", "### The worst queries", "", f"| {for_markdown(name)} | query |", "|--:|---|")
    for query, text, value in worst.select("query", "text", name).iter_rows():
        if value < 1:
            yield f"| {number(value)} | {for_markdown(query_name(query, text))} |"
