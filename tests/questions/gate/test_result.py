"""The verdict: its claims, retriever failures among them, and its limits."""

from calipers import gate
from calipers.questions.gate.result import GateRule, Raised, raised_in_words
from calipers.questions.gate.settings import GateSettings
from tests import systems

FAILED = {"query": "Who?", "retrieved": [], "ground_truth": ["a"], "error": "ValueError: boom"}


def test_a_retriever_that_fails_is_named_in_the_first_claim():
    records = [*systems.records([1, 1, 1, 2]), FAILED]
    failing = "fails in the retriever: Who? (ValueError: boom)"
    claims = gate(records, require=["mrr >= 0.9", "recall@1 >= 0.1"]).claims
    assert [claim.fact.count(failing) for claim in claims] == [1, 1, 0]
    assert ["mrr" in claim.fact for claim in claims] == [True, False, False]
    assert [claim.standing for claim in claims][::2] == ["failed", "passed"]
    # Where it stands first anyway, it is not said twice.
    claims = gate(records, require=["mrr >= 0.1", "recall@1 >= 0.1"]).claims
    assert [claim.fact.count(failing) for claim in claims] == [1, 0, 0]


def test_one_question_fails_and_several_fail():
    raised = (Raised("q1", "Who?", "boom"), Raised("q2", "", ""), Raised("q3", "Why?", ""))
    one, two, three = (raised_in_words(raised[:count], 7) for count in (1, 2, 3))
    assert one == "1 of 7 questions fails in the retriever: Who? (boom)"
    assert two == "2 of 7 questions fail in the retriever: Who? (boom), and 1 more"
    assert three == "3 of 7 questions fail in the retriever: Who? (boom), and 2 more"
    assert raised_in_words(raised[1:2], 7).endswith(": q2")


def test_limits_that_nobody_names_are_those_of_the_settings():
    settings = GateSettings()
    rule = GateRule()
    assert (rule.confidence, rule.allow) == (settings.confidence, settings.allow)
    assert rule.only_shown == settings.only_shown
