"""A verdict as files for a CI server: Markdown for a pull request, JUnit XML for its tests."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from calipers.present.escape import for_markdown
from calipers.present.notes import note_lines
from calipers.questions.gate.result import Check, Verdict
from calipers.questions.gate.show import (
    CheckRow,
    baseline_heading,
    baseline_rows,
    condition_rows,
    failure_sentence,
    failures,
    headline,
    notes,
    warnings,
    worst_lines,
)


def verdict_markdown(verdict: Verdict) -> str:
    """The summary: what holds, what does not, the worst queries, what could not be seen."""
    first = headline(verdict)
    blocks = [f"## {first.sign} Retrieval: {for_markdown(first.line[2:])}"]
    if further := [for_markdown(one) for one in (first.range, first.next) if one]:
        blocks.append(" ".join(further))
    if lines := warnings(verdict):
        blocks.append("\n".join(f"> {for_markdown(line)}" for line in lines))
    if rows := condition_rows(verdict):
        blocks.append(_table(("", "condition", "value", ""), rows))
    if rows := baseline_rows(verdict):
        blocks.append(for_markdown(baseline_heading(verdict)))
        blocks.append(_table(("", "metric", "before → now", "difference"), rows))
    for sentence, worst in failures(verdict):
        lines = [for_markdown(sentence), *(f"- {for_markdown(line)}" for line in worst)]
        blocks.append(f"{lines[0]}\n\n" + "\n".join(lines[1:]) if worst else lines[0])
    if lines := note_lines(notes(verdict)):
        blocks.append("\n".join(f"- {for_markdown(line)}" for line in lines))
    return "\n\n".join(block.rstrip() for block in blocks) + "\n"


def error_markdown(sentence: str) -> str:
    """The summary of a gate that could not be decided: never to be taken for a pass."""
    return f"## ✗ Retrieval: could not be checked\n\n{for_markdown(sentence)}\n"


def _cells(row: CheckRow) -> tuple[str, ...]:
    detail = for_markdown(", ".join(one for one in (row.detail, row.counts) if one))
    if row.because:
        detail += f"<br>**{for_markdown(row.because)}**"
    return row.mark, for_markdown(row.name), row.value, detail


def _table(head: Sequence[str], rows: Sequence[CheckRow]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *map(_cells, rows))]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


NAME = "calipers.gate"
# XML 1.0 has no way to write these, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def verdict_junit(verdict: Verdict) -> bytes:
    """One test case per check that decides."""
    deciding = verdict.deciding
    statuses = [check.status for check in deciding]
    suite = _suite(
        len(statuses), statuses.count("failed"), 0, statuses.count("no clear difference")
    )
    for check in deciding:
        _add_case(suite, check)
    lines = [headline(verdict).line, *warnings(verdict), *note_lines(notes(verdict))]
    ElementTree.SubElement(suite, "system-out").text = without_controls("\n".join(lines))
    return _document(suite)


def error_junit(sentence: str) -> bytes:
    """The report of a gate that could not be decided: an error, never a pass."""
    suite = _suite(1, 0, 1, 0)
    case = ElementTree.SubElement(suite, "testcase", classname=NAME, name="gate")
    ElementTree.SubElement(case, "error", message=without_controls(sentence))
    return _document(suite)


def _suite(*counts: int) -> ElementTree.Element:
    names = ("tests", "failures", "errors", "skipped")
    counted = {name: str(count) for name, count in zip(names, counts, strict=True)}
    return ElementTree.Element("testsuite", {"name": NAME, **counted})


def without_controls(text: str) -> str:
    r"""The text without the characters that XML cannot hold.

    >>> without_controls("a\x1b[31mb\x00")
    'a�[31mb�'
    """
    return _NOT_XML.sub("\ufffd", text)


def _add_case(suite: ElementTree.Element, check: Check) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=NAME, name=without_controls(check.name)
    )
    if check.status == "failed":
        sentence = failure_sentence(check)
        failure = ElementTree.SubElement(case, "failure", message=without_controls(sentence))
        failure.text = without_controls("\n".join([sentence, *worst_lines(check)]))
    elif check.status == "no clear difference":
        why = without_controls(failure_sentence(check))
        ElementTree.SubElement(case, "skipped", message=why)


def _document(suite: ElementTree.Element) -> bytes:
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
