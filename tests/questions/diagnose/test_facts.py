"""What a diagnosis says of a world is true there: recomputed by hand from what was planted."""

import math
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import calipers
from calipers.model.fact import Fact, Sentence
from calipers.questions.diagnose.document import leak_line
from calipers.questions.diagnose.result import Diagnosis
from simulations.diagnoses import DEPTH, Question, Record, question, record

K = 10
N = 30
Lists = list[list[str]]
Targets = list[list[str]]


def recall(results: list[str], targets: list[str]) -> float:
    return len(set(results[:K]) & set(targets)) / len(targets)


def ndcg(results: list[str], targets: list[str]) -> float:
    seen: set[str] = set()
    gain = 0.0
    for place, name in enumerate(results[:K], 2):
        gain += (name in targets and name not in seen) / math.log2(place)
        seen.add(name)
    return gain / sum(1 / math.log2(place) for place in range(2, 2 + min(K, len(targets))))


METRICS = {f"recall@{K}": recall, f"ndcg@{K}": ndcg}


def mean(metric: str, lists: Lists, targets: Targets) -> float:
    values = [METRICS[metric](*pair) for pair in zip(lists, targets, strict=True)]
    return math.fsum(values) / len(values)


def drawn(seed: int) -> tuple[list[Question], np.random.Generator]:
    rng = np.random.default_rng([seed, 5503])
    return [question(rng, number, good=True) for number in range(N)], rng


def facts(text: object) -> tuple[Fact, ...]:
    assert isinstance(text, Sentence)
    return tuple(text.facts)


def diagnosed(asked: list[Question], lists: Lists) -> Diagnosis:
    made: list[Record] = [record(*pair) for pair in zip(asked, lists, strict=True)]
    return calipers.diagnose(made)


def check_cure(diagnosis: Diagnosis, before: Lists, after: Lists, targets: Targets) -> None:
    """The first line, its facts and the row of the table, against both runs."""
    first = diagnosis.cures[0]
    for value in first.values:
        assert value.before == pytest.approx(mean(value.metric, before, targets), abs=1e-12)
        assert value.after == pytest.approx(mean(value.metric, after, targets), abs=1e-12)
        metric = METRICS[value.metric]
        gains = [
            metric(cured, wanted) - metric(recorded, wanted)
            for recorded, cured, wanted in zip(before, after, targets, strict=True)
        ]
        assert value.better == sum(gain > 1e-12 for gain in gains)
        assert value.worse == sum(gain < -1e-12 for gain in gains)
    [fact] = [fact for fact in facts(diagnosis.sentence) if fact.about == "difference"]
    assert fact.queries == len(targets)
    assert fact.value == pytest.approx(mean(str(fact.metric), after, targets), abs=1e-12)
    assert fact.before == pytest.approx(mean(str(fact.metric), before, targets), abs=1e-12)
    assert f"{fact.metric} is {fact.value:.3f}, not {fact.before:.3f}." in diagnosis.sentence


def check_leak(
    diagnosis: Diagnosis, lists: Lists, targets: Targets, alike: Callable[[str], str]
) -> None:
    """Each share, from where every target is."""
    counts = {"found": 0, "below_k": 0, "another_id": 0, "not_returned": 0}
    for results, wanted in zip(lists, targets, strict=True):
        plain = [alike(name) for name in results]
        for name in wanted:
            where = "not_returned"
            where = "another_id" if name in plain else where
            where = "below_k" if name in results else where
            where = "found" if name in results[:K] else where
            counts[where] += 1
    total = sum(counts.values())
    told = {leak.name: leak.targets for leak in diagnosis.leak}
    assert told == {name: count for name, count in counts.items() if count or name == "found"}
    for leak in diagnosis.leak:
        assert leak.share == counts[leak.name] / total
        if leak.name != "found" and leak.targets / total >= 0.01:
            assert f"{counts[leak.name] / total:.0%} {leak.means}" in leak_line(diagnosis.leak)


PLANTS: dict[str, Callable[[list[str]], list[str]]] = {
    "reverse": lambda results: results[::-1],
    "reverse_first": lambda results: results[:K][::-1] + results[K:],
}


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.parametrize("seed", range(4))
def test_an_order_that_was_planted(name: str, seed: int) -> None:
    asked, _ = drawn(seed)
    targets = [query.targets for query in asked]
    healthy = [query.results for query in asked]
    ill = [PLANTS[name](results) for results in healthy]
    diagnosis = diagnosed(asked, ill)
    assert diagnosis.named == name
    check_cure(diagnosis, ill, healthy, targets)
    check_leak(diagnosis, ill, targets, str)


@pytest.mark.parametrize("seed", range(5))
def test_ids_that_were_broken(seed: int) -> None:
    asked, rng = drawn(seed)
    targets = [query.targets for query in asked]
    healthy = [query.results for query in asked]
    ill = [
        [f"idx2:{name}" if rng.random() < 0.4 else name for name in results] for results in healthy
    ]
    diagnosis = diagnosed(asked, ill)
    assert diagnosis.named == "ids"
    assert "prefix 'idx2:'" in diagnosis.sentence
    check_cure(diagnosis, ill, healthy, targets)
    check_leak(diagnosis, ill, targets, lambda name: name.removeprefix("idx2:"))


