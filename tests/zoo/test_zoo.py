"""What is named first is what was planted; the healthy are left alone; no advice harms."""

import random
from functools import cache
from pathlib import Path

import pytest

from calipers import diagnose, misses, sweep
from tests.zoo.animals import FAULTS, HEALTHY, SIZES, at

PAGE = Path(__file__).parents[2] / "docs" / "diagnose.md"
ALL = {**HEALTHY, **FAULTS}
CUT = "targets cut over two chunks"
"""Its results are texts, and in every order the second half stands behind the first."""


@cache
def diagnosed(name, n=40, seed=1):
    animal = ALL[name]
    return diagnose(animal.records(n, seed), **animal.settings)


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("n", SIZES)
def test_in_a_healthy_retriever_nothing_known_is_wrong(name, n):
    diagnosis = diagnosed(name, n)
    assert diagnosis.named is None
    assert diagnosis.sentence.startswith("Nothing known is wrong")
    assert diagnosis.advised is None


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("n", [SIZES[0], SIZES[-1]])
def test_what_was_planted_is_named_first(name, n):
    for seed in (1, 2, 3) if n < 20 else (1,):
        assert diagnosed(name, n, seed).named == FAULTS[name].named


@pytest.mark.parametrize("name", [name for name in ALL if name != CUT])
def test_nothing_is_reranked_whose_order_is_perfect(name):
    animal = ALL[name]
    ordered = [best_first(record) for record in animal.records(40)]
    diagnosis = diagnose(ordered, **animal.settings)
    assert diagnosis.named not in ("best_order", "reverse", "reverse_first")
    assert "erank" not in diagnosis.next


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
    diagnosis = diagnose([{"query": f"q{i}", **one} for i, one in enumerate(made)], k=k)
    assert diagnosis.named is None


def missing(n, empty):
    """A perfect retriever of n queries, but for those that find nothing."""
    rng = random.Random(n)
    made = [at(rng, i, wanted=1) if i in empty else at(rng, i, 1) for i in range(n)]
    return diagnose([{"query": f"q{i}", **one} for i, one in enumerate(made)])


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.15, 0.2, 0.5, 0.95])
def test_targets_that_are_not_returned_are_always_counted(n, share):
    diagnosis = missing(n, range(round(share * n)))
    assert diagnosis.named == "not_returned"
    assert diagnosis.sentence.startswith(f"{share:.0%} of the targets are not in the results")
    assert [leak.name for leak in diagnosis.leak] == ["found", "not_returned"]
    assert "`calipers misses`" in diagnosis.next


@pytest.mark.parametrize("name", ALL)
def test_the_leak_is_that_of_misses_and_sums_to_all(name):
    animal = ALL[name]
    diagnosis = diagnosed(name)
    why = misses(animal.records(40), k=diagnosis.k)
    lost = {leak.name: leak.targets for leak in diagnosis.leak[1:]}
    assert lost == dict(why.reasons)
    assert diagnosis.leak[0].targets == why.found
    assert sum(leak.share for leak in diagnosis.leak) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ALL)
def test_k_is_the_one_that_sweep_advises(name):
    animal = ALL[name]
    advised = sweep(animal.records(40)).recall
    for cure in diagnosed(name).tried:
        if cure.name in ("larger_k", "smaller_k"):
            assert cure.k == advised.best_guess


def test_what_is_turned_round_is_said():
    def said(name):
        diagnosis = diagnosed(name)
        return diagnosis.sentence + diagnosis.next

    assert "the other way round" in said("sorted the wrong way round")
    assert "the other way round" not in said("order by chance")


def test_the_slice_that_fails_can_be_looked_at_by_the_command_that_is_named():
    records = FAULTS["one tag fails"].records(40)
    assert "`calipers misses --where type=table`" in diagnose(records).next
    assert misses(records, where={"type": "table"}).reasons


def table():
    """What is named first, and where that was planted."""
    planted: dict[str, list[str]] = {}
    for name in ALL:
        planted.setdefault(diagnosed(name).named or "nothing", []).append(name)
    rows = (f"| `{named}` | {'; '.join(names)} |" for named, names in planted.items())
    return "\n".join(["| named first | planted |", "|---|---|", *rows])


def test_the_page_shows_this_table():
    assert table() in PAGE.read_text(encoding="utf-8")
