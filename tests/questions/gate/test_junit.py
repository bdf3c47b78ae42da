"""The verdict as JUnit XML: whatever a CI server shows is what the gate decided."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.questions.gate.junit import as_junit, error_as_junit, xml_text
from tests.command import calipers_command


def records(hits: int, n: int = 40, text: str = "question") -> list[dict[str, object]]:
    return [
        {
            "id": f"q{i}",
            "query": f"{text} {i}",
            "retrieved": ["a" if i < hits else "b"],
            "ground_truth": ["a"],
        }
        for i in range(n)
    ]


def read(document: bytes) -> ElementTree.Element:
    suites = ElementTree.fromstring(document)
    assert suites.tag == "testsuites"
    (suite,) = suites
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(name, "")) == len(suite.findall(f"testcase/{tag}"))
    assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
    return suite


@given(st.integers(1, 40), st.integers(1, 40))
def test_every_check_is_a_case_with_its_outcome(before: int, now: int) -> None:
    baseline = calipers.evaluate(records(before), metrics="recall@1")
    verdict = calipers.gate(
        records(now), baseline=baseline, metrics="recall@1", require=["hit_rate@1 >= 0.5"]
    )
    suite = read(as_junit(verdict))
    cases = {case.get("name"): [one.tag for one in case] for case in suite.findall("testcase")}
    outcome = {"failed": ["failure"], "no clear difference": ["skipped"], "passed": []}
    assert cases == {check.name: outcome[check.status] for check in verdict.checks}
    assert (int(suite.get("failures", "")) > 0) == verdict.stops


def test_a_failure_names_the_queries_behind_it() -> None:
    verdict = calipers.gate(records(38), require="recall@1 >= 0.99")
    failure = read(as_junit(verdict)).find("testcase/failure")
    assert failure is not None
    assert failure.get("message", "").startswith("recall@1 is 0.950")
    assert "q39: question 39: 0.000" in (failure.text or "")


@given(st.text(max_size=40))
def test_whatever_a_question_holds_the_file_is_xml(text: str) -> None:
    verdict = calipers.gate(records(3, 5, f"{text}?"), require="recall@1 >= 0.99")
    assert read(as_junit(verdict)).get("failures") == "1"
    assert read(error_as_junit(text)).get("errors") == "1"
    assert ElementTree.fromstring(f"<a>{xml_text('x')}</a>").text == "x"


def test_the_command_writes_it_also_where_nothing_could_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(record) for record in records(30)]
    Path("evals.jsonl").write_text("\n".join(lines))
    gate = ("gate", "evals.jsonl", "--junit", "junit.xml", "--require")
    assert calipers_command(*gate, "recall@1 >= 0.7").code == 0
    assert read(Path("junit.xml").read_bytes()).get("failures") == "0"
    assert calipers_command(*gate, "recall@1 >= 0.9").code == 1
    assert read(Path("junit.xml").read_bytes()).get("failures") == "1"
    assert calipers_command(*gate, "recal@1 >= 0.9").code == 2
    suite = read(Path("junit.xml").read_bytes())
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    assert "recal" in (suite.findtext("testcase/error") or "")


def test_an_accepted_loss_is_skipped_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "main.json"
    calipers.gate_save(records(40), to=path, metrics="recall@1")
    verdict = calipers.gate(
        records(20), baseline=path, metrics="recall@1", accept="a smaller index"
    )
    suite = read(as_junit(verdict))
    assert suite.get("failures") == "0"
    skipped = [one.get("message", "") for one in suite.findall("testcase/skipped")]
    assert any(message.startswith("Accepted: a smaller index.") for message in skipped)