@pytest.mark.parametrize("seed", range(4))
def test_repetitions_that_were_planted(seed: int) -> None:
    asked, _ = drawn(seed)
    targets = [query.targets for query in asked]
    ill = [[name for name in query.results for _ in range(3)][:DEPTH] for query in asked]
    cured = [list(dict.fromkeys(results)) for results in ill]
    diagnosis = diagnosed(asked, ill)
    assert diagnosis.named == "repeated_ids"
    check_cure(diagnosis, ill, cured, targets)
    again = sum(K - len(set(results[:K])) for results in ill)
    [fact] = [fact for fact in facts(diagnosis.sentence) if fact.text == "repetitions"]
    assert (fact.count, fact.value) == (again, again / (K * N))
    assert diagnosis.sentence.startswith(f"{again / (K * N):.0%} of the first {K} results repeat")


@pytest.mark.parametrize("seed", range(3))
def test_a_hub_that_was_planted(seed: int) -> None:
    asked, rng = drawn(seed)
    targets = [query.targets for query in asked]
    healthy = [query.results[:-1] for query in asked]
    first = rng.random(N) < 0.9
    ill = [
        ["cover", *results] if is_first else results
        for results, is_first in zip(healthy, first, strict=True)
    ]
    diagnosis = diagnosed(asked, ill)
    assert diagnosis.named == "hub"
    check_cure(diagnosis, ill, healthy, targets)
    [fact] = [fact for fact in facts(diagnosis.sentence) if fact.about == "count"]
    assert (fact.count, fact.of) == (int(first.sum()), N)
    assert diagnosis.sentence.startswith(f"cover stands first in {first.sum()} of {N} lists")


@pytest.mark.parametrize("seed", range(4))
def test_documents_that_are_missing(seed: int) -> None:
    """The leak names what was taken out; the largest leak's share is that of the targets."""
    asked, _ = drawn(seed)
    targets = [query.targets for query in asked]
    ill = [[name for name in query.results if int(name[1:]) % 2] for query in asked]
    diagnosis = diagnosed(asked, ill)
    check_leak(diagnosis, ill, targets, str)
    largest = max(diagnosis.leak[1:], key=lambda leak: leak.targets)
    if diagnosis.named == "not_returned":
        assert diagnosis.sentence.startswith(f"{largest.share:.0%} of the targets are not in")
        [fact] = facts(diagnosis.sentence)
        assert fact.of == sum(map(len, targets))
        lost = [
            name not in row for row, wanted in zip(ill, targets, strict=True) for name in wanted
        ]
        assert fact.count == sum(lost)


def failing(asked: list[Question]) -> Iterator[Record]:
    for query in asked:
        is_out = query.number % 3 == 1
        row = record(query, [] if is_out else query.results)
        yield {**row, "error": "TimeoutError: no answer"} if is_out else row


@pytest.mark.parametrize("seed", range(3))
def test_queries_that_failed(seed: int) -> None:
    asked, _ = drawn(seed)
    diagnosis = calipers.diagnose([*failing(asked)])
    assert diagnosis.named == "error"
    out = [query for query in asked if query.number % 3 == 1]
    rest = [query for query in asked if query.number % 3 != 1]
    others = mean("recall@10", [q.results for q in rest], [q.targets for q in rest])
    said = re.search(
        r"(\d+) of (\d+) queries; the others have recall@10 (\S+)\.$", diagnosis.sentence
    )
    assert said is not None
    assert said.groups() == (str(len(out)), str(N), f"{others:.3f}")
    count, slice_ = facts(diagnosis.sentence)
    assert (count.count, count.of) == (len(out), N)
    assert slice_.value == pytest.approx(others, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_slice_that_fails(seed: int) -> None:
    rng = np.random.default_rng([seed, 5504])
    asked = [question(rng, number, good=True) for number in range(120)]
    tables = [query.number % 4 == 1 for query in asked]
    ill = [
        [name for name in query.results if not (table and name in query.targets)]
        for query, table in zip(asked, tables, strict=True)
    ]
    made = [
        {**record(query, results), "tags": {"type": "table" if table else "prose"}}
        for query, results, table in zip(asked, ill, tables, strict=True)
    ]
    diagnosis = calipers.diagnose(made)
    assert diagnosis.named == "slice"
    [fact] = [fact for fact in facts(diagnosis.sentence) if fact.about == "slice"]
    rest = [number for number, table in enumerate(tables) if not table]
    others = mean("recall@10", [ill[at] for at in rest], [asked[at].targets for at in rest])
    assert (fact.slice, fact.value, fact.queries) == ("type=table", 0.0, sum(tables))
    assert fact.before == pytest.approx(others, abs=1e-12)
