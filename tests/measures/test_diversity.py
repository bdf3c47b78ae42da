"""Subtopics are groups: an item of several subtopics stands in each of their groups."""

from math import floor, log2
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import calipers
from calipers.model.ground_truth import GroundTruth

Judgement = tuple[int, str, int]
"""Subtopic, item, grade."""


def ndeval(judgements: list[Judgement], ranking: list[str], k: int, alpha: float) -> float | None:
    """alpha-nDCG@k as TREC's ndeval defines it, step by step, for one topic.

    The ideal ranking: of the items not yet taken, the one whose subtopics are still worth most; of
    equals the one whose id is greatest. Each subtopic it shows is worth 1 - alpha of before.
    """
    about: dict[str, set[int]] = {}
    for subtopic, item, grade in judgements:
        about.setdefault(item, set()).update({subtopic} if grade > 0 else ())

    def gained(items: list[str]) -> float:
        worth, total = dict.fromkeys(range(10), 1.0), 0.0
        for rank, item in enumerate(items[:k], 1):
            for subtopic in about.get(item, ()):
                total += worth[subtopic] / log2(rank + 1)
                worth[subtopic] *= 1 - alpha
        return total

    ideal: list[str] = []
    worth = dict.fromkeys(range(10), 1.0)
    while left := [item for item in about if item not in ideal]:
        adds = {item: sum(worth[one] for one in sorted(about[item])) for item in left}
        taken = max(left, key=lambda item: (round(adds[item], 12), item.encode()))
        ideal.append(taken)
        for one in about[taken]:
            worth[one] *= 1 - alpha
    return gained(ranking) / gained(ideal) if gained(ideal) else None


judged = st.lists(
    st.tuples(
        st.integers(0, 3), st.sampled_from(["a", "b", "B", "é", "日", "zz"]), st.integers(-1, 2)
    ),
    min_size=1,
    max_size=14,
    unique_by=lambda one: one[:2],
)


@given(
    judged,
    st.lists(st.sampled_from(["a", "b", "B", "é", "日", "zz", "x"]), max_size=7, unique=True),
    st.integers(1, 6),
    st.sampled_from([0.5, 0.25, 1.0, 0.3]),
    st.randoms(use_true_random=False),
)
@example(
    # Whichever of a and b is taken first decides what is best at rank 2.
    [(1, "a", 1), (2, "a", 1), (1, "b", 1), (3, "b", 1), (2, "zz", 1)],
    ["a", "b"],
    2,
    0.5,
    Random(1),
)
def test_ndeval_in_any_order_of_rows(judgements, ranking, k, alpha, chosen):
    values = set()
    for _ in range(2):
        rows = [("q", item, str(subtopic), grade) for subtopic, item, grade in judgements]
        targets = pl.DataFrame(rows, schema=["query", "item", "group", "grade"], orient="row")
        scores = calipers.evaluate(
            ground_truth=GroundTruth.from_targets(targets),
            run={"q": ranking},
            metrics=f"alpha_ndcg@{k}(alpha={alpha})",
            nothing_in_common="zero",
        )
        [name] = scores
        values.add(scores.of(name)[0])
        chosen.shuffle(judgements)
    [value] = {None if np.isnan(value) else value for value in values}
    expected = ndeval(judgements, ranking, k, alpha)
    if expected is None:
        assert value is None
    else:
        assert value == pytest.approx(min(expected, 1.0), abs=1e-12)


def test_quotes_and_spans_in_any_order_of_rows() -> None:
    """Without an id, a target is known by its text."""
    about = {"one and two": "12", "one and three": "13", "two alone": "2", "three alone": "3"}
    rows = [("q", quote, group) for quote, groups in about.items() for group in groups]
    values = set()
    for order in (rows, rows[::-1], sorted(rows, key=lambda row: row[2])):
        targets = pl.DataFrame(order, schema=["query", "quote", "group"], orient="row")
        run = [{"query": "q", "retrieved": [{"text": "two alone"}, {"text": "one and three"}]}]
        truth = GroundTruth.from_targets(targets)
        scores = calipers.evaluate(run, ground_truth=truth, metrics="alpha_ndcg@3")
        values.add(scores["alpha_ndcg@3"].mean)
    assert len(values) == 1


SUBTOPICS = [("a", "A"), ("b", "B"), ("b", "D"), ("c", "C")]
"""Of the example in pyndeval's description, which wraps TREC's ndeval; so are the values."""


def test_the_example_of_ndeval():
    rows = [("0", item, topic) for topic, item in SUBTOPICS]
    targets = pl.DataFrame(rows, schema=["query", "item", "group"], orient="row")
    scores = calipers.evaluate(
        {"0": ["A", "D", "E", "B"]},
        ground_truth=GroundTruth.from_targets(targets),
        metrics="alpha_ndcg@5,10,20,st_recall@5",
    )
    # Printed with four digits, the rest cut off.
    found = [floor(scores[name].mean * 1e4) / 1e4 for name in scores]
    assert found == [0.7868, 0.7868, 0.7868, 0.6666]
