import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import read
from calipers.engines.scoring import compute, score
from calipers.measures import parse
from calipers.questions.diagnose.evidence import Evidence

ITEMS = "abcdefgh"
METRICS = ("recall", "precision", "ndcg", "mrr", "hit_rate", "judged")


def evidence_of(made, k=10):
    pair = read(made)
    return Evidence(pair, score(pair, parse(METRICS, [k])), k)


rankings = st.lists(st.sampled_from(ITEMS), max_size=8)
truths = st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 3), min_size=1, max_size=5)


@st.composite
def query_records(draw):
    pairs = draw(st.lists(st.tuples(rankings, truths), min_size=1, max_size=5))
    made = [
        {"query": f"q{i}", "retrieved": ranking, "ground_truth": truth}
        for i, (ranking, truth) in enumerate(pairs)
    ]
    return [*made, {"query": "sure", "retrieved": ["a"], "ground_truth": ["a"]}]


def dcg(grades, k):
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:k]))


@given(query_records(), st.integers(1, 8))
def test_facts_equal_what_a_reader_counts(made, k):
    seen = evidence_of(made, k)
    for i, record in enumerate(made):
        truth = record["ground_truth"]
        graded = dict.fromkeys(truth, 1) if isinstance(truth, list) else truth
        relevant = {item: grade for item, grade in graded.items() if grade > 0}
        shown = record["retrieved"][:k]
        new = [item for place, item in enumerate(shown) if item not in shown[:place]]
        assert seen.wanted[i] == len(relevant)
        assert seen.shown[i] == len(shown)
        if shown:
            assert seen.repeated_share[i] == pytest.approx(1 - len(new) / len(shown))
        if not relevant:
            assert math.isnan(seen.useful_share[i])
            continue
        found = [relevant[item] for item in new if item in relevant]
        if shown:
            assert seen.useful_share[i] == pytest.approx(len(found) / len(shown))
        else:
            assert math.isnan(seen.useful_share[i])
        ideal = dcg(sorted(relevant.values(), reverse=True), k)
        best = dcg(sorted(found, reverse=True), k) / ideal
        assert seen.best_order_ndcg[i] == pytest.approx(best)


@given(query_records(), st.integers(1, 9))
def test_recall_at_another_k_is_the_metric(made, k):
    seen = evidence_of(made, 3)
    expected = compute(seen.matches, parse(["recall"], [k]), read(made).policy)[:, 0]
    assert np.array_equal(seen.recall_at(k), expected, equal_nan=True)


def test_another_chunk_of_the_document_is_noticed():
    made = [
        {
            "query": "near",
            "retrieved": [{"id": "d1#1", "document": "d1"}],
            "ground_truth": [{"id": "d1#2", "document": "d1"}, {"id": "d2#1", "document": "d2"}],
        },
        {
            "query": "named by the run",
            "retrieved": [{"id": "d2#1", "document": "d2"}],
            "ground_truth": [{"id": "d1#1"}],
        },
        {
            "query": "found",
            "retrieved": [{"id": "d1#1", "document": "d1"}],
            "ground_truth": ["d1#1"],
        },
    ]
    share = evidence_of(made).wrong_chunk_share
    assert share[:2].tolist() == [0.5, 0.0]
    assert math.isnan(share[2])


def test_without_documents_nothing_is_guessed():
    made = [{"query": "q", "retrieved": ["d#1"], "ground_truth": ["d#1", "d#2"]}]
    assert evidence_of(made).wrong_chunk_share is None


def test_alternatives_are_one_target():
    made = [
        {
            "query": "q",
            "retrieved": ["b", "x", "c"],
            "ground_truth": [{"id": "a", "group": "g"}, {"id": "b", "group": "g"}, {"id": "c"}],
        }
    ]
    seen = evidence_of(made)
    assert seen.wanted.tolist() == [2]
    assert seen.best_order_ndcg[0] == pytest.approx(1.0)
    assert seen.recall_at(1).tolist() == [0.5]


def test_queries_the_retriever_failed_on_show_nothing():
    made = [
        {"query": "q", "retrieved": ["t"], "ground_truth": ["t"]},
        {"query": "failed", "retrieved": ["t"], "ground_truth": ["t"], "error": "timeout"},
    ]
    seen = evidence_of(made)
    assert seen.shown.tolist() == [1.0, 0.0]
    assert seen.facts.queries["listed"].is_null().to_list() == [False, True]
    assert seen.recall_at(5).tolist() == [1.0, 0.0]
