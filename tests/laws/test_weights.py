"""Queries with weights: equal weights change nothing, and whole numbers count like copies."""

import random

import numpy as np
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_rows import paired_rows
from tests.command import calipers_command, refused

NAMES = "recall@3,ndcg@3,mrr"


def records(seed, share, weigh, n=40):
    draw = random.Random(seed)
    made = []
    for i in range(n):
        rank = draw.choice([0, 1, 2]) if draw.random() < share else 3
        listed = [f"x{j}" for j in range(3)]
        listed.insert(rank, "a")
        truth = ["a", "far"] if i % 4 == 0 else ["a"]
        one = {"id": f"q{i}", "query": f"question {i}", "retrieved": listed[:3]}
        made.append({**one, "ground_truth": truth, "tags": {"asked": f"{weigh(i)}"}})
    return made


def whole(i):
    return 1 + (i * 7) % 5


OLD, NEW = records(1, 0.4, whole), records(2, 0.7, whole)


def copies(made):
    """Each query as often as it was asked."""
    return [
        {**one, "id": f"{one['id']}-{j}", "query": f"{one['query']} {j}"}
        for one in made
        for j in range(int(one["tags"]["asked"]))
    ]


@pytest.mark.parametrize("weight", [1, 3, 0.7])
def test_equal_weights_are_no_weights_to_the_last_bit(weight):
    old, new = (records(seed, 0.5, lambda _: weight) for seed in (1, 2))
    plain = calipers.evaluate(old, metrics=NAMES)
    weighed = calipers.evaluate(old, metrics=NAMES, weight_by="asked")
    assert weighed.summaries == plain.summaries
    assert weighed.fingerprints["settings"] != plain.fingerprints["settings"]
    both = {"old": old, "new": new}
    assert (
        calipers.compare(both, metrics=NAMES, weight_by="asked").differences
        == calipers.compare(both, metrics=NAMES).differences
    )


def test_whole_weights_give_the_means_of_so_many_copies():
    weighed = calipers.evaluate(OLD, metrics=NAMES, weight_by="asked")
    repeated = calipers.evaluate(copies(OLD), metrics=NAMES)
    for name in NAMES.split(","):
        assert weighed[name].mean == pytest.approx(repeated[name].mean, abs=1e-12)
        assert weighed[name].median == pytest.approx(repeated[name].median)
        # A copy says nothing new, so its interval is wider.
        ends, narrow = weighed[name].interval, repeated[name].interval
        assert ends.high - ends.low > narrow.high - narrow.low
    found = calipers.compare({"old": OLD, "new": NEW}, metrics=NAMES, weight_by="asked")
    twice = calipers.compare({"old": copies(OLD), "new": copies(NEW)}, metrics=NAMES)
    for one, other in zip(found.differences, twice.differences, strict=True):
        assert one.difference == pytest.approx(other.difference, abs=1e-12)
        assert one.p_value >= other.p_value
        assert (one.interval.low < one.difference < one.interval.high) is True


@pytest.mark.parametrize("scale", [3, 10, 1_000])
def test_the_scale_of_weights_changes_nothing(scale):
    scaled = [
        {**one, "tags": {"asked": str(scale * int(one["tags"]["asked"]))}} for one in (*OLD, *NEW)
    ]
    both = {"old": scaled[: len(OLD)], "new": scaled[len(OLD) :]}
    plain = calipers.compare({"old": OLD, "new": NEW}, metrics=NAMES, weight_by="asked")
    found = calipers.compare(both, metrics=NAMES, weight_by="asked")
    assert found.differences == plain.differences
    assert found.means == plain.means
    assert found.visibility == plain.visibility


def test_signs_of_weighted_differences_are_flipped_exactly():
    gains, weights = [1.0, -1.0, 1.0, 0.5, 0.0], np.array([1.0, 0.25, 0.5, 0.5, 0.75])
    [row] = paired_rows([gains], weights=weights)
    moved = (np.array(gains) * weights)[:4]
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1)
    reached = np.abs((moved[:, None] * signs).sum(axis=0)) >= abs(moved.sum()) - 1e-12
    assert row.p == reached.mean()
    assert row.difference == pytest.approx(moved.sum() / weights.sum())
    assert (row.better, row.worse, row.same) == (3, 1, 1)


