"""A verdict as JUnit XML, which every CI server can show."""

import re
from xml.etree import ElementTree

from calipers.questions.gate.result import Check, Verdict
from calipers.questions.gate.show import failure_sentence, notes, warnings, worst_lines

NAME = "calipers.gate"
# XML 1.0 has no way to write these, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def verdict_junit(verdict: Verdict) -> bytes:
    """One test case per check that decides."""
    deciding = [check for check in verdict.checks if check.status != "supporting"]
    statuses = [check.status for check in deciding]
    suite = ElementTree.Element(
        "testsuite",
        name=NAME,
        tests=str(len(statuses)),
        failures=str(statuses.count("failed")),
        errors="0",
        skipped=str(statuses.count("untested")),
    )
    for check in deciding:
        _add_case(suite, check)
    lines = [*warnings(verdict), *notes(verdict)]
    if lines:
        ElementTree.SubElement(suite, "system-out").text = without_controls("\n".join(lines))
    return _document(suite)


def error_junit(sentence: str) -> bytes:
    """The report of a gate that could not be decided: an error, never a pass."""
    suite = ElementTree.Element(
        "testsuite", name=NAME, tests="1", failures="0", errors="1", skipped="0"
    )
    case = ElementTree.SubElement(suite, "testcase", classname=NAME, name="gate")
    ElementTree.SubElement(case, "error", message=without_controls(sentence))
    return _document(suite)


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
    elif check.status == "untested":
        why = without_controls("; ".join(check.because))
        ElementTree.SubElement(case, "skipped", message=why)


def _document(suite: ElementTree.Element) -> bytes:
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
