from types import SimpleNamespace

import pytest
from hypothesis import given

import calipers
from calipers.errors import InvalidInput
from tests.integrations.cases import METRICS, agree, cases, evaluated


def document(result):
    return SimpleNamespace(id=result["id"], page_content=result["text"], metadata={})


@given(cases())
def test_ids_and_grades_in_every_shape(case):
    score = calipers.scorer(*METRICS)
    wanted = evaluated(case.retrieved, case.grades, "id")
    assert agree(score(case.retrieved, case.grades), wanted)
    assert agree(score(tuple(case.retrieved), {"ground_truth": case.grades}), wanted)
    assert agree(score({"documents": case.retrieved}, case.grades), wanted)
    assert agree(score(case.results(), case.grades), wanted)
    assert agree(score([document(one) for one in case.results()], case.grades), wanted)
    listed = [{"id": one, "grade": grade} for one, grade in case.grades.items()]
    assert agree(score(case.retrieved, {"expected": listed}), wanted)


@given(cases())
def test_quotes(case):
    wanted = evaluated(case.results(), case.quotes(), "quote")
    assert agree(calipers.scorer(*METRICS, match="quote")(case.results(), case.quotes()), wanted)
    plain = case.plain_quotes()
    wanted = evaluated(case.results(), [{"quote": one} for one in plain], "quote")
    texts = [{"text": one["text"]} for one in case.results()]
    if case.retrieved:
        assert agree(calipers.scorer(*METRICS)(texts, plain), wanted)
        # Passages that are bare texts, as DSPy has them.
        found = calipers.scorer(*METRICS)([one["text"] for one in texts], plain)
        assert agree(found, wanted)


@given(cases())
def test_a_threshold_and_a_policy_are_those_of_evaluate(case):
    score = calipers.scorer("recall@3", "precision@3", rel=2, unanswerable="zero")
    record = {"query": "q", "retrieved": case.retrieved, "ground_truth": case.grades}
    scores = calipers.evaluate(
        [record],
        metrics="recall@3,precision@3",
        rel=2,
        unanswerable="zero",
        nothing_in_common="zero",
        match="id",
    )
    found = score(case.retrieved, case.grades)
    assert found == {name: scores.per_query[name][0] for name in score.names}


def test_scores_make_the_order_as_in_a_run_of_scores():
    scores = {"b": 0.5, "a": 0.5, "z": 0.9}
    wanted = calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": scores}, metrics="mrr")
    assert calipers.scorer("mrr")(scores, ["a"]) == {"mrr": wanted["mrr"].mean}


def test_several_queries_together_are_those_of_evaluate():
    pairs = [(["a", "b"], ["b"]), ([], ["a"]), (["x"], {"x": 2, "y": 1})]
    records = [
        {"query": str(i), "retrieved": r, "ground_truth": t} for i, (r, t) in enumerate(pairs)
    ]
    found = calipers.scorer("recall@2", "ndcg@2").together(pairs)
    wanted = calipers.evaluate(records, metrics="recall@2,ndcg@2")
    assert found["recall@2"] == wanted["recall@2"]
    assert found["ndcg@2"] == wanted["ndcg@2"]


def test_a_miss_is_no_quote_that_stands_in_a_text_by_chance():
    result = {"id": "other", "text": "a text with an a in it"}
    assert calipers.scorer("recall@5")([result], ["a"]) == {"recall@5": 0.0}


@pytest.mark.parametrize(
    ("retrieved", "expected", "sentence"),
    [
        (["a"], "a", "give a list of ids or texts, even for one"),
        (["a"], {"answer": "yes"}, "a mapping with 'answer'"),
        (7, ["a"], "What was retrieved cannot be read"),
        ([{"role": "user", "content": "Who?", "id": "1"}], ["a"], "a list of chat messages"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(retrieved, expected, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        calipers.scorer("recall@5")(retrieved, expected)


def test_mistakes_are_found_when_the_scorer_is_made():
    with pytest.raises(InvalidInput, match="no metric called 'recal'"):
        calipers.scorer("recal@5")
    with pytest.raises(InvalidInput, match="Did you mean match"):
        calipers.scorer("recall@5", mach="id")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="takes no store"):
        calipers.scorer("recall@5", store="x.db")
    with pytest.raises(InvalidInput, match="A metric is given as 3; write its name"):
        calipers.scorer("recall@1", 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no query to score"):
        calipers.scorer("recall@5").together([])
