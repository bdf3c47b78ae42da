"""A verdict as Markdown, fit for a pull request."""

from collections.abc import Sequence

from calipers.present.escape import for_markdown
from calipers.questions.gate.result import Verdict
from calipers.questions.gate.show import (
    CheckRow,
    baseline_heading,
    baseline_rows,
    condition_rows,
    failures,
    headline,
    notes,
    warnings,
)

SIGNS = {"passed": "✅", "failed": "❌", "untested": "⚠️", "supporting": ""}


def verdict_markdown(verdict: Verdict) -> str:
    """The summary: what holds, what does not, the worst queries, what could not be seen."""
    blocks = [
        f"## {SIGNS['passed' if verdict.passed else 'failed']} Retrieval: "
        f"{for_markdown(headline(verdict))}"
    ]
    if lines := warnings(verdict):
        blocks.append("\n".join(f"> ⚠️ {for_markdown(line)}" for line in lines))
    if rows := condition_rows(verdict):
        blocks.append(_table(("", "condition", "value", ""), [_condition(row) for row in rows]))
    if rows := baseline_rows(verdict):
        blocks.append(for_markdown(baseline_heading(verdict)))
        head = ("", "metric", "before → now", "difference", "would see")
        blocks.append(_table(head, [_change(row) for row in rows]))
    for sentence, worst in failures(verdict):
        lines = [for_markdown(sentence), *(f"- {for_markdown(line)}" for line in worst)]
        blocks.append(f"{lines[0]}\n\n" + "\n".join(lines[1:]) if worst else lines[0])
    if lines := notes(verdict):
        blocks.append("\n".join(f"- {for_markdown(line)}" for line in lines))
    return "\n\n".join(block.rstrip() for block in blocks) + "\n"


def error_markdown(sentence: str) -> str:
    """The summary of a gate that could not be decided: never to be taken for a pass."""
    return f"## ❌ Retrieval: could not be checked\n\n{for_markdown(sentence)}\n"


def _condition(row: CheckRow) -> tuple[str, ...]:
    return SIGNS[row.status], for_markdown(row.name), row.value, for_markdown(row.detail)


def _change(row: CheckRow) -> tuple[str, ...]:
    detail = for_markdown(f"{row.detail}, {row.counts}" if row.detail else row.counts)
    if row.because:
        detail += f"<br>**{for_markdown(row.because)}**"
    return SIGNS[row.status], for_markdown(row.name), row.value, detail, row.visible


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = "|".join(["", *("---" for _ in head), ""])
    lines = ["| " + " | ".join(head) + " |", rule]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
