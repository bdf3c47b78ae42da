"""A gate whose labels are a machine's, corrected by people's on the same sampled queries."""

from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput

QUERIES = [f"q{i}" for i in range(90)]
OLD = {query: ["a", "b", "c"] for query in QUERIES}
NEW = {query: ["x", "a" if i % 10 == 0 else "b", "c"] for i, query in enumerate(QUERIES)}
PEOPLE = {query: ["a"] for query in QUERIES[::3]}
FLATTERS = {query: ["a", "x"] for query in QUERIES}
"""A machine that takes what the new retriever returns for right, too: it sees no loss at all."""
HONEST = {query: ["a"] for query in QUERIES}
DRAWN: dict[str, Any] = {"corrected_by": PEOPLE, "sampled": "at-random"}


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "base.json"
    calipers.gate_save(ground_truth=FLATTERS, run=OLD, metrics="hit_rate@3", to=path, **DRAWN)
    return path


def test_a_loss_that_the_machine_does_not_see_fails(kept):
    blind = calipers.gate(ground_truth=FLATTERS, run=NEW, baseline=kept)
    assert blind.standing == "passed"
    seen = calipers.gate(ground_truth=FLATTERS, run=NEW, baseline=kept, **DRAWN)
    assert seen.standing == "failed"
    (check,) = seen.deciding
    assert check.because == ("a loss is shown", "fell by more than 0.05")
    assert check.change.loss == pytest.approx(0.9)
    said = " ".join(str(seen).split())
    assert "machine alone +0.000, corrected by people's labels of 30 queries -0.900" in said


def test_an_unchanged_build_passes_and_says_what_is_not_ruled_out(kept):
    verdict = calipers.gate(ground_truth=FLATTERS, run=OLD, baseline=kept, **DRAWN)
    assert verdict.standing == "passed"
    (check,) = verdict.deciding
    assert check.change.interval.low < 0 < check.change.interval.high
    assert "is not ruled out" in (check.claim.range or "")


def test_labels_of_all_queries_say_what_people_alone_say(tmp_path):
    path = tmp_path / "base.json"
    everything: dict[str, Any] = {"corrected_by": HONEST, "sampled": "at-random"}
    said: dict[str, Any] = {"metrics": "hit_rate@3", "ground_truth": FLATTERS}
    calipers.gate_save(run=OLD, to=path, **said, **everything)
    verdict = calipers.gate(run=NEW, baseline=path, **said, **everything)
    assert verdict.deciding[0].change.difference == pytest.approx(-0.9)


def test_what_becomes_the_baseline_keeps_peoples_scores(kept):
    verdict = calipers.gate(
        ground_truth=FLATTERS, run=NEW, baseline=kept, accept="half the price", **DRAWN
    )
    assert verdict.accepted == "half the price"
    again = calipers.gate(ground_truth=FLATTERS, run=NEW, baseline=kept, **DRAWN)
    assert again.standing == "passed"


def test_what_cannot_be_corrected_gets_a_sentence(kept, tmp_path):
    plain = tmp_path / "plain.json"
    calipers.gate_save(ground_truth=FLATTERS, run=OLD, metrics="hit_rate@3", to=plain)
    with pytest.raises(InvalidInput, match="holds nothing by people's labels"):
        calipers.gate(ground_truth=FLATTERS, run=NEW, baseline=plain, **DRAWN)
    with pytest.raises(InvalidInput, match="none is given"):
        calipers.gate(ground_truth=FLATTERS, run=NEW, require="hit_rate@3 >= 0.5", **DRAWN)
    with pytest.raises(InvalidInput, match="drawn at random"):
        calipers.gate(ground_truth=FLATTERS, run=NEW, baseline=kept, corrected_by=PEOPLE)
    scores = calipers.evaluate(ground_truth=FLATTERS, run=NEW, metrics="hit_rate@3")
    with pytest.raises(InvalidInput, match="measured before"):
        calipers.gate(scores, baseline=kept, **DRAWN)
    with pytest.raises(InvalidInput, match="without --add"):
        calipers.gate_save(ground_truth=FLATTERS, run=OLD, to=kept, add=True, **DRAWN)
