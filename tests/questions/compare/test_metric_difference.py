"""The four parts of what a comparison says."""

from calipers import compare, evaluate
from calipers.questions.compare.rule import compare_scores
from tests.systems import measured, records


def test_what_is_shown_says_how_much_holds_beyond_these_queries():
    found = compare_scores({"old": measured([3] * 12), "new": measured([1] * 12)}, primary="mrr")
    claim, interval = found.claims[0], found.difference("new", "mrr").interval
    assert claim.range == (
        f"It is better by at least {interval.low:.2g} beyond these queries, too."
    )
    assert claim.next is None


def test_where_less_is_better_a_lower_value_is_a_gain():
    found = compare_scores(
        {"old": measured([1] * 12, "first_rank"), "new": measured([4] * 12, "first_rank")}
    ).claims[0]
    assert found.line.startswith("▼ old → new: first_rank 1.000 → 4.000: 0 better, 12 worse of 12")
    assert found.range == "It is worse by at least 3 beyond these queries, too."


def test_a_gain_that_is_not_shown_names_the_gain_first():
    found = compare_scores(
        {"old": measured([2] * 3 + [1] * 9, "mrr"), "new": measured([1] * 12, "mrr")}
    ).claims[0]
    assert found.range.startswith("A gain of up to 0.")
    assert ", nor a loss of up to 0." in found.range


def test_clusters_are_what_is_counted():
    made = {name: records(hits) for name, hits in (("old", [2] * 12), ("new", [1] * 12))}
    for data in made.values():
        for at, record in enumerate(data):
            record["tags"] = {"intent": f"{at % 4}"}
    scores = {name: evaluate(data, metrics="mrr") for name, data in made.items()}
    found = compare_scores(scores, cluster="intent").claims[0]
    assert found.shown == "not shown, p = .12; 4 clusters can show none, 6 could"
    assert found.next == "About 2 more clusters like these would show it four times in five."


def test_no_metric_of_which_more_or_less_is_better():
    made = {"old": records([1] * 8), "new": records([7] * 8)}
    found = compare(made, metrics="judged@5")
    assert (found.claims, found.asked, found.leading) == ((), (), "judged@5")
    assert repr(found).startswith("<Comparison: ? old and new: there is no metric of which more")


def test_six_all_one_way_of_which_two_tests_show_nothing_say_why():
    made = {"old": records([None] * 6 + [1] * 7), "new": records([1] * 13)}
    both, alone = compare(made), compare(made, metrics="recall@10")
    claim = both.claims[0]
    assert claim.standing == "no clear difference"
    assert claim.shown == "not shown over 2 tests, p = .062; in one alone p = .031"
    assert claim.range.startswith("A gain of up to 0.")
    assert claim.range.endswith(" is not ruled out, nor none at all.")
    assert alone.claims[0].standing == "better"
