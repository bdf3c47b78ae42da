"""Misses of the queries that find less than in an older result."""

import json
import random

import pytest

from calipers import evaluate, gate_save, misses
from calipers.errors import InvalidInput
from tests.command import calipers_command, typed


def drawn(seed, queries=30):
    """An older and a newer run of the same queries, and what should be found."""
    draw = random.Random(seed)
    truth = {f"q{n}": [f"t{n}-{j}" for j in range(draw.randint(1, 3))] for n in range(queries)}

    def run():
        results = {}
        for query, wanted in truth.items():
            found = [target for target in wanted if draw.random() < 0.6]
            results[query] = draw.sample([*found, *(f"x{n}" for n in range(6))], 6)
        return results

    return truth, run(), run()


def found(truth, run, query, k):
    return len(set(truth[query]) & set(run[query][:k]))


def losing(truth, old, new, k):
    return [query for query in truth if found(truth, new, query, k) < found(truth, old, query, k)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("as_run", [True, False])
def test_exactly_the_targets_of_queries_that_find_less_are_listed(seed, as_run):
    truth, old, new = drawn(seed)
    k = 4
    before = evaluate(ground_truth=truth, run=old, metrics=f"recall@{k}")
    result = misses(ground_truth=truth, run=new, k=k, worse_than=old if as_run else before)
    lost = losing(truth, old, new, k)
    expected = {(query, target) for query in lost for target in {*truth[query]} - {*new[query][:k]}}
    assert {*result.table.select("query", "item").iter_rows()} == expected
    assert result.queries == len(lost)
    assert result.missed == len(expected)
    assert result.targets == sum(len(truth[query]) for query in lost)


def test_the_first_line_names_the_older_result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth, old, new = drawn(3)
    for name, run in (("old.json", old), ("new.json", new)):
        (tmp_path / name).write_text(json.dumps(run))
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    gate_save(ground_truth="truth.json", run="old.json", to="base.json")
    lost = losing(truth, old, new, 10)
    missing = sum(len(truth[query]) - found(truth, new, query, 10) for query in lost)
    of = sum(len(truth[query]) for query in lost)
    line = (
        f"{len(lost)} queries find less than in {{}}: {missing} of {of} targets are not in the "
        "first 10 results."
    )
    command = "misses -g truth.json -r new.json --worse-than {}"
    for before in ("base.json", "old.json"):
        printed = typed(command.format(before), columns=500)
        assert printed.err == ""
        assert printed.out.splitlines()[0] == line.format(before.removesuffix(".json"))


def test_without_a_loss_nothing_is_listed():
    truth, old, _ = drawn(1)
    result = misses(ground_truth=truth, run=old, worse_than=old)
    assert (result.queries, result.missed, result.table.height) == (0, 0, 0)
    assert str(result).splitlines()[0] == "No query finds less than in the retriever."


def test_a_tag_leaves_out_queries_after_the_comparison(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth, old, new = drawn(5)
    for name, run in (("old.jsonl", old), ("new.jsonl", new)):
        lines = [
            {
                "query": query,
                "retrieved": run[query],
                "ground_truth": truth[query],
                "tags": {"half": f"{at % 2}"},
            }
            for at, query in enumerate(truth)
        ]
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)))
    gate_save("old.jsonl", to="base.json")
    odd = [query for at, query in enumerate(truth) if at % 2]
    expected = [query for query in losing(truth, old, new, 10) if query in odd]
    result = misses("new.jsonl", worse_than="base.json", where={"half": "1"})
    assert result.queries == len(expected) > 0
    assert {*result.table["query"]} == {*expected}


@pytest.mark.parametrize(
    ("metrics", "k", "says"),
    [
        ("recall@5", 10, "give -k 5"),
        ("mrr", 10, "save it again with -m recall@10"),
    ],
)
def test_a_result_that_does_not_tell_is_refused(tmp_path, metrics, k, says):
    truth, old, new = drawn(2)
    before = evaluate(ground_truth=truth, run=old, metrics=metrics)
    with pytest.raises(InvalidInput, match="which queries find less") as refused:
        misses(ground_truth=truth, run=new, k=k, worse_than=before)
    assert says in str(refused.value)


def test_another_ground_truth_is_refused():
    truth, old, new = drawn(4)
    other = {query: [*wanted, "t"] for query, wanted in truth.items()}
    before = evaluate(ground_truth=other, run=old, metrics="recall@10")
    with pytest.raises(InvalidInput, match="different ground truth"):
        misses(ground_truth=truth, run=new, worse_than=before)


def test_a_file_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth, _, new = drawn(4)
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "new.json").write_text(json.dumps(new))
    words = ("misses", "-g", "truth.json", "-r", "new.json", "--worse-than", "nope.json")
    printed = calipers_command(*words)
    assert printed.code == 2
    assert "There is no file nope.json" in printed.err