def test_two_queries_of_a_cluster_count_like_one_with_both_weights():
    values, weights = np.array([1.0, 1.0, 0.0, 0.5]), np.array([0.25, 0.75, 1.0, 0.5])
    found = as_units(values, ["a", "a", "b", "c"], weights)
    alone = as_units(values[1:], None, np.array([1.0, 1.0, 0.5]))
    assert found.mean == alone.mean
    np.testing.assert_allclose(np.sort(found.values), np.sort(alone.values))


def test_weighted_and_unweighted_results_are_not_compared_without_a_word(tmp_path):
    weighed = calipers.evaluate(OLD, metrics=NAMES, weight_by="asked")
    plain = calipers.evaluate(NEW, metrics=NAMES)
    with pytest.raises(InvalidInput, match="weight_by is 'asked' in old and None in new"):
        calipers.compare({"old": weighed, "new": plain})
    # Both weighed by the command, or both before it: the same.
    before = calipers.evaluate(NEW, metrics=NAMES, weight_by="asked")
    unweighed = calipers.evaluate(OLD, metrics=NAMES)
    first = calipers.compare({"old": weighed, "new": before})
    second = calipers.compare({"old": unweighed, "new": plain}, weight_by="asked")
    assert first.differences == second.differences
    base = tmp_path / "base.json"
    calipers.gate_save(OLD, to=base, metrics=NAMES, weight_by="asked")
    with pytest.raises(InvalidInput, match="weight_by is None in this result and 'asked'"):
        calipers.gate(NEW, baseline=base)
    passed = calipers.gate(NEW, baseline=base, weight_by="asked", require="recall@3 >= 0.1")
    change = next(one.change for one in passed.checks if one.change and one.metric == "recall@3")
    assert change.difference == first.difference("new", "recall@3").difference
    assert change.p_value == first.difference("new", "recall@3").p_value
    assert passed.checks[0].value == before["recall@3"].mean


@pytest.mark.parametrize("value", ["0", "-1", "often", None, "nan", "inf"])
def test_a_weight_that_is_none_is_refused(value):
    wrong = [replace_tag(one, value) if i == 3 else one for i, one in enumerate(OLD)]
    with pytest.raises(InvalidInput, match="every query needs a number above 0"):
        calipers.evaluate(wrong, weight_by="asked")


def replace_tag(one, value):
    return {**one, "tags": {} if value is None else {"asked": value}}


def test_what_takes_no_weights_says_so():
    weighed = calipers.evaluate(OLD, metrics=NAMES, weight_by="asked")
    with pytest.raises(InvalidInput, match="Tests of slices do not weigh queries"):
        calipers.slices(weighed, "form")
    with pytest.raises(InvalidInput, match="counts every query as one; leave out weight_by"):
        calipers.corrected(OLD, people=OLD, sampled="all", weight_by="asked")
    with pytest.raises(InvalidInput, match="no tag 'asket' to weigh them by; they have asked"):
        calipers.evaluate(OLD, weight_by="asket")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one.csv", 'question,expected,retrieved,asked\nwho,a,"a,b",3\nwhat,b,"a,c",1\n'),
        ("one.csv", 'question,expected,retrieved,tag.asked\nwho,a,"a,b",3\nwhat,b,"a,c",1\n'),
        (
            "one.jsonl",
            '{"query": "who", "ground_truth": ["a"], "retrieved": ["a", "b"], "asked": 3}\n'
            '{"query": "what", "ground_truth": ["b"], "retrieved": ["a"], "asked": 1}\n',
        ),
    ],
)
def test_the_weight_stands_in_a_column_of_its_own(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    said = calipers_command("eval", path, "-m", "recall@2", "--weight-by", "asked", columns=200)
    assert said.out.startswith("Finds 75% of what it should in the first 2 results")
    assert "2 queries weighted by asked" in said.out


def test_a_column_of_a_table_is_a_tag_where_the_user_says_so(tmp_path):
    truth, run = tmp_path / "truth.csv", tmp_path / "run.json"
    truth.write_text("question,expected,asked,kind\nwho,a,3,x\nwhat,b,1,y\n")
    run.write_text('{"who": ["a"], "what": ["a"]}')
    both = ("eval", "-g", truth, "-r", run, "-m", "recall@2")
    said = calipers_command(*both, "--weight-by", "asked", "--column", "tag=kind", columns=200)
    assert said.out.startswith("Finds 75%")
    assert "take as tag" in refused(*both, "--column", "tag=asked,kind,none", "--column", "tag=no")
