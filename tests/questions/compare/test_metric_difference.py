"""The four parts of what a comparison says."""

from calipers import compare, evaluate
from calipers.questions.compare.rule import compare_scores
from tests.systems import measured, records


def test_what_is_shown_says_how_much_holds_beyond_these_queries():
    found = compare_scores({"old": measured([3] * 12), "new": measured([1] * 12)}, primary="mrr")
    claim, interval = found.claims[0], found.difference("new", "mrr").interval
    assert claim.range == (
        f"The true difference is likely between +{interval.low:.3f} and +{interval.high:.3f}."
    )
    assert claim.next is None


def test_where_less_is_better_a_lower_value_is_a_gain():
    found = compare_scores(
        {"old": measured([1] * 12, "first_rank"), "new": measured([4] * 12, "first_rank")}
    ).claims[0]
    assert found.line == "▼ new is worse than old: first_rank is 4.000, it was 1.000."
    assert found.range == "The true difference is likely between +3.000 and +3.000."


def test_clusters_are_what_is_counted():
    made = {name: records(hits) for name, hits in (("old", [2] * 12), ("new", [1] * 12))}
    for data in made.values():
        for at, record in enumerate(data):
            record["tags"] = {"intent": f"{at % 4}"}
    scores = {name: evaluate(data, metrics="mrr") for name, data in made.items()}
    found = compare_scores(scores, cluster="intent").claims[0]
    assert found.standing == "no clear difference"
    assert found.next == "About 2 more clusters would settle it."


def test_no_metric_of_which_more_or_less_is_better():
    made = {"old": records([1] * 8), "new": records([7] * 8)}
    found = compare(made, metrics="judged@5")
    assert (found.claims, found.asked, found.leading) == ((), (), "judged@5")
    assert repr(found).startswith("<Comparison: There is no metric here of which more or less")


def test_six_all_one_way_of_which_two_tests_show_nothing():
    made = {"old": records([None] * 6 + [1] * 7), "new": records([1] * 13)}
    both, alone = compare(made), compare(made, metrics="recall@10")
    found = both.differences[0]
    assert found.claim.standing == "no clear difference"
    assert (found.p_value, found.p_adjusted) == (0.03125, 0.0625)
    assert alone.claims[0].standing == "better"
