import pytest

import calipers
from calipers import evaluate, sweep
from calipers.errors import InvalidInput
from calipers.present.terminal import as_text
from tests.systems import records

HITS = [1, 2, 2, 3, 3, 4, None, 1, 2, 6]


def with_texts(**fields):
    made = records(HITS)
    for record in made:
        record["retrieved"] = [
            {"id": item, "text": "word " * 20, **fields} for item in record["retrieved"]
        ]
    return made


def test_every_k_equals_an_evaluation_at_that_k():
    found = sweep(records(HITS))
    assert [point.k for point in found.points] == list(range(1, 11))
    for k in (1, 4, 10):
        scores = evaluate(records(HITS), metrics="precision,recall,f1,hit_rate,ndcg,mrr", k=k)
        for name, value in found.at(k).values.items():
            summary = scores[f"{name}@{k}"]
            assert (value.mean, value.interval) == (summary.mean, summary.interval)
    with pytest.raises(InvalidInput, match="no k = 11; it looked at 1, 2"):
        found.at(11)


def test_k_may_be_named_and_needed_metrics_come_too():
    found = sweep(records(HITS), metrics="ndcg", k=[5, 1, 5])
    assert [point.k for point in found.points] == [1, 5]
    assert set(found.metrics) == {"ndcg", "precision", "recall"}
    assert found.recall.largest_k == 5


def test_tokens_of_the_texts_or_of_the_data():
    found = sweep(with_texts())
    assert (found.token_source, found.at(3).tokens.mean) == ("estimate", 75.0)
    found = sweep(with_texts(tokens=7))
    assert (found.token_source, found.at(2).tokens.mean) == ("data", 14.0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"metrics": "recall@5"}, "recall@5 has a cut-off of its own, and"),
        ({"metrics": "r_precision"}, "r_precision takes no cut-off, and"),
        (
            {"metrics": "score(recall@10=0.7,ndcg@5(gain=exp)=1,mrr=0.3)"},
            r"has a cut-off of its own, .*; write score\(mrr=0.3,ndcg\(gain=exp\)=1,recall=0.7\)\.",
        ),
        ({"metrics": "score(recall@10=0.7,r_precision=1)"}, "such as recall,ndcg"),
        ({"k": 0}, "k must be a whole number"),
    ],
)
def test_what_cannot_be_swept_is_said(settings, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        sweep(records(HITS), **settings)


def test_nothing_retrieved_is_said():
    empty = [{**record, "retrieved": []} for record in records(HITS)]
    with pytest.raises(InvalidInput, match="nothing to sweep over"):
        sweep(empty)


def test_a_price_says_what_a_thousand_queries_cost() -> None:
    texts = [
        {
            "query": f"q{i}",
            "retrieved": [{"id": "x", "text": "x" * 400}, {"id": "a", "text": "y" * 100}],
            "ground_truth": ["a"],
        }
        for i in range(3)
    ]
    found = calipers.sweep(texts, price=2.5)
    costs = [point.tokens.cost for point in found.points if point.tokens]
    assert costs == pytest.approx([100 * 1_000 * 2.5e-6, 125 * 1_000 * 2.5e-6])
    assert "1,000 queries" in str(found)
    assert found.to_polars()["cost_of_1000_queries"].to_list() == pytest.approx(costs)
    assert "1,000 queries" not in str(calipers.sweep(texts))
    page = calipers.report(texts, price=2.5).to_html()
    assert "1,000 queries" in page
    assert "1,000 queries" not in calipers.report(texts).to_html()


def test_a_price_without_tokens_is_said_to_be_of_no_use() -> None:
    ids = [{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a"]}]
    assert "What 1,000 queries cost is not known" in str(calipers.sweep(ids, price=2.5))
    with pytest.raises(InvalidInput, match="price of a million tokens"):
        calipers.sweep(ids, price=-1)


def test_tokens_stand_once_in_the_table() -> None:
    texts = [{"query": "q", "retrieved": [{"id": "a", "text": "four"}], "ground_truth": ["a"]}]
    assert str(calipers.sweep(texts, metrics="recall,tokens")).count("tokens") == 1


def asked_twice(hits, **fields):
    """Records of which each question is asked twice."""
    made = records([hit for hit in hits for _ in range(2)], **fields)
    for at, record in enumerate(made):
        record["query"] = f"question {at // 2}"
    return made


def test_copies_of_a_question_count_once_in_the_advice_and_that_is_said():
    # Nothing is lost at k = 2: 59 queries rule out a loss of 0.05, and here are 40.
    hits = [1, 2] * 20
    once, twice = sweep(records(hits)), sweep(asked_twice(hits))
    assert (once.recall.n, twice.recall.n, twice.queries) == (40, 40, 80)
    assert twice.recall.claim == once.recall.claim
    assert twice.recall.best_guess_bound == once.recall.best_guess_bound
    note = "40 queries have the text of another; in tests, equal texts count as one query."
    assert (note in twice.recorded.notes, note in once.recorded.notes) == (True, False)
    assert note in as_text(twice.document(), explain=True)
    assert sweep(asked_twice(hits, tags={"who": "me"}), cluster="who").recall.n == 1
    assert note in calipers.diagnose(asked_twice(hits)).settings["notes"]


def test_ties_that_decide_at_the_advised_k_are_said():
    tied = records([1, 2] * 20)
    for at, record in enumerate(tied):
        # In every fourth query the first three share one score, and the target is among them.
        scores = [9.0, 9.0, 9.0] if at % 4 < 2 else [9.0, 8.0, 7.0]
        record["retrieved"] = [
            {"id": item, "score": score}
            for item, score in zip(record["retrieved"], [*scores, 6, 5, 4, 3, 2, 1, 0], strict=True)
        ]
    swept = sweep(tied)
    assert swept.recall.best_guess == 2
    [note] = [one for one in swept.recorded.notes if one.startswith("Equal scores decide")]
    assert note == (
        "Equal scores decide recall@2: it is 0.500 in their worst order and 1.000 in their best; "
        "recall@1 is 0.250 and 0.750."
    )
    assert as_text(swept.document()).count("Equal scores decide") == 1
    assert not any("Equal scores" in one for one in sweep(tied, k=[3, 10]).recorded.notes)
