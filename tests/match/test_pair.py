"""A ground truth and a run whose queries are named in two ways."""

from calipers import read
from calipers.match.pair import BY_ID, BY_TEXT

BY_TEXTS = {"What is a lock?": ["a"], "Who waits?": ["b"]}


def records(field):
    return [
        {"id": "q1", "query": "What is a lock?", field: ["a"]},
        {"id": "q2", "query": "Who waits?", field: ["b"]},
    ]


def found(truth, run):
    pair = read(ground_truth=truth, run=run)
    return pair, pair.matches.edge_query.size


def test_queries_that_one_side_names_by_text_are_the_same_queries():
    pair, targets = found(records("ground_truth"), BY_TEXTS)
    assert (targets, BY_TEXT in pair.settings["notes"]) == (2, True)
    pair, targets = found(BY_TEXTS, records("retrieved"))
    assert (targets, BY_ID in pair.settings["notes"]) == (2, True)


def test_where_one_name_is_in_common_no_query_is_named_anew():
    run = {"q1": ["a"], "Who waits?": ["b"]}
    pair, targets = found(records("ground_truth"), run)
    assert (targets, BY_TEXT in pair.settings["notes"]) == (1, False)
    truth = {"q1": ["a"], "Who waits?": ["b"]}
    pair, targets = found(truth, records("retrieved"))
    assert (targets, BY_ID in pair.settings["notes"]) == (1, False)
