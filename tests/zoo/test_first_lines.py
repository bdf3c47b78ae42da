"""What a colleague would say of k and of a healthy ranking: the first line of the real commands."""

import json

import pytest

from tests.command import calipers_command
from tests.zoo.animals import FAULTS, HEALTHY


@pytest.fixture
def lines(tmp_path):
    """What a command prints on one animal of the zoo."""

    def run(command, animal, n, *options):
        path = tmp_path / "evals.json"
        path.write_text(json.dumps(animal.records(n)))
        printed = calipers_command(command, path, *options, columns=400)
        assert printed.code == 0, printed.err
        return [line.strip() for line in printed.out.splitlines()]

    return run


def test_k_of_a_perfect_ranking(lines):
    perfect = HEALTHY["perfect, one target"]
    assert lines("sweep", perfect, 40)[:3] == [
        "? k = 1 finds all that k = 10 finds in these 40 queries (not shown to be safe)",
        "Up to 0.072 could be lost (95%).",
        "About 19 more queries would settle 0.05; until then k = 10 is safe.",
    ]
    assert lines("sweep", perfect, 200)[:2] == [
        "✓ k = 1 finds all that k = 10 finds in these 200 queries (safe)",
        "Up to 0.015 could be lost (95%), within the 0.05 allowed.",
    ]


def test_k_where_targets_stand_last(lines):
    assert lines("sweep", HEALTHY["best first and last"], 40)[:2] == [
        "✓ k = 10 is the smallest that keeps recall in these 40 queries (k = 9 already loses "
        "0.500)",
        "Recall may still grow: retrieve more and sweep again.",
    ]


def test_a_budget_of_tokens_names_what_it_costs(tmp_path):
    path = tmp_path / "evals.json"
    retrieved = [{"id": name, "tokens": 100} for name in "abcd"]
    records = [
        {"query": f"q{n}", "ground_truth": ["abcd"[n % 4]], "retrieved": retrieved}
        for n in range(20)
    ]
    path.write_text(json.dumps(records))
    printed = calipers_command("sweep", path, "--tokens", "200", columns=400)
    assert printed.out.splitlines()[0] == (
        "? k = 2 is the largest that fits 200 tokens: recall is 0.500 there "
        "(0.500 less than at k = 4, seen)"
    )
    assert "; recall is 0.500 there, 1.000 at k = 4." in printed.out


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("n", [40, 200])
def test_a_healthy_retriever_is_left_alone(lines, name, n):
    first, possible, *_ = lines("diagnose", HEALTHY[name], n)
    assert first.startswith(f"✓ no known failure mode in {n} queries (")
    assert possible.endswith("faults no rule looks for, are not ruled out.")


def test_a_handful_of_queries_is_no_bill_of_health(lines):
    first = lines("diagnose", HEALTHY["perfect, one target"], 12)[0]
    assert first.startswith("? no known failure mode in 12 queries (")


def test_an_error_of_the_retriever_is_named_first(lines):
    said = lines("diagnose", FAULTS["raises an error"], 12)[0]
    assert said.startswith("✗ the retriever fails on queries: ")
    assert said.endswith("(confidence: high)")


def test_a_slice_that_collapsed_is_named_with_its_numbers(tmp_path):
    path = tmp_path / "evals.json"
    records = [
        {
            "query": f"{kind} {n}",
            "tags": {"type": kind},
            "ground_truth": ["t"],
            "retrieved": ["x" if kind == "multi-hop" and n > 2 else "t"],
        }
        for kind in ("fact", "how-to", "list", "multi-hop", "name", "yes or no")
        for n in range(16)
    ]
    path.write_text(json.dumps(records))
    printed = calipers_command("eval", path, "--by", "type", "-m", "recall@1", columns=400)
    claims = [line for line in printed.out.splitlines() if line.startswith(("▼", "?"))]
    assert claims == [
        "▼ type multi-hop: recall@1 0.188 in 16 queries, 1.000 in the other 80 (lower, shown, "
        "p < .001 among 6 tests)"
    ]


def test_a_plan_says_what_its_pilot_can_tell(tmp_path):
    truth = {f"q{n}": ["t"] for n in range(20)}
    for name, found in (("old", lambda n: n % 2), ("new", lambda n: n % 5)):
        records = [
            {"query": q, "ground_truth": truth[q], "retrieved": ["t" if found(n) else "x"]}
            for n, q in enumerate(truth)
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(records))
    printed = calipers_command(
        "plan", tmp_path / "old.json", tmp_path / "new.json", "--difference", "0.2"
    )
    seen, shown, possible = printed.out.splitlines()[:3]
    assert seen == "? pilot old → new: recall@10 0.500 → 0.800: 8 better, 2 worse of 20 queries"
    assert shown.startswith("(about ")
    assert "queries show a difference of 0.2, and miss it one time in five" in shown
    assert "as far as this pilot can tell" in possible


def test_advice_that_spends_names_its_price(tmp_path):
    path = tmp_path / "evals.json"
    retrieved = [{"id": f"r{rank}", "tokens": 100} for rank in range(30)]
    records = [
        {"query": f"q{n}", "ground_truth": [f"r{5 + n % 20}"], "retrieved": retrieved[n % 3 :]}
        for n in range(40)
    ]
    path.write_text(json.dumps(records))
    printed = calipers_command("diagnose", path, "-k", "10", "--explain", columns=400)
    (advice,) = [line for line in printed.out.splitlines() if "Raise k" in line]
    assert "tokens per query (`calipers sweep`)" in advice
    printed = calipers_command("misses", path, "-k", "10", columns=400)
    assert "raise k, which costs tokens" in printed.out
