"""A verdict in words, in Markdown and in JUnit, with hostile names in it."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import compare
from calipers.questions.compare.words import power_sentences
from calipers.questions.gate.ci_files import (
    error_junit,
    error_markdown,
    verdict_junit,
    verdict_markdown,
    without_controls,
)
from calipers.questions.gate.settings import gate, gate_save
from calipers.questions.gate.show import failure_message, headline, notes

HOSTILE = "<script>alert(1)</script>|`x`\n\x1b[31m\x00@all [a](https://evil.test) &"


def records(right, n=12, tag="a"):
    return [
        {
            "id": f"q{i}",
            "query": f"question {i}",
            "retrieved": ["t", "x"] if i < right else ["x", "t"],
            "ground_truth": ["t"],
            "tags": {"type": tag},
        }
        for i in range(n)
    ]


def verdict_on(right, tmp_path, *, before=12, **settings):
    path = tmp_path / "main.json"
    gate_save(records(before), to=path, metrics="mrr")
    return gate(records(right), baseline=path, **settings)


def test_the_headline_is_the_fact_with_what_is_possible_and_what_is_next(tmp_path):
    first = headline(verdict_on(11, tmp_path, allow=0.1))
    assert first.line == "~ mrr 1.000 → 0.958: 0 better, 1 worse of 12 (not shown, p = .5)"
    assert first.range.startswith("A loss of up to 0.")
    assert first.next == "About 67 more queries like these would show it four times in five."
    same = headline(verdict_on(12, tmp_path))
    assert same.line == "✓ mrr 1.000 → 1.000: 0 better, 0 worse of 12 (no loss)"


def test_a_condition_whose_interval_holds_the_threshold_could_go_either_way():
    verdict = gate(records(6), require=["mrr >= 0.76", "mrr >= 0.1"])
    near = [note for note in notes(verdict) if "could as well have passed" in note.text]
    assert len(near) == 1


def test_a_small_loss_or_gain_that_is_shown_says_what_would_undo_it(tmp_path):
    """The rule that `compare` has: a few of another kind may be missing from the sample."""

    def ranked(rank, n=40):
        results = [f"x{at}" for at in range(1, 10)]
        results.insert(rank - 1, "t")
        return [{"query": f"q{i}", "retrieved": results, "ground_truth": ["t"]} for i in range(n)]

    for before, now, way, left in ((9, 10, "gained", "loss"), (10, 9, "lost", "gain")):
        path = tmp_path / f"{before}.json"
        gate_save(ranked(before), to=path, metrics="mrr")
        verdict = gate(ranked(now), baseline=path, only_shown=True)
        assert verdict.stops == (left == "loss")
        unseen = verdict.checks[0].change.unseen
        found = compare({"old": ranked(before), "new": ranked(now)}, metrics="mrr")
        assert unseen == found.difference("new", "mrr").unseen
        said = f"those {way} {unseen.change:.2g} or more in mrr, there would be no {left}"
        assert any(said in note.text for note in notes(verdict))
        assert any(said in note for note in power_sentences(found))
    assert verdict_on(0, tmp_path).checks[0].change.unseen is None
    assert not any("happen to lack" in note.text for note in notes(verdict_on(12, tmp_path)))


def test_the_message_names_metric_value_interval_threshold_and_queries(tmp_path):
    verdict = verdict_on(0, tmp_path, require="mrr >= 0.9")
    message = failure_message(verdict)
    assert "✗ mrr is 0.500, >= 0.9 is required (95% interval 0." in message
    assert message.startswith("✗ mrr 1.000 → 0.500: 0 better, 12 worse of 12 (shown, p < .001")
    assert "1.000 → 0.500  q0: question 0" in message


def hostile_verdict():
    data = [
        {
            "id": f"{HOSTILE}{i}",
            "query": HOSTILE,
            "retrieved": ["x"],
            "ground_truth": ["t", "x"],
            "tags": {"type": HOSTILE},
        }
        for i in range(3)
    ]
    return gate(data, require=f"mrr >= 2 for type={HOSTILE}")


def test_markdown_shows_hostile_text_as_text():
    text = verdict_markdown(hostile_verdict())
    assert "<script" not in text
    assert "\x1b" not in text
    assert "@all" not in text
    assert "https://" not in text
    assert "\\[a\\]" in text
    rows = [line for line in text.splitlines() if line.startswith("| ✗")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 5


def test_junit_with_hostile_text_can_be_parsed():
    root = ElementTree.fromstring(verdict_junit(hostile_verdict()))
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    failure = suite.find("testcase/failure")
    assert ">= 2 is required" in failure.get("message")
    assert "<script>" in failure.text


@given(st.text())
def test_any_sentence_makes_a_valid_report_of_an_error(sentence):
    root = ElementTree.fromstring(error_junit(sentence))
    assert root.find("testsuite").get("errors") == "1"
    assert root.find("testsuite/testcase/error") is not None


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_characters_that_xml_cannot_hold_are_replaced(character):
    assert without_controls(f"a{character}b") == "a\ufffdb"


def test_every_check_is_a_test_case(tmp_path):
    verdict = verdict_on(0, tmp_path, require=["mrr >= 0.9", "mrr >= 0.1"], by="type")
    suite = ElementTree.fromstring(verdict_junit(verdict)).find("testsuite")
    names = [case.get("name") for case in suite.iter("testcase")]
    assert names == [check.name for check in verdict.checks]
    assert int(suite.get("failures")) == len(verdict.failed)


def test_what_was_not_tested_is_skipped_and_not_passed(tmp_path):
    path = tmp_path / "main.json"
    mixed = records(12)
    mixed[0]["tags"] = {"type": "rare"}
    gate_save(mixed, to=path, metrics="mrr")
    verdict = gate(mixed, baseline=path, by="type")
    suite = ElementTree.fromstring(verdict_junit(verdict)).find("testsuite")
    assert suite.get("skipped") == "1"
    assert headline(verdict).standing == "no clear difference"
    assert "| ~ | mrr for type=rare |" in verdict_markdown(verdict)


def test_an_overridden_warning_is_the_first_thing_to_read(tmp_path):
    other = records(12)
    other[0]["ground_truth"] = ["t", "u"]
    path = tmp_path / "main.json"
    gate_save(other, to=path, metrics="mrr")
    verdict = gate(records(12), baseline=path, anyway=True)
    text = verdict_markdown(verdict)
    assert text.index("should not be trusted") < text.index("| ")
    assert "different ground truth" in text


def test_an_error_is_no_pass_in_markdown():
    assert error_markdown("<b>no").startswith("## ✗ Retrieval: could not be checked")
    assert "<b>" not in error_markdown("<b>no")
