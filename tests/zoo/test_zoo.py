"""The first finding is the fault that was planted; the healthy have none; no advice harms."""

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from calipers import diagnose, misses
from calipers.questions.diagnose.symptoms import RULES
from tests.zoo.animals import FAULTS, HEALTHY, SIZES, at

PAGE = Path(__file__).parents[2] / "docs" / "diagnose.md"
ALL = {**HEALTHY, **FAULTS}
TITLES = {rule.name: rule.title for rule in RULES}


@cache
def findings(name, n=40, seed=1):
    animal = ALL[name]
    return diagnose(animal.records(n, seed), **animal.settings).findings


def named(name, n, seed=1):
    """The rules that hold, first one first."""
    return [one.rule for one in findings(name, n, seed)]


def table():
    """What is named first, and where that was planted; the tests above have every size."""
    planted: dict[str, Any] = {}
    for name in ALL:
        rule = (named(name, 40) or [None])[0]
        planted.setdefault(TITLES.get(rule, "nothing"), []).append(name)
    rows = (f"| {title} | {'; '.join(names)} |" for title, names in planted.items())
    return "\n".join(["| named first | planted |", "|---|---|", *rows])


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("n", SIZES)
def test_a_healthy_retriever_has_no_finding(name, n):
    assert named(name, n) == []


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("n", SIZES)
def test_the_first_finding_is_the_planted_fault(name, n):
    for seed in (1, 2, 3) if n < 20 else (1,):
        assert named(name, n, seed)[:1] == [FAULTS[name].named]


def test_every_rule_has_an_animal():
    assert {animal.named for animal in FAULTS.values()} == set(TITLES)


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_reranked_whose_order_is_perfect(name):
    animal = ALL[name]
    ordered = [best_first(record) for record in animal.records(40)]
    for finding in diagnose(ordered, **animal.settings).findings:
        assert "rerank" not in " ".join(finding.advice).lower()
        assert finding.rule not in ("ordered_badly", "thin_ground_truth")


def best_first(record):
    """The same results, each once, those that are wanted on top."""
    wanted = {one["id"] if isinstance(one, dict) else one for one in record["ground_truth"]}
    grades = record["ground_truth"] if isinstance(record["ground_truth"], dict) else {}
    seen = dict.fromkeys(one if isinstance(one, str) else one["id"] for one in record["retrieved"])
    good = [one for one in seen if one in wanted and grades.get(one, 1) > 0]
    return {**record, "retrieved": [*good, *(one for one in seen if one not in good)]}


@pytest.mark.parametrize("wanted", [1, 2, 5])
@pytest.mark.parametrize("k", [3, 5, 10])
def test_a_precision_at_its_ceiling_is_no_fault(wanted, k):
    rng = random.Random(1)
    made = [at(rng, i, *range(1, min(wanted, k) + 1)) for i in range(40)]
    assert diagnose([{"query": f"q{i}", **one} for i, one in enumerate(made)], k=k).findings == ()


def missing(n, empty):
    """A perfect retriever of n queries, but for those that find nothing."""
    rng = random.Random(n)
    made = [at(rng, i, wanted=1) if i in empty else at(rng, i, 1) for i in range(n)]
    return diagnose([{"query": f"q{i}", **one} for i, one in enumerate(made)])


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.15, 0.2, 0.5, 0.95])
def test_queries_that_find_nothing_are_always_counted(n, share):
    """Law: the fact stands in the first line, and from 0.2 on it is a finding."""
    lost = round(share * n)
    diagnosis = missing(n, range(lost))
    assert [one.rule for one in diagnosis.findings] == (["finds_little"] if share >= 0.2 else [])
    claim = diagnosis.claim
    assert f"{lost} of {n} queries find nothing" in claim.fact or f"; {lost} find" in claim.fact
    assert "`calipers misses`" in claim.next
    if diagnosis.findings:
        assert f"q0, q1, q2 and {lost - 3} more" in claim.next


def test_by_chance_a_fault_is_heard_and_a_healthy_retriever_left_alone():
    """Thirty queries, of which 3 in 200 or one in three find nothing in truth."""
    rng = random.Random(7)
    heard = {0.015: 0, 1 / 3: 0}
    for rate in heard:
        for _ in range(15):
            drawn = {i for i in range(30) if rng.random() < rate}
            heard[rate] += bool(missing(30, drawn).findings)
    assert heard[0.015] == 0
    assert heard[1 / 3] >= 14


@pytest.mark.parametrize("name", FAULTS)
def test_advice_names_a_number_that_would_change_and_freezes_no_fault(name):
    first, *others = findings(name)
    for finding in (first, *others):
        assert all(line.endswith((".", "`")) for line in (*finding.evidence, *finding.advice))
        assert "--require" not in " ".join(finding.advice)
    if first.rule not in ("same_answer", "finds_little"):  # what it would change, nobody knows
        assert any(letter.isdigit() for letter in " ".join(first.advice))


def test_what_is_turned_round_is_said():
    def said(name):
        first = diagnose(FAULTS[name].records(40)).findings[0]
        return first.evidence[0] + first.advice[0]

    assert "wrong way round" in said("sorted the wrong way round")
    assert "wrong way round" not in said("order by chance")


def test_the_slice_that_fails_can_be_looked_at_by_the_command_that_is_named():
    records = FAULTS["one tag fails"].records(40)
    advice = diagnose(records).findings[0].advice[0]
    assert "`calipers misses --where type=table`" in advice
    assert misses(records, where={"type": "table"}).reasons


def test_the_page_shows_this_table():
    assert table() in PAGE.read_text(encoding="utf-8")
