import io

from rich.console import Console

from calipers import diagnose, rules
from calipers.questions.diagnose.show import print_diagnosis, print_rules
from tests.systems import records


def printed(show, *arguments):
    out = io.StringIO()
    console = Console(width=80, file=out, highlight=False)
    show(*arguments, console)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    return " ".join(text.split())


def test_findings_have_evidence_confidence_and_advice():
    text = printed(print_diagnosis, diagnose(records([8] * 30)))
    assert text.startswith("✗ ordered badly: ndcg@10 is 0.3")
    assert "(confidence: high)" in text
    assert text.count("in the best order") == 1, "nothing is said twice"
    assert "→ Rerank the results" in text
    assert "Not checked: right document, wrong chunk, as the documents" in text
    assert "Checked and not found: the retriever fails" in text


def test_no_finding_is_no_clean_bill():
    made = [
        {"query": f"q{i}", "retrieved": list("abcdef"), "ground_truth": list("abc")}
        for i in range(30)
    ]
    text = printed(print_diagnosis, diagnose(made))
    assert text.startswith("✓ no known failure mode in 30 queries (")
    assert "Recall lies between 0.884 and 1.000" in text
    assert "not ruled out" in text


def test_what_changed_is_a_claim():
    diagnosis = diagnose(records([1] * 20 + [2] * 10), before=records([8] * 15 + [9] * 15))
    text = printed(print_diagnosis, diagnosis)
    assert "What changed" in text
    assert "Gone: ordered badly." in text
    assert "▲ before → now: recall@10 is the same; ranked better: ndcg@10 0." in text
    assert "It is better by at least 0." in text
    assert "mrr@10 0.118 → 0.833: 30 better, 0 worse of 30" in text


def test_the_rules_are_listed_with_their_thresholds():
    text = printed(print_rules, rules())
    for rule in rules():
        for name, value in rule["thresholds"].items():
            assert f"{name}={value:g}" in text
