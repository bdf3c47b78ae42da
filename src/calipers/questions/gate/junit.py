"""A verdict as JUnit XML, which GitLab, Jenkins and other CI servers show as tests."""

import re
from xml.etree import ElementTree

from calipers.present.escape import query_name
from calipers.questions.gate.result import Check, Verdict

NAME = "calipers gate"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, escaped or not."""


def as_junit(verdict: Verdict) -> bytes:
    """The verdict as JUnit XML: one test case for each check.

    What has no clear difference, and a loss that somebody accepted, is a skipped case.
    """
    suite = ElementTree.Element("testsuite", name=NAME)
    for check in verdict.checks:
        case = ElementTree.SubElement(
            suite, "testcase", classname=NAME, name=xml_text(check.name)
        )
        sentence = check.claim.fact if check.claim else check.name
        if check.status == "failed" and (
            check.change is None or verdict.accepted is None
        ):
            failure = ElementTree.SubElement(case, "failure", message=xml_text(sentence))
            failure.text = xml_text("\n".join([sentence, *_reasons(check)]))
        elif check.status == "failed":
            ElementTree.SubElement(
                case,
                "skipped",
                message=xml_text(f"Accepted: {verdict.accepted}. {sentence}"),
            )
        elif check.status == "no clear difference":
            ElementTree.SubElement(case, "skipped", message=xml_text(sentence))
    for raised in verdict.raised:
        line = f"Failed in the retriever: {query_name(raised.query, raised.text)}: {raised.error}"
        ElementTree.SubElement(suite, "system-err").text = xml_text(line)
    return _counted(suite)


def error_as_junit(sentence: str) -> bytes:
    """JUnit XML of a gate that could not be checked: an error, never a pass."""
    suite = ElementTree.Element("testsuite", name=NAME)
    case = ElementTree.SubElement(
        suite, "testcase", classname=NAME, name="could not be checked"
    )
    ElementTree.SubElement(case, "error", message=xml_text(sentence)).text = xml_text(
        sentence
    )
    return _counted(suite)


def xml_text(text: str) -> str:
    r"""Replace the characters that XML cannot hold.

    >>> xml_text("a\x1b[31mb\x00")
    'a\ufffd[31mb\ufffd'
    """
    return _NOT_IN_XML.sub("\ufffd", text)


def _reasons(check: Check) -> list[str]:
    """Why a check failed, the queries behind it, and what was found and must not be."""
    worst = [
        f"{query_name(query.query, query.text)}: {query.value:.3f}"
        + ("" if query.baseline is None else f", it was {query.baseline:.3f}")
        for query in check.worst
    ]
    leaks = [
        f"{query_name(leak.query, leak.text)}: {leak.forbidden} at rank {leak.rank}"
        for leak in check.leaks
    ]
    return [*check.because, *worst, *leaks]


def _counted(suite: ElementTree.Element) -> bytes:
    """The file: the suite with its counts, in a list of suites."""
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, tag in (
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"
